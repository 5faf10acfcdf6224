//! Runs the cases of a layer on every processor, shows progress once a second, keeps the directories of
//! failed cases, and saves its progress so that a long run can be resumed.
//!
//! Invariant: the progress file counts only cases all of whose predecessors are done too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::layers::Case;
use super::world::World;

/// How often progress is shown and saved.
const PROGRESS: Duration = Duration::from_secs(1);

/// The result of a layer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Single checks: kills, cuts, injections, saves …
    pub(super) checks: u64,
    /// What did not hold.
    pub(super) failures: Vec<Failure>,
    /// Including all runs of a resumed layer.
    pub(super) seconds: f64,
    /// Finished cases, and all cases.
    pub(super) cases: (usize, usize),
    /// Anything else worth telling.
    pub(super) notes: Vec<String>,
}

/// A case that did not hold.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failure {
    /// What `--replay` takes.
    pub(super) spec: String,
    /// What was wrong.
    pub(super) what: String,
    /// Where its directory is kept.
    pub(super) kept: PathBuf,
}

/// The file that `--resume` reads.
#[derive(Serialize, Deserialize)]
struct Saved {
    seed: u64,
    full: bool,
    total: usize,
    /// How many cases from the first on are done.
    done: usize,
    tally: Tally,
}

pub(super) struct Cases<'c, C> {
    /// The layer's name.
    pub(super) layer: &'c str,
    /// In order.
    pub(super) cases: &'c [C],
    /// Where each gets its own directory.
    pub(super) base: &'c Path,
    /// Stop after this long.
    pub(super) limit: Option<Duration>,
    /// Runs one in a fresh directory; returns the number of checks made.
    pub(super) run: &'c (dyn Fn(&Path, &C) -> anyhow::Result<u64> + Sync),
}

/// How many cases run at a time.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 8)
}

struct Book {
    tally: Tally,
    done: usize,
    ahead: BTreeSet<usize>,
    shown: Instant,
}

pub(super) fn drive<C: Case>(world: &World, cases: &Cases<'_, C>) -> anyhow::Result<Tally> {
    let began = Instant::now();
    let (first, earlier) = resumed(world, cases)?;
    let book = Mutex::new(Book { tally: earlier, done: first, ahead: BTreeSet::new(), shown: began });
    let before = book.lock().map_or(0.0, |book| book.tally.seconds);
    let next = AtomicUsize::new(first);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let late = cases.limit.is_some_and(|limit| began.elapsed() >= limit);
                    if late || stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let Some(case) = cases.cases.get(index) else { break };
                    let outcome = one(world, cases, index, case);
                    let Ok(mut book) = book.lock() else { break };
                    book.enter(index, outcome);
                    book.tally.seconds = before + began.elapsed().as_secs_f64();
                    book.tally.cases = (book.done + book.ahead.len(), cases.cases.len());
                    if book.tally.failures.len() >= world.failures {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if book.shown.elapsed() >= PROGRESS {
                        book.shown = Instant::now();
                        show(cases.layer, &book.tally);
                        // Progress that cannot be saved costs a resume, not the run.
                        let _ = save(world, cases, &book);
                    }
                }
            });
        }
    });
    let book = book.into_inner().map_err(|_| anyhow::anyhow!("a case of {} panicked", cases.layer))?;
    show(cases.layer, &book.tally);
    save(world, cases, &book)?;
    Ok(book.tally)
}

impl Book {
    fn enter(&mut self, index: usize, outcome: Result<u64, Failure>) {
        match outcome {
            Ok(checks) => self.tally.checks += checks,
            Err(failure) => {
                self.tally.checks += 1;
                self.tally.failures.push(failure);
            }
        }
        self.ahead.insert(index);
        while self.ahead.remove(&self.done) {
            self.done += 1;
        }
    }
}

fn one<C: Case>(world: &World, cases: &Cases<'_, C>, index: usize, case: &C) -> Result<u64, Failure> {
    let name = format!("{}-{index}", cases.layer);
    let room = World::fresh(cases.base, &name);
    let outcome = room.as_ref().map_err(|error| anyhow::anyhow!("{error:#}")).and_then(|room| {
        let ran = (cases.run)(room, case);
        if ran.is_ok() {
            fs::remove_dir_all(room).context("cannot remove the case's directory")?;
        }
        ran
    });
    outcome.map_err(|error| {
        let kept = room.ok().map_or_else(PathBuf::new, |room| keep(world, &room, &name));
        let spec = case.spec();
        let what = format!("{error:#}");
        eprintln!("\n✗ {} {spec}: {what}", cases.layer);
        eprintln!("  kept in {}", kept.display());
        eprintln!("  again: cargo xtask torture --only {} --replay \"{spec}\"", cases.layer);
        Failure { spec, what, kept }
    })
}

