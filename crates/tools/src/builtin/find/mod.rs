//! `find`: files by name, what changed last first.

use std::fs;
use std::time::{Duration, SystemTime};

use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::card::{CardBody, ToolCard};
use crate::file_text::MAX_OUTPUT_BYTES;
use crate::schema::{self, one_or_many};
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::walk::{WalkLimits, WalkTarget, walk};
use crate::workspace::ToolWorkspace;

/// Files that are listed.
const MAX_RESULTS: usize = 1_000;
const FIND_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct FindTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindInput {
    /// Patterns such as `src/**/*.rs` (a bare `*.rs` means every directory), directories or files.
    #[serde(alias = "path", alias = "pattern", deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// Whether hidden files count. They do unless this is false.
    #[serde(default = "schema::yes")]
    hidden: bool,
    /// Most files to list, at most 1000.
    #[serde(default = "most_results")]
    limit: usize,
}

fn most_results() -> usize {
    MAX_RESULTS
}

impl Tool for FindTool {
    fn name(&self) -> &'static str {
        "find"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<FindInput>(self.name(), include_str!("../../../prompts/find.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let FindInput { paths, hidden, limit } = schema::read_input(call)?;
        if paths.is_empty() {
            return Err(ToolError::refused("`paths` is empty; name at least one pattern or directory"));
        }
        if paths.iter().any(|path| path.trim() == "/") {
            return Err(ToolError::refused("`/` is too much to look through; name a directory or a pattern"));
        }
        let Targets { found: targets, missing } = Targets::read(&paths, call.workspace)?;
        let limits =
            WalkLimits { hidden, gitignore: true, deadline: Some(FIND_TIMEOUT), cancel: call.cancel };
        let walked = walk(&targets, &limits)?;
        let mut files: Vec<(Option<SystemTime>, String)> = walked
            .files
            .iter()
            .map(|path| {
                let changed = fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
                (changed, call.workspace.shown_path(path))
            })
            .collect();
        files.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let (mut text, mut listed) = (String::new(), 0);
        for (_, path) in files.iter().take(limit.clamp(1, MAX_RESULTS)) {
            if text.len() + path.len() + 1 > MAX_OUTPUT_BYTES {
                break;
            }
            text.push_str(path);
            text.push('\n');
            listed += 1;
        }
        if files.is_empty() {
            text.push_str("No files found\n");
        }
        let body = CardBody::text(text.clone());
        if listed < files.len() {
            text.push_str(&format!(
                "[{listed} of {} files, what changed last first; narrow the pattern to see the others]\n",
                files.len()
            ));
        }
        text.extend(walked.notes());
        if !missing.is_empty() {
            text.push_str(&format!("[Skipped, because nothing is there: {}]\n", missing.join(", ")));
        }
        let card = ToolCard::new(format!("find {}", paths.join(" ")), pluralize(files.len(), "file"), body);
        let details = json!({ "fileCount": files.len(), "resultLimitReached": listed < files.len(), "missingPaths": missing });
        Ok(ToolOutput::text(text, card).with_details(details))
    }
}

/// Where to look, and what of it is not there.
pub(crate) struct Targets {
    pub found: Vec<WalkTarget>,
    pub missing: Vec<String>,
}

impl Targets {
    /// # Errors
    /// If none of them is there, or one must not be reached.
    pub(crate) fn read(paths: &[String], workspace: &ToolWorkspace) -> Result<Targets, ToolError> {
        let mut targets = Targets { found: Vec::new(), missing: Vec::new() };
        for path in paths {
            match WalkTarget::read(path, workspace)? {
                Some(target) => targets.found.push(target),
                None => targets.missing.push(path.clone()),
            }
        }
        if targets.found.is_empty() {
            return Err(ToolError::refused(format!("nothing is at {}", targets.missing.join(", "))));
        }
        Ok(targets)
    }
}

#[cfg(test)]
mod tests;
