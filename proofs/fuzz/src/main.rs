//! `cargo xtask fuzz`: spoils cases at random and checks that the engine keeps its laws.
//!
//! Runs on stable Rust, in one thread, determined by a seed. A failing case is minimised, written to
//! `target/fuzz/`, and the command that replays it is printed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod real;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use relaycode_proof_corpus::clip;
use relaycode_testkit::clock;
use relaycode_testkit::fuzz::{self, FuzzCase, LawViolation};

/// Fuzz the change engine: no panic, no slow case, no law broken.
#[derive(Parser)]
#[command(name = "cargo xtask fuzz", bin_name = "cargo xtask fuzz")]
struct Args {
    /// Stop after so many seconds of processor time.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed; the same seed and corpus give the same cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start at this case, to replay one that ended the whole process.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Directory of real cases (as for `corpus`) to use as seeds too.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Run one saved case instead.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["corpus", "seed"])]
    replay: Option<PathBuf>,
    /// Go on after a failure, up to so many.
    #[arg(long, default_value_t = 1)]
    failures: usize,
}

/// Where failing cases are written.
const FAILURES: &str = "target/fuzz";
/// How often progress is printed.
const PROGRESS: Duration = Duration::from_secs(10);

/// Fails if a law is broken.
fn main() -> anyhow::Result<()> {
    let args = &Args::parse();
    if let Some(file) = &args.replay {
        return replay(file);
    }
    let mut seeds = fuzz::built_in();
    if let Some(dir) = &args.corpus {
        seeds.extend(real::seeds(dir)?);
    }
    println!("{} seeds, seed {}", seeds.len(), args.seed);
    quiet_panics();
    let budget = Duration::from_secs(args.seconds);
    let start = clock::processor_time();
    let mut shown = Instant::now();
    let mut found = 0;
    let mut index = args.from;
    let mut slowest = (Duration::ZERO, 0);
    loop {
        let used = clock::processor_time().saturating_sub(start);
        if used >= budget {
            break;
        }
        if shown.elapsed() > PROGRESS {
            println!("case {index}, {:.0} s of processor time", used.as_secs_f64());
            shown = Instant::now();
        }
        let case = fuzz::case(&seeds, args.seed, index);
        let began = Instant::now();
        if let Err(broken) = fuzz::check(&case) {
            report(&case, &broken, args.seed, index)?;
            found += 1;
            if found >= args.failures {
                break;
            }
        }
        slowest = slowest.max((began.elapsed(), index));
        index += 1;
    }
    println!(
        "{} cases, {:.1} s of processor time, slowest {} ms (case {}), {found} failures",
        index - args.from,
        clock::processor_time().saturating_sub(start).as_secs_f64(),
        slowest.0.as_millis(),
        slowest.1,
    );
    if found > 0 {
        bail!("{found} cases break a law; they are in {FAILURES}/");
    }
    Ok(())
}

fn report(case: &FuzzCase, broken: &LawViolation, seed: u64, index: u64) -> anyhow::Result<()> {
    let small = fuzz::minimise(case, broken.law);
    fs::create_dir_all(FAILURES)?;
    let file = Path::new(FAILURES).join(format!("{}-{seed}-{index}.json", broken.law));
    fs::write(&file, serde_json::to_string_pretty(&small)?)?;
    let what = fuzz::check(&small).err().map_or_else(|| broken.what.clone(), |now| now.what);
    println!("case {index} breaks `{}`: {}", broken.law, clip(&what, 2_000));
    println!("replay: cargo xtask fuzz --replay {}", file.display());
    Ok(())
}

fn replay(file: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let case: FuzzCase = serde_json::from_str(&text)?;
    println!("response:\n{}\n", case.response);
    for (path, bytes) in &case.files {
        println!("{path}:\n{:?}\n", String::from_utf8_lossy(bytes));
    }
    match fuzz::check(&case) {
        Ok(()) => {
            println!("every law holds");
            Ok(())
        }
        Err(broken) => bail!("breaks `{}`: {}", broken.law, broken.what),
    }
}

/// Panics are caught and reported with their case; the default message would only repeat them.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}
