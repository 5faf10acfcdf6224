//! The ledger's errors as failures: for each the exit code, the state of the project, and the next
//! step.

use std::io;
use std::path::Path;

use relaycode_durable::{is_link, is_not_regular};
use relaycode_ledger::disk::state_dir::STATE_DIR_NAME;
use relaycode_ledger::error::{
    ConflictRegion, FileConflict, LedgerRefusal, LedgerRule, UnfinishedPutBack, UnrestoredFile,
};
use relaycode_ledger::{LedgerError, TxId};
use relaycode_tui::pluralize;

use super::{CommandFailure, Exit, FailureDetail, FailureRegion, ProjectState};

impl From<LedgerError> for CommandFailure {
    fn from(error: LedgerError) -> CommandFailure {
        let message = error.to_string();
        match error {
            LedgerError::Refused(refusals) => refusal_failure(&refusals),
            LedgerError::AlreadyProcessed { id, other_content } => {
                let id = id.short();
                let hint = match other_content {
                    true => {
                        let show = format!("a different answer has this id: `relay show {id}`");
                        format!("{show}; give this one a new id")
                    }
                    false => format!("`relay show {id}` says what it changed"),
                };
                CommandFailure::new(Exit::AlreadyProcessed, "alreadyProcessed", message)
                    .hint(hint)
                    .unchanged()
            }
            LedgerError::Conflict { path, kept } => {
                let hint = match kept {
                    None => "run the command again: it then starts from what was saved",
                    Some(_) => {
                        "the check ran meanwhile, so it may have been one of its commands; compare the two versions, then run the command again"
                    }
                };
                CommandFailure::new(Exit::NeedsYou, "conflict", message)
                    .hint(hint)
                    .place(path)
                    .with_state(ProjectState::PutBack)
            }
            LedgerError::Interrupted => CommandFailure::new(Exit::Interrupted, "interrupted", message)
                .hint("run the command again when you are ready")
                .with_state(ProjectState::PutBack),
            LedgerError::NeedsDecision(unfinished) => unfinished_failure(*unfinished),
            LedgerError::PutBackIncomplete { .. } => CommandFailure::new(Exit::NeedsYou, "halfWay", message)
                .hint("next: fix what failed, then `relay recover` puts the rest back")
                .with_state(ProjectState::HalfWay),
            LedgerError::RecordingActive { .. } => CommandFailure::new(Exit::Refused, "recording", message)
                .hint("two at once would mix up their changes: try again when it is done")
                .unchanged(),
            LedgerError::RootGone { path, .. } => {
                CommandFailure::new(Exit::Unexpected, "rootGone", message).place(path)
            }
            LedgerError::TransactionActive { .. } => {
                CommandFailure::new(Exit::Refused, "open", message).hint("record when it is done").unchanged()
            }
            LedgerError::Busy => CommandFailure::new(Exit::Unexpected, "busy", message)
                .hint("try again when it is done")
                .unchanged(),
            LedgerError::UnknownTransaction { .. } => CommandFailure::new(Exit::Usage, "unknown", message)
                .hint("use a number or id from `relay log`; the first four characters of an id are enough"),
            LedgerError::Ambiguous { candidates, .. } => {
                let ids: Vec<String> =
                    candidates.iter().take(MAX_CANDIDATES).map(ToString::to_string).collect();
                CommandFailure::new(Exit::Usage, "ambiguous", message)
                    .hint(format!("use more of the id: {}", ids.join(", ")))
            }
            LedgerError::Damaged { path, .. } => CommandFailure::new(Exit::Unexpected, "damaged", message)
                .hint(if path.ends_with(JOURNAL_SUFFIX) { DAMAGED_JOURNAL_HINT } else { DAMAGED_HINT })
                .place(path)
                .unchanged(),
            LedgerError::NewerFormat { path, .. } => {
                let hint = if path.ends_with(JOURNAL_SUFFIX) {
                    NEWER_JOURNAL_HINT
                } else {
                    "use the newer relay here"
                };
                CommandFailure::new(Exit::Usage, "newer", message).hint(hint).place(path)
            }
            LedgerError::NotRevertible { id, .. } => CommandFailure::refused("notRevertible", message)
                .hint(format!("`relay show {} --diff` shows what relay still knows about it", id.short())),
            LedgerError::ForeignRecords(ids) => {
                let name = ids.first().map(TxId::short).unwrap_or_default();
                CommandFailure::new(Exit::NobodyToAsk, "foreignChange", message)
                    .hint(format!(
                        "look at it with `relay show {name} --diff`; `relay revert {name}` asks you once"
                    ))
                    .unchanged()
            }
            LedgerError::Undecided { path, .. } => CommandFailure::new(Exit::NeedsYou, "undecided", message)
                .hint("`relay recover` shows it and asks")
                .place(path)
                .unchanged(),
            LedgerError::RevertConflict(conflicts) => revert_conflict_failure(message, conflicts),
            LedgerError::Io { path, source, put_back, .. } => CommandFailure::unexpected(message)
                .hint(match source.kind() {
                    io::ErrorKind::NotADirectory if path == STATE_DIR_NAME => STATE_DIR_HINT,
                    _ if is_link(&source) => LINK_HINT,
                    _ if Path::new(&path).starts_with(STATE_DIR_NAME) && is_another_kind(&source) => {
                        "move it away: relay makes it anew"
                    }
                    _ => "check the disk and the permissions, then try again",
                })
                .place(path)
                .with_state(ProjectState::after(put_back)),
        }
    }
}

