//! `cargo xtask test`: what CI runs and what a newcomer runs. Debug builds only. Tests that need real agents are left to
//! `cargo xtask test --real`, which CI runs after it.
//!
//! The steps stand in the order in which they are cheap. The first that fails ends the run and says
//! how to see it again; what is missing on this machine is named, never skipped, but for the check for macOS, which
//! not every machine can do: it says so.

mod macos;
pub(crate) mod real;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{programs, tidy, workspace};
use anyhow::{Context, bail};

/// The tests that need real agents: those in a module called `real` of a crate's integration tests.
const REAL: &str = "kind(test) & test(/(^|::)real::/)";

/// One step of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The format check
    Fmt,
    /// The rules of the house
    Tidy,
    /// clippy, warnings are errors
    Lint,
    /// The binary is checked for macOS, too
    Macos,
    /// Everything that the next steps run
    Build,
    /// The pages that come from the code are fresh
    Docs,
    /// Unit, integration and documentation tests
    Tests,
    /// A sample of every harm: kills, power cuts, errors, editors
    #[cfg(target_os = "linux")]
    Torture,
}

/// Every step, in the order in which they run.
const STEPS: &[Step] = &[
    Step::Fmt,
    Step::Tidy,
    Step::Lint,
    Step::Macos,
    Step::Build,
    Step::Docs,
    Step::Tests,
    #[cfg(target_os = "linux")]
    Step::Torture,
];

/// Runs the steps in order, or the one that is named, and stops at the first that fails.
pub(crate) fn run(only: Option<&str>) -> anyhow::Result<()> {
    let started = Instant::now();
    let steps: Vec<Step> =
        STEPS.iter().copied().filter(|step| only.is_none_or(|only| only == step.name())).collect();
    if steps.is_empty() {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name()).collect();
        bail!("there is no such step; there are {}", names.join(", "));
    }
    let mut times = Vec::new();
    for step in &steps {
        let name = step.name();
        println!("== {name}: {}", step.about());
        let began = Instant::now();
        step.run()
            .with_context(|| format!("{name} failed; `cargo xtask test --only {name}` shows it again"))?;
        times.push(format!("{name} {}", seconds(began.elapsed())));
        println!("== {name}: ok, {}", seconds(began.elapsed()));
    }
    println!("== all ok in {}: {}", seconds(started.elapsed()), times.join(", "));
    Ok(())
}

/// Builds everything in one go. One package alone would be built with other features of what it depends on, and so
/// would be most of what the tests use, a second time.
fn build() -> anyhow::Result<()> {
    // Without xtask: this program cannot be replaced everywhere while it runs.
    cargo(&["build", "--workspace", "--exclude", "xtask", "--all-targets"])
}

/// Runs the program of a command, and relay with it, as [`build`] built them.
fn built(command: &str, arguments: &[&str]) -> anyhow::Result<()> {
    build()?;
    programs::succeed_built(command, arguments)
}

/// Whether `--only` knows it.
pub(crate) fn is_step(name: &str) -> bool {
    STEPS.iter().any(|step| step.name() == name)
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Lint => "lint",
            Step::Macos => "macos",
            Step::Build => "build",
            Step::Docs => "docs",
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
            Step::Macos => "the binary compiles for macOS; nothing is run there",
            Step::Build => "relay, the proofs and all tests, once for all steps",
            Step::Docs => "the pages that come from the code say what it says",
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
            Step::Tidy => tidy::run(),
            Step::Lint => {
                needs_component("clippy", "clippy")?;
                cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
            }
            Step::Macos => {
                needs_component("clippy", "clippy")?;
                macos::run()
            }
            Step::Build => build(),
            Step::Docs => built("docs", &["--check"]),
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
            Step::Torture => built("torture", &["--quick"]),
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
    run_cargo(seeded(), args)
}

fn run_cargo(mut command: Command, args: &[&str]) -> anyhow::Result<()> {
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
