//! Sessions: SIGKILL at any moment of appending, the file cut off at every byte, power cuts at every operation.
//!
//! A case is `kill seed.number`, a session with several kills; `cut from..to`, bytes of the file of every kind of entry; or
//! `power seed.number`, a session on a model of a disk.

use std::path::Path;

use anyhow::Context;

use super::{Layer, scenario_of, shuffled};
use crate::drive::{Cases, Tally, drive, workers};
use crate::scenario::name;
use crate::sessions::cuts::Whole;
use crate::sessions::{kills, power};
use crate::world::World;

/// The layer.
pub(super) struct Sessions;

/// Sessions that are killed several times each: in a quick run, and in a full one.
const KILLED: (u64, u64) = (10, 200);
/// Sessions whose power is cut everywhere.
const CUT_OFF: (u64, u64) = (2, 40);
/// Of so many bytes one is tried in a quick run.
const SPARSE: usize = 97;
/// Bytes of a case.
const BYTES: usize = 500;

enum Case {
    Kill(u64, u64),
    Cut { from: usize, to: usize, step: usize },
    Power(u64, u64),
}

impl Layer for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn about(&self) -> &'static str {
        "SIGKILL and power cuts while appending, files cut off at every byte: no entry lost"
    }

    fn missing(&self, _: &World) -> Option<String> {
        None
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.disk, "sessions")?;
        let whole = Whole::new()?;
        let mut cases: Vec<Case> =
            (0..world.choose(KILLED.0, KILLED.1)).map(|number| Case::Kill(world.seed, number)).collect();
        cases.extend((0..world.choose(CUT_OFF.0, CUT_OFF.1)).map(|number| Case::Power(world.seed, number)));
        let step = world.choose(SPARSE, 1);
        cases.extend((0..=whole.len()).step_by(BYTES).map(|from| Case::Cut {
            from,
            to: (from + BYTES).min(whole.len() + 1),
            step,
        }));
        let cases = shuffled(cases, world.seed);
        let mut tally = drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(60),
                spec: &spec,
                run: &|room, case| run(room, &whole, case),
            },
        )?;
        let kills = world.choose(KILLED.0, KILLED.1) * kills::ROUNDS as u64;
        tally
            .notes
            .push(format!("{kills} kills, every {step}. byte of {}, the rest power cuts", whole.len()));
        Ok(tally)
    }

    fn replay(&self, _: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let (what, rest) =
            text.split_once(' ').context("a case is `kill 1.7`, `cut 0..500` or `power 1.7`")?;
        let case = match what {
            "cut" => {
                let (from, to) = rest.split_once("..").context("bytes are `from..to`")?;
                Case::Cut { from: from.parse()?, to: to.parse()?, step: 1 }
            }
            _ => {
                let (seed, number) = scenario_of(rest)?;
                if what == "power" { Case::Power(seed, number) } else { Case::Kill(seed, number) }
            }
        };
        run(room, &Whole::new()?, &case)
    }
}

fn spec(case: &Case) -> String {
    match case {
        Case::Kill(seed, number) => format!("kill {}", name(*seed, *number)),
        Case::Cut { from, to, .. } => format!("cut {from}..{to}"),
        Case::Power(seed, number) => format!("power {}", name(*seed, *number)),
    }
}

fn run(room: &Path, whole: &Whole, case: &Case) -> anyhow::Result<u64> {
    match case {
        Case::Kill(seed, number) => kills::run(room, *seed, *number),
        Case::Cut { from, to, step } => {
            let bytes = (*from..(*to).min(whole.len() + 1)).filter(|byte| byte % step == 0);
            bytes.map(|byte| whole.cut(byte)).sum()
        }
        Case::Power(seed, number) => power::run(*seed, *number),
    }
}
