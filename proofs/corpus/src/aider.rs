//! Answers from a public chat log: `parse` rows say which blocks must be read, `apply` rows what they must
//! do to the files of that time.

use std::collections::BTreeMap;
use std::time::Instant;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, Hunk, Proposal};
use relaycode_change::response;
use serde::Deserialize;

use super::engine;
use super::exceptions::Facts;
use super::judged::{Judged, Outcome};
use super::show;
use relaycode_proof_corpus::rows::Files;

#[derive(Deserialize)]
struct ParseRow {
    id: String,
    response: String,
    expect: ParseExpect,
}

#[derive(Deserialize)]
struct ParseExpect {
    #[serde(default)]
    blocks: Vec<SearchReplace>,
    outcome: Option<String>,
}

#[derive(Deserialize)]
struct ApplyRow {
    id: String,
    response: String,
    before: Files,
    edits: Vec<SearchReplace>,
    expect: ApplyExpect,
}

#[derive(Deserialize)]
struct ApplyExpect {
    outcome: String,
    after: Option<Files>,
}

/// A hunk, as most rows write it.
#[derive(Deserialize)]
struct SearchReplace {
    path: String,
    search: String,
    replace: String,
}

/// Path, lines to find, replacement.
type Block = (String, Vec<String>, Vec<String>);

/// Judges a row about reading.
pub(crate) fn judge_parse(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: ParseRow = serde_json::from_str(line)?;
    let must_fail = row.expect.outcome.as_deref() == Some("error");
    let group = if must_fail { "parse, cut off" } else { "parse" };
    let mut case = Judged::new(set, group, &row.id);
    let start = Instant::now();
    let read = response::read(&row.response, &engine::generous());
    case.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let facts = Facts {
        id: &row.id,
        request: &row.response,
        needs: (!row.expect.blocks.is_empty()).then_some("<<<<<<<"),
        expected: None,
        got: None,
    };
    let proposal = match read {
        Ok(proposal) => proposal,
        Err(error) => {
            case.note(format!("  {error}"));
            judged.push(case.settle(Outcome::Refused, must_fail, &facts));
            return Ok(());
        }
    };
    let broken = note_unread(&proposal, &mut case);
    if must_fail {
        let outcome = if broken { Outcome::Refused } else { Outcome::Wrong };
        judged.push(case.settle(outcome, broken, &facts));
        return Ok(());
    }
    let expected = expected_blocks(&row.expect.blocks);
    let found = found_blocks(&proposal);
    let equal = expected == found;
    if !equal {
        note_blocks(&expected, &found, &mut case);
    }
    let outcome = match (equal, broken) {
        (true, false) => Outcome::Correct,
        (_, true) => Outcome::Refused,
        (false, false) => Outcome::Wrong,
    };
    judged.push(case.settle(outcome, outcome == Outcome::Correct, &facts));
    Ok(())
}

/// Judges a row about planning.
pub(crate) fn judge_apply(set: &str, line: &str, judged: &mut Vec<Judged>) -> anyhow::Result<()> {
    let row: ApplyRow = serde_json::from_str(line)?;
    let must_fit = row.expect.outcome == "ok";
    let group = format!("apply, {}", row.expect.outcome);
    let mut case = Judged::new(set, &group, &row.id);
    let proposal = row.proposal(&mut case)?;
    let result = engine::plan(&proposal, &engine::tree(&row.before), &mut case);
    let facts = Facts { id: &row.id, request: &row.response, needs: None, expected: None, got: None };
    let Ok(plan) = result else {
        judged.push(case.settle(Outcome::Refused, !must_fit, &facts));
        return Ok(());
    };
    let no_files = Files::new();
    let expected = row.expect.after.as_ref().unwrap_or(&no_files);
    let equal = engine::compare_all(&plan, &row.before, expected, &facts, &mut case);
    let case = match (must_fit, equal, case.near) {
        (true, true, _) => case.settle(Outcome::Correct, true, &facts),
        (true, false, _) => case.settle(Outcome::Wrong, false, &facts),
        // The log's tool found no exact place; a near match asks a person.
        (false, _, true) => case.settle(Outcome::Correct, true, &facts),
        (false, true, false) if !expected.is_empty() => case.settle(Outcome::Correct, true, &facts),
        (false, _, false) => {
            case.note("  review: applied without a mark where the log's tool refused");
            for file in &plan.files {
                let (before, after) = (file.before.as_deref(), file.after.as_deref());
                case.account.extend(show::difference(before.unwrap_or_default(), after.unwrap_or_default()));
            }
            case.settle(Outcome::Review, true, &facts)
        }
    };
    judged.push(case);
    Ok(())
}

