//! L4: every call fails once, with every error a disk or a kernel knows. The tree must be as before and the
//! exit code say so, or as after with exit 0 or 9. A later recovery agrees.
//!
//! A case is `seed.scenario call@n ERROR`.

use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::{Case, Layer, shuffled, words};
use crate::prepared::{Prepared, PreparedScenarios};
use crate::relay::Ran;
use crate::scenario::ScenarioId;
use crate::snapshot::Snapshot;
use crate::strace::{self, CHANGING, Call, Injury, READING};
use crate::verdict::{self, Side};
use crate::world::World;

pub(super) struct Errno;

const ERRORS: &[&str] = &["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EINTR", "ENOMEM"];
/// Scenarios of a full run: changes, a revert, and one with batched syncs.
const SCENARIOS: u64 = 5;

pub(super) struct ErrnoCase {
    scenario: ScenarioId,
    call: Call,
    error: String,
}

impl Case for ErrnoCase {
    fn spec(&self) -> String {
        format!("{} {} {}", self.scenario, self.call, self.error)
    }

    fn parse(spec: &str) -> anyhow::Result<ErrnoCase> {
        let [scenario, call, error] = words(spec, "seed.scenario call@n ERROR")?;
        Ok(ErrnoCase { scenario: scenario.parse()?, call: call.parse()?, error: error.to_owned() })
    }
}

impl Layer for Errno {
    type Case = ErrnoCase;
    type Setup = PreparedScenarios;
    const NAME: &'static str = "l4";
    const ABOUT: &'static str =
        "every call fails with every error: the exit code tells the truth about the tree";
    const QUICK_SECONDS: u64 = 28;

    fn missing(_: &World) -> Option<String> {
        strace::missing()
    }

    fn cases(world: &World, scenarios: &PreparedScenarios) -> anyhow::Result<Vec<ErrnoCase>> {
        let mut cases = Vec::new();
        for scenario in (0..SCENARIOS).map(|number| world.scenario(number)) {
            let calls = scenarios.get(world, scenario)?.calls(world, &[CHANGING, READING])?;
            for call in calls.iter().filter(|call| call.name != "exit_group") {
                cases.extend(ERRORS.iter().map(|error| ErrnoCase {
                    scenario,
                    call: call.clone(),
                    error: (*error).to_owned(),
                }));
            }
        }
        Ok(shuffled(cases, world.seed))
    }

    fn check(
        world: &World,
        scenarios: &PreparedScenarios,
        room: &Path,
        case: &ErrnoCase,
    ) -> anyhow::Result<u64> {
        let prepared = scenarios.get(world, case.scenario)?;
        prepared.furnish(room)?;
        let injury = Injury::Fail(case.error.clone());
        let ran = strace::injured(&world.relay, room, &prepared.what, &case.call, &injury)?;
        if case.call.name.ends_with("xattr") && ran.code == Some(0) {
            // An attribute that cannot be kept is a remark in the record, not a reason to refuse.
            let (tree, wanted) = (Snapshot::of(&room.join("project"))?.plain(), prepared.after.plain());
            ensure!(tree == wanted, "exit 0, but {}", tree.differences(&wanted));
            return Ok(1);
        }
        honest(world, room, &prepared, &ran)?;
        Ok(1)
    }
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
