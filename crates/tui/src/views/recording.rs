//! A recorded command: what was backed up before it, and what became of its changes.
//!
//! ```text
//! backed up 812 files, 14.2 MB in 0.2 s
//! ! not backed up: target/ (2100.3 MB) is ignored by git, and large; what changes there is named, not undoable
//! ✓ recorded 3f9c1e2a · 3 files +24 −5 · `relay revert 3f9c` undoes it
//! ```

use std::time::Duration;

use relaycode_door::{Adoption, ProtectedChange, ProtectedFile, SetAsideReport};
use relaycode_ledger::record::{FileRecord, Record};
use relaycode_ledger::recording::Omission;
use relaycode_ledger::{SecureReport, TxId};

use crate::{Glyph, LIST_LIMIT, OutputStyle, PaintRole, human_size, line_counts, outcome, pluralize};

/// Before the command runs.
pub fn secured_line(secured: &SecureReport, took: Duration, style: &OutputStyle) -> String {
    let bytes = human_size(usize::try_from(secured.bytes).unwrap_or(usize::MAX));
    let line =
        format!("backed up {}, {bytes} in {:.1} s", pluralize(secured.files, "file"), took.as_secs_f64());
    let mut out = format!("{}\n", style.paint(PaintRole::Dim, &line));
    if let Some(why) = &secured.within_reach_reason {
        let said = format!("the backup is inside the project itself ({why})");
        out += &outcome::warning_line(style, &style.safe(&said));
        out += &outcome::indented_line(style, "a command that removes .relaycode removes it, too");
    }
    for lost in secured.unsecured.iter().take(LIST_LIMIT) {
        let said = format!(
            "the command is about to destroy {}, which cannot be backed up: it {}",
            lost.path, lost.reason
        );
        out += &outcome::warning_line(style, &style.safe(&said));
    }
    out += &more_lines(secured.unsecured.len(), style);
    if !secured.omissions.is_empty() {
        let mut most: Vec<&Omission> = secured.omissions.iter().collect();
        most.sort_by_key(|left| std::cmp::Reverse(left.bytes));
        out += &listed("not backed up: ", &most, style);
        out += &outcome::indented_line(style, "changes there are listed afterwards, but cannot be undone");
    }
    out
}

/// After the command; `line` is the command.
pub fn adoption_report(adoption: &Adoption, line: &str, style: &OutputStyle) -> String {
    let mut out = match &adoption.committed {
        Some(committed) => {
            let record = &committed.record;
            let id = record.uuid.short();
            let sum = |count: fn(&FileRecord) -> usize| {
                record.result.iter().map(count).fold(0, usize::saturating_add)
            };
            let counts = line_counts(style, sum(|file| file.added), sum(|file| file.removed));
            let blank = if counts.cells == 0 { "" } else { " " };
            let (dot, files) = (style.glyph(Glyph::Dot), changed_things(record));
            let undo = format!("`relay revert {}` undoes it", id.chars().take(4).collect::<String>());
            let said = format!("recorded {id} {dot} {files}{blank}{} {dot} {undo}", counts.text);
            outcome::success_line(style, &said)
        }
        None if adoption.irreversible.is_empty() => {
            let said = format!("nothing changed while `{}` ran: nothing to record", style.safe(line));
            outcome::success_line(style, &said)
        }
        None => outcome::warning_line(style, "nothing was recorded: what changed cannot be undone by relay"),
    };
    if let Some((before, now)) = &adoption.head_change {
        let (now, before) = (outcome::head_label(now), outcome::head_label(before));
        let said = format!(
            "git has {now} checked out now, and had {before}: a revert takes files back, not commits"
        );
        out += &outcome::warning_line(style, &style.safe(&said));
    }
    if !adoption.git_changes.is_empty() {
        let said = format!("git: {}", adoption.git_changes.join(", "));
        out += &outcome::indented_line(style, &style.safe(&said));
    }
    let records = pluralize(adoption.history.restored, "earlier change");
    let are = if adoption.history.restored == 1 { "is" } else { "are" };
    if adoption.history.removed {
        out += &outcome::warning_line(
            style,
            &format!("it removed .relaycode, which is back now, with {records}"),
        );
    } else if adoption.history.restored > 0 {
        out += &outcome::warning_line(
            style,
            &format!("it removed {records} from .relaycode, which {are} back now"),
        );
    }
    // What was moved away is told with why it is protected.
    let is_moved = |path: &str| adoption.set_aside.moved.iter().any(|(file, _)| file.path == path);
    let left: Vec<&Omission> = adoption.irreversible.iter().filter(|left| !is_moved(&left.path)).collect();
    out + &listed("changed while it ran, not undoable: ", &left, style)
}

