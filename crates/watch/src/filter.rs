//! What a text from the clipboard means to this project: everything that is not a patch for it is
//! forgotten.

use relaycode_change::plan::FileChangeKind;
use relaycode_change::prompt::repair;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::{prompt, response};
use relaycode_door::{Door, Submission};
use relaycode_project::checkout::NamedProject;

/// Which project an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressee {
    /// It names this project.
    ThisProject,
    /// It names none, but fits files of this project.
    MaybeThisProject,
    OtherCheckout,
    OtherProject,
    /// It names none, and fits nothing here.
    NoMatch,
}

/// Whether a text may be a patch at all: it changes files, or names a project.
pub fn may_be_patch(text: &str, limits: &PlanLimits) -> bool {
    // The instructions that relay itself prints are full of examples.
    if prompt::is_prompt(text) {
        return false;
    }
    match response::read_all(text, limits) {
        Ok(answers) => {
            // A repair prompt may quote the control block of the answer it is about.
            let quoted = repair::is_repair_prompt(text);
            answers.iter().any(|answer| {
                let named = answer.proposal.control.project_id.is_some();
                !answer.proposal.operations.is_empty() || (named && !quoted)
            })
        }
        // Over a limit: only worth a message if it names a project.
        Err(_) => text.contains("projectId:"),
    }
}

pub fn find_addressee(door: &Door, submission: &Submission<'_>) -> Addressee {
    let Some(named) = submission.proposal.control.project_id.as_deref() else {
        return if changes_existing_file(door, submission) {
            Addressee::MaybeThisProject
        } else {
            Addressee::NoMatch
        };
    };
    match door.match_project_id(Some(named)) {
        Some(NamedProject::WithKey | NamedProject::WithoutKey) => Addressee::ThisProject,
        Some(NamedProject::WithOtherKey) => Addressee::OtherCheckout,
        Some(NamedProject::OtherProject) | None => Addressee::OtherProject,
    }
}

/// Whether all of it fits and it changes an existing file: new files alone fit anywhere.
fn changes_existing_file(door: &Door, submission: &Submission<'_>) -> bool {
    let tree = door.tree(&submission.limits);
    let changes = |change: FileChangeKind| {
        matches!(change, FileChangeKind::Modified | FileChangeKind::Deleted | FileChangeKind::Renamed)
    };
    door.preview(submission, &tree)
        .is_ok_and(|preview| preview.plan.files.iter().any(|file| changes(file.change)))
}
