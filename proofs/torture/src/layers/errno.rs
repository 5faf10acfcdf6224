//! L4: every call fails once, with every error a disk or a kernel knows. The tree must be as before and the exit
//! code say so, or as after with exit 0 or 9. A recovery afterwards agrees.
//!
//! A case is `seed.scenario call@n ERROR`.

use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::{Layer, scenario_of, shuffled};
use crate::drive::{Cases, Tally, drive, workers};
use crate::prepared::Prepared;
use crate::relay::Ran;
use crate::scenario::name;
use crate::snapshot::Snapshot;
use crate::strace::{self, CHANGING, Call, Injury, READING};
use crate::verdict::{self, Side};
use crate::world::World;

/// The layer.
pub(super) struct Errno;

const ERRORS: &[&str] = &["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EINTR", "ENOMEM"];
/// Scenarios of a full run: changes, a revert, and one with batched syncs.
const SCENARIOS: u64 = 5;

struct Case {
    at: usize,
    call: Call,
    error: &'static str,
}

impl Layer for Errno {
    fn name(&self) -> &'static str {
        "l4"
    }

    fn about(&self) -> &'static str {
        "every call fails with every error: the exit code tells the truth about the tree"
    }

    fn missing(&self, _: &World) -> Option<String> {
        strace::missing()
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.memory, "l4")?;
        let mut prepared = Vec::new();
        let mut cases = Vec::new();
        for index in 0..SCENARIOS {
            let ready = Prepared::new(world, &base, world.seed, index)?;
            let calls = ready.calls(world, &base, &[CHANGING, READING])?;
            let at = prepared.len();
            prepared.push(ready);
            for call in calls.iter().filter(|call| call.name != "exit_group") {
                cases.extend(ERRORS.iter().map(|error| Case { at, call: call.clone(), error }));
            }
        }
        let cases = shuffled(cases, world.seed);
        drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(28),
                spec: &|case| {
                    let scenario = &prepared[case.at].scenario;
                    format!("{} {} {}", name(scenario.seed, scenario.index), case.call, case.error)
                },
                run: &|room, case| run(world, room, &prepared[case.at], &case.call, case.error).map(|()| 1),
            },
        )
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [scenario, call, error] = words[..] else { bail!("a case is `seed.scenario call@n ERROR`") };
        let (seed, index) = scenario_of(scenario)?;
        let ready = Prepared::new(world, &world.memory, seed, index)?;
        run(world, room, &ready, &call.parse()?, error).map(|()| 1)
    }
}

fn run(world: &World, room: &Path, prepared: &Prepared, call: &Call, error: &str) -> anyhow::Result<()> {
    prepared.furnish(room)?;
    let ran = strace::injured(&world.relay, room, &prepared.what, call, &Injury::Fail(error.to_owned()))?;
    if call.name.ends_with("xattr") && ran.code == Some(0) {
        // An attribute that cannot be kept is a remark in the record, not a reason to refuse.
        let tree = Snapshot::of(&room.join("project"))?.plain();
        ensure!(tree == prepared.after.plain(), "exit 0, but {}", tree.differences(&prepared.after.plain()));
        return Ok(());
    }
    honest(world, room, prepared, &ran)
}

/// Whether the exit code tells the truth about the tree, and a recovery agrees.
pub(super) fn honest(world: &World, room: &Path, prepared: &Prepared, ran: &Ran) -> anyhow::Result<()> {
    let told =
        |side: anyhow::Result<Side>| side.with_context(|| format!("the run ended with {}", ran.told()));
    let wanted = match ran.code {
        Some(0 | 9) => Side::After,
        // Somebody has to decide; nobody else was there, so a recovery must be able to.
        Some(6) => {
            ensure!(!ran.err.trim().is_empty() || !ran.out.trim().is_empty(), "exit 6 without a word");
            return told(verdict::recovered(&world.relay, room, prepared)).map(|_| ());
        }
        Some(101) | None => bail!("the run ended with {}", ran.told()),
        Some(_) => Side::Before,
    };
    let side = told(verdict::side(room, prepared))?;
    ensure!(side == wanted, "the tree is as {side:?}, but the run ended with {}", ran.told());
    let later = told(verdict::recovered(&world.relay, room, prepared))?;
    ensure!(later == side, "recover changed the tree from {side:?} to {later:?} after {}", ran.told());
    Ok(())
}
