//! `search`: lines that match a regular expression, with anchors.

mod large_file;
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
use scan::{FileMatches, ScanResult, scan};

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

/// What models are told of lines.
const ANCHORED_LINES: &str =
    "Matching lines begin with `*` and an anchor that `edit` takes: `*41th|def alpha():`.";
const NUMBERED_LINES: &str = "Matching lines begin with `*` and their number: `*41|def alpha():`.";

pub(crate) struct SearchTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    /// A regular expression in Rust's syntax. It matches within a line, unless it holds `\n`.
    pattern: String,
    /// Files, directories or patterns such as `src/**/*.rs`; the current directory if left out.
    #[serde(default, alias = "path", deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// Ignore case.
    #[serde(default, alias = "ignore_case", alias = "case_insensitive", alias = "-i")]
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

    fn definition(&self, workspace: &ToolWorkspace) -> request::Tool {
        let lines = if workspace.settings.anchors { ANCHORED_LINES } else { NUMBERED_LINES };
        let description = include_str!("../../../prompts/search.md").replace("{lines}", lines);
        schema::define::<SearchInput>(self.name(), &description)
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
            output.add(call.workspace, &scanned.files[*at], lines);
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
        text.extend(not_searched(call.workspace, &scanned));
        text.extend(walked.notes());
        if !missing.is_empty() {
            text.push_str(&format!("[Skipped, because nothing is there: {}]\n", missing.join(", ")));
        }
        let body = CardBody::text(output.plain);
        let card = ToolCard::new(format!("search {}", input.pattern), found, body);
        let details = json!({
            "matchCount": taken, "fileCount": scanned.files.len(), "shownCount": output.matches,
            "matchLimitReached": scanned.stopped, "missingPaths": missing, "failedCount": scanned.failed.len(),
        });
        Ok(ToolOutput::text(text, card).with_details(details))
    }
}

/// Files of which nobody can say that there is nothing in them.
fn not_searched(workspace: &ToolWorkspace, scanned: &ScanResult) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = scanned.failed.first() {
        let count = pluralize(scanned.failed.len(), "file");
        let shown = workspace.shown_path(first);
        notes.push(format!("[{count} could not be searched to the end, {shown} among them]\n"));
    }
    if scanned.files.is_empty() && scanned.binary > 0 {
        notes.push(format!("[{} not searched: no text]\n", pluralize(scanned.binary, "binary file")));
    }
    notes
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
    fn add(&mut self, workspace: &ToolWorkspace, found: &FileMatches, matches: &BTreeSet<usize>) {
        if self.full {
            return;
        }
        let path = found.path.as_path();
        if let Some(pieces) = large_file::read_around(workspace, found, matches) {
            let text_of = |at: usize| pieces.get(&at).map(String::as_str);
            self.print(workspace, (path, LineForm::Numbered), matches, &text_of);
            return;
        }
        let Some(file) = read_bounded(path, MAX_FILE_BYTES).ok().and_then(FileText::new) else { return };
        let lines = file.lines();
        let form = if file.is_editable(workspace, path) { LineForm::Anchored } else { LineForm::Numbered };
        let shown = self.print(workspace, (path, form), matches, &|at| lines.get(at).copied());
        if form == LineForm::Anchored {
            workspace.shown().show(path, &file.bytes, &lines, shown);
        }
    }

    /// Prints matches (from 1) with the lines around them. Returns what was printed (from 0).
    fn print<'t>(
        &mut self,
        workspace: &ToolWorkspace,
        (path, form): (&Path, LineForm),
        matches: &BTreeSet<usize>,
        text_of: &dyn Fn(usize) -> Option<&'t str>,
    ) -> Vec<usize> {
        let wanted: BTreeSet<usize> = matches
            .iter()
            .filter(|line| text_of(**line - 1).is_some())
            .flat_map(|line| {
                let at = line - 1;
                at.saturating_sub(CONTEXT_BEFORE)..at + CONTEXT_AFTER + 1
            })
            .collect();
        let header = format!("# {}\n", workspace.shown_path(path));
        self.text.push_str(&header);
        self.plain.push_str(&header);
        let mut shown = Vec::new();
        let mut last = None;
        for (at, text) in wanted.into_iter().filter_map(|at| Some((at, text_of(at)?))) {
            let is_match = matches.contains(&(at + 1));
            let sign = if is_match { '*' } else { ' ' };
            let line = form.print_clipped(at + 1, text, MAX_LINE);
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
                self.plain
                    .push_str(&format!("{}\n", LineForm::Numbered.print_clipped(at + 1, text, MAX_LINE)));
                self.matches += 1;
            }
            shown.push(at);
        }
        self.text.push('\n');
        shown
    }
}
