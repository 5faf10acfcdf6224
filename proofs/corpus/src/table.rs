//! The summary: one line per group, the exceptions by reason, and the times.

use std::collections::BTreeMap;

use super::judged::{Judged, Outcome};
use super::targets;

/// Prints the statistics of `judged`.
pub(crate) fn print(judged: &[Judged]) {
    let mut groups: Vec<(&str, &str, Vec<&Judged>)> = Vec::new();
    for case in judged {
        match groups.iter_mut().find(|(set, group, _)| *set == case.set && *group == case.group) {
            Some((_, _, cases)) => cases.push(case),
            None => groups.push((&case.set, &case.group, vec![case])),
        }
    }
    println!(
        "{:<13} {:<30} {:>6} {:>8} {:>6} {:>6} {:>8} {:>8} {:>7} {:>7} {:>7} {:>6}  {:>8}  target",
        "set",
        "group",
        "cases",
        "correct",
        "(near)",
        "no-op",
        "refused",
        "differs",
        "review",
        "except",
        "damaged",
        "WRONG",
        "as asked"
    );
    for (set, group, cases) in &groups {
        print_group(set, group, cases);
    }
    print_spoilt_ends(judged);
    print_exceptions(judged);
    for budget in targets::budgets(judged) {
        println!("{budget}");
    }
    print_times(judged);
}

fn print_group(set: &str, group: &str, cases: &[&Judged]) {
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let near = cases.iter().filter(|case| case.near && case.outcome == Outcome::Correct).count();
    let good = cases.iter().filter(|case| case.good).count();
    println!(
        "{set:<13} {group:<30} {:>6} {:>8} {near:>6} {:>6} {:>8} {:>8} {:>7} {:>7} {:>7} {:>6}  {:>6.1} %  {}",
        cases.len(),
        count(Outcome::Correct),
        count(Outcome::NoOp),
        count(Outcome::Refused),
        count(Outcome::Differs),
        count(Outcome::Review),
        count(Outcome::Excepted),
        count(Outcome::Damaged),
        count(Outcome::Wrong),
        100.0 * good as f64 / cases.len() as f64,
        targets::words(cases),
    );
}

/// What is equal except for bytes that the other tool is known to spoil.
fn print_spoilt_ends(judged: &[Judged]) {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for case in judged {
        let count = counts.entry((&case.set, &case.group)).or_default();
        count.0 += usize::from(case.newline_only && case.outcome == Outcome::Correct);
        count.1 += usize::from(case.endings_only && case.outcome == Outcome::Differs);
    }
    println!();
    for ((set, group), (newline, endings)) in counts {
        if newline + endings > 0 {
            println!(
                "{set:<13} {group:<30} {newline} of the correct equal but for the final newline, {endings} of the differing equal but for line endings"
            );
        }
    }
}

fn print_exceptions(judged: &[Judged]) {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in judged {
        if let Some(reason) = case.exception {
            *reasons.entry((&case.set, reason)).or_default() += 1;
        }
    }
    println!();
    for ((set, reason), count) in reasons {
        println!("{set:<13} {count:>5} exceptions: {reason}");
    }
}

fn print_times(judged: &[Judged]) {
    let mut times: Vec<u64> = judged.iter().map(|case| case.micros).collect();
    times.sort_unstable();
    let Some(most) = times.last() else {
        return;
    };
    let at = |share: usize| times[(times.len() - 1) * share / 100] as f64 / 1_000.0;
    println!(
        "\n{} cases, {:.1} s of planning; per case p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
        times.len(),
        times.iter().sum::<u64>() as f64 / 1e6,
        at(50),
        at(99),
        *most as f64 / 1_000.0
    );
}
