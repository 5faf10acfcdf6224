//! Guarded files: those that run, steer or betray something, so that a person looks at every change of them,
//! whatever the mode. The list is data ([`relaycode_project::protected`]); here is how paths are compared with it.
//!
//! Holds: a file is guarded by every spelling under which some file system would find it: other case, look-alike
//! forms, short names. The old name of a rename counts as much as the new one, and so does a file that does
//! not exist yet.

mod command_files;
mod package_json;

use std::path::PathBuf;

use relaycode_change::plan::{FilePlan, Plan};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::{RelPath, plain_spelling};
use relaycode_project::protected::{ALWAYS_GUARDED, GATE_GUARDED, matches_component, matches_path};

use crate::submit::changes;
use command_files::CommandFiles;

/// What the project does with its files.
#[derive(Debug, Clone, Default)]
pub struct GuardContext {
    /// The command lines that the project names for its gate.
    pub commands: Vec<String>,
    /// The gate runs: what it reads as code is guarded too.
    pub gate: bool,
    /// The project's directory, which a command may name.
    pub root: PathBuf,
}

/// The guarded files of a plan, each with the reason, in the order of the plan.
///
/// ```
/// use relaycode_change::{plan, plan::tree::MemoryTree, proposal::limits::PlanLimits, response};
/// use relaycode_door::approval::guarded::{GuardContext, guarded_files};
///
/// let answer = "```yaml // .github/workflows/ci.yml\non: push\n```\n";
/// let proposal = response::read(answer, &PlanLimits::default())?;
/// let plan = plan::plan(&proposal, &MemoryTree::default(), &plan::NoSeenTexts, &PlanLimits::default()).unwrap();
/// let found = guarded_files(&plan, &GuardContext::default());
/// assert_eq!(found[0].1, "runs in CI");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn guarded_files(plan: &Plan, context: &GuardContext) -> Vec<(RelPath, String)> {
    let named = CommandFiles::parse(&context.commands, &context.root);
    changes(plan).filter_map(|file| Some((file.path.clone(), reason(file, context, &named)?))).collect()
}

fn reason(file: &FilePlan, context: &GuardContext, named: &CommandFiles) -> Option<String> {
    let mut reasons = Vec::new();
    if let Some(reason) = by_name(&file.path, file, context, named) {
        reasons.push(reason.to_owned());
    } else if let Some(old) = &file.renamed_from
        && let Some(reason) = by_name(old, file, context, named)
    {
        reasons.push(format!("was {old}, which {reason}"));
    }
    if file.mode_after == Some(GitFileMode::Executable) && file.mode_before != Some(GitFileMode::Executable) {
        reasons.push("becomes executable".to_owned());
    }
    (!reasons.is_empty()).then(|| reasons.join(", and "))
}

/// Why the file is guarded under one of its names.
fn by_name(
    path: &RelPath,
    file: &FilePlan,
    context: &GuardContext,
    named: &CommandFiles,
) -> Option<&'static str> {
    let plain = plain_components(path);
    if let Some(reason) = listed_reason(ALWAYS_GUARDED, &plain) {
        return Some(reason);
    }
    if plain.last().is_some_and(|name| matches_component("package.json", name))
        && let Some(why) =
            package_json::guard_reason(file.before.as_deref(), file.after.as_deref(), context.gate)
    {
        return Some(why);
    }
    if named.names_path(&plain) {
        return Some("can change what a check command does");
    }
    if context.gate { listed_reason(GATE_GUARDED, &plain) } else { None }
}

/// The reason of the first row with a pattern that matches.
fn listed_reason(list: &[(&'static str, &str)], path: &[String]) -> Option<&'static str> {
    let guards = |patterns: &str| patterns.split(' ').any(|pattern| matches_path(pattern, path));
    list.iter().find(|(_, patterns)| guards(patterns)).map(|(reason, _)| *reason)
}

/// The components of a path in their plain spelling. What a look-alike of a separator joins is taken apart.
fn plain_components(path: &RelPath) -> Vec<String> {
    let split = |component: &str| {
        let plain = plain_spelling(component);
        plain.split(['/', '\\', ':']).map(plain_spelling).collect::<Vec<_>>()
    };
    path.components().flat_map(split).filter(|component| !component.is_empty()).collect()
}
