//! `cargo xtask docs`: writes the reference pages that come from the code.

/// Write docs/reference from the code
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Writes every page that is out of date.
pub(crate) fn run(_args: &Args) -> anyhow::Result<()> {
    println!("docs: {}", crate::workspace::root().display());
    Ok(())
}
