//! L2: SIGKILL before every call that could matter, then recovery; and SIGKILL again inside the recovery.
//!
//! A case is `seed.scenario call@n`, or `seed.scenario call@n then` for all kills of the recovery that follows,
//! or `… then call@m` for one of them.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::{Case, Layer, shuffled};
use crate::prepared::{Prepared, PreparedScenarios};
use crate::relay::{self, Do, Ran};
use crate::scenario::ScenarioId;
use crate::strace::{self, CHANGING, Call, Injury};
use crate::verdict::{self, Side};
use crate::world::World;

pub(super) struct Kill;

/// Scenarios of a full run.
const SCENARIOS: u64 = 48;
/// Scenarios of a quick one.
const FEW: u64 = 14;
/// First kills per scenario whose recovery is killed too.
const NESTS: usize = 8;
/// Most kills of one recovery: in a quick run, and in a full one.
const INNER: (usize, usize) = (24, 80);

pub(super) struct KillCase {
    scenario: ScenarioId,
    call: Call,
    then: Then,
}

/// What follows the first kill.
#[derive(PartialEq)]
enum Then {
    /// An undisturbed recovery.
    Recover,
    /// Recoveries that are killed, at calls spread over all.
    KillAll,
    /// A recovery that is killed at this call.
    KillAt(Call),
}

impl Case for KillCase {
    fn spec(&self) -> String {
        let first = format!("{} {}", self.scenario, self.call);
        match &self.then {
            Then::Recover => first,
            Then::KillAll => format!("{first} then"),
            Then::KillAt(inner) => format!("{first} then {inner}"),
        }
    }

    fn parse(spec: &str) -> anyhow::Result<KillCase> {
        let mut words = spec.split_whitespace();
        let scenario = words.next().unwrap_or_default().parse()?;
        let call = words.next().context("the call is missing")?.parse()?;
        let then = match (words.next(), words.next()) {
            (None, _) => Then::Recover,
            (Some(_), None) => Then::KillAll,
            (Some(_), Some(inner)) => Then::KillAt(inner.parse()?),
        };
        Ok(KillCase { scenario, call, then })
    }
}

impl Layer for Kill {
    type Case = KillCase;
    type Setup = PreparedScenarios;
    const NAME: &'static str = "l2";
    const ABOUT: &'static str =
        "SIGKILL at every call, and again in the recovery: before or after, never mixed";
    const QUICK_SECONDS: u64 = 55;

    fn missing(_: &World) -> Option<String> {
        strace::missing()
    }

    fn cases(world: &World, scenarios: &PreparedScenarios) -> anyhow::Result<Vec<KillCase>> {
        let mut cases = Vec::new();
        let mut nested = Vec::new();
        for number in 0..world.choose(FEW, SCENARIOS) {
            let scenario = world.scenario(number);
            let calls = scenarios.get(world, scenario)?.calls(world, &[CHANGING])?;
            let case = |call: &Call, then| KillCase { scenario, call: call.clone(), then };
            // The last two thirds: there the journal exists and a recovery has something to do.
            let late = &calls[calls.len() / 3..];
            let step = (late.len() / NESTS).max(1);
            nested.extend(late.iter().step_by(step).take(NESTS).map(|call| case(call, Then::KillAll)));
            cases.extend(calls.iter().map(|call| case(call, Then::Recover)));
        }
        cases.extend(nested);
        Ok(shuffled(cases, world.seed))
    }

    fn check(
        world: &World,
        scenarios: &PreparedScenarios,
        room: &Path,
        case: &KillCase,
    ) -> anyhow::Result<u64> {
        run(world, room, &*scenarios.get(world, case.scenario)?, case)
    }

    fn note(world: &World, _: &PreparedScenarios, cases: &[KillCase]) -> Option<String> {
        let groups = cases.iter().filter(|case| case.then == Then::KillAll).count();
        let (scenarios, points) = (world.choose(FEW, SCENARIOS), cases.len() - groups);
        Some(format!("{scenarios} scenarios, {points} kills and {groups} nested groups to choose from"))
    }
}

fn run(world: &World, room: &Path, prepared: &Prepared, case: &KillCase) -> anyhow::Result<u64> {
    let ran = kill(world, room, prepared, case)?;
    match &case.then {
        Then::Recover => {
            let side = verdict::recovered(&world.relay, room, prepared)?;
            ensure!(ran.killed() || side == Side::After, "exit 0, but the tree is as before");
            // One in four, and all that came through, also show that work can continue.
            if side == Side::After || case.call.number.is_multiple_of(4) {
                verdict::goes_on(&world.relay, room, prepared, side)?;
            }
            Ok(1)
        }
        Then::KillAll => {
            let (calls, ended) = strace::calls(&world.relay, room, &Do::Recover, &[CHANGING])?;
            ensure!(ended.code == Some(0), "recover ended with {}", ended.told());
            verdict::settled(room, prepared)?;
            let step = calls.len().div_ceil(world.choose(INNER.0, INNER.1)).max(1);
            let mut checks = 0;
            // If not every call has its turn, other cases take the others.
            for inner in calls.iter().skip(case.call.number % step).step_by(step) {
                clear_parts(room)?;
                // A copy of the crashed project would be another checkout, in which its journal does not count.
                kill(world, room, prepared, case)?;
                again(world, room, prepared, inner).with_context(|| {
                    format!("the recovery was killed at {inner} (`then {inner}` repeats only that)")
                })?;
                checks += 1;
            }
            Ok(checks)
        }
        Then::KillAt(inner) => again(world, room, prepared, inner).map(|()| 1),
    }
}

/// The scenario, killed at the call of the case.
fn kill(world: &World, room: &Path, prepared: &Prepared, case: &KillCase) -> anyhow::Result<Ran> {
    prepared.furnish(room)?;
    let ran = strace::injured(&world.relay, room, &prepared.what, &case.call, &Injury::Kill)?;
    ensure!(ran.killed() || ran.code == Some(0), "the run ended with {}", ran.told());
    Ok(ran)
}

/// Kills a recovery, and recovers.
fn again(world: &World, room: &Path, prepared: &Prepared, call: &Call) -> anyhow::Result<()> {
    let ran = strace::injured(&world.relay, room, &Do::Recover, call, &Injury::Kill)?;
    ensure!(ran.killed() || ran.code == Some(0), "the recovery ended with {}", ran.told());
    let last = relay::run(&world.relay, room, &Do::Recover)?;
    ensure!(last.code == Some(0), "the recovery after it ended with {}", last.told());
    verdict::settled(room, prepared).map(|_| ())
}

const PARTS: [&str; 2] = ["project", "home"];

fn clear_parts(room: &Path) -> anyhow::Result<()> {
    for part in PARTS {
        fs::remove_dir_all(room.join(part))?;
    }
    Ok(())
}
