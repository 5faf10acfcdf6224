//! What an interrupted run left behind, and what was done about it.
//!
//! ```text
//! ! an earlier run stopped in the middle of 3f9c1e2a: 2 of 3 files were put back
//!   src/cart.ts was changed meanwhile, not by relay: left alone
//! ```

use relaycode_ledger::error::UnfinishedPutBack;
use relaycode_ledger::{RecoveredTransaction, RecoveryOutcome};

use crate::{LIST_LIMIT, OutputStyle, more_line, outcome, pluralize};

/// A few lines per transaction; nothing if there is none.
pub fn text(recovered: &[RecoveredTransaction], style: &OutputStyle) -> String {
    let mut out: String = recovered.iter().map(|one| entry(one, style)).collect();
    if recovered.iter().any(|one| matches!(one.outcome, RecoveryOutcome::NeedsDecision(_))) {
        let next = "  next: `relay recover --keep` (stay with it) or `relay recover --restore` (its bytes stay in .relaycode)";
        out += &(style.wrap(next, 8) + "\n");
    }
    if recovered.iter().any(|one| matches!(one.outcome, RecoveryOutcome::Original)) {
        let next = "  next: `relay recover --keep` keeps the files as they are and sets it aside";
        out += &(style.wrap(next, 8) + "\n");
    }
    out
}

/// What every command says that changes something.
pub fn remarks(recovered: &[RecoveredTransaction], style: &OutputStyle) -> String {
    let mut out = text(recovered, style);
    if recovered.iter().any(|one| matches!(one.outcome, RecoveryOutcome::Foreign(_))) {
        out += &(style.wrap("  next: `relay recover` asks what to do with it", 8) + "\n");
    }
    out
}

fn entry(recovered: &RecoveredTransaction, style: &OutputStyle) -> String {
    let id = recovered.id.short();
    let what = match &recovered.outcome {
        RecoveryOutcome::Committed => format!("an earlier run stopped at the end of {id}: it is complete"),
        RecoveryOutcome::PutBack { kept, .. } => {
            let kept = kept.as_ref().map(|kept| {
                format!("; what the check or somebody else had written is kept in {}", style.safe(kept))
            });
            let kept = kept.unwrap_or_default();
            format!("an earlier run stopped in the middle of {id}: everything was put back{kept}")
        }
        RecoveryOutcome::Kept { kept } => {
            format!("{id} stays as it is now; what it had displaced is kept in {}", style.safe(kept))
        }
        RecoveryOutcome::Original => {
            format!("{id} looks like a change that the original tool left undecided; relay leaves it alone")
        }
        RecoveryOutcome::Foreign(_) => {
            let file = format!(".relaycode/{}.pending.yml", recovered.id);
            format!(
                "{file} was not written by your relay: it may have come with the repository. relay did not act on it"
            )
        }
        RecoveryOutcome::SetAside { kept } => {
            format!("{id} was set aside without being acted on: it is in {}", style.safe(kept))
        }
        RecoveryOutcome::RecordingAdopted { files: 0, .. } => {
            format!("the recording {id} was cut short: nothing had changed")
        }
        RecoveryOutcome::RecordingAdopted { files, left } => {
            let left = match left.len() {
                0 => String::new(),
                count => format!("; {} more cannot be undone: `relay show {id}`", pluralize(count, "change")),
            };
            let files = pluralize(*files, "changed file");
            format!("the recording {id} was cut short: {files} recorded, `relay revert {id}` undoes it{left}")
        }
        RecoveryOutcome::NeedsDecision(unfinished) => {
            let back = unfinished.restored.len();
            let all = back + unfinished.left.len();
            let were = if back == 1 { "was" } else { "were" };
            let files = pluralize(all, "file");
            format!("an earlier run stopped in the middle of {id}: {back} of {files} {were} put back")
        }
    };
    let mut out = outcome::warning_line(style, &what);
    if let RecoveryOutcome::NeedsDecision(unfinished) = &recovered.outcome {
        out += &unfinished_files(unfinished, style);
    }
    if let RecoveryOutcome::Foreign(journal) = &recovered.outcome {
        for file in journal.files.iter().take(LIST_LIMIT) {
            out += &format!("    {}\n", style.path_in(file, 4));
        }
        out += &more_line(style, "  ", journal.files.len());
    }
    out
}

fn unfinished_files(unfinished: &UnfinishedPutBack, style: &OutputStyle) -> String {
    let mut out = String::new();
    for file in unfinished.left.iter().take(LIST_LIMIT) {
        let kept = file.kept.as_ref().map(|kept| format!("; its other bytes are in {kept}"));
        let line = format!("{}: left alone{}", file.reason, kept.unwrap_or_default());
        let path = style.path_in(&file.path, 4);
        out += &(style.wrap(&format!("  {path} {}", style.safe(&line)), 4) + "\n");
    }
    out + &more_line(style, "  ", unfinished.left.len())
}
