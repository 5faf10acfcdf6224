//! Anchored edits: every anchor is judged by what the model was shown before anything is changed.

use relaycode_change::hashline::{
    HashlineAction, HashlineError, HashlineSection, InsertPlace, edit_text, read_sections,
};
use relaycode_change::lines::text_file::TextFile;
use relaycode_change::proposal::{ExactImage, FileAction, GitFileMode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{WantedEdit, check_editable};
use crate::changes::current_image;
use crate::schema;
use crate::tool::{ToolError, ToolInvocation};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HashlineToolInput {
    /// Sections that begin with `§PATH`, each with its edits.
    input: String,
}

pub(super) fn read(call: &ToolInvocation<'_>) -> Result<WantedEdit, ToolError> {
    let HashlineToolInput { input } = schema::read_input(call)?;
    let read = read_sections(&input).map_err(|error| ToolError::refused(error.to_string()))?;
    let mut wanted = WantedEdit { actions: Vec::new(), splices: Vec::new(), warnings: read.warnings };
    // Two spellings may name one file.
    let mut sections: Vec<(relaycode_change::proposal::path::RelPath, HashlineSection)> = Vec::new();
    for section in read.sections {
        let resolved = call.workspace.resolve_target(&section.path);
        let (name, _) = resolved.map_err(|error| ToolError::refused(error.to_string()))?;
        match sections.iter_mut().find(|(other, _)| *other == name) {
            Some((_, first)) => first.edits.extend(section.edits),
            None => sections.push((name, section)),
        }
    }
    for (name, section) in sections {
        let path = call.workspace.root().join(name.as_str());
        let Some(before) = current_image(call, &name)? else {
            let after = ExactImage { bytes: new_file(&section, name.as_str())?, mode: GitFileMode::Regular };
            wanted.actions.push(FileAction::Exact { path: name, before: None, after: Some(after) });
            continue;
        };
        check_editable(call.workspace, name.as_str(), &before.bytes)?;
        let result = {
            let shown = call.workspace.shown();
            edit_text(&section.edits, shown.get(&path), &before.bytes)
        };
        let result = result.map_err(|error| refuse(call, &path, name.as_str(), &before.bytes, &error))?;
        wanted.warnings.extend(result.warnings.iter().map(|warning| format!("{name}: {warning}")));
        wanted.splices.push((name.to_string(), result.splices));
        let after = ExactImage { bytes: result.bytes, mode: before.mode };
        wanted.actions.push(FileAction::Exact { path: name, before: Some(before), after: Some(after) });
    }
    Ok(wanted)
}

/// The content of a file that does not exist yet: only insertions at its ends make sense.
fn new_file(section: &HashlineSection, name: &str) -> Result<Vec<u8>, ToolError> {
    let (mut top, mut bottom) = (Vec::new(), Vec::new());
    for edit in &section.edits {
        match &edit.action {
            HashlineAction::Insert { place: InsertPlace::Top, lines } => top.extend(lines.iter().cloned()),
            HashlineAction::Insert { place: InsertPlace::Bottom, lines } => {
                bottom.extend(lines.iter().cloned());
            }
            _ => {
                return Err(ToolError::refused(format!(
                    "File not found: {name}; to create it, use »BOF or `write`"
                )));
            }
        }
    }
    top.append(&mut bottom);
    Ok((top.join("\n") + "\n").into_bytes())
}

/// The error for the model; the lines that it shows count as shown.
fn refuse(
    call: &ToolInvocation<'_>,
    path: &std::path::Path,
    name: &str,
    bytes: &[u8],
    error: &HashlineError,
) -> ToolError {
    match error {
        HashlineError::Stale(report) => {
            if let Some(source) =
                TextFile::decode_candidates(bytes).ok().and_then(|all| all.into_iter().next())
            {
                let lines: Vec<&str> = source.lines().collect();
                call.workspace.shown().show(path, bytes, &lines, report.shown.iter().copied());
            }
            ToolError::refused(format!("{name}: {}", report.text))
        }
        HashlineError::Unchanged => {
            ToolError::refused(format!("Edits to {name} resulted in no changes being made."))
        }
        error => ToolError::refused(format!("{name}: {error}")),
    }
}
