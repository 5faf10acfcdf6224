//! Sessions: SIGKILL at any moment of appending, the file cut off at every byte, power cuts at every operation.
//!
//! A case is `kill seed.number`, a session with several kills; `cut from..to`, bytes of a file with every
//! kind of entry; or `power seed.number`, a session on the model file system.

use std::path::Path;

use anyhow::Context;

use super::{Case, Layer, Setup, shuffled};
use crate::scenario::ScenarioId;
use crate::sessions::cuts::Whole;
use crate::sessions::{kills, power};
use crate::world::World;

pub(super) struct Sessions;

/// Sessions that are killed several times each: in a quick run, and in a full one.
const KILLED: (u64, u64) = (10, 200);
/// Sessions with a power cut at every operation.
const CUT_OFF: (u64, u64) = (2, 40);
/// One in this many bytes is tried in a quick run.
const SPARSE: usize = 97;
/// Bytes of a case.
const BYTES: usize = 500;

pub(super) enum SessionCase {
    Kill(ScenarioId),
    /// Every `step`th byte; the one that failed is among those of a replay, which tries all.
    Cut {
        from: usize,
        to: usize,
        step: usize,
    },
    Power(ScenarioId),
}

impl Case for SessionCase {
    fn spec(&self) -> String {
        match self {
            SessionCase::Kill(id) => format!("kill {id}"),
            SessionCase::Cut { from, to, .. } => format!("cut {from}..{to}"),
            SessionCase::Power(id) => format!("power {id}"),
        }
    }

    fn parse(spec: &str) -> anyhow::Result<SessionCase> {
        let (what, rest) =
            spec.split_once(' ').context("a case is `kill 1.7`, `cut 0..500` or `power 1.7`")?;
        Ok(match what {
            "cut" => {
                let (from, to) = rest.split_once("..").context("bytes are `from..to`")?;
                SessionCase::Cut { from: from.parse()?, to: to.parse()?, step: 1 }
            }
            "power" => SessionCase::Power(rest.parse()?),
            _ => SessionCase::Kill(rest.parse()?),
        })
    }
}

impl Setup for Whole {
    fn new(_: &World, _: &Path) -> anyhow::Result<Whole> {
        Whole::new()
    }
}

impl Layer for Sessions {
    type Case = SessionCase;
    type Setup = Whole;
    const NAME: &'static str = "sessions";
    const ABOUT: &'static str =
        "SIGKILL and power cuts while appending, files cut off at every byte: no entry lost";
    const QUICK_SECONDS: u64 = 60;

    fn base(world: &World) -> &Path {
        &world.disk
    }

    fn cases(world: &World, whole: &Whole) -> anyhow::Result<Vec<SessionCase>> {
        let ids = |counts: (u64, u64)| (0..world.choose(counts.0, counts.1)).map(|at| world.scenario(at));
        let mut cases: Vec<SessionCase> = ids(KILLED).map(SessionCase::Kill).collect();
        cases.extend(ids(CUT_OFF).map(SessionCase::Power));
        let step = world.choose(SPARSE, 1);
        let to = |from: usize| (from + BYTES).min(whole.len() + 1);
        let starts = (0..=whole.len()).step_by(BYTES);
        cases.extend(starts.map(|from| SessionCase::Cut { from, to: to(from), step }));
        Ok(shuffled(cases, world.seed))
    }

    fn check(_: &World, whole: &Whole, room: &Path, case: &SessionCase) -> anyhow::Result<u64> {
        match case {
            SessionCase::Kill(id) => kills::run(room, *id),
            SessionCase::Cut { from, to, step } => {
                let bytes = (*from..(*to).min(whole.len() + 1)).filter(|byte| byte % step == 0);
                bytes.map(|byte| whole.cut(byte)).sum()
            }
            SessionCase::Power(id) => power::run(*id),
        }
    }

    fn note(world: &World, whole: &Whole, _: &[SessionCase]) -> Option<String> {
        let kills = world.choose(KILLED.0, KILLED.1) * kills::ROUNDS as u64;
        let step = world.choose(SPARSE, 1);
        Some(format!("{kills} kills, every {step}. byte of {}, the rest power cuts", whole.len()))
    }
}
