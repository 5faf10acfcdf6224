//! Resolving a proposal against a tree: all of it or nothing.
//!
//! Operations are carried out in the order of the response on files held in memory ([`desk`]); each
//! edit becomes bytes ([`edit`]); what comes out is a [`Plan`] that says, per file, what was there
//! and what will be. A plan is refused as a whole, with every reason.

mod desk;
mod edit;
mod exact;
mod report;
#[cfg(test)]
mod tests;

pub use exact::MERGED;
pub use report::{
    Change, Difference, FilePlan, Finding, FindingKind, FittingHunk, HunkReport, HunkState, Nearest,
    PLACES_LISTED, Plan, Reason, Refusal, Refused, RunnerUp,
};

use std::collections::HashSet;

use crate::findings;
use crate::limits::Limits;
use crate::path::RelPath;
use crate::proposal::{Action, Body, Edit, Operation, Proposal};
use crate::tree::Tree;
use desk::Desk;

/// Texts that the author of a response is known to have been shown, newest first, per path.
/// Without any, the three-way rung has nothing to work with.
pub trait Seen {
    /// The texts for `path`.
    fn texts(&self, path: &RelPath) -> Vec<String>;
}

/// Nothing is known to have been shown.
pub struct NothingSeen;

impl Seen for NothingSeen {
    fn texts(&self, _path: &RelPath) -> Vec<String> {
        Vec::new()
    }
}

/// Resolves `proposal` against `tree`, all of it or nothing.
///
/// ```
/// use relaycode_change::{limits::Limits, path::RelPath, plan, response, tree::MemoryTree};
///
/// let mut tree = MemoryTree::default();
/// tree.insert(RelPath::parse("a.txt")?, "one\ntwo\n");
/// let answer = "```txt // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n```\n";
/// let proposal = response::read(answer, &Limits::default())?;
/// let plan = plan::plan(&proposal, &tree, &plan::NothingSeen, &Limits::default()).unwrap();
/// assert_eq!(plan.files[0].after.as_deref(), Some(&b"one\n2\n"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Refused`] lists every reason, and which hunks would have fitted.
pub fn plan(
    proposal: &Proposal,
    tree: &dyn Tree,
    seen: &dyn Seen,
    limits: &Limits,
) -> Result<Plan, Box<Refused>> {
    let mut refusals: Vec<Refusal> = broken_blocks(proposal);
    let operations = one_write_per_file(&proposal.operations);
    if let Some(refusal) = over_limits(&operations, limits) {
        return Err(refused(proposal, vec![refusal], Vec::new()));
    }
    if operations.is_empty() && refusals.is_empty() {
        refusals.push(nothing_to_do(proposal));
    }
    let mut desk = Desk::new(tree, seen, limits);
    for operation in &operations {
        desk.carry_out(operation);
    }
    let cleared = desk.clear();
    refusals.extend(cleared.refusals);
    if !refusals.is_empty() {
        refusals.sort_by_key(|refusal| refusal.line);
        return Err(refused(proposal, refusals, cleared.fitting));
    }
    let findings = findings::for_plan(&cleared.files);
    let notes = proposal.notes.iter().cloned().chain(cleared.notes).collect();
    Ok(Plan { files: cleared.files, findings, notes })
}

fn refused(proposal: &Proposal, refusals: Vec<Refusal>, fitting: Vec<FittingHunk>) -> Box<Refused> {
    Box::new(Refused { refusals, fitting, notes: proposal.notes.clone() })
}

/// A block that set out to be a change and could not be read stands against the whole proposal: the
/// rest was written with it in mind.
fn broken_blocks(proposal: &Proposal) -> Vec<Refusal> {
    let broken = proposal.unread.iter().filter(|unread| unread.broken);
    broken
        .map(|unread| Refusal {
            path: None,
            line: unread.line,
            reason: Reason::Unread { text: unread.reason.clone() },
        })
        .collect()
}

fn nothing_to_do(proposal: &Proposal) -> Refusal {
    let text = match proposal.unread.len() {
        0 => "the answer contains no change".to_string(),
        1 => "the answer contains one block, and it names no file".to_string(),
        count => format!("the answer contains {count} blocks, and none of them names a file"),
    };
    Refusal { path: None, line: 0, reason: Reason::Nothing { text } }
}

/// Several operations that put hunks into one file are one: the hunks belong together.
fn one_write_per_file(operations: &[Operation]) -> Vec<Operation> {
    let mut joined: Vec<Operation> = Vec::with_capacity(operations.len());
    for operation in operations {
        if let Action::Write { path, edit: Edit { dialect, body: Body::Hunks(more), seen }, mode } =
            &operation.action
        {
            let about = |other: &&mut Operation| match &other.action {
                Action::Rename { from, to } => from == path || to == path,
                other => other.path() == path,
            };
            if let Some(Operation { action: Action::Write { edit: first, mode: first_mode, .. }, .. }) =
                joined.iter_mut().rev().find(about)
                && first.dialect == *dialect
                && first.seen == *seen
                && let Body::Hunks(hunks) = &mut first.body
            {
                hunks.extend(more.iter().cloned());
                *first_mode = mode.or(*first_mode);
                continue;
            }
        }
        joined.push(operation.clone());
    }
    joined
}

fn over_limits(operations: &[Operation], limits: &Limits) -> Option<Refusal> {
    let hunks: usize = operations
        .iter()
        .map(|operation| match &operation.action {
            Action::Write { edit: Edit { body: Body::Hunks(hunks), .. }, .. } => hunks.len(),
            _ => 0,
        })
        .sum();
    let refuse = |name: &str, what: &str, count: usize, most: usize| Refusal {
        path: None,
        line: 0,
        reason: Reason::Limit {
            text: format!("the answer has {count} {what}; the limit `{name}` is {most}"),
        },
    };
    let renames = operations.iter().filter(|operation| matches!(operation.action, Action::Rename { .. }));
    let moved: HashSet<&RelPath> = renames.map(|operation| operation.action.path()).collect();
    // A file that is moved and then changed is one file.
    let again = |action: &Action| !matches!(action, Action::Rename { .. }) && moved.contains(action.path());
    let files = operations.iter().filter(|operation| !again(&operation.action)).count();
    if files > limits.files {
        return Some(refuse("files", "operations on files", files, limits.files));
    }
    (hunks > limits.hunks).then(|| refuse("hunks", "edits", hunks, limits.hunks))
}
