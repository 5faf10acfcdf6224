//! `cargo xtask torture`: proofs that the real binary never leaves a project half changed and never loses a
//! user's bytes. It is killed, cut off from power, refused by the disk and raced by editors at every moment
//! there is, and what is left afterwards is compared byte for byte.
//!
//! A layer is one kind of harm: one file in `layers/`, one row of its list. Every failure prints the command
//! that repeats exactly that case.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod drive;
mod everyday_commands;
mod execs;
mod layers;
mod mount;
mod poisons;
mod prepared;
mod relay;
mod rival;
mod scenario;
mod sessions;
mod snapshot;
mod strace;
mod verdict;
mod world;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;

use drive::Tally;
use layers::{LAYERS, LayerEntry};
use world::{Effort, World};

/// Kill, starve and race the binary at every moment, and check that no byte is lost.
#[derive(Parser)]
#[command(name = "cargo xtask torture", bin_name = "cargo xtask torture")]
struct Args {
    /// A spread sample of every layer, in a few minutes (the default).
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every case of every layer.
    #[arg(long)]
    full: bool,
    /// Only these layers.
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    only: Vec<String>,
    /// Decides every scenario.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on where an earlier run with the same settings stopped.
    #[arg(long)]
    resume: bool,
    /// Repeat one case, as a failure printed it (with `--only` and its layer).
    #[arg(long, value_name = "SPEC")]
    replay: Option<String>,
    /// Test this binary instead of building one.
    #[arg(long, value_name = "PATH")]
    relay: Option<PathBuf>,
    /// Stop a layer after so many failures.
    #[arg(long, value_name = "N", default_value_t = 20)]
    failures: usize,
    /// The process runs in a namespace of its own, where it may mount.
    #[arg(long, hide = true)]
    in_namespace: bool,
    /// Append to a session in this directory until somebody kills the process.
    #[arg(long, hide = true)]
    append: Option<PathBuf>,
}

/// The result of a layer, or why it did not run.
enum Outcome {
    Ran(Tally),
    Skipped(String),
}

/// Fails if anything did not hold.
pub fn run() -> anyhow::Result<()> {
    // This process is then an attempt of the layer `fence`, in its fence, or the process outside that it is after.
    if std::env::args_os().nth(1).is_some_and(|first| first == "attempt" || first == "victim") {
        return relaycode_proof_fence::run().map(|_| ());
    }
    let args = Args::parse();
    if let Some(room) = &args.append {
        return sessions::append(room, args.seed);
    }
    let chosen = chosen(&args.only)?;
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let mut world = World::new(args.relay.as_deref(), args.seed, effort, args.resume)?;
    world.failures = args.failures;
    world.in_namespace = args.in_namespace;
    if let Some(spec) = &args.replay {
        return replay(&world, &chosen, spec);
    }
    let began = Instant::now();
    let mut rows = Vec::new();
    for layer in chosen {
        let outcome = match (layer.missing)(&world) {
            Some(why) => Outcome::Skipped(why),
            None => Outcome::Ran((layer.run)(&world).with_context(|| format!("layer {}", layer.name))?),
        };
        rows.push((layer, outcome));
    }
    let failures = print(&rows);
    println!("{:.0} s in all, seed {}", began.elapsed().as_secs_f64(), args.seed);
    if failures > 0 {
        bail!("{failures} cases did not hold; they are in {}", world.out.join("kept").display());
    }
    Ok(())
}

fn chosen(only: &[String]) -> anyhow::Result<Vec<&'static LayerEntry>> {
    let names: Vec<&str> = LAYERS.iter().map(|layer| layer.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no layer `{unknown}`; there are {}", names.join(", "));
    }
    let wanted = |layer: &&LayerEntry| only.is_empty() || only.iter().any(|name| name == layer.name);
    Ok(LAYERS.iter().filter(wanted).collect())
}

fn replay(world: &World, chosen: &[&'static LayerEntry], spec: &str) -> anyhow::Result<()> {
    let [layer] = chosen else {
        bail!("`--replay` needs `--only` with the one layer that the case belongs to");
    };
    if let Some(why) = (layer.missing)(world) {
        bail!("{} cannot run here: {why}", layer.name);
    }
    let room = World::fresh(&world.out.join("kept"), &format!("{}-replay", layer.name))?;
    match (layer.replay)(world, &room, spec) {
        Ok(checks) => {
            println!("{} {spec}: holds ({checks} checks)", layer.name);
            Ok(())
        }
        Err(error) => {
            Err(error.context(format!("{} {spec} does not hold; see {}", layer.name, room.display())))
        }
    }
}

/// Prints the table; returns the number of failures.
fn print(rows: &[(&'static LayerEntry, Outcome)]) -> usize {
    println!("{:<8} {:>8} {:>9} {:>8}  what", "layer", "checks", "failures", "seconds");
    let mut failures = 0;
    for (layer, outcome) in rows {
        match outcome {
            Outcome::Ran(tally) => {
                failures += tally.failures.len();
                println!(
                    "{:<8} {:>8} {:>9} {:>8.0}  {}",
                    layer.name,
                    tally.checks,
                    tally.failures.len(),
                    tally.seconds,
                    layer.about
                );
                for note in tally.notes.iter().flat_map(|note| note.lines()) {
                    println!("{:36}  {note}", "");
                }
            }
            Outcome::Skipped(why) => {
                println!("{:<8} {:>8} {:>9} {:>8}  skipped: {why}", layer.name, "-", "-", "-");
            }
        }
    }
    failures
}