const STATE_DIR_HINT: &str = "move it away: relay keeps this project's history in a directory of that name";
const LINK_HINT: &str =
    "relay does not follow links here: replace it with what it points to, or remove it to start anew";
/// How the name of a journal ends.
const JOURNAL_SUFFIX: &str = ".pending.yml";
// Moved away by hand, it would leave the files that it displaced to nobody.
const DAMAGED_JOURNAL_HINT: &str = "an earlier run may have stopped in the middle, or the file came with the repository; `relay recover --keep` keeps your files as they are, and sets it aside with everything that belongs to it";
const NEWER_JOURNAL_HINT: &str =
    "use the newer relay here; if you have none, the file may have come with the repository: move it away";
const DAMAGED_HINT: &str = "relay does not use it; move it away to go on without it";

/// Whether a directory, a pipe or the like stands where a file is needed, or the other way round.
fn is_another_kind(error: &io::Error) -> bool {
    is_not_regular(error)
        || matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory)
}

/// Ids that are listed where a name could be several.
const MAX_CANDIDATES: usize = 5;

fn refusal_failure(refusals: &[LedgerRefusal]) -> CommandFailure {
    let message = match refusals {
        [only] => only.to_string(),
        _ => format!("{} cannot be changed", pluralize(refusals.len(), "file")),
    };
    let details = refusals.iter().map(|refusal| FailureDetail {
        path: refusal.path.clone(),
        rule: Some(refusal.rule.name()),
        message: refusal.rule.to_string(),
        ..FailureDetail::default()
    });
    let failure = CommandFailure::refused("rule", message).with_files(details);
    let hint = refusals.first().map(|first| rule_hint(&first.rule).to_string());
    CommandFailure { hint, ..failure }
}

/// What to do about the rule.
fn rule_hint(rule: &LedgerRule) -> &'static str {
    match rule {
        LedgerRule::Changed | LedgerRule::Exists | LedgerRule::Gone => {
            "run the command again: it then starts from what is there now"
        }
        LedgerRule::NotAFile(_) => "change the real file behind it, or leave it out",
        LedgerRule::HardLink { .. } => "make it a separate file first: copy it, then move the copy over it",
        LedgerRule::ReadOnly => "make it writable first (`chmod u+w`)",
        LedgerRule::Immutable => "remove that mark first (`chattr -i`)",
        LedgerRule::NameCollision { .. } => "rename one of them",
        LedgerRule::Claimed { .. } => "wait until that change is done, or run `relay recover`",
        LedgerRule::AwaitsDecision { .. } => {
            "decide with `relay recover --keep` or `relay recover --restore`"
        }
        LedgerRule::DuplicatePath => "ask for one change per file",
        LedgerRule::NoSpace { .. } => "make room, then try again",
    }
}

