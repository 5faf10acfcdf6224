//! L5: endless transactions, killed at any moment, while an editor saves the same files. Every byte string
//! that the editor ever saved must be in the tree or kept by relay, unless the editor itself overwrote it.
//!
//! A case is a session, `seed.number memory|disk`: a project and a run of transactions on it. Timing does
//! not repeat exactly; the choices do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use relaycode_testkit::random::Random;

use super::{Case, Layer, words};
use crate::relay::{self, Do, Ran};
use crate::rival::{self, Saved, Style};
use crate::scenario::{ScenarioId, uuid};
use crate::snapshot::STATE;
use crate::world::World;

pub(super) struct Soak;

/// Transactions of one session.
const STEPS: u64 = 25;
/// Files that relay and the editor both work on.
const SHARED: &[&str] = &["a.txt", "b.txt", "src/c.txt", "src/d.txt", "src/deep/e.txt", "lib/f.txt"];

pub(super) struct SoakCase {
    id: ScenarioId,
    on_disk: bool,
}

impl Case for SoakCase {
    fn spec(&self) -> String {
        format!("{} {}", self.id, if self.on_disk { "disk" } else { "memory" })
    }

    fn parse(spec: &str) -> anyhow::Result<SoakCase> {
        let [id, place] = words(spec, "seed.number memory|disk")?;
        Ok(SoakCase { id: id.parse()?, on_disk: place == "disk" })
    }
}

/// A project with its history.
struct Session<'w> {
    world: &'w World,
    room: PathBuf,
    random: Random,
    /// Saves that must be found.
    saved: Vec<Saved>,
    /// Every content that anybody gave to a file.
    known: BTreeSet<Vec<u8>>,
    /// How long a transaction usually takes.
    usual: Duration,
}

impl Layer for Soak {
    type Case = SoakCase;
    type Setup = ();
    const NAME: &'static str = "l5";
    const ABOUT: &'static str =
        "transactions killed at random beside an editor that saves: no save is ever lost";
    const QUICK_SECONDS: u64 = 25;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<SoakCase>> {
        let case = |number: u64| SoakCase { id: world.scenario(number), on_disk: number.is_multiple_of(2) };
        Ok((0..world.choose(40, 10_000 / STEPS)).map(case).collect())
    }

    fn check(world: &World, (): &(), room: &Path, case: &SoakCase) -> anyhow::Result<u64> {
        let name = format!("l5-{}", case.id.number);
        world.on_disk_if(case.on_disk, &name, room, |place| session(world, place, case.id))
    }
}

fn session(world: &World, room: &Path, id: ScenarioId) -> anyhow::Result<u64> {
    let mut session = Session {
        world,
        room: room.to_path_buf(),
        random: id.random(),
        saved: Vec::new(),
        known: BTreeSet::new(),
        usual: Duration::from_millis(20),
    };
    let project = relay::furnish(room)?;
    for path in SHARED {
        let bytes = format!("first of {path}\n").into_bytes();
        let path = project.join(path);
        fs::create_dir_all(path.parent().context("it has a directory")?)?;
        fs::write(&path, &bytes)?;
        session.known.insert(bytes);
    }
    for step in 0..STEPS {
        session.step(step).with_context(|| format!("transaction {step}"))?;
    }
    Ok(STEPS)
}

