//! `search`: lines that match a regular expression, with anchors.

mod pattern;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::find::Targets;
use crate::card::{CardBody, ToolCard};
use crate::file_text::{FileText, LineForm, MAX_FILE_BYTES, MAX_OUTPUT_BYTES, read_bounded};
use crate::schema::{self, one_or_many};
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::walk::{WalkLimits, walk};
use crate::workspace::ToolWorkspace;
use pattern::SearchPattern;
use scan::{FileMatches, scan};

/// Matches that are taken.
const MAX_TAKEN: usize = 500;
/// Matches that are shown.
const MAX_SHOWN: usize = 100;
/// Matches that can be skipped.
const MAX_SKIP: usize = 10_000;
const CONTEXT_BEFORE: usize = 1;
const CONTEXT_AFTER: usize = 3;
/// Bytes of a line.
const MAX_LINE: usize = 1_024;

pub(crate) struct SearchTool;

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchInput {
    /// A regular expression in Rust's syntax. It matches within a line, unless it holds `\n`.
    pattern: String,
    /// Files, directories or patterns such as `src/**/*.rs`; the current directory if left out.
    #[serde(default, deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// Ignore case.
    #[serde(default)]
    i: bool,
    /// Leave out what `.gitignore` names. It is left out unless this is false.
    #[serde(default = "schema::yes")]
    gitignore: bool,
    /// Leave out so many matches: what an earlier search showed.
    #[serde(default)]
    skip: usize,
}

impl Tool for SearchTool {
    fn name(&self) -> &'static str {
        "search"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<SearchInput>(self.name(), include_str!("../../../prompts/search.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let input: SearchInput = schema::read_input(call)?;
        let pattern = SearchPattern::read(&input.pattern, input.i)?;
        let skip = input.skip.min(MAX_SKIP);
        let here = vec![".".to_string()];
        let paths = if input.paths.is_empty() { &here } else { &input.paths };
        let Targets { found: targets, missing } = Targets::read(paths, call.workspace)?;
        let limits =
            WalkLimits { hidden: true, gitignore: input.gitignore, deadline: None, cancel: call.cancel };
        let walked = walk(&targets, &limits)?;
        let scanned = scan(&walked.files, &pattern, skip + MAX_TAKEN, call.cancel);
        call.check_cancelled()?;
        let taken: usize = scanned.files.iter().map(|file| file.lines.len()).sum();
        let chosen = round_robin(&scanned.files, skip);
        let mut output = SearchOutput::default();
        for (at, lines) in &chosen {
            output.add(call.workspace, &scanned.files[*at].path, lines);
        }
        let mut text = output.text.clone();
        let found = if scanned.stopped {
            format!("more than {taken} matches")
        } else {
            format!("{} in {}", pluralize(taken, "match"), pluralize(scanned.files.len(), "file"))
        };
        if taken == 0 {
            text.push_str(&format!("No matches found in {}\n", pluralize(walked.files.len(), "file")));
        } else if output.matches == 0 {
            text.push_str(&format!("Nothing is left to show: skip={skip} of {found}\n"));
        } else if output.full {
            text.push_str(&format!("[The output is full, of {found}; narrow the pattern or the paths]\n"));
        } else if skip + output.matches < taken || scanned.stopped {
            let next = skip + output.matches;
            text.push_str(&format!(
                "[Matches {}-{next} of {found}, in turn from each file; skip={next} shows the next]\n",
                skip + 1
            ));
        }
        if let Some(used) = &pattern.repaired {
            text.push_str(&format!("[Searched for {used}]\n"));
        }
        if !missing.is_empty() {
            text.push_str(&format!("[Skipped, because nothing is there: {}]\n", missing.join(", ")));
        }
        let body = CardBody::Text { text: output.plain, first_line: None };
        let card = ToolCard { title: format!("search {}", input.pattern), summary: found, body };
        let details = json!({
            "matchCount": taken, "fileCount": scanned.files.len(), "shownCount": output.matches,
            "matchLimitReached": scanned.stopped, "missingPaths": missing,
        });
        Ok(ToolOutput::text(text, card).with_details(details))
    }
}

/// One match from each file in turn, so that no file crowds the others out; by file, its lines in order.
fn round_robin(files: &[FileMatches], skip: usize) -> BTreeMap<usize, BTreeSet<usize>> {
    let longest = files.iter().map(|file| file.lines.len()).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|turn| {
        files.iter().enumerate().filter_map(move |(at, file)| file.lines.get(turn).map(|line| (at, *line)))
    });
    let mut chosen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (at, line) in turns.skip(skip).take(MAX_SHOWN) {
        chosen.entry(at).or_default().insert(line);
    }
    chosen
}

#[derive(Default)]
struct SearchOutput {
    text: String,
    /// Without anchors, for people.
    plain: String,
    matches: usize,
    full: bool,
}

impl SearchOutput {
    /// The matches (from 1) of one file, with what stands around them.
    fn add(&mut self, workspace: &ToolWorkspace, path: &Path, matches: &BTreeSet<usize>) {
        if self.full {
            return;
        }
        let Some(file) = read_bounded(path, MAX_FILE_BYTES).ok().and_then(FileText::new) else { return };
        let lines = file.lines();
        let form = if file.is_editable(workspace, path) { LineForm::Anchored } else { LineForm::Numbered };
        let wanted: BTreeSet<usize> = matches
            .iter()
            .filter(|line| **line <= lines.len())
            .flat_map(|line| {
                let at = line - 1;
                at.saturating_sub(CONTEXT_BEFORE)..(at + CONTEXT_AFTER + 1).min(lines.len())
            })
            .collect();
        let header = format!("# {}\n", workspace.shown_path(path));
        self.text.push_str(&header);
        self.plain.push_str(&header);
        let mut shown = Vec::new();
        let mut last = None;
        for at in wanted {
            let is_match = matches.contains(&(at + 1));
            let sign = if is_match { '*' } else { ' ' };
            let line = form.print_clipped(at + 1, lines[at], MAX_LINE);
            if self.text.len() + line.len() + 8 > MAX_OUTPUT_BYTES {
                self.full = true;
                break;
            }
            if last.is_some_and(|last| last + 1 != at) {
                self.text.push_str("...\n");
            }
            last = Some(at);
            self.text.push_str(&format!("{sign}{line}\n"));
            if is_match {
                self.plain.push_str(&format!(
                    "{}\n",
                    LineForm::Numbered.print_clipped(at + 1, lines[at], MAX_LINE)
                ));
                self.matches += 1;
            }
            shown.push(at);
        }
        self.text.push('\n');
        if form == LineForm::Anchored {
            workspace.shown().show(path, &file.bytes, &lines, shown);
        }
    }
}
