//! L6: one file, one transaction, one save of an editor at a random microsecond, in both ways of saving, on disk
//! and in memory. The editor's bytes must be in the file, or kept by relay.
//!
//! A case is a run of races, `seed.number rename|inplace memory|disk`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use relaycode_testkit::random::Random;

use super::super::drive::{Cases, Tally, drive, workers};
use super::super::relay::{self, Do};
use super::super::rival::{self, Style};
use super::super::scenario::{name, uuid};
use super::super::world::World;
use super::{Layer, scenario_of};

/// The layer.
pub(super) struct Race;

/// Races of one case.
const RACES: u64 = 20;

struct Case {
    seed: u64,
    number: u64,
    style: Style,
    on_disk: bool,
}

impl Layer for Race {
    fn name(&self) -> &'static str {
        "l6"
    }

    fn about(&self) -> &'static str {
        "an editor saves in the very moment of the change: its bytes are always there"
    }

    fn missing(&self, _: &World) -> Option<String> {
        None
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let each = world.choose(20, 4_000 / RACES);
        let mut cases = Vec::new();
        for number in 0..each {
            for style in Style::ALL {
                for on_disk in [false, true] {
                    cases.push(Case { seed: world.seed, number, style, on_disk });
                }
            }
        }
        let base = World::fresh(&world.memory, "l6")?;
        drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(18),
                spec: &|case| {
                    let place = if case.on_disk { "disk" } else { "memory" };
                    format!("{} {} {place}", name(case.seed, case.number), case.style.name())
                },
                run: &|room, case| run(world, room, case),
            },
        )
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [scenario, style, place] = words[..] else {
            bail!("a case is `seed.number rename|inplace memory|disk`")
        };
        let (seed, number) = scenario_of(scenario)?;
        let style =
            Style::ALL.into_iter().find(|known| known.name() == style).context("there is no such style")?;
        run(world, room, &Case { seed, number, style, on_disk: place == "disk" })
    }
}

fn run(world: &World, room: &Path, case: &Case) -> anyhow::Result<u64> {
    if !case.on_disk {
        return races(world, room, case);
    }
    let place = World::fresh(&world.disk, &format!("l6-{}-{}", case.style.name(), case.number))?;
    let outcome = races(world, &place, case);
    if outcome.is_err() {
        super::super::snapshot::copy(&place, &room.join("on-disk"))?;
    }
    fs::remove_dir_all(&place)?;
    outcome
}

fn races(world: &World, room: &Path, case: &Case) -> anyhow::Result<u64> {
    let mut random = Random::of_case(case.seed, case.number * 4 + u64::from(case.on_disk));
    let project = relay::furnish(room)?;
    let file = project.join("file.txt");
    fs::write(&file, b"first\n")?;
    let mut usual = Duration::from_millis(10);
    for number in 0..RACES {
        one(world, room, &file, case.style, &mut random, &mut usual)
            .with_context(|| format!("race {number}"))?;
    }
    Ok(RACES)
}

fn one(
    world: &World,
    room: &Path,
    file: &Path,
    style: Style,
    random: &mut Random,
    usual: &mut Duration,
) -> anyhow::Result<()> {
    let wanted = format!("relay {:016x}\n", random.number());
    let id = uuid(random);
    let answer = format!("```txt // file.txt\n{wanted}```\n\n```yaml\nprojectId: torture\nuuid: {id}\n```\n");
    fs::write(room.join("answer.md"), answer)?;
    let saved = rival::text(random, file, "save");
    let micros = usize::try_from(usual.as_micros()).unwrap_or(10_000);
    let at = Duration::from_micros(random.below(micros + micros / 8) as u64);
    let began = Instant::now();
    let mut child = relay::start(&mut relay::command(&world.relay, room, &Do::Apply), room)?;
    let mut saved_at = Ok(());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(at.saturating_sub(began.elapsed()));
            saved_at = rival::save(&saved, style);
        });
    });
    let ran = relay::ended(room, child.wait()?);
    *usual = (*usual * 7 + began.elapsed().max(at)) / 8;
    saved_at.context("the editor could not save")?;
    ensure!(matches!(ran.code, Some(0 | 3 | 6)), "apply ended with {}", ran.told());
    let recovered = relay::run(&world.relay, room, &Do::Recover)?;
    ensure!(matches!(recovered.code, Some(0 | 6)), "recover ended with {}", recovered.told());
    let files: Vec<(PathBuf, Vec<u8>)> = rival::files(&room.join("project"))?;
    ensure!(
        rival::is_kept(&files, &saved),
        "LOST: the save {}; apply ended with {}",
        saved.token,
        ran.told()
    );
    let now = fs::read(file).context("the file is gone")?;
    ensure!(
        now == saved.bytes || now == wanted.as_bytes(),
        "the file is neither the editor's nor relay's: {:?}",
        String::from_utf8_lossy(&now)
    );
    // Where a person is asked, the editor's bytes stay, and the next race starts clean.
    if recovered.code == Some(6) {
        let mut command = relay::command(&world.relay, room, &Do::Recover);
        command.arg("--keep");
        let kept = relay::finish(command, room)?;
        ensure!(kept.code == Some(0), "recover --keep ended with {}", kept.told());
    }
    Ok(())
}
