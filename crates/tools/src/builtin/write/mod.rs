//! `write`: a new file, or the whole content of one.

use relaycode_change::hashline::strip_anchors;
use relaycode_change::lines::text_file::TextFile;
use relaycode_change::proposal::{ExactImage, FileAction, GitFileMode};
use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::card::{CardBody, ToolCard};
use crate::changes::{ToolChange, card_body, current_image, submit};
use crate::generated::{generated_mark, refusal};
use crate::internal_urls::{self, is_plan_name};
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, TouchedFiles};
use crate::workspace::{EditMode, PLAN_ADDRESS, ToolWorkspace};

/// Ends of names behind which a colon names something inside.
const CONTAINERS: [&str; 8] =
    [".zip:", ".tar:", ".tar.gz:", ".tgz:", ".sqlite:", ".sqlite3:", ".db:", ".db3:"];

pub(crate) struct WriteTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteInput {
    /// The file, relative to the current directory.
    #[serde(alias = "file_path")]
    path: String,
    /// The whole content.
    content: String,
}

impl Tool for WriteTool {
    fn name(&self) -> &'static str {
        "write"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<WriteInput>(self.name(), include_str!("../../../prompts/write.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let WriteInput { path, content } = schema::read_input(call)?;
        let workspace = call.workspace;
        if let Some(name) = path.trim().strip_prefix(PLAN_ADDRESS) {
            return write_plan(workspace, name, &content);
        }
        if CONTAINERS.iter().any(|end| path.to_lowercase().contains(end)) {
            return Err(ToolError::refused(format!(
                "`{path}`: what is inside of archives and databases cannot be written yet"
            )));
        }
        if let Some(written) = internal_urls::write_virtual(call, path.trim(), &content) {
            written?;
            let text = format!("Successfully wrote {} bytes to {}\n", content.len(), path.trim());
            let card = ToolCard::line(format!("write {}", path.trim()), "written");
            return Ok(ToolOutput::text(text, card).with_details(json!({ "bytes": content.len() })));
        }
        let settings = &workspace.settings;
        let stripped =
            strip_anchors(&content).filter(|_| settings.anchors && settings.edit_mode == EditMode::Hashline);
        let was_stripped = stripped.is_some();
        let content = stripped.unwrap_or(content);
        let (name, found) =
            workspace.resolve_target(&path).map_err(|error| ToolError::refused(error.to_string()))?;
        let before = current_image(call, &name)?;
        if let Some(image) = &before
            && let Some(mark) = generated_mark(&found.path, &image.bytes)
        {
            return Err(ToolError::refused(refusal(&found.shown, &mark)));
        }
        let unseen = before.as_ref().filter(|image| {
            !image.bytes.is_empty()
                && !workspace.shown().get(&found.path).is_some_and(|shown| shown.is(&image.bytes))
        });
        let unseen = unseen.map(|image| bytecount_lines(&image.bytes));
        let mode = before.as_ref().map_or(GitFileMode::Regular, |image| image.mode);
        let bytes = encode(before.as_ref(), content)?;
        let count = bytes.len();
        let after = Some(ExactImage { bytes, mode });
        let what = format!("write {}", found.shown);
        let change = FileAction::Exact { path: name, before, after };
        let ToolChange { applied, remarks } = submit(call, vec![change], &what)?;
        workspace.shown().forget(&found.path);
        let mut text = format!("Successfully wrote {count} bytes to {}\n", found.shown);
        if was_stripped {
            text.push_str("Note: the anchors at the beginning of each line were taken off first.\n");
        }
        if let Some(lines) = unseen {
            text.push_str(&format!(
                "Note: this replaced {} that you had not been shown as they were.\n",
                pluralize(lines, "line")
            ));
        }
        for remark in &remarks {
            text.push_str(&format!("Note: {remark}\n"));
        }
        let (added, removed) = applied.plan.files.first().map_or((0, 0), |file| (file.added, file.removed));
        let card = ToolCard::new(what, format!("+{added} -{removed}"), card_body(&applied.plan));
        let details =
            json!({ "change": applied.record.uuid.to_string(), "bytes": count, "remarks": remarks });
        Ok(ToolOutput::text(text, card).with_details(details))
    }

    fn touched_files(&self, arguments: &Map<String, Value>, _details: &Value) -> TouchedFiles {
        let path = arguments.get("path").or(arguments.get("file_path")).and_then(Value::as_str);
        TouchedFiles { changed: path.map(str::to_string).into_iter().collect(), ..TouchedFiles::default() }
    }
}

/// The plan lies beside the session, where nobody has to be asked.
fn write_plan(workspace: &ToolWorkspace, name: &str, content: &str) -> Result<ToolOutput, ToolError> {
    if !is_plan_name(name) {
        return Err(ToolError::refused(format!("there is one plan, `{PLAN_ADDRESS}`")));
    }
    if !workspace.is_planning() {
        return Err(ToolError::refused("the plan cannot be changed: you are not planning"));
    }
    workspace.write_plan(content).map_err(|error| ToolError::refused(error.to_string()))?;
    let text = format!("Successfully wrote {} bytes to {PLAN_ADDRESS}\n", content.len());
    let summary = pluralize(content.lines().count(), "line");
    let card = ToolCard::new("write the plan", summary, CardBody::text(content));
    Ok(ToolOutput::text(text, card))
}

/// The content as the file is written: its encoding and line endings stay.
fn encode(before: Option<&ExactImage>, content: String) -> Result<Vec<u8>, ToolError> {
    let old = before.filter(|image| !image.bytes.is_empty());
    let old = old.and_then(|image| TextFile::decode_candidates(&image.bytes).ok()?.into_iter().next());
    match old {
        Some(old) if old.encoding() != "UTF-8" || old.text().contains('\r') => {
            let ends = content.ends_with('\n');
            let bytes = old.encode_whole(&content).map_err(|error| ToolError::refused(error.to_string()))?;
            // Whether there is a final newline is the author's to say.
            let kept = TextFile::decode_candidates(&bytes)
                .ok()
                .and_then(|new| Some(new.into_iter().next()?.ends_with_newline()));
            Ok(if kept.is_none_or(|kept| kept == ends) { bytes } else { with_final_newline(&bytes, ends)? })
        }
        _ => Ok(content.into_bytes()),
    }
}

fn with_final_newline(bytes: &[u8], ends: bool) -> Result<Vec<u8>, ToolError> {
    let refused = |error: &dyn std::fmt::Display| ToolError::refused(error.to_string());
    let sources = TextFile::decode_candidates(bytes).map_err(|error| refused(&error))?;
    let Some(source) = sources.into_iter().next() else { return Ok(bytes.to_vec()) };
    let pieces: Vec<_> =
        (0..source.line_count()).map(relaycode_change::lines::text_file::TextFilePiece::Keep).collect();
    source.rebuild(&pieces, Some(ends)).map_err(|error| refused(&error))
}

fn bytecount_lines(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests;
