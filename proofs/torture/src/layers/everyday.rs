//! Commands of every day in a fence: a user who is asked about those, or finds them failing, turns the fence off. Each runs by `relay
//! record --access workspace` with nobody to ask, in a project of its own, with the user's own home and tools.
//!
//! A case is the number of a command in the table. Tools that are not here are skipped, by name.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, ensure};
use relaycode_exec::{FenceLevel, probe_fence};
use relaycode_testkit::checkout;

use super::{Layer, Setup, shuffled};
use crate::everyday_commands::{EVERYDAY, EverydayCommand, Outcome};
use crate::relay::{self, Ran};
use crate::world::World;

pub(super) struct Everyday;

/// relay's exit code where nobody can be asked.
const NOBODY_TO_ASK: i32 = 13;

/// What came of each, by its number.
#[derive(Default)]
pub(super) struct EverydayTable(Mutex<BTreeMap<usize, &'static str>>);

impl Setup for EverydayTable {
    fn new(_: &World, _: &Path) -> anyhow::Result<EverydayTable> {
        Ok(EverydayTable::default())
    }
}

impl Layer for Everyday {
    type Case = String;
    type Setup = EverydayTable;
    const NAME: &'static str = "everyday";
    const ABOUT: &'static str =
        "commands of every day work in a fence unasked; what needs more is asked about";
    const QUICK_SECONDS: u64 = 20;

    fn missing(world: &World) -> Option<String> {
        let probe = probe_fence(&world.relay, &world.disk);
        (probe.level != FenceLevel::Namespaces).then(|| "a kernel that allows a fence of level 1".to_owned())
    }

    fn base(world: &World) -> &Path {
        // A fence brings a `/dev/shm` of its own.
        &world.disk
    }

    fn cases(world: &World, _: &EverydayTable) -> anyhow::Result<Vec<String>> {
        Ok(shuffled((0..EVERYDAY.len()).map(|number| number.to_string()).collect(), world.seed))
    }

    fn check(world: &World, table: &EverydayTable, room: &Path, case: &String) -> anyhow::Result<u64> {
        let number: usize = case.parse()?;
        let command = EVERYDAY.get(number).context("no such command")?;
        let program = command.line.split(' ').next().unwrap_or_default();
        // What is asked about does not run.
        let is_here = matches!(command.outcome, Outcome::Asked(_)) || has_program(program);
        let outcome = if is_here { run(world, room, command)? } else { "skipped: not installed" };
        table.0.lock().map_err(|_| anyhow::anyhow!("another case panicked"))?.insert(number, outcome);
        Ok(u64::from(is_here))
    }

    fn note(_: &World, table: &EverydayTable, _: &[String]) -> Option<String> {
        let table = table.0.lock().ok()?;
        let line = |(number, outcome): (&usize, &&str)| format!("{outcome:<9} {}", EVERYDAY[*number].line);
        Some(table.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// Runs it, and says what came of it if that is what has to.
fn run(world: &World, room: &Path, command: &EverydayCommand) -> anyhow::Result<&'static str> {
    let project = relay::furnish(room)?;
    shell(&project, command.prepare).context("what it needs cannot be made")?;
    let mut recorded = Command::new(&world.relay);
    recorded
        .args(["record", "--access", "workspace", "-C"])
        .arg(&project)
        .arg("--")
        .args(words(command.line));
    relay::in_room(&mut recorded, room);
    recorded.env("HOME", std::env::home_dir().context("a home directory")?);
    for name in ["CARGO_HOME", "RUSTUP_HOME"] {
        recorded.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let ran = relay::finish(recorded, room)?;
    match command.outcome {
        Outcome::Works(holds) => {
            ensure!(ran.code == Some(0), "{}", ran.told());
            let was_asked = ran.err.contains("Allow it?");
            ensure!(!was_asked, "it was asked about: {}", ran.told());
            shell(&project, holds).with_context(|| format!("it left something else: {}", ran.told()))?;
            Ok("works")
        }
        Outcome::Asked(why) => {
            ensure!(ran.code == Some(NOBODY_TO_ASK) && says(&ran, why), "{}", ran.told());
            Ok("asked")
        }
        Outcome::Refused(why) => {
            let refused = ran.code.is_some_and(|code| code != 0 && code != NOBODY_TO_ASK);
            ensure!(refused && says(&ran, why), "{}", ran.told());
            Ok("refused")
        }
    }
}

fn says(ran: &Ran, why: &str) -> bool {
    ran.err.split_whitespace().collect::<Vec<_>>().join(" ").contains(why)
}

/// Divided by spaces, but for what is in `'…'`.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Without a fence.
fn shell(project: &Path, line: &str) -> anyhow::Result<()> {
    let output = Command::new("sh")
        .args(["-ec", line])
        .current_dir(project)
        .env("RELAY_CEILING_DIRECTORIES", checkout::root())
        .stdin(Stdio::null())
        .process_group(0)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{line}`: {} {}", output.status, said.trim());
    Ok(())
}