/// Moves a failed case's directory to where it stays.
fn keep(world: &World, room: &Path, name: &str) -> PathBuf {
    let base = world.out.join("kept");
    let kept = base.join(name);
    let _ = fs::create_dir_all(&base);
    let _ = fs::remove_dir_all(&kept);
    let copied = Command::new("cp").arg("-a").arg(room).arg(&kept).status();
    if copied.is_ok_and(|status| status.success()) {
        let _ = fs::remove_dir_all(room);
        return kept;
    }
    room.to_path_buf()
}

fn show(layer: &str, tally: &Tally) {
    let rate = tally.checks as f64 / tally.seconds.max(0.001);
    eprintln!(
        "{layer}: {} of {} cases, {} checks, {} failures, {:.0} s, {rate:.1}/s",
        tally.cases.0,
        tally.cases.1,
        tally.checks,
        tally.failures.len(),
        tally.seconds,
    );
}

fn progress_file(world: &World, layer: &str) -> PathBuf {
    world.out.join(format!("{layer}.json"))
}

fn save<C>(world: &World, cases: &Cases<'_, C>, book: &Book) -> anyhow::Result<()> {
    let saved = Saved {
        seed: world.seed,
        full: world.full(),
        total: cases.cases.len(),
        done: book.done,
        tally: book.tally.clone(),
    };
    let file = progress_file(world, cases.layer);
    let new = file.with_extension("json.new");
    fs::write(&new, serde_json::to_string_pretty(&saved)?)?;
    fs::rename(&new, &file).with_context(|| format!("cannot write {}", file.display()))
}

/// Where to continue, and what was counted up to there.
fn resumed<C>(world: &World, cases: &Cases<'_, C>) -> anyhow::Result<(usize, Tally)> {
    if !world.resume {
        return Ok((0, Tally::default()));
    }
    let Ok(text) = fs::read_to_string(progress_file(world, cases.layer)) else {
        return Ok((0, Tally::default()));
    };
    let saved: Saved = serde_json::from_str(&text).context("the progress file is damaged")?;
    if saved.seed != world.seed || saved.full != world.full() || saved.total != cases.cases.len() {
        eprintln!("{}: the earlier run was another one; beginning anew", cases.layer);
        return Ok((0, Tally::default()));
    }
    eprintln!("{}: going on after case {}", cases.layer, saved.done);
    Ok((saved.done, saved.tally))
}

/// The tally that the last run of a layer saved.
pub(super) fn last(world: &World, layer: &str) -> anyhow::Result<Tally> {
    let text = fs::read_to_string(progress_file(world, layer)).context("it left no result")?;
    Ok(serde_json::from_str::<Saved>(&text)?.tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::tests::scratch;

    #[test]
    fn failures_are_kept_and_a_resumed_run_goes_on() {
        let mut world = scratch("drive");
        let cases: Vec<String> = (0..30).map(|number| format!("#{number}")).collect();
        let ran = Mutex::new(BTreeSet::new());
        let run = |room: &Path, case: &String| {
            ran.lock().unwrap().insert(case.clone());
            fs::write(room.join("seen"), b"x")?;
            if case == "#7" {
                anyhow::bail!("seven");
            }
            Ok(2)
        };
        let ask = |cases: &[String], world: &World| {
            let ask = Cases { layer: "test", cases, base: &world.memory, limit: None, run: &run };
            drive(world, &ask).unwrap()
        };
        let tally = ask(&cases, &world);
        assert_eq!((tally.checks, tally.failures.len(), tally.cases), (59, 1, (30, 30)));
        assert_eq!(tally.failures[0].spec, "#7");
        assert!(tally.failures[0].kept.join("seen").exists());
        world.resume = true;
        ran.lock().unwrap().clear();
        let again = ask(&cases, &world);
        assert_eq!(again.checks, 59);
        assert!(ran.lock().unwrap().is_empty(), "everything was done already");
        fs::remove_dir_all(world.out.parent().unwrap()).unwrap();
    }
}
