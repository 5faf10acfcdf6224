//! L2: SIGKILL before every call that could matter, then recovery; and SIGKILL again inside the recovery.
//!
//! A case is `seed.scenario call@n`, or `seed.scenario call@n then` for all kills of the recovery that follows,
//! or `… then call@m` for one of them.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::{Layer, scenario_of, shuffled};
use crate::drive::{Cases, Tally, drive, workers};
use crate::prepared::Prepared;
use crate::relay::{self, Do};
use crate::scenario::name;
use crate::snapshot;
use crate::strace::{self, CHANGING, Call, Injury};
use crate::verdict::{self, Side};
use crate::world::World;

/// The layer.
pub(super) struct Kill;

/// Scenarios of a full run.
const SCENARIOS: u64 = 48;
/// Scenarios of a quick one.
const FEW: u64 = 14;
/// First kills per scenario whose recovery is killed too.
const NESTS: usize = 8;
/// Kills of one recovery, at most: in a quick run, and in a full one.
const INNER: (usize, usize) = (24, 80);

/// One case.
struct Case {
    /// Which of the prepared scenarios.
    at: usize,
    call: Call,
    then: Then,
}

/// What follows the first kill.
enum Then {
    /// A recovery that nobody disturbs.
    Recover,
    /// Recoveries that are killed, at calls spread over all.
    KillAll,
    /// A recovery that is killed at this call.
    KillAt(Call),
}

impl Layer for Kill {
    fn name(&self) -> &'static str {
        "l2"
    }

    fn about(&self) -> &'static str {
        "SIGKILL at every call, and again in the recovery: before or after, never mixed"
    }

    fn missing(&self, _: &World) -> Option<String> {
        strace::missing()
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.memory, "l2")?;
        let mut prepared = Vec::new();
        let mut cases = Vec::new();
        let mut nested = Vec::new();
        for index in 0..world.choose(FEW, SCENARIOS) {
            let ready = Prepared::new(world, &base, world.seed, index)?;
            let calls = ready.calls(world, &base, &[CHANGING])?;
            let at = prepared.len();
            prepared.push(ready);
            // The last two thirds: there the journal stands and a recovery has something to do.
            let late = &calls[calls.len() / 3..];
            let step = (late.len() / NESTS).max(1);
            nested.extend(late.iter().step_by(step).take(NESTS).map(|call| Case {
                at,
                call: call.clone(),
                then: Then::KillAll,
            }));
            cases.extend(calls.into_iter().map(|call| Case { at, call, then: Then::Recover }));
        }
        let points = cases.len();
        let groups = nested.len();
        cases.extend(nested);
        let cases = shuffled(cases, world.seed);
        let mut tally = drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(55),
                spec: &|case| spec(&prepared[case.at], case),
                run: &|room, case| run(world, room, &prepared[case.at], case),
            },
        )?;
        tally.notes.push(format!(
            "{} scenarios, {points} kills and {groups} nested groups to choose from",
            prepared.len()
        ));
        Ok(tally)
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let mut words = text.split_whitespace();
        let (seed, index) = scenario_of(words.next().unwrap_or_default())?;
        let call = words.next().context("the call is missing")?.parse()?;
        let then = match (words.next(), words.next()) {
            (None, _) => Then::Recover,
            (Some(_), None) => Then::KillAll,
            (Some(_), Some(inner)) => Then::KillAt(inner.parse()?),
        };
        let ready = Prepared::new(world, &world.memory, seed, index)?;
        run(world, room, &ready, &Case { at: 0, call, then })
    }
}

fn spec(prepared: &Prepared, case: &Case) -> String {
    let scenario = name(prepared.scenario.seed, prepared.scenario.index);
    match &case.then {
        Then::Recover => format!("{scenario} {}", case.call),
        Then::KillAll => format!("{scenario} {} then", case.call),
        Then::KillAt(inner) => format!("{scenario} {} then {inner}", case.call),
    }
}

fn run(world: &World, room: &Path, prepared: &Prepared, case: &Case) -> anyhow::Result<u64> {
    prepared.furnish(room)?;
    let ran = strace::injured(&world.relay, room, &prepared.what, &case.call, &Injury::Kill)?;
    ensure!(ran.killed() || ran.code == Some(0), "the run ended with {}", ran.told());
    match &case.then {
        Then::Recover => {
            let side = verdict::recovered(&world.relay, room, prepared)?;
            ensure!(ran.killed() || side == Side::After, "exit 0, but the tree is as before");
            // One in four, and all that came through, also show that work can go on.
            if side == Side::After || case.call.number.is_multiple_of(4) {
                verdict::goes_on(&world.relay, room, prepared, side)?;
            }
            Ok(1)
        }
        Then::KillAll => {
            let crashed = room.join("crashed");
            fs::create_dir(&crashed)?;
            move_parts(room, &crashed)?;
            copy_parts(&crashed, room)?;
            let (calls, ended) = strace::calls(&world.relay, room, &Do::Recover, &[CHANGING])?;
            ensure!(ended.code == Some(0), "recover ended with {}", ended.told());
            verdict::settled(room, prepared)?;
            let step = calls.len().div_ceil(world.choose(INNER.0, INNER.1)).max(1);
            let mut checks = 0;
            // Where not every call has its turn, other cases take the others.
            for inner in calls.iter().skip(case.call.number % step).step_by(step) {
                clear_parts(room)?;
                copy_parts(&crashed, room)?;
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

/// Kills a recovery, and recovers.
fn again(world: &World, room: &Path, prepared: &Prepared, call: &Call) -> anyhow::Result<()> {
    let ran = strace::injured(&world.relay, room, &Do::Recover, call, &Injury::Kill)?;
    ensure!(ran.killed() || ran.code == Some(0), "the recovery ended with {}", ran.told());
    let last = relay::run(&world.relay, room, &Do::Recover)?;
    ensure!(last.code == Some(0), "the recovery after it ended with {}", last.told());
    verdict::settled(room, prepared).map(|_| ())
}

const PARTS: [&str; 2] = ["project", "home"];

fn move_parts(from: &Path, to: &Path) -> anyhow::Result<()> {
    for part in PARTS {
        fs::rename(from.join(part), to.join(part))?;
    }
    Ok(())
}

fn copy_parts(from: &Path, to: &Path) -> anyhow::Result<()> {
    for part in PARTS {
        snapshot::copy(&from.join(part), &to.join(part))?;
    }
    Ok(())
}

fn clear_parts(room: &Path) -> anyhow::Result<()> {
    for part in PARTS {
        fs::remove_dir_all(room.join(part))?;
    }
    Ok(())
}