fn unfinished_failure(unfinished: UnfinishedPutBack) -> CommandFailure {
    let (id, left) = (unfinished.id.short(), pluralize(unfinished.left.len(), "file"));
    let message = format!("{id} stopped half-way, and {left} could not be put back");
    CommandFailure::new(Exit::NeedsYou, "needsYou", message)
        .with_files(unfinished.left.into_iter().map(FailureDetail::from))
        .hint("next: `relay recover --keep` keeps what is there now, `relay recover --restore` brings back what was there before")
        .with_state(ProjectState::LeftAlone)
}

impl From<UnrestoredFile> for FailureDetail {
    fn from(left: UnrestoredFile) -> FailureDetail {
        FailureDetail { path: left.path, message: left.reason, kept: left.kept, ..FailureDetail::default() }
    }
}

fn revert_conflict_failure(message: String, conflicts: Vec<FileConflict>) -> CommandFailure {
    let hint = match conflicts.iter().all(|conflict| conflict.reason.is_none()) {
        true => "`--markers` writes both sides into the files; or undo the later edits first",
        false => "fix that and try again; `--file PATH` takes back only that file",
    };
    let files = conflicts.into_iter().map(|FileConflict { path, reason, regions, .. }| {
        let message = reason.unwrap_or_else(|| "has later edits in the same lines".to_string());
        let region = |ConflictRegion { line, now, reverted, .. }| FailureRegion { line, now, reverted };
        let regions = regions.into_iter().map(region).collect();
        FailureDetail { regions, ..FailureDetail::new(path, message) }
    });
    CommandFailure::new(Exit::NeedsYou, "revertConflict", message).with_files(files).hint(hint).unchanged()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_says_how_it_ends_what_is_left_and_what_to_do() {
        let id = TxId::random();
        let io = |put_back| LedgerError::Io {
            action: "write",
            path: "a.txt".into(),
            source: io::ErrorKind::StorageFull.into(),
            put_back,
        };
        let rule = |rule| LedgerError::Refused(vec![LedgerRefusal { path: "a.txt".into(), rule }]);
        let left = UnrestoredFile { path: "a.txt".into(), reason: "was changed".into(), kept: None };
        let unfinished = UnfinishedPutBack { id, restored: Vec::new(), left: vec![left] };
        let region = FileConflict { path: "a.txt".into(), regions: Vec::new(), reason: None };
        let cases = [
            (io(false), Exit::Unexpected, Some(ProjectState::Unchanged)),
            (io(true), Exit::Unexpected, Some(ProjectState::PutBack)),
            (rule(LedgerRule::Changed), Exit::Refused, Some(ProjectState::Unchanged)),
            (rule(LedgerRule::Claimed { by: id, pid: 1 }), Exit::Refused, Some(ProjectState::Unchanged)),
            (
                LedgerError::Conflict { path: "a.txt".into(), kept: None },
                Exit::NeedsYou,
                Some(ProjectState::PutBack),
            ),
            (LedgerError::NeedsDecision(Box::new(unfinished)), Exit::NeedsYou, Some(ProjectState::LeftAlone)),
            (LedgerError::Interrupted, Exit::Interrupted, Some(ProjectState::PutBack)),
            (LedgerError::Busy, Exit::Unexpected, Some(ProjectState::Unchanged)),
            (
                LedgerError::PutBackIncomplete { id, why: Box::new(io(false)) },
                Exit::NeedsYou,
                Some(ProjectState::HalfWay),
            ),
            (LedgerError::RevertConflict(vec![region]), Exit::NeedsYou, Some(ProjectState::Unchanged)),
            (LedgerError::UnknownTransaction { name: "x".into() }, Exit::Usage, None),
            (
                LedgerError::AlreadyProcessed { id, other_content: true },
                Exit::AlreadyProcessed,
                Some(ProjectState::Unchanged),
            ),
        ];
        for (error, exit, state) in cases {
            let failure = CommandFailure::from(error);
            assert_eq!((failure.exit, failure.state), (exit, state), "{failure:?}");
            assert!(failure.hint.is_some(), "{failure:?}");
        }
    }
}
