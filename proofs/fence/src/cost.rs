//! What a fence costs: processor time and wall time of `/bin/true`, bare and through each level.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use relaycode_exec::{FenceAccess, FenceChannel, FenceLevel};

use crate::{World, WorldUser, runs};

/// Runs of each.
const RUNS: usize = 200;

pub(crate) fn print() -> anyhow::Result<ExitCode> {
    let base = tempfile::Builder::new().prefix("relaycode-proof-fence-").tempdir_in("/var/lib")?;
    let program = std::env::current_exe()?;
    let world = World::new(base.path(), 1, WorldUser::Own, &program)?;
    let mut levels: Vec<(&str, Option<FenceLevel>)> = vec![("bare", None)];
    levels.extend([("level 3", Some(FenceLevel::Open)), ("level 2", Some(FenceLevel::Rules))]);
    levels.push(("level 1", Some(FenceLevel::Namespaces)));
    println!("| | processor time, median of {RUNS} | wall time, median |\n|---|---|---|");
    for (name, level) in levels {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(measure(&world, level, &program)?);
        }
        let (mut processor, mut wall): (Vec<Duration>, Vec<Duration>) = times.into_iter().unzip();
        processor.sort();
        wall.sort();
        println!("| {name} | {:.2?} | {:.2?} |", processor[RUNS / 2], wall[RUNS / 2]);
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    world: &World,
    level: Option<FenceLevel>,
    program: &std::path::Path,
) -> anyhow::Result<(Duration, Duration)> {
    let channel = match level {
        Some(level) => {
            let words = vec!["/bin/true".into()];
            Some(FenceChannel::new(&runs::spec(world, level, FenceAccess::Workspace, words))?)
        }
        None => None,
    };
    let mut command =
        channel.as_ref().map_or_else(|| Command::new("/bin/true"), |channel| channel.command(program));
    command.stdin(Stdio::null());
    let (before, since) = (used()?, Instant::now());
    let status = command.status()?;
    let wall = since.elapsed();
    anyhow::ensure!(status.success(), "{status}");
    Ok((used()?.saturating_sub(before), wall))
}

/// Processor time of children that were waited for, and theirs.
fn used() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let time = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec())?))
}
