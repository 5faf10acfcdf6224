//! One line for what was done, and one for what can be done next.
//!
//! ```text
//! ✓ applied 3f9c1e2a · 3 files · `relay revert` undoes it
//! ```

use super::{LISTED, number};
use crate::head::Head;
use crate::terminal::{Look, Paint, Sign};
use relaycode_ledger::revert::{KeptEdits, Reversal};

/// A change was applied.
pub(crate) fn applied(id: &str, files: usize, look: &Look) -> String {
    let dot = look.sign(Sign::Dot);
    done(look, &format!("applied {id} {dot} {} {dot} `relay revert` undoes it", number(files, "file")))
}

/// `✓ …`
pub(crate) fn done(look: &Look, text: &str) -> String {
    let sign = look.paint(Paint::Good, look.sign(Sign::Done));
    let wrapped = look.wrap(&format!("  {text}"), 2);
    format!("{sign} {}\n", wrapped.trim_start())
}

/// `! …`
pub(crate) fn remark(look: &Look, text: &str) -> String {
    let sign = look.paint(Paint::Look, "!");
    let wrapped = look.wrap(&format!("  {text}"), 2);
    format!("{sign} {}\n", wrapped.trim_start())
}

/// A change was taken back.
pub(crate) fn reverted(name: &str, reversal: &Reversal, look: &Look) -> String {
    let dot = look.sign(Sign::Dot);
    let kept: Vec<String> = reversal
        .kept
        .iter()
        .take(LISTED)
        .map(|KeptEdits { path, edits }| {
            format!(" {dot} {} also has {} of yours: kept", look.safe(path), number(*edits, "later edit"))
        })
        .collect();
    let mut out = done(look, &format!("reverted {}{}", look.safe(name), kept.concat()));
    for path in reversal.conflicted.iter().take(LISTED) {
        out += &remark(look, &format!("{} holds both sides between conflict markers", look.safe(path)));
    }
    for note in reversal.notes.iter().take(LISTED) {
        out += &(look.wrap(&format!("  {}", look.safe(note)), 2) + "\n");
    }
    out += "  `relay revert` again brings it back\n";
    out
}

/// What was checked out: `main at 9e101c6`.
pub(crate) fn place(head: &Head) -> String {
    let short = |commit: &String| commit.chars().take(7).collect::<String>();
    match (&head.branch, head.commit.as_ref().map(short)) {
        (Some(branch), Some(commit)) => format!("{branch} at {commit}"),
        (Some(branch), None) => format!("{branch} without a commit"),
        (None, Some(commit)) => commit,
        (None, None) => "no branch".to_string(),
    }
}
