//! Details of a single case for a person: the account, and a small diff of two texts.

use relaycode_change::plan::HunkReport;
use relaycode_proof_corpus::clip;

use super::judged::Judged;

/// Most differing lines shown of each side.
const DIFFERENCE_LINES: usize = 12;
/// Most characters of a line.
const LINE_CHARS: usize = 140;

pub(crate) fn print(case: &Judged) {
    println!(
        "\n── {} · {} · {}\n   {:?}{}{}{}",
        case.set,
        case.group,
        case.id,
        case.outcome,
        if case.good { "" } else { ", not what is asked for" },
        if case.near { ", near" } else { "" },
        case.exception.map_or(String::new(), |reason| format!(", exception: {reason}")),
    );
    for line in &case.account {
        println!("{line}");
    }
}

/// One line per hunk.
pub(crate) fn report(hunk: &HunkReport) -> String {
    let mut text = format!("{:?} by {} at line {}", hunk.state, hunk.rung, hunk.used);
    if let Some(how) = hunk.chosen_by {
        text += &format!(", chosen by {how}");
    }
    if let Some(claimed) = hunk.claimed {
        text += &format!(", claimed {claimed}");
    }
    if let Some(second) = hunk.runner_up {
        text += &format!(", next {} ({:.2})", second.line, second.score);
    }
    for difference in hunk.differences.iter().take(4) {
        text += &format!(
            "\n      line {}: file {:?} · answer {:?}",
            difference.line,
            clip(&difference.file, 80),
            clip(&difference.answer, 80),
        );
    }
    text
}

/// The lines in which `got` differs from `expected`, without their context.
pub(crate) fn difference(expected: &[u8], got: &[u8]) -> Vec<String> {
    let expected = String::from_utf8_lossy(expected);
    let got = String::from_utf8_lossy(got);
    let left: Vec<&str> = expected.split_inclusive('\n').collect();
    let right: Vec<&str> = got.split_inclusive('\n').collect();
    let prefix = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let suffix =
        left[prefix..].iter().rev().zip(right[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    let mut shown = vec![format!(
        "  from line {}: expected {} lines (-), got {} (+)",
        prefix + 1,
        left.len() - prefix - suffix,
        right.len() - prefix - suffix
    )];
    for (sign, lines) in
        [('-', &left[prefix..left.len() - suffix]), ('+', &right[prefix..right.len() - suffix])]
    {
        for line in lines.iter().take(DIFFERENCE_LINES) {
            shown.push(format!("  {sign} {}", clip(&format!("{line:?}"), LINE_CHARS)));
        }
        if lines.len() > DIFFERENCE_LINES {
            shown.push(format!("  {sign} … {} more", lines.len() - DIFFERENCE_LINES));
        }
    }
    shown
}