impl Session<'_> {
    fn step(&mut self, step: u64) -> anyhow::Result<()> {
        let what = if step > 2 && self.random.once_in(3) { Do::Undo } else { Do::Apply };
        if what == Do::Apply {
            self.write_answer(step)?;
        }
        let saves = self.plan_saves(step)?;
        let kill = self.random.once_in(2).then(|| self.moment());
        let ran = self.together(&what, kill, &saves)?;
        if let Some(code) = ran.code {
            // If all earlier runs were killed, there is nothing to revert.
            let nothing = what == Do::Undo && code == 2;
            ensure!(nothing || [0, 3, 6, 8, 9].contains(&code), "{what:?} ended with {}", ran.told());
        }
        self.recover()?;
        self.look()
    }

    /// A random moment within a transaction, or a little after it.
    fn moment(&mut self) -> Duration {
        let micros = usize::try_from(self.usual.as_micros()).unwrap_or(20_000);
        Duration::from_micros(self.random.below(micros + micros / 4) as u64)
    }

    fn write_answer(&mut self, step: u64) -> anyhow::Result<()> {
        let mut answer = String::new();
        let mut paths: Vec<&str> = SHARED.to_vec();
        for number in 0..1 + self.random.below(4) {
            let path = paths.remove(self.random.below(paths.len()));
            let text = if number > 0 && self.random.once_in(6) {
                "//TODO: delete this file\n".to_owned()
            } else {
                let text = format!("relay {step} {path} {:x}\n", self.random.number());
                self.known.insert(text.clone().into_bytes());
                text
            };
            answer.push_str(&format!("```txt // {path}\n{text}```\n\n"));
        }
        let id = uuid(&mut self.random);
        answer.push_str(&format!("```yaml\nprojectId: torture\nuuid: {id}\n```\n"));
        fs::write(self.room.join("answer.md"), answer)?;
        Ok(())
    }

    /// What the editor will save in this step: each file at most once, so that it never overwrites its own
    /// save unseen. Its earlier save there may now go.
    fn plan_saves(&mut self, step: u64) -> anyhow::Result<Vec<(Duration, Saved, Style)>> {
        let mut paths: Vec<&str> = SHARED.to_vec();
        let mut saves = Vec::new();
        for _ in 0..self.random.below(3) {
            let path = self.room.join("project").join(paths.remove(self.random.below(paths.len())));
            let saved = rival::text(&mut self.random, &path, &format!("save{step}"));
            let style = *self.random.pick(&Style::ALL);
            self.saved.retain(|earlier| earlier.path != path);
            self.known.insert(saved.bytes.clone());
            saves.push((self.moment(), saved, style));
        }
        saves.sort_by_key(|(at, ..)| *at);
        Ok(saves)
    }

    /// Runs relay and the editor at the same time.
    fn together(
        &mut self,
        what: &Do,
        kill: Option<Duration>,
        saves: &[(Duration, Saved, Style)],
    ) -> anyhow::Result<Ran> {
        let began = Instant::now();
        let mut child = relay::start(&mut relay::command(&self.world.relay, &self.room, what), &self.room)?;
        let until = |at: Duration| std::thread::sleep(at.saturating_sub(began.elapsed()));
        let done = std::thread::scope(|scope| {
            let editor = scope.spawn(|| {
                let mut done = Vec::new();
                for (at, saved, style) in saves {
                    until(*at);
                    // A file whose directory is away at the moment cannot be saved, and the editor says so.
                    if rival::save(saved, *style).is_ok() {
                        done.push(saved.clone());
                    }
                }
                done
            });
            if let Some(at) = kill {
                until(at);
                let _ = child.kill();
            }
            editor.join()
        });
        let Ok(done) = done else { bail!("the editor panicked") };
        self.saved.extend(done);
        let status = child.wait()?;
        if kill.is_none() {
            self.usual = (self.usual * 7 + began.elapsed()) / 8;
        }
        Ok(relay::ended(&self.room, status))
    }

    /// If a person would be asked, either answer must do.
    fn recover(&mut self) -> anyhow::Result<()> {
        let ran = relay::run(&self.world.relay, &self.room, &Do::Recover)?;
        if ran.code == Some(0) {
            return Ok(());
        }
        ensure!(ran.code == Some(6), "recover ended with {}", ran.told());
        let answer = *self.random.pick(&["--keep", "--restore"]);
        let mut command = relay::command(&self.world.relay, &self.room, &Do::Recover);
        command.arg(answer);
        let ran = relay::finish(command, &self.room)?;
        ensure!(ran.code == Some(0), "recover {answer} ended with {}", ran.told());
        Ok(())
    }

    /// Every save is there, and no file holds what nobody wrote.
    fn look(&self) -> anyhow::Result<()> {
        let files = rival::files(&self.room.join("project"))?;
        for saved in &self.saved {
            ensure!(rival::is_kept(&files, saved), "LOST: {} of {}", saved.token, saved.path.display());
        }
        let state = self.room.join("project").join(STATE);
        for (path, bytes) in files.iter().filter(|(path, _)| !path.starts_with(&state)) {
            let strange = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".editor~"));
            ensure!(
                strange || self.known.contains(bytes),
                "{} holds what nobody wrote: {:?}",
                path.display(),
                String::from_utf8_lossy(bytes)
            );
            ensure!(
                SHARED.iter().any(|shared| path.ends_with(shared)) || strange,
                "{} is a stray file",
                path.display()
            );
        }
        Ok(())
    }
}
