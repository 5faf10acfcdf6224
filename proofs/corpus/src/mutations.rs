//! Edits spoilt the way models spoil them: one hunk each, with the expected bytes, or none if the only
//! right results are to refuse or to do nothing.

use relaycode_change::dialect;
use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::path::RelPath;
use serde::Deserialize;

use super::engine::{self, After};
use super::exceptions::Facts;
use super::judged::{Judged, Outcome};
use super::show;
use super::variants::RealEdit;
use relaycode_proof_corpus::rows::Files;

#[derive(Deserialize)]
struct Row {
    id: String,
    mutation: String,
    path: String,
    before: String,
    search: String,
    replace: String,
    after: Option<String>,
}

/// The mutation whose only good outcome is that nothing is left to do.
const ALREADY_APPLIED: &str = "already applied";

/// The edit behind a row, if it is the unspoilt one.
pub(crate) fn real_edits(line: &str) -> anyhow::Result<Vec<RealEdit>> {
    let row: Row = serde_json::from_str(line)?;
    let Some(after) = row.after.filter(|_| row.mutation == "exact") else { return Ok(Vec::new()) };
    Ok(vec![RealEdit { id: row.id, path: RelPath::parse(&row.path)?, before: row.before, after }])
}

/// Judges one row, and once more through the text of an answer if asked.
pub(crate) fn judge(
    set: &str,
    line: &str,
    through_text: bool,
    judged: &mut Vec<Judged>,
) -> anyhow::Result<()> {
    let row: Row = serde_json::from_str(line)?;
    let path = RelPath::parse(&row.path)?;
    let hunk = engine::hunk(&row.search, &row.replace);
    let proposal = engine::proposal(vec![engine::write(path, vec![hunk])]);
    judged.push(judge_proposal(&row, &proposal, set, &row.mutation));
    if through_text {
        let group = format!("{} (as text)", row.mutation);
        judged.push(match printed_and_read(&proposal, &row.path) {
            Ok(read) => judge_proposal(&row, &read, set, &group),
            Err(reason) => {
                let mut case = Judged::new(set, &group, &row.id).bad(Outcome::Wrong);
                case.note(format!("  cannot be read again: {reason}"));
                case
            }
        });
    }
    Ok(())
}

/// The same change after it was written as the text of a block.
fn printed_and_read(proposal: &Proposal, path: &str) -> Result<Proposal, String> {
    let name = "multi-search-replace";
    let dialect = dialect::by_name(name).ok_or("the dialect is missing")?;
    let mut operations = Vec::new();
    for operation in &proposal.operations {
        let text = dialect.print(&operation.action);
        operations.extend(engine::read_block(name, Some(path), &text)?);
    }
    Ok(engine::proposal(operations))
}

fn judge_proposal(row: &Row, proposal: &Proposal, set: &str, group: &str) -> Judged {
    let mut case = Judged::new(set, group, &row.id);
    let files = Files::from([(row.path.clone(), Some(row.before.clone()))]);
    let result = engine::plan(proposal, &engine::tree(&files), &mut case);
    let already = row.mutation == ALREADY_APPLIED;
    let plan = match result {
        Ok(plan) => plan,
        Err(_) if row.after.is_none() && !already => return case.good(Outcome::Refused),
        Err(_) => return case.bad(Outcome::Refused),
    };
    let got = match engine::after(&plan, &row.path) {
        After::Bytes(bytes) => bytes,
        After::Untouched => row.before.as_bytes(),
        After::Gone => b"",
    };
    match &row.after {
        Some(after) if got == after.as_bytes() => case.good(Outcome::Correct),
        None if got == row.before.as_bytes() && already => case.good(Outcome::NoOp),
        None if got == row.before.as_bytes() => case.bad(Outcome::NoOp),
        Some(_) if got == row.before.as_bytes() => {
            case.note("  does nothing, although something must change");
            case.bad(Outcome::Wrong)
        }
        expected => {
            let expected = expected.as_deref().unwrap_or(&row.before);
            case.account.extend(show::difference(expected.as_bytes(), got));
            let facts = Facts {
                id: &row.id,
                request: &row.search,
                needs: None,
                expected: Some(expected),
                got: Some(got),
            };
            case.settle(Outcome::Wrong, false, &facts)
        }
    }
}
