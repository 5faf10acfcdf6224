//! `cargo xtask agents`: installs the real agents that tests use, pinned, into a cache outside the tree.

use std::process::ExitCode;

use clap::Parser;

/// Install the agents of other projects that tests run against the scripted model server
#[derive(Parser)]
#[command(name = "cargo xtask agents", bin_name = "cargo xtask agents")]
struct Args {
    /// Install nothing; fail if one is missing
    #[arg(long)]
    check: bool,
}

/// Installs what is missing.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]
fn main() -> ExitCode {
    use relaycode_testkit::agents::{ALL, cache, find, install};

    let args = Args::parse();
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
        return ExitCode::SUCCESS;
    }
    eprintln!("not there: {}; their tests will be skipped", missing.join(", "));
    ExitCode::FAILURE
}

/// No test uses them on other systems.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    Args::parse();
    ExitCode::FAILURE
}
