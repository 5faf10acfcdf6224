//! What a text from the clipboard means to this project: everything that is not a patch for it is
//! forgotten.

use relaycode_change::plan::{FileChangeKind, Plan};
use relaycode_change::prompt::{self, repair};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_door::{AnswerProposal, Door, Submission};
use relaycode_project::checkout::NamedProject;

use crate::inbox::{InboxSource, InboxText};

/// Which project an answer is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Addressee {
    /// It names this project.
    ThisProject,
    /// It names none, but by this plan it fits files of this project.
    MaybeThisProject(Plan),
    OtherCheckout,
    OtherProject,
    /// It names none, and fits nothing here.
    NoMatch,
}

/// Reads a text. `None`: it is no patch at all, because it changes no file and names no project.
pub fn read_text(text: String, source: InboxSource, limits: &PlanLimits) -> Option<InboxText> {
    // The instructions that relay itself prints are full of examples.
    if prompt::is_prompt(&text) {
        return None;
    }
    let answers = AnswerProposal::read_all(&text, limits);
    let may_be_patch = match &answers {
        Ok(answers) => {
            // A repair prompt may quote the control block of the answer it is about.
            let quoted = repair::is_repair_prompt(&text);
            answers.iter().any(|AnswerProposal { proposal, .. }| {
                !proposal.operations.is_empty() || (proposal.control.project_id.is_some() && !quoted)
            })
        }
        // Over a limit: only worth a message if it names a project.
        Err(_) => text.contains("projectId:"),
    };
    may_be_patch.then_some(InboxText { text, source, answers })
}

pub fn find_addressee(door: &Door, submission: &Submission<'_>) -> Addressee {
    let Some(named) = submission.proposal.control.project_id.as_deref() else {
        return match door.plan(submission) {
            Ok(plan) if changes_existing_file(&plan) => Addressee::MaybeThisProject(plan),
            _ => Addressee::NoMatch,
        };
    };
    match door.match_project_id(Some(named)) {
        Some(NamedProject::WithKey | NamedProject::WithoutKey) => Addressee::ThisProject,
        Some(NamedProject::WithOtherKey) => Addressee::OtherCheckout,
        Some(NamedProject::OtherProject) | None => Addressee::OtherProject,
    }
}

/// New files alone fit anywhere.
fn changes_existing_file(plan: &Plan) -> bool {
    plan.files.iter().any(|file| {
        matches!(file.change, FileChangeKind::Modified | FileChangeKind::Deleted | FileChangeKind::Renamed)
    })
}
