//! A command that is recorded: what was secured before it began, and what became of what it changed.
//!
//! ```text
//! secured 812 files, 14.2 MB in 0.2 s
//! ! not secured: target/ (2100.3 MB) is ignored by git, and large; what changes there is named, not undoable
//! ✓ recorded 3f9c1e2a · 3 files +24 −5 · `relay revert 3f9c` undoes it
//! ```

use std::time::Duration;

use relaycode_door::Adoption;
use relaycode_ledger::Secured;
use relaycode_ledger::recording::Left;

use super::{LISTED, counts, number, outcome, size};
use crate::look::{Look, Paint, Sign};

/// Before the command begins.
pub fn secured(secured: &Secured, took: Duration, look: &Look) -> String {
    let bytes = size(usize::try_from(secured.bytes).unwrap_or(usize::MAX));
    let line = format!("secured {}, {bytes} in {:.1} s", number(secured.files, "file"), took.as_secs_f64());
    let mut out = format!("{}\n", look.paint(Paint::Dim, &line));
    if let Some(why) = &secured.within_reach {
        let said = format!("what was secured lies in the project itself ({why})");
        out += &outcome::remark(look, &look.safe(&said));
        out += &outcome::aside(look, "a command that removes .relaycode takes it along");
    }
    if !secured.left.is_empty() {
        let mut most: Vec<&Left> = secured.left.iter().collect();
        most.sort_by_key(|left| std::cmp::Reverse(left.bytes));
        out += &listed("not secured: ", &most, look);
        out += &outcome::aside(look, "what changes there is named afterwards, and cannot be undone");
    }
    out
}

/// After the command has ended; `line` is what was run.
pub fn adopted(adoption: &Adoption, line: &str, look: &Look) -> String {
    let mut out = match &adoption.committed {
        Some(committed) => {
            let record = &committed.record;
            let id = record.uuid.short();
            let sum = |count: fn(&relaycode_ledger::record::FileRecord) -> usize| {
                record.result.iter().map(count).fold(0, usize::saturating_add)
            };
            let counts = counts(look, sum(|file| file.added), sum(|file| file.removed));
            let blank = if counts.cells == 0 { "" } else { " " };
            let (dot, files) = (look.sign(Sign::Dot), number(record.result.len(), "file"));
            let undo = format!("`relay revert {}` undoes it", id.chars().take(4).collect::<String>());
            outcome::done(look, &format!("recorded {id} {dot} {files}{blank}{} {dot} {undo}", counts.text))
        }
        None if adoption.left.is_empty() => outcome::done(
            look,
            &format!("nothing changed while `{}` ran: nothing to record", look.safe(line)),
        ),
        None => outcome::remark(look, "nothing was recorded: what changed cannot be undone by relay"),
    };
    if let Some((before, now)) = &adoption.moved {
        let said = format!(
            "git has {} checked out now, and had {}: a revert takes files back, not commits",
            outcome::place(now),
            outcome::place(before)
        );
        out += &outcome::remark(look, &look.safe(&said));
    }
    if adoption.history.removed {
        let records = number(adoption.history.restored, "earlier record");
        out += &outcome::remark(look, &format!("it removed .relaycode: that is back, with {records}"));
    } else if adoption.history.restored > 0 {
        let records = number(adoption.history.restored, "earlier record");
        out += &outcome::remark(look, &format!("it removed {records} from .relaycode: back again"));
    }
    let left: Vec<&Left> = adoption.left.iter().collect();
    out + &listed("changed while it ran, not undoable: ", &left, look)
}

fn listed(what: &str, left: &[&Left], look: &Look) -> String {
    let mut out = String::new();
    for left in left.iter().take(LISTED) {
        let bytes = usize::try_from(left.bytes).unwrap_or(usize::MAX);
        let many = match left.files {
            0 | 1 if bytes < 1_000_000 => String::new(),
            0 | 1 => format!(" ({})", size(bytes)),
            files if bytes == 0 => format!(" ({})", number(files, "file")),
            files => format!(" ({}, {})", number(files, "file"), size(bytes)),
        };
        out += &outcome::remark(
            look,
            &format!("{what}{}{many} {}", look.path_in(&left.path, 4), look.safe(&left.why)),
        );
    }
    if left.len() > LISTED {
        out += &outcome::aside(look, &format!("and {} more; `--json` lists them all", left.len() - LISTED));
    }
    out
}