/// How many files a record has; of one that is about directories alone, how many of these.
fn changed_things(record: &Record) -> String {
    let Record { made_directories, removed_directories, directory_modes, .. } = record;
    match made_directories.len() + removed_directories.len() + directory_modes.len() {
        directories if record.result.is_empty() && directories > 0 => match directories {
            1 => "1 directory".to_string(),
            several => format!("{several} directories"),
        },
        _ => pluralize(record.result.len(), "file"),
    }
}

fn listed(what: &str, left: &[&Omission], style: &OutputStyle) -> String {
    let mut out = String::new();
    for left in left.iter().take(LIST_LIMIT) {
        let bytes = usize::try_from(left.bytes).unwrap_or(usize::MAX);
        let many = match left.files {
            0 | 1 if bytes < 1_000_000 => String::new(),
            0 | 1 => format!(" ({})", human_size(bytes)),
            files if bytes == 0 => format!(" ({})", pluralize(files, "file")),
            files => format!(" ({}, {})", pluralize(files, "file"), human_size(bytes)),
        };
        let (path, why) = (style.path_in(&left.path, 4), style.safe(&left.reason));
        out += &outcome::warning_line(style, &format!("{what}{path}{many} {why}"));
    }
    out + &more_lines(left.len(), style)
}

/// How many are beyond those that are listed.
fn more_lines(all: usize, style: &OutputStyle) -> String {
    match all.checked_sub(LIST_LIMIT) {
        None | Some(0) => String::new(),
        Some(more) => outcome::indented_line(style, &format!("and {more} more; `--json` lists them all")),
    }
}

/// A protected file that is as before the command again.
pub fn set_aside_line(file: &ProtectedFile, style: &OutputStyle) -> String {
    let ProtectedFile { path, why, change } = file;
    let said = match change {
        ProtectedChange::Made => format!("set aside {path}, which the command made: it {why}"),
        ProtectedChange::Changed => {
            format!("set aside what the command wrote into {path}, which {why}: it is as before")
        }
        ProtectedChange::Removed => format!("put back {path}, which the command removed: it {why}"),
    };
    outcome::warning_line(style, &style.safe(&said))
}

/// How to get what was set aside by that change.
pub fn keep_line(by: TxId, style: &OutputStyle) -> String {
    outcome::indented_line(style, &format!("`relay revert {}` brings the command's version back", by.short()))
}

/// What stood at protected names and was moved away, and protected files that are as the command left them.
pub fn not_set_aside(report: &SetAsideReport, style: &OutputStyle) -> String {
    let mut out = String::new();
    for (file, place) in report.moved.iter().take(LIST_LIMIT) {
        let said =
            format!("moved {}, which {}, away: no record can hold it; it is in {place}", file.path, file.why);
        out += &outcome::warning_line(style, &style.safe(&said));
    }
    out += &more_lines(report.moved.len(), style);
    for (file, why) in report.failed.iter().take(LIST_LIMIT) {
        let did = match file.change {
            ProtectedChange::Made => "made",
            ProtectedChange::Changed => "changed",
            ProtectedChange::Removed => "removed",
        };
        let said = format!("the command {did} {}, which {}, and that stands: {why}", file.path, file.why);
        out += &outcome::warning_line(style, &style.safe(&said));
        out += &outcome::indented_line(style, "look at it before you run git or open the project");
    }
    out + &more_lines(report.failed.len(), style)
}

/// What was set aside after a run that was cut short, and how to get it.
pub fn set_aside_later(report: &SetAsideReport, style: &OutputStyle) -> String {
    let lines = |(file, by): &(ProtectedFile, TxId)| set_aside_line(file, style) + &keep_line(*by, style);
    report.files.iter().map(lines).collect::<String>() + &not_set_aside(report, style)
}