impl ApplyRow {
    /// The response's proposal if it reads to the recorded edits, else the edits themselves.
    fn proposal(&self, case: &mut Judged) -> anyhow::Result<Proposal> {
        let edits = expected_blocks(&self.edits);
        if let Ok(read) = response::read(&self.response, &engine::generous())
            && found_blocks(&read) == edits
            && !read.unread.iter().any(|unread| unread.broken)
        {
            return Ok(read);
        }
        case.note("  planned from the recorded edits, the response does not read to them");
        let mut hunks: BTreeMap<RelPath, Vec<Hunk>> = BTreeMap::new();
        for edit in &self.edits {
            let hunk = engine::hunk(&edit.search, &edit.replace);
            hunks.entry(RelPath::parse(&edit.path)?).or_default().push(hunk);
        }
        let writes = hunks.into_iter().map(|(path, hunks)| engine::write(path, hunks));
        Ok(engine::proposal(writes.collect()))
    }
}

fn expected_blocks(blocks: &[SearchReplace]) -> Vec<Block> {
    blocks
        .iter()
        .map(|block| (block.path.clone(), engine::lines(&block.search), engine::lines(&block.replace)))
        .collect()
}

fn found_blocks(proposal: &Proposal) -> Vec<Block> {
    let mut blocks = Vec::new();
    for operation in &proposal.operations {
        let path = operation.action.path().to_string();
        match &operation.action {
            FileAction::Write { edit, .. } => match &edit.body {
                EditBody::Hunks(hunks) => blocks
                    .extend(hunks.iter().map(|hunk| (path.clone(), hunk.before.clone(), hunk.after.clone()))),
                EditBody::Whole { text, .. } => {
                    blocks.push((path, Vec::new(), engine::lines(text)));
                }
            },
            FileAction::Delete { .. } => blocks.push((path, vec!["(deleted)".into()], Vec::new())),
            FileAction::Rename { .. } => blocks.push((path, vec!["(renamed)".into()], Vec::new())),
            FileAction::Exact { .. } => blocks.push((path, vec!["(exact)".into()], Vec::new())),
        }
    }
    blocks
}

fn note_unread(proposal: &Proposal, case: &mut Judged) -> bool {
    for unread in &proposal.unread {
        let weight = if unread.broken { "broken" } else { "not a change" };
        case.note(format!("  line {}, {weight}: {}", unread.line, unread.reason));
    }
    proposal.unread.iter().any(|unread| unread.broken)
}

fn note_blocks(expected: &[Block], found: &[Block], case: &mut Judged) {
    case.note(format!("  {} blocks expected, {} found", expected.len(), found.len()));
    let text = |block: Option<&Block>| {
        block.map_or(String::new(), |(path, before, after)| {
            format!("{path}\n<\n{}\n=\n{}\n>\n", before.join("\n"), after.join("\n"))
        })
    };
    for index in 0..expected.len().max(found.len()) {
        let (left, right) = (expected.get(index), found.get(index));
        if left != right {
            case.note(format!("  block {}:", index + 1));
            let (left, right) = (text(left), text(right));
            case.account.extend(show::difference(left.as_bytes(), right.as_bytes()));
        }
    }
}
