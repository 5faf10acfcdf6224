//! The languages that quote old text: they are dialects of the patcher, and so is how they are matched.

use relaycode_change::dialect::{self, DialectBlock};
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, FileEdit, TextSpan};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{WantedEdit, check_editable};
use crate::changes::current_image;
use crate::schema;
use crate::tool::{ToolError, ToolInvocation};

/// The dialect whose edits are single texts.
const TEXT_EDITS: &str = "tool-calls";
const DIFF: &str = "unified";
const PATCH: &str = "apply-patch";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceToolInput {
    /// The file, relative to the current directory.
    path: String,
    edits: Vec<ReplaceEdit>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ReplaceEdit {
    /// The text as it stands in the file, to the character; only once, unless `all` is true.
    old_text: String,
    /// What replaces it.
    new_text: String,
    /// Replace it wherever it stands.
    #[serde(default)]
    all: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PatchToolInput {
    /// The file, relative to the current directory.
    path: String,
    /// Hunks of a unified diff: `@@`, context lines, `-` and `+`.
    diff: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyPatchToolInput {
    /// A patch from `*** Begin Patch` to `*** End Patch`.
    input: String,
}

pub(super) fn read_replace(call: &ToolInvocation<'_>) -> Result<WantedEdit, ToolError> {
    let ReplaceToolInput { path, edits } = schema::read_input(call)?;
    if edits.is_empty() {
        return Err(ToolError::refused("`edits` is empty"));
    }
    if edits.iter().any(|edit| edit.old_text.is_empty()) {
        return Err(ToolError::refused(
            "`old_text` is empty; quote the text to replace, or create the file with `write`",
        ));
    }
    let spans = edits.into_iter().map(|ReplaceEdit { old_text, new_text, all }| TextSpan {
        old: old_text,
        new: new_text,
        every: all,
    });
    let hunks = spans.enumerate().map(|(at, span)| span.into_hunk(at + 1)).collect();
    let path = target(call, &path)?;
    let edit = FileEdit { dialect: TEXT_EDITS, body: EditBody::Hunks(hunks), seen: None };
    wanted(call, vec![FileAction::Write { path, edit, mode: None }])
}

pub(super) fn read_patch(call: &ToolInvocation<'_>) -> Result<WantedEdit, ToolError> {
    let PatchToolInput { path, diff } = schema::read_input(call)?;
    let path = target(call, &path)?;
    wanted(call, read_dialect(DIFF, Some(path), &diff)?)
}

pub(super) fn read_apply_patch(call: &ToolInvocation<'_>) -> Result<WantedEdit, ToolError> {
    let ApplyPatchToolInput { input } = schema::read_input(call)?;
    wanted(call, read_dialect(PATCH, None, &input)?)
}

fn read_dialect(name: &str, path: Option<RelPath>, text: &str) -> Result<Vec<FileAction>, ToolError> {
    let Some(dialect) = dialect::by_name(name) else {
        return Err(ToolError::Fatal(format!("there is no dialect `{name}`")));
    };
    let text = if text.ends_with('\n') { text.to_string() } else { format!("{text}\n") };
    let operations = dialect.read(&DialectBlock { path, text: &text, line: 1 });
    let operations =
        operations.map_err(|error| ToolError::refused(format!("line {}: {}", error.line, error.reason)))?;
    Ok(operations.into_iter().map(|operation| operation.action).collect())
}

fn target(call: &ToolInvocation<'_>, path: &str) -> Result<RelPath, ToolError> {
    call.workspace
        .resolve_target(path)
        .map(|(name, _)| name)
        .map_err(|error| ToolError::refused(error.to_string()))
}

fn wanted(call: &ToolInvocation<'_>, actions: Vec<FileAction>) -> Result<WantedEdit, ToolError> {
    for action in &actions {
        let name = match action {
            FileAction::Rename { from, .. } => from,
            action => action.path(),
        };
        if let FileAction::Rename { to, .. } = action {
            call.workspace.permit_edit(call, &call.workspace.root().join(to.as_str()))?;
        }
        // A name in a patch is relative to the project; a link in it must not lead out.
        let shown = call.workspace.root().join(name.as_str());
        let found = call.workspace.resolve(&shown.to_string_lossy());
        found.map_err(|error| ToolError::refused(error.to_string()))?;
        if let Some(image) = current_image(call, name)? {
            check_editable(call.workspace, name.as_str(), &image.bytes)?;
        }
    }
    Ok(WantedEdit { actions, splices: Vec::new(), warnings: Vec::new() })
}
