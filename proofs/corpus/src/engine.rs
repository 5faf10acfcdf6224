//! The engine as the judges use it: build a proposal, plan it, see what a path becomes.

use std::time::Instant;

use relaycode_change::dialect::{self, DialectBlock};
use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{self, HunkReport, NoSeenTexts, Plan, PlanRefusal, RefusalEntry, RefusalReason};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, Proposal};

use super::exceptions::{self, Facts};
use super::judged::Judged;
use super::show;
use relaycode_proof_corpus::rows::Files;

/// Limits that no real case reaches: only matching is judged here.
pub(crate) fn generous() -> PlanLimits {
    PlanLimits {
        text_bytes: 64 << 20,
        files: 10_000,
        file_bytes: 16 << 20,
        hunks: 100_000,
        ..PlanLimits::default()
    }
}

/// Without their endings; no line after a final newline.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Replaces `search` by `replace`.
pub(crate) fn hunk(search: &str, replace: &str) -> Hunk {
    Hunk { line: 1, before: lines(search), after: lines(replace), ..Hunk::default() }
}

/// As search/replace.
pub(crate) fn write(path: RelPath, hunks: Vec<Hunk>) -> Operation {
    Operation {
        line: 1,
        action: FileAction::Write {
            path,
            edit: FileEdit { dialect: "multi-search-replace", body: EditBody::Hunks(hunks), seen: None },
            mode: None,
        },
    }
}

/// Nothing but these operations.
pub(crate) fn proposal(operations: Vec<Operation>) -> Proposal {
    Proposal { operations, ..Proposal::default() }
}

/// Reads `text` as a block in the dialect of that name (or alias), about `path`.
pub(crate) fn read_block(name: &str, path: Option<&str>, text: &str) -> Result<Vec<Operation>, String> {
    let dialect = dialect::by_name(name).ok_or_else(|| format!("no dialect is called {name}"))?;
    let path = match path {
        Some(path) => Some(RelPath::parse(path).map_err(|error| error.to_string())?),
        None => None,
    };
    let text = text.replace("\r\n", "\n");
    let block = DialectBlock { path, text: &text, line: 1 };
    dialect.read(&block).map_err(|error| format!("line {}: {}", error.line, error.reason))
}

pub(crate) fn tree(files: &Files) -> MemoryTree {
    let mut tree = MemoryTree::default();
    for (path, text) in files {
        // A path that cannot be named cannot be changed either; the plan will say so.
        if let (Ok(path), Some(text)) = (RelPath::parse(path), text) {
            tree.insert(path, text.as_bytes());
        }
    }
    tree
}

/// Adds the time and the match reports to `case`.
pub(crate) fn plan(
    proposal: &Proposal,
    tree: &MemoryTree,
    case: &mut Judged,
) -> Result<Plan, Box<PlanRefusal>> {
    let limits = generous();
    let start = Instant::now();
    let result = plan::plan(proposal, tree, &NoSeenTexts, &limits);
    case.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    match &result {
        Ok(plan) => {
            for hunk in plan.files.iter().flat_map(|file| &file.hunks) {
                case.near |= is_near(hunk);
                case.note(format!("  {}", show::report(hunk)));
            }
        }
        Err(refused) => {
            for refusal in &refused.refusals {
                case.note(format!("  refused: {}", describe(refusal)));
            }
        }
    }
    result
}

/// Whether the hunk would be asked about.
pub(crate) fn is_near(hunk: &HunkReport) -> bool {
    hunk.rung == "near" || hunk.doubt.is_some() || !hunk.differences.is_empty()
}

/// What is at a path after the plan.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum After<'a> {
    /// The plan does not mention it.
    Untouched,
    /// It is gone, or has another name.
    Gone,
    Bytes(&'a [u8]),
}

/// What `path` is after `plan`.
pub(crate) fn after<'a>(plan: &'a Plan, path: &str) -> After<'a> {
    for file in &plan.files {
        if file.path.as_str() == path {
            return file.after.as_deref().map_or(After::Gone, After::Bytes);
        }
    }
    let moved =
        plan.files.iter().any(|file| file.renamed_from.as_ref().is_some_and(|from| from.as_str() == path));
    if moved { After::Gone } else { After::Untouched }
}

/// Whether every expected file comes out; differences and exceptions go into `case`.
pub(crate) fn compare_all(
    plan: &Plan,
    before: &Files,
    expected: &Files,
    facts: &Facts<'_>,
    case: &mut Judged,
) -> bool {
    let mut equal = true;
    let mut excepted = true;
    for (path, text) in expected {
        let old = before.get(path).and_then(Option::as_deref);
        let got = match after(plan, path) {
            After::Bytes(bytes) => Some(bytes),
            After::Untouched => old.map(str::as_bytes),
            After::Gone => None,
        };
        if got == text.as_deref().map(str::as_bytes) {
            continue;
        }
        if let (Some(text), Some(got)) = (text, got)
            && exceptions::only_final_newline(old, text, got)
        {
            case.newline_only = true;
            continue;
        }
        equal = false;
        let reason = exceptions::reason(&Facts { expected: text.as_deref(), got, ..*facts });
        excepted &= reason.is_some();
        case.exception = case.exception.or(reason);
        case.note(format!("  {path}:"));
        let text = text.as_deref().unwrap_or_default().as_bytes();
        case.account.extend(show::difference(text, got.unwrap_or_default()));
    }
    if !excepted {
        case.exception = None;
    }
    equal
}

pub(crate) fn describe(refusal: &RefusalEntry) -> String {
    match &refusal.reason {
        RefusalReason::NotFound { hunk, of, nearest, .. } => match nearest {
            None => format!("hunk {hunk}/{of} not found, nothing similar"),
            Some(nearest) => format!(
                "hunk {hunk}/{of} not found; nearest at line {} ({:.2}), first difference in its line {}: {}",
                nearest.line,
                nearest.score,
                nearest.first_difference + 1,
                nearest
                    .text
                    .get(nearest.first_difference)
                    .map_or(String::new(), |line| relaycode_proof_corpus::clip(line, 100)),
            ),
        },
        RefusalReason::Ambiguous { hunk, of, places, count, rung, .. } => {
            format!("hunk {hunk}/{of} in {count} places ({rung}): {places:?}")
        }
        RefusalReason::Hunk { hunk, of, text, .. } => format!("hunk {hunk}/{of}: {text}"),
        RefusalReason::Conflict { text } => format!("conflict: {text}"),
        RefusalReason::Encoding { text } => format!("encoding: {text}"),
        RefusalReason::Limit { text } => format!("limit: {text}"),
        RefusalReason::Unread { text } => format!("unread: {text}"),
        RefusalReason::Nothing { text } => format!("nothing: {text}"),
    }
}
