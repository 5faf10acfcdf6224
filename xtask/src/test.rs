//! `cargo xtask test`: what CI runs and what a newcomer runs. Debug builds only. Tests that need real agents are left to
//! `cargo xtask test --real`, which CI runs after it.
//!
//! The steps stand in the order in which they are cheap. The first that fails ends the run and says
//! how to see it again; what is missing on this machine is named, never skipped.

#[cfg(target_os = "linux")]
mod real;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::{tidy, workspace};

/// Run what CI runs: format check, tidy, lints, all tests but those with real agents
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this step
    #[arg(long, value_name = "STEP")]
    only: Option<Step>,
    /// Run instead the tests with real agents, which are installed if npm is there
    #[cfg(target_os = "linux")]
    #[arg(long, conflicts_with = "only")]
    real: bool,
}

/// The tests that need real agents: those in a module called `real` of a crate's integration tests.
const REAL: &str = "kind(test) & test(/(^|::)real::/)";

/// One step of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// The format check
    Fmt,
    /// The rules of the house
    Tidy,
    /// clippy, warnings are errors
    Lint,
    /// Unit, integration and documentation tests
    Tests,
    /// A sample of every harm: kills, power cuts, errors, editors
    #[cfg(target_os = "linux")]
    Torture,
}

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let started = Instant::now();
    #[cfg(target_os = "linux")]
    if args.real {
        println!("== real: tests with real agents");
        real::run().context("real failed; `cargo xtask test --real` shows it again")?;
        println!("== real: ok, {}", seconds(started.elapsed()));
        return Ok(());
    }
    let steps: Vec<Step> = Step::value_variants()
        .iter()
        .copied()
        .filter(|step| args.only.is_none_or(|only| only == *step))
        .collect();
    for step in &steps {
        let name = step.name();
        println!("== {name}: {}", step.about());
        let began = Instant::now();
        step.run()
            .with_context(|| format!("{name} failed; `cargo xtask test --only {name}` shows it again"))?;
        println!("== {name}: ok, {}", seconds(began.elapsed()));
    }
    let names: Vec<&str> = steps.iter().map(|step| step.name()).collect();
    println!("== all ok: {} in {}", names.join(", "), seconds(started.elapsed()));
    Ok(())
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Lint => "lint",
            Step::Tests => "tests",
            #[cfg(target_os = "linux")]
            Step::Torture => "torture",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Step::Fmt => "every file is formatted",
            Step::Tidy => "the rules of the house",
            Step::Lint => "clippy, warnings are errors",
            Step::Tests => "unit, integration and documentation tests; `cargo xtask test --real` does more",
            #[cfg(target_os = "linux")]
            Step::Torture => "a sample of every harm; `cargo xtask torture --full` does all of it",
        }
    }

    fn run(self) -> anyhow::Result<()> {
        match self {
            Step::Fmt => {
                needs_component("fmt", "rustfmt")?;
                cargo(&["fmt", "--all", "--check"])
                    .context("not every file is formatted: `cargo fmt --all` does it")
            }
            Step::Tidy => tidy::run(&tidy::Args {}),
            Step::Lint => {
                needs_component("clippy", "clippy")?;
                cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
            }
            Step::Tests if works("nextest") => {
                let tests = format!("not ({REAL})");
                cargo(&["nextest", "run", "--workspace", "--status-level", "slow", "-E", &tests])?;
                cargo(&["test", "--quiet", "--doc", "--workspace"])
            }
            Step::Tests => {
                cargo(&["test", "--quiet", "--workspace", "--lib", "--bins"])?;
                cargo(&["test", "--quiet", "--workspace", "--test", "*", "--", "--skip", "real::"])?;
                cargo(&["test", "--quiet", "--doc", "--workspace"])
            }
            #[cfg(target_os = "linux")]
            Step::Torture => crate::torture::run(&crate::torture::Args::sample()),
        }
    }
}

/// Fails, by name, when a part of the toolchain is not installed.
fn needs_component(subcommand: &str, component: &str) -> anyhow::Result<()> {
    if works(subcommand) {
        return Ok(());
    }
    bail!(
        "`cargo {subcommand}` does not work here: the component {component} is missing. \
         `rustup component add {component}` gets it; without rustup, install it from where cargo came from"
    )
}

/// Whether `cargo <subcommand>` is installed.
fn works(subcommand: &str) -> bool {
    workspace::cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The seed of the property tests, unless the environment names one: a red run is red again. Plain
/// `cargo test` takes a new one each time and so goes on exploring.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "2026");

/// Cargo, with the seed.
fn seeded() -> Command {
    let mut command: Command = workspace::cargo();
    if std::env::var_os(SEED.0).is_none() {
        command.env(SEED.0, SEED.1);
    }
    command
}

/// Runs cargo, its output going where ours goes.
fn cargo(args: &[&str]) -> anyhow::Result<()> {
    let mut command = seeded();
    let shown = format!("cargo {}", args.join(" "));
    let status = command.args(args).status().with_context(|| format!("`{shown}` could not be started"))?;
    if status.success() {
        return Ok(());
    }
    bail!("`{shown}` failed ({status})")
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_messages_are_the_names_that_only_takes() {
        for step in Step::value_variants() {
            assert_eq!(Step::from_str(step.name(), false), Ok(*step));
        }
    }
}
