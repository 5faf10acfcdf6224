//! `cargo xtask corpus DIR`: runs real cases through the engine and judges every result.
//!
//! The cases stay outside the repository; DIR holds them as JSON lines, gzipped or not, one file
//! per set. Everything goes through the public API of `relaycode-change`, so that what is measured
//! here is what a user gets. A case is *correct* (exactly the expected bytes), *refused* or
//! *WRONG*; the command fails if anything is wrong or a target is missed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod aider;
mod engine;
mod exceptions;
mod judged;
mod ledger;
mod mutations;
mod show;
mod suites;
mod table;
mod targets;
mod variants;

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;
use relaycode_proof_corpus::rows;
use serde::Deserialize;
use serde::de::IgnoredAny;

use judged::{Judged, Outcome};

/// Run real cases from DIR and print correct / refused / WRONG per set and per mutation.
#[derive(Parser)]
#[command(name = "cargo xtask corpus", bin_name = "cargo xtask corpus")]
struct Args {
    /// Directory with `*.jsonl.gz` or `*.jsonl` files, one per set.
    dir: PathBuf,
    /// Only this set (the file's name without its ending).
    #[arg(long)]
    set: Option<String>,
    /// Only this mutation, or group of a set.
    #[arg(long, alias = "group")]
    mutation: Option<String>,
    /// Only cases whose id contains this.
    #[arg(long)]
    id: Option<String>,
    /// Print the first N cases of the selection that are not correct, in detail.
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// With --show: correct cases and reviewed exceptions too.
    #[arg(long)]
    all: bool,
    /// Print the ids of all wrong cases.
    #[arg(long)]
    list_wrong: bool,
    /// Also write each mutation as the text of an answer, read it again, and judge that.
    #[arg(long)]
    through_text: bool,
    /// Make cases with less to go by from every real edit, and judge those instead.
    #[arg(long)]
    variants: bool,
    /// Print one JSON object per case, and nothing else.
    #[arg(long)]
    json: bool,
}

/// Fails if anything is wrong or a target is missed.
fn main() -> anyhow::Result<()> {
    let args = &Args::parse();
    let mut judged = Vec::new();
    let mut sets = rows::sets(&args.dir)?;
    sets.retain(|set| args.set.as_ref().is_none_or(|wanted| *wanted == set.name));
    if sets.is_empty() {
        bail!("{} holds no such set of cases", args.dir.display());
    }
    for set in &sets {
        judge_set(set, args, &mut judged).with_context(|| format!("set {}", set.name))?;
    }
    judged.retain(|case| args.selects(case));
    if args.json {
        for case in &judged {
            println!("{}", serde_json::to_string(case)?);
        }
    } else {
        print_report(&judged, args);
    }
    let wrong = judged.iter().filter(|c| c.outcome == Outcome::Wrong).count();
    let missed = targets::missed(&judged);
    if wrong > 0 || missed > 0 {
        bail!("{wrong} wrong, {missed} targets missed");
    }
    Ok(())
}

/// Tells the kinds of rows apart: a line is first read as this.
#[derive(Deserialize)]
struct Head {
    id: String,
    kind: Option<String>,
    format: Option<String>,
    mutation: Option<IgnoredAny>,
    operations: Option<IgnoredAny>,
    edits: Option<IgnoredAny>,
}

fn judge_set(set: &rows::Set, args: &Args, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    set.each_line(|line| {
        let head: Head = serde_json::from_str(line)?;
        if args.id.as_ref().is_some_and(|part| !head.id.contains(part.as_str())) {
            return Ok(());
        }
        if args.variants {
            let edits = match (head.mutation.is_some(), head.operations.is_some()) {
                (true, _) => mutations::real_edits(line)?,
                (_, true) => ledger::real_edits(line)?,
                _ => Vec::new(),
            };
            edits.iter().for_each(|edit| variants::judge(edit, judged));
            return Ok(());
        }
        match (head.mutation, head.kind.as_deref(), head.format.as_deref()) {
            (Some(_), _, _) => mutations::judge(&set.name, line, args.through_text, judged),
            (_, Some("transaction"), _) if head.operations.is_some() => {
                ledger::judge(&set.name, line, judged)
            }
            (_, Some("transaction"), _) => suites::judge_transaction(&set.name, line, judged),
            (_, Some("parse"), _) => aider::judge_parse(&set.name, line, judged),
            (_, Some("apply"), _) if head.edits.is_some() => aider::judge_apply(&set.name, line, judged),
            (_, Some("apply"), Some(_)) => suites::judge_apply(&set.name, line, judged),
            (_, Some("validate"), Some(_)) => suites::judge_validate(&set.name, line, judged),
            _ => bail!("{}: a kind of case that is not known here", head.id),
        }
    })
}

fn print_report(judged: &[Judged], args: &Args) {
    table::print(judged);
    if args.list_wrong {
        for case in judged.iter().filter(|c| c.outcome == Outcome::Wrong) {
            println!("WRONG {} · {} · {}", case.set, case.group, case.id);
        }
    }
    judged.iter().filter(|case| args.shows(case)).take(args.show).for_each(show::print);
}

impl Args {
    fn shows(&self, case: &Judged) -> bool {
        let failed = !case.good && case.exception.is_none() && case.outcome != Outcome::Damaged;
        failed || case.outcome == Outcome::Review || self.all
    }

    fn selects(&self, case: &Judged) -> bool {
        self.mutation.as_ref().is_none_or(|wanted| *wanted == case.group)
            && self.id.as_ref().is_none_or(|part| case.id.contains(part.as_str()))
    }
}
