//! P4: random walks of apply, record, undo, redo, revert and own edits through the binary. Undo and redo are the identity,
//! undo of everything is the beginning but for the user's own lines, and none of these is ever lost.
//!
//! A case is a walk, `seed.number`.

use std::process::Stdio;
use std::{io::Write, path::Path};

use anyhow::anyhow;
use relaycode_testkit::undo_walk::UndoWalk;

use super::Layer;
use crate::relay;
use crate::scenario::ScenarioId;
use crate::world::World;

pub(super) struct Walks;

/// Steps of a walk, before it goes back to the beginning and forth again.
const STEPS: usize = 16;

impl Layer for Walks {
    type Case = ScenarioId;
    type Setup = ();
    const NAME: &'static str = "walks";
    const ABOUT: &'static str = "random walks of apply, record, undo, redo, revert and own edits";
    const QUICK_SECONDS: u64 = 15;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(40, 2_000)).map(|number| world.scenario(number)).collect())
    }

    fn check(world: &World, (): &(), room: &Path, case: &ScenarioId) -> anyhow::Result<u64> {
        let project = relay::furnish(room)?;
        let run = |args: &[&str], input: &str| {
            run_relay(world, room, &project, args, input).unwrap_or_else(|error| (-1, format!("{error:#}")))
        };
        let walk = UndoWalk::new(case.random(), &project, &run);
        let count = walk.run(STEPS).map_err(|said| anyhow!(said))?;
        Ok((count.changes + count.undone + count.redone + count.reverted + count.refused) as u64)
    }
}

fn run_relay(
    world: &World,
    room: &Path,
    project: &Path,
    args: &[&str],
    input: &str,
) -> anyhow::Result<(i32, String)> {
    let mut command = std::process::Command::new(&world.relay);
    command.args(args);
    relay::in_room(&mut command, room);
    command.current_dir(project).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // relay may stop reading before everything is written.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()))
}
