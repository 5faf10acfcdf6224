//! Cases from the test suites of other tools: a patch for one file, a patch that only has to be
//! read or rejected, and whole responses with the files before and after.

use std::time::Instant;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, Operation};
use relaycode_change::response;
use serde::Deserialize;

use super::engine;
use super::exceptions::Facts;
use super::judged::{Judged, Outcome};
use relaycode_proof_corpus::rows::Files;

#[derive(Deserialize)]
struct PatchRow {
    id: String,
    format: String,
    patch: String,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    before: Files,
    expect: Expect,
}

/// Where the patch may be applied; one suite writes `start_line`, another `startLine`.
#[derive(Deserialize, Default)]
struct Options {
    #[serde(alias = "startLine")]
    start_line: Option<usize>,
    #[serde(alias = "endLine")]
    end_line: Option<usize>,
}

#[derive(Deserialize)]
struct Expect {
    outcome: String,
    after: Option<Files>,
}

#[derive(Deserialize)]
struct TransactionRow {
    id: String,
    raw: Transaction,
}

#[derive(Deserialize)]
struct Transaction {
    markdown_content: String,
    #[serde(default)]
    initial_state: Vec<State>,
    #[serde(default)]
    expected_state: Vec<State>,
    expected_outcome: Option<String>,
}

/// A file, or that there is none.
#[derive(Deserialize)]
struct State {
    path: String,
    content: Option<String>,
    #[serde(default = "yes")]
    exists: bool,
}

fn yes() -> bool {
    true
}

/// The path that the rows use for their only file.
const PSEUDO_PATH: &str = "file";

/// A patch for one file.
pub(crate) fn judge_apply(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: PatchRow = serde_json::from_str(line)?;
    let must_fit = row.expect.outcome == "ok";
    let mut case = Judged::new(set, if must_fit { "apply" } else { "apply, must fail" }, &row.id);
    let facts = row.facts();
    let mut operations = match row.read() {
        Ok(operations) => operations,
        Err(reason) => {
            case.note(format!("  cannot be read: {reason}"));
            judged.push(case.settle(Outcome::Refused, !must_fit, &facts));
            return Ok(());
        }
    };
    row.options.constrain(&mut operations);
    let proposal = engine::proposal(operations);
    let Ok(plan) = engine::plan(&proposal, &engine::tree(&row.before), &mut case) else {
        judged.push(case.settle(Outcome::Refused, !must_fit, &facts));
        return Ok(());
    };
    let expected = row.expect.after.as_ref().unwrap_or(&row.before);
    let equal = engine::compare_all(&plan, &row.before, expected, &facts, &mut case);
    judged.push(match (must_fit, equal) {
        (true, true) => case.settle(Outcome::Correct, true, &facts),
        (false, true) => case.settle(Outcome::NoOp, true, &facts),
        _ => case.settle(Outcome::Wrong, false, &facts),
    });
    Ok(())
}

/// A patch that only has to be read, or rejected.
pub(crate) fn judge_validate(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: PatchRow = serde_json::from_str(line)?;
    let must_read = row.expect.outcome == "ok";
    let mut case = Judged::new(set, "validate", &row.id);
    let start = Instant::now();
    let read = row.read();
    case.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let facts = row.facts();
    judged.push(match (read, must_read) {
        (Ok(_), true) => case.settle(Outcome::Correct, true, &facts),
        (Ok(_), false) => case.settle(Outcome::Wrong, false, &facts),
        (Err(reason), _) => {
            case.note(format!("  cannot be read: {reason}"));
            case.settle(Outcome::Refused, !must_read, &facts)
        }
    });
    Ok(())
}

/// A whole response.
pub(crate) fn judge_transaction(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: TransactionRow = serde_json::from_str(line)?;
    let must_fail = row.raw.expected_outcome.as_deref() == Some("failure");
    let mut case = Judged::new(set, "transaction", &row.id);
    let facts =
        Facts { id: &row.id, request: &row.raw.markdown_content, needs: None, expected: None, got: None };
    let before = files(&row.raw.initial_state);
    let proposal = response::read(&row.raw.markdown_content, &engine::generous())?;
    let Ok(plan) = engine::plan(&proposal, &engine::tree(&before), &mut case) else {
        judged.push(case.settle(Outcome::Refused, must_fail, &facts));
        return Ok(());
    };
    let expected = files(&row.raw.expected_state);
    let equal = engine::compare_all(&plan, &before, &expected, &facts, &mut case);
    judged.push(if equal && !must_fail {
        case.settle(Outcome::Correct, true, &facts)
    } else {
        case.settle(Outcome::Wrong, false, &facts)
    });
    Ok(())
}

impl PatchRow {
    fn facts(&self) -> Facts<'_> {
        let expected = self.expect.after.as_ref().and_then(|files| files.values().next()?.as_deref());
        Facts { id: &self.id, request: &self.patch, needs: None, expected, got: None }
    }

    fn read(&self) -> Result<Vec<Operation>, String> {
        if self.format != "unified-diff" {
            return engine::read_block(
                "multi-search-replace",
                Some(PSEUDO_PATH),
                without_path_line(&self.patch),
            );
        }
        let named = name_in_diff(&self.patch);
        let mut operations = engine::read_block("new-unified", named.or(Some(PSEUDO_PATH)), &self.patch)?;
        for operation in &mut operations {
            if let FileAction::Write { path, .. } = &mut operation.action
                && Some(path.as_str()) == named
            {
                *path = RelPath::parse(PSEUDO_PATH).map_err(|error| error.to_string())?;
            }
        }
        Ok(operations)
    }
}

/// What a diff calls the row's only file.
fn name_in_diff(patch: &str) -> Option<&str> {
    let name = patch.lines().find_map(|line| line.strip_prefix("+++ "))?.trim();
    let name = name.strip_prefix("b/").unwrap_or(name);
    name.contains('.').then_some(name)
}

/// Some suites put the file's name above the block; the reader of responses removes it.
fn without_path_line(patch: &str) -> &str {
    match patch.split_once('\n') {
        Some((first, rest)) if first.contains('.') && !first.contains([' ', '<', '=']) => rest,
        _ => patch,
    }
}

impl Options {
    /// Gives every hunk without a claimed line the one from the suite's options.
    fn constrain(&self, operations: &mut [Operation]) {
        for operation in operations {
            let FileAction::Write { edit, .. } = &mut operation.action else {
                continue;
            };
            let EditBody::Hunks(hunks) = &mut edit.body else {
                continue;
            };
            for hunk in hunks.iter_mut().filter(|hunk| hunk.claimed.is_none()) {
                hunk.claimed = self.start_line;
                hunk.claimed_end = self.end_line;
            }
        }
    }
}

fn files(states: &[State]) -> Files {
    states
        .iter()
        .map(|state| {
            let text = state.exists.then(|| state.content.clone().unwrap_or_default());
            (state.path.clone(), text)
        })
        .collect()
}
