//! Resolving a proposal against a tree: all of it or nothing.
//!
//! Operations are applied in the order of the response to files held in memory (`builder`); each edit
//! becomes bytes (`edit`); the result is a [`Plan`] with the bytes before and after of each file. A plan
//! is refused as a whole, with every reason.

mod builder;
mod edit;
mod exact;
pub mod findings;
mod report;
pub mod revise;
#[cfg(test)]
mod tests;
pub mod tree;
mod whole;

pub use exact::MERGED_RUNG;
pub use report::{
    FileChangeKind, FilePlan, FindingKind, FittingHunk, HunkDifference, HunkDoubt, HunkReport, HunkState,
    NearestPlace, PLACES_LISTED, Plan, PlanFinding, PlanRefusal, RefusalEntry, RefusalReason, RunnerUpPlace,
};

use std::borrow::Cow;
use std::collections::HashSet;

use crate::plan::tree::PlanTree;
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Operation, Proposal};
use builder::PlanBuilder;

/// Texts that the author of a response is known to have seen, newest first, per path. Without any, the
/// three-way rung has nothing to work with.
pub trait SeenTexts {
    fn texts(&self, path: &RelPath) -> Vec<String>;
}

/// Nothing is known to have been seen.
pub struct NoSeenTexts;

impl SeenTexts for NoSeenTexts {
    fn texts(&self, _path: &RelPath) -> Vec<String> {
        Vec::new()
    }
}

/// Resolves `proposal` against `tree`, all of it or nothing.
///
/// ```
/// use relaycode_change::{plan, plan::tree::MemoryTree, proposal::limits::PlanLimits, proposal::path::RelPath, response};
///
/// let mut tree = MemoryTree::default();
/// tree.insert(RelPath::parse("a.txt")?, "one\ntwo\n");
/// let answer = "```txt // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n```\n";
/// let proposal = response::read(answer, &PlanLimits::default())?;
/// let plan = plan::plan(&proposal, &tree, &plan::NoSeenTexts, &PlanLimits::default()).unwrap();
/// assert_eq!(plan.files[0].after.as_deref(), Some(&b"one\n2\n"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`PlanRefusal`] lists every reason, and which hunks would fit.
pub fn plan(
    proposal: &Proposal,
    tree: &dyn PlanTree,
    seen: &dyn SeenTexts,
    limits: &PlanLimits,
) -> Result<Plan, Box<PlanRefusal>> {
    let mut refusals: Vec<RefusalEntry> = broken_blocks(proposal);
    let operations = one_write_per_file(&proposal.operations);
    if let Some(refusal) = over_limits(&operations, limits) {
        return Err(plan_refusal(proposal, vec![refusal], Vec::new()));
    }
    if operations.is_empty() && refusals.is_empty() {
        refusals.push(nothing_to_do(proposal));
    }
    let mut desk = PlanBuilder::new(tree, seen, limits);
    for operation in &operations {
        desk.apply(operation);
    }
    let cleared = desk.finish();
    refusals.extend(cleared.refusals);
    if !refusals.is_empty() {
        refusals.sort_by_key(|refusal| refusal.line);
        return Err(plan_refusal(proposal, refusals, cleared.fitting));
    }
    let mut findings = findings::check_plan(&cleared.files);
    findings.extend(cleared.findings);
    let notes = proposal.notes.iter().cloned().chain(cleared.notes).collect();
    Ok(Plan { files: cleared.files, findings, notes })
}

fn plan_refusal(
    proposal: &Proposal,
    refusals: Vec<RefusalEntry>,
    fitting: Vec<FittingHunk>,
) -> Box<PlanRefusal> {
    Box::new(PlanRefusal { refusals, fitting, notes: proposal.notes.clone() })
}

/// A damaged block that set out to be a change prevents the whole proposal: the rest was written with it in
/// mind.
fn broken_blocks(proposal: &Proposal) -> Vec<RefusalEntry> {
    let broken = proposal.unread.iter().filter(|unread| unread.broken);
    broken
        .map(|unread| RefusalEntry {
            path: None,
            line: unread.line,
            reason: RefusalReason::Unread { text: unread.reason.clone() },
        })
        .collect()
}

fn nothing_to_do(proposal: &Proposal) -> RefusalEntry {
    let text = match proposal.unread.len() {
        0 => "no code block names a file".to_string(),
        1 => "the only code block names no file".to_string(),
        count => format!("none of the {count} code blocks names a file"),
    };
    RefusalEntry { path: None, line: 0, reason: RefusalReason::Nothing { text } }
}

/// Joins the operations that put hunks into one file, in whatever dialect: the hunks belong together.
fn one_write_per_file(operations: &[Operation]) -> Vec<Cow<'_, Operation>> {
    let mut joined: Vec<Cow<'_, Operation>> = Vec::with_capacity(operations.len());
    for operation in operations {
        if let FileAction::Write { path, edit: FileEdit { body: EditBody::Hunks(more), seen, .. }, mode } =
            &operation.action
        {
            let about = |other: &&mut Cow<'_, Operation>| match &other.action {
                FileAction::Rename { from, to } => from == path || to == path,
                other => other.path() == path,
            };
            let is_same = |other: &&mut Cow<'_, Operation>| {
                matches!(&other.action, FileAction::Write { edit: FileEdit { body: EditBody::Hunks(_), seen: first_seen, .. }, .. }
                    if first_seen == seen)
            };
            let earlier = joined.iter_mut().rev().find(about).filter(is_same).map(Cow::to_mut);
            if let Some(Operation { action: FileAction::Write { edit: first, mode: first_mode, .. }, .. }) =
                earlier
                && let EditBody::Hunks(hunks) = &mut first.body
            {
                let first_of_more = hunks.len();
                hunks.extend(more.iter().cloned());
                hunks[first_of_more..].iter_mut().take(1).for_each(|hunk| hunk.begins_block = true);
                *first_mode = mode.or(*first_mode);
                continue;
            }
        }
        joined.push(Cow::Borrowed(operation));
    }
    joined
}

fn over_limits(operations: &[Cow<'_, Operation>], limits: &PlanLimits) -> Option<RefusalEntry> {
    let hunks: usize = operations
        .iter()
        .map(|operation| match &operation.action {
            FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } => hunks.len(),
            _ => 0,
        })
        .sum();
    let refuse = |name: &str, what: &str, count: usize, most: usize| RefusalEntry {
        path: None,
        line: 0,
        reason: RefusalReason::Limit {
            text: format!("the answer has {count} {what}; the limit `{name}` is {most}"),
        },
    };
    let renames = operations.iter().filter(|operation| matches!(operation.action, FileAction::Rename { .. }));
    let moved: HashSet<&RelPath> = renames.map(|operation| operation.action.path()).collect();
    // A file that is moved and then changed is one file.
    let again =
        |action: &FileAction| !matches!(action, FileAction::Rename { .. }) && moved.contains(action.path());
    let files = operations.iter().filter(|operation| !again(&operation.action)).count();
    if files > limits.files {
        return Some(refuse("files", "operations on files", files, limits.files));
    }
    (hunks > limits.hunks).then(|| refuse("hunks", "edits", hunks, limits.hunks))
}
