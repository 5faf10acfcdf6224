//! The ledger's errors as failures: for each the exit code, the state of the project, and the next
//! step.

use relaycode_ledger::error::{FileConflict, LedgerError, Left, Refusal, Rule, Unfinished};
use relaycode_tui::number;

use super::{Detail, Exit, Failure, Region, State};

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        let message = error.to_string();
        match error {
            LedgerError::Refused(refusals) => refused(&refusals),
            LedgerError::AlreadyProcessed { id, other_content } => {
                let hint = if other_content {
                    format!(
                        "another answer had the same id: `relay show {}`; give this one an id of its own",
                        id.short()
                    )
                } else {
                    format!("`relay show {}` says what it changed", id.short())
                };
                Failure::new(Exit::AlreadyProcessed, "alreadyProcessed", message)
                    .hint(hint)
                    .left(State::Unchanged)
            }
            LedgerError::Conflict { path } => Failure::new(Exit::NeedsYou, "conflict", message)
                .hint("run the command again to plan with what was saved")
                .at(path)
                .left(State::PutBack),
            LedgerError::Interrupted => Failure::new(Exit::Interrupted, "interrupted", message)
                .hint("run the command again when you are ready")
                .left(State::PutBack),
            LedgerError::NeedsYou(unfinished) => needs_you(*unfinished),
            LedgerError::HalfWay { .. } => Failure::new(Exit::NeedsYou, "halfWay", message)
                .hint("next: see to what failed, then `relay recover` puts the rest back")
                .left(State::HalfWay),
            LedgerError::Recording { .. } => Failure::new(Exit::Refused, "recording", message)
                .hint("two at once would each take the other's changes for its own: record when it is done")
                .left(State::Unchanged),
            LedgerError::RootGone { path, .. } => {
                Failure::new(Exit::Unexpected, "rootGone", message).at(path)
            }
            LedgerError::Open { .. } => Failure::new(Exit::Refused, "open", message)
                .hint("record when it is done")
                .left(State::Unchanged),
            LedgerError::Busy => Failure::new(Exit::Unexpected, "busy", message)
                .hint("try again when it is done")
                .left(State::Unchanged),
            LedgerError::Unknown { .. } => Failure::new(Exit::Usage, "unknown", message)
                .hint("`relay log` lists what can be named: a number, an id, or four digits of one and more"),
            LedgerError::Ambiguous { candidates, .. } => {
                let ids: Vec<String> = candidates.iter().take(CANDIDATES).map(ToString::to_string).collect();
                Failure::new(Exit::Usage, "ambiguous", message)
                    .hint(format!("give more of its id: {}", ids.join(", ")))
            }
            LedgerError::Damaged { path, .. } => Failure::new(Exit::Unexpected, "damaged", message)
                .hint(if path.ends_with(JOURNAL) { JOURNAL_DAMAGED } else { DAMAGED })
                .at(path)
                .left(State::Unchanged),
            LedgerError::Newer { path, .. } => {
                Failure::new(Exit::Usage, "newer", message).hint("use that relay here").at(path)
            }
            LedgerError::NotRevertible { id, .. } => Failure::refused("notRevertible", message)
                .hint(format!("`relay show {} --diff` says what is still known of it", id.short())),
            LedgerError::RevertConflict(conflicts) => conflict(message, conflicts),
            LedgerError::Io { path, put_back, .. } => {
                let state = if put_back { State::PutBack } else { State::Unchanged };
                Failure::unexpected(message)
                    .hint("look at the disk and the permissions there, then try again")
                    .at(path)
                    .left(state)
            }
        }
    }
}

/// How the name of a journal ends.
const JOURNAL: &str = ".pending.yml";
// Moved away by hand, it would leave the files that it displaced to nobody.
const JOURNAL_DAMAGED: &str = "an earlier run stopped, and what it did cannot be told any more; `relay recover --keep` stays with the files as they are and keeps everything that it displaced";
const DAMAGED: &str = "nothing is made of it; move it away to go on without it";

/// Ids that are listed where a name could be several.
const CANDIDATES: usize = 5;

fn refused(refusals: &[Refusal]) -> Failure {
    let message = match refusals {
        [only] => only.to_string(),
        _ => format!("{} cannot be changed", number(refusals.len(), "file")),
    };
    let details = refusals.iter().map(|refusal| Detail {
        path: refusal.path.clone(),
        rule: Some(refusal.rule.name()),
        message: refusal.rule.sentence(),
        ..Detail::default()
    });
    let failure = Failure::refused("rule", message).about(details);
    match refusals.first() {
        Some(first) => failure.hint(way_out(&first.rule)),
        None => failure,
    }
}

