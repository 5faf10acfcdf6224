//! `cargo xtask agents`: installs the real agents that tests use, pinned, into a cache outside the tree.

use anyhow::bail;
use relaycode_testkit::agents::{ALL, cache, find, install};

/// Install the agents of other projects that tests run against the scripted model server
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Install nothing; fail if one is missing
    #[arg(long)]
    pub(crate) check: bool,
}

/// Installs what is missing.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let cache = cache();
    let mut missing = Vec::new();
    for agent in ALL {
        let title = format!("{} {}", agent.name(), agent.version());
        if args.check {
            match find(*agent) {
                Ok(program) => println!("  {title} is at {}", program.display()),
                Err(absent) => {
                    println!("  {title}: {absent}");
                    missing.push(title);
                }
            }
            continue;
        }
        println!("  {title}: looking in {}", cache.display());
        match install(&cache, *agent) {
            Ok(true) => println!("  {title}: installed"),
            Ok(false) => println!("  {title}: was there"),
            Err(error) => {
                println!("  {title}: {error}");
                missing.push(title);
                continue;
            }
        }
        if let Err(absent) = find(*agent) {
            println!("  {title}: {absent}");
            missing.push(title);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("not there: {}; their tests will be skipped", missing.join(", "))
}
