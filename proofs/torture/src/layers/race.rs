//! L6: one file, one transaction, one save of an editor at a random microsecond, in both ways of saving, on
//! disk and in memory. The editor's bytes must be in the file, or kept by relay.
//!
//! A case is a run of races, `seed.number rename|inplace memory|disk ledger|binary`: on the ledger in this
//! process, where many more saves hit the short critical moment, or through the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use relaycode_change::proposal::path::RelPath;
use relaycode_durable::RealFs;
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{CommitVerdict, Ledger, LedgerError, LedgerSettings, RecoveryMode, TransactionHeader};
use relaycode_testkit::random::Random;

use super::{Case, Layer, words};
use crate::relay::{self, Do};
use crate::rival::{self, Style};
use crate::scenario::{ScenarioId, uuid};
use crate::world::World;

pub(super) struct Race;

/// Races of one case.
const RACES: u64 = 20;
/// One case in this many goes through the binary.
const THROUGH_BINARY: u64 = 10;

pub(super) struct RaceCase {
    id: ScenarioId,
    style: Style,
    on_disk: bool,
    binary: bool,
}

impl Case for RaceCase {
    fn spec(&self) -> String {
        let place = if self.on_disk { "disk" } else { "memory" };
        let way = if self.binary { "binary" } else { "ledger" };
        format!("{} {} {place} {way}", self.id, self.style.name())
    }

    fn parse(spec: &str) -> anyhow::Result<RaceCase> {
        let [id, style, place, way] = words(spec, "seed.number rename|inplace memory|disk ledger|binary")?;
        let style = Style::ALL.into_iter().find(|known| known.name() == style);
        Ok(RaceCase {
            id: id.parse()?,
            style: style.context("there is no such style")?,
            on_disk: place == "disk",
            binary: way == "binary",
        })
    }
}

impl Layer for Race {
    type Case = RaceCase;
    type Setup = ();
    const NAME: &'static str = "l6";
    const ABOUT: &'static str =
        "an editor saves in the very moment of the change: its bytes are always there";
    const QUICK_SECONDS: u64 = 18;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<RaceCase>> {
        let mut cases = Vec::new();
        for number in 0..world.choose(40, 4_000 / RACES) {
            let (id, binary) = (world.scenario(number), number.is_multiple_of(THROUGH_BINARY));
            for style in Style::ALL {
                cases.extend([false, true].map(|on_disk| RaceCase { id, style, on_disk, binary }));
            }
        }
        Ok(cases)
    }

    fn check(world: &World, (): &(), room: &Path, case: &RaceCase) -> anyhow::Result<u64> {
        let name = format!("l6-{}-{}", case.style.name(), case.id.number);
        world.on_disk_if(case.on_disk, &name, room, |place| races(world, place, case))
    }
}

fn races(world: &World, room: &Path, case: &RaceCase) -> anyhow::Result<u64> {
    let mut random = Random::of_case(case.id.seed, case.id.number * 4 + u64::from(case.on_disk));
    let project = relay::furnish(room)?;
    let file = project.join("file.txt");
    fs::write(&file, b"first\n")?;
    let mut usual = Duration::from_millis(if case.binary { 10 } else { 3 });
    for number in 0..RACES {
        one(world, room, case, &mut random, &mut usual).with_context(|| format!("race {number}"))?;
    }
    Ok(RACES)
}

fn one(
    world: &World,
    room: &Path,
    case: &RaceCase,
    random: &mut Random,
    usual: &mut Duration,
) -> anyhow::Result<()> {
    let project = room.join("project");
    let file = project.join("file.txt");
    let wanted = format!("relay {:016x}\n", random.number());
    let id = uuid(random);
    let before = fs::read(&file)?;
    let saved = rival::text(random, &file, "save");
    let micros = usize::try_from(usual.as_micros()).unwrap_or(10_000);
    let at = Duration::from_micros(random.below(micros + micros / 8) as u64);
    let began = Instant::now();
    let mut saved_at = Ok(());
    let changed = std::thread::scope(|scope| {
        scope.spawn(|| {
            // A sleep would be less precise than the moment aimed at.
            while began.elapsed() < at {
                std::hint::spin_loop();
            }
            saved_at = rival::save(&saved, case.style);
        });
        let changed = if case.binary {
            by_binary(world, room, &wanted, &id)
        } else {
            by_ledger(&project, before, &wanted, &id)
        };
        *usual = (*usual * 7 + began.elapsed()) / 8;
        changed
    });
    let told = changed?;
    saved_at.context("the editor could not save")?;
    let files: Vec<(PathBuf, Vec<u8>)> = rival::files(&project)?;
    ensure!(rival::is_kept(&files, &saved), "LOST: the save {}; {told}", saved.token);
    let now = fs::read(&file).context("the file is gone")?;
    ensure!(
        now == saved.bytes || now == wanted.as_bytes(),
        "the file is neither the editor's nor relay's: {:?}; {told}",
        String::from_utf8_lossy(&now)
    );
    // If a person would be asked, the files stay as they are, and the next race starts clean.
    settle(world, room, case.binary)?;
    let files: Vec<(PathBuf, Vec<u8>)> = rival::files(&project)?;
    ensure!(rival::is_kept(&files, &saved), "LOST by the recovery: the save {}; {told}", saved.token);
    Ok(())
}

/// By the ledger in this process; returns a summary.
fn by_ledger(project: &Path, before: Vec<u8>, wanted: &str, id: &str) -> anyhow::Result<String> {
    let ledger = open(project)?;
    let change = FileChange {
        path: RelPath::parse("file.txt")?,
        renamed_from: None,
        before: Some(before.into()),
        after: Some(AfterContent { bytes: wanted.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    let about = TransactionHeader::new(id.parse()?, "torture", "2026-01-01T00:00:00Z", "test");
    match ledger.begin(&[change], about, &|| false).and_then(|open| open.commit(CommitVerdict::default())) {
        Ok(_) => Ok("the change was committed".to_owned()),
        Err(
            error @ (LedgerError::Refused(_) | LedgerError::Conflict { .. } | LedgerError::NeedsDecision(_)),
        ) => Ok(error.to_string()),
        Err(error) => Err(error).context("the ledger failed"),
    }
}

/// The same through the binary.
fn by_binary(world: &World, room: &Path, wanted: &str, id: &str) -> anyhow::Result<String> {
    let answer = format!("```txt // file.txt\n{wanted}```\n\n```yaml\nprojectId: torture\nuuid: {id}\n```\n");
    fs::write(room.join("answer.md"), answer)?;
    let ran = relay::run(&world.relay, room, &Do::Apply)?;
    ensure!(matches!(ran.code, Some(0 | 3 | 6)), "apply ended with {}", ran.told());
    Ok(ran.told())
}

fn settle(world: &World, room: &Path, binary: bool) -> anyhow::Result<()> {
    if !binary {
        open(&room.join("project"))?.recover(RecoveryMode::Keep)?;
        return Ok(());
    }
    let mut command = relay::command(&world.relay, room, &Do::Recover);
    command.arg("--keep");
    let kept = relay::finish(command, room)?;
    ensure!(kept.code == Some(0), "recover --keep ended with {}", kept.told());
    Ok(())
}

fn open(project: &Path) -> anyhow::Result<Ledger> {
    Ok(Ledger::open(Arc::new(RealFs::default()), project, LedgerSettings::default())?)
}