/// What to do about the rule.
fn way_out(rule: &Rule) -> &'static str {
    match rule {
        Rule::Changed | Rule::Exists | Rule::Gone => "run the command again to plan with what is there now",
        Rule::NotAFile(_) => "change the real file that it stands for, or leave it out",
        Rule::HardLink { .. } => "make it a file of its own first (copy it and move the copy over it)",
        Rule::ReadOnly => "give yourself the permission to write it first (`chmod u+w`)",
        Rule::Immutable => "take the mark away first (`chattr -i`)",
        Rule::OtherDevice => "move the file yourself, then try again",
        Rule::Twin { .. } => "give one of them another name",
        Rule::Claimed { .. } => "wait until that one is done, or look with `relay recover`",
        Rule::Waiting { .. } => "`relay recover --keep` or `relay recover --restore` decides about it",
        Rule::Twice => "ask for one change per file",
        Rule::NoSpace { .. } => "make room, then try again",
    }
}

fn needs_you(unfinished: Unfinished) -> Failure {
    let left = unfinished.left.len();
    let message = format!(
        "{} stopped half-way, and {} could not be put back",
        unfinished.id.short(),
        number(left, "file")
    );
    Failure::new(Exit::NeedsYou, "needsYou", message)
        .about(unfinished.left.into_iter().map(Detail::from))
        .hint("next: `relay recover --keep` stays with what is there, `relay recover --restore` brings back what was")
        .left(State::LeftAlone)
}

impl From<Left> for Detail {
    fn from(left: Left) -> Detail {
        Detail { path: left.path, message: left.reason, kept: left.kept, ..Detail::default() }
    }
}

fn conflict(message: String, conflicts: Vec<FileConflict>) -> Failure {
    let files = conflicts.into_iter().map(|conflict| Detail {
        path: conflict.path,
        message: conflict.reason.unwrap_or_else(|| "has later edits in the same lines".to_string()),
        regions: conflict
            .regions
            .into_iter()
            .map(|region| Region { line: region.line, now: region.now, reverted: region.reverted })
            .collect(),
        ..Detail::default()
    });
    Failure::new(Exit::NeedsYou, "revertConflict", message)
        .about(files)
        .hint("`relay revert --markers` writes both sides into the files, or undo the later edits first")
        .left(State::Unchanged)
}

#[cfg(test)]
mod tests {
    use std::io;

    use relaycode_ledger::TxId;

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
        let rule = |rule| LedgerError::Refused(vec![Refusal { path: "a.txt".into(), rule }]);
        let left = Left { path: "a.txt".into(), reason: "was changed".into(), kept: None };
        let unfinished = Unfinished { id, restored: Vec::new(), left: vec![left] };
        let region = FileConflict { path: "a.txt".into(), regions: Vec::new(), reason: None };
        let cases = [
            (io(false), Exit::Unexpected, Some(State::Unchanged)),
            (io(true), Exit::Unexpected, Some(State::PutBack)),
            (rule(Rule::Changed), Exit::Refused, Some(State::Unchanged)),
            (rule(Rule::Claimed { by: id, pid: 1 }), Exit::Refused, Some(State::Unchanged)),
            (LedgerError::Conflict { path: "a.txt".into() }, Exit::NeedsYou, Some(State::PutBack)),
            (LedgerError::NeedsYou(Box::new(unfinished)), Exit::NeedsYou, Some(State::LeftAlone)),
            (LedgerError::Interrupted, Exit::Interrupted, Some(State::PutBack)),
            (LedgerError::Busy, Exit::Unexpected, Some(State::Unchanged)),
            (LedgerError::HalfWay { id, why: Box::new(io(false)) }, Exit::NeedsYou, Some(State::HalfWay)),
            (LedgerError::RevertConflict(vec![region]), Exit::NeedsYou, Some(State::Unchanged)),
            (LedgerError::Unknown { name: "x".into() }, Exit::Usage, None),
            (
                LedgerError::AlreadyProcessed { id, other_content: true },
                Exit::AlreadyProcessed,
                Some(State::Unchanged),
            ),
        ];
        for (error, exit, state) in cases {
            let failure = Failure::from(error);
            assert_eq!((failure.exit, failure.state), (exit, state), "{failure:?}");
            assert!(failure.hint.is_some(), "{failure:?}");
        }
    }
}
