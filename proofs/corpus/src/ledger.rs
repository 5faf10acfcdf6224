//! Transactions that the original tool recorded: what chat models really sent. There is no exact
//! expectation, only the file's next known text (other edits may lie between), so a result is refused,
//! equal to it, or differs.

use std::collections::BTreeMap;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{FileAction, Operation};
use serde::Deserialize;

use super::engine::{self, After};
use super::judged::{Judged, Outcome};
use super::show;
use super::variants::RealEdit;
use relaycode_proof_corpus::rows::Files;

#[derive(Deserialize)]
struct Row {
    id: String,
    status: String,
    before: Files,
    operations: Vec<Recorded>,
    later: Files,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Recorded {
    #[serde(rename_all = "camelCase")]
    Write {
        path: String,
        content: String,
        patch_strategy: String,
    },
    Delete {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
}

/// Every file of a row that has a later text.
pub(crate) fn real_edits(line: &str) -> anyhow::Result<Vec<RealEdit>> {
    let row: Row = serde_json::from_str(line)?;
    let edit = |(path, text): (&String, &Option<String>)| {
        let (before, after) = (text.clone()?, row.later.get(path)?.clone()?);
        Some(RealEdit { id: format!("{}#{path}", row.id), path: RelPath::parse(path).ok()?, before, after })
    };
    Ok(row.before.iter().filter_map(edit).collect())
}

/// Judges every path of a row, then the row as a whole.
pub(crate) fn judge(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: Row = serde_json::from_str(line)?;
    let mut by_path: BTreeMap<&str, Vec<&Recorded>> = BTreeMap::new();
    for operation in &row.operations {
        by_path.entry(operation.path()).or_default().push(operation);
    }
    for (path, operations) in by_path {
        let Some(Some(_)) = row.later.get(path) else {
            continue;
        };
        let group = row.group(family(&operations));
        let id = format!("{}#{path}", row.id);
        judged.push(row.judge(Judged::new(set, &group, &id), &operations));
    }
    let all: Vec<&Recorded> = row.operations.iter().collect();
    let case = Judged::new(set, &row.group("whole transactions"), &row.id);
    judged.push(row.judge(case, &all));
    Ok(())
}

impl Row {
    fn group(&self, family: &str) -> String {
        match self.status.as_str() {
            "committed" => family.to_owned(),
            other => format!("{family} ({other})"),
        }
    }

    fn judge(&self, mut case: Judged, recorded: &[&Recorded]) -> Judged {
        let mut operations = Vec::new();
        for one in recorded {
            match one.read() {
                Ok(read) => operations.extend(read),
                Err(reason) => case.note(format!("  cannot be read: {}: {reason}", one.path())),
            }
        }
        if !case.account.is_empty() {
            return case.bad(Outcome::Refused);
        }
        let proposal = engine::proposal(operations);
        let Ok(plan) = engine::plan(&proposal, &engine::tree(&self.before), &mut case) else {
            return case.bad(Outcome::Refused);
        };
        let mut equal = true;
        for path in recorded.iter().map(|one| one.path()) {
            let Some(Some(later)) = self.later.get(path) else {
                continue;
            };
            let before = self.before.get(path).cloned().flatten().unwrap_or_default();
            let got = match engine::after(&plan, path) {
                After::Bytes(bytes) => bytes,
                After::Untouched => before.as_bytes(),
                After::Gone => b"",
            };
            equal &= compare(later, got, &mut case);
        }
        if equal { case.good(Outcome::Correct) } else { case.bad(Outcome::Differs) }
    }
}

/// Equal, or equal except for the final newline, which the original tool strips.
fn compare(later: &str, got: &[u8], case: &mut Judged) -> bool {
    if got == later.as_bytes() {
        return true;
    }
    if got.trim_ascii_end() == later.trim_end().as_bytes() {
        case.newline_only = true;
        return true;
    }
    let text = String::from_utf8_lossy(got);
    if text.replace("\r\n", "\n").trim_end() == later.replace("\r\n", "\n").trim_end() {
        case.note("  differs in line endings only");
        case.endings_only = true;
    }
    case.account.extend(show::difference(later.as_bytes(), got));
    false
}

fn family(operations: &[&Recorded]) -> &'static str {
    let mut families = operations.iter().map(|one| match one {
        Recorded::Write { patch_strategy, .. } => match patch_strategy.as_str() {
            "standard-diff" | "new-unified" | "unified" => "unified diffs",
            "search-replace" | "multi-search-replace" => "search/replace",
            _ => "whole files",
        },
        Recorded::Delete { .. } => "deletions",
        Recorded::Rename { .. } => "renames",
    });
    let first = families.next().unwrap_or("nothing");
    if families.all(|family| family == first) { first } else { "mixed" }
}

impl Recorded {
    fn path(&self) -> &str {
        match self {
            Recorded::Write { path, .. } | Recorded::Delete { path } => path,
            Recorded::Rename { to, .. } => to,
        }
    }

    fn read(&self) -> Result<Vec<Operation>, String> {
        let parse = |path: &str| RelPath::parse(path).map_err(|error| error.to_string());
        let action = match self {
            Recorded::Write { path, content, patch_strategy } => {
                return engine::read_block(patch_strategy, Some(path), content);
            }
            Recorded::Delete { path } => FileAction::Delete { path: parse(path)?, old: None },
            Recorded::Rename { from, to } => FileAction::Rename { from: parse(from)?, to: parse(to)? },
        };
        Ok(vec![Operation { line: 1, action }])
    }
}
