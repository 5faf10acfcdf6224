//! `edit`: changes of files in one of four languages, which the user chooses by `edit.mode`. Whatever the language, the files of
//! one call change together or not at all, and the answer shows the new lines with fresh anchors.

mod hashline;
mod hunks;
#[cfg(test)]
mod tests;

use relaycode_change::hashline::LineSplice;
use relaycode_change::plan::{FileChangeKind, FilePlan};
use relaycode_change::proposal::FileAction;
use relaycode_llm::request;
use serde_json::{Map, Value, json};

use crate::card::ToolCard;
use crate::changes::{ToolChange, card_body, show_result, submit, unified};
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, TouchedFiles};
use crate::workspace::{EditMode, ToolWorkspace};

pub(crate) struct EditTool;

/// What a call wants, in the door's terms.
struct WantedEdit {
    actions: Vec<FileAction>,
    /// Of each file, which lines are replaced, where the language says so exactly.
    splices: Vec<(String, Vec<LineSplice>)>,
    warnings: Vec<String>,
}

impl Tool for EditTool {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn definition(&self, workspace: &ToolWorkspace) -> request::Tool {
        match workspace.settings.edit_mode {
            EditMode::Hashline => schema::define::<hashline::HashlineToolInput>(
                self.name(),
                include_str!("../../../prompts/edit-hashline.md"),
            ),
            EditMode::Replace => schema::define::<hunks::ReplaceToolInput>(
                self.name(),
                include_str!("../../../prompts/edit-replace.md"),
            ),
            EditMode::Patch => schema::define::<hunks::PatchToolInput>(
                self.name(),
                include_str!("../../../prompts/edit-patch.md"),
            ),
            EditMode::ApplyPatch => schema::define::<hunks::ApplyPatchToolInput>(
                self.name(),
                include_str!("../../../prompts/edit-apply-patch.md"),
            ),
        }
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let wanted = match call.workspace.settings.edit_mode {
            EditMode::Hashline => hashline::read(call)?,
            EditMode::Replace => hunks::read_replace(call)?,
            EditMode::Patch => hunks::read_patch(call)?,
            EditMode::ApplyPatch => hunks::read_apply_patch(call)?,
        };
        apply(call, wanted)
    }

    fn touched_files(&self, _arguments: &Map<String, Value>, details: &Value) -> TouchedFiles {
        let one = std::slice::from_ref(details);
        let files = details.get("perFileResults").and_then(Value::as_array).map_or(one, Vec::as_slice);
        let paths = files.iter().filter_map(|file| file.get("path")?.as_str());
        TouchedFiles { changed: paths.map(str::to_string).collect(), ..TouchedFiles::default() }
    }
}

fn apply(call: &ToolInvocation<'_>, wanted: WantedEdit) -> Result<ToolOutput, ToolError> {
    let WantedEdit { actions, splices, mut warnings } = wanted;
    let names: Vec<String> = actions.iter().map(|action| action.path().to_string()).collect();
    let what = format!("edit {}", names.join(", "));
    let ToolChange { applied, remarks } = submit(call, actions, &what)?;
    warnings.extend(remarks);
    let mut text = String::new();
    let mut results = Vec::new();
    let changed = |file: &&FilePlan| file.change != FileChangeKind::Unchanged;
    let (mut added, mut removed) = (0, 0);
    for file in applied.plan.files.iter().filter(changed) {
        let of_file = splices
            .iter()
            .find(|(path, _)| path == file.path.as_str())
            .map(|(_, splices)| splices.as_slice());
        let preview = show_result(call, file, of_file);
        text.push_str(&headline(file, &preview));
        text.push_str(&preview);
        (added, removed) = (added + file.added, removed + file.removed);
        results.push(file_details(file));
    }
    if !warnings.is_empty() {
        text.push_str(&format!("Warnings:\n{}\n", warnings.join("\n")));
    }
    let mut details = results.first().cloned().unwrap_or_else(|| json!({}));
    details["change"] = json!(applied.record.uuid.to_string());
    if results.len() > 1 {
        details["perFileResults"] = Value::Array(results);
    }
    let summary = format!("+{added} -{removed}");
    let card = ToolCard::new(what, summary, card_body(&applied.plan));
    Ok(ToolOutput::text(text, card).with_details(details))
}

fn headline(file: &FilePlan, preview: &str) -> String {
    match (file.change, preview.is_empty()) {
        (FileChangeKind::Deleted, _) => format!("Deleted {}\n", file.path),
        (FileChangeKind::Added, true) => format!("Created {}\n", file.path),
        (_, true) => format!("Updated {}\n", file.path),
        (_, false) => match &file.renamed_from {
            Some(from) => format!("{from} -> {}:\n", file.path),
            None => format!("{}:\n", file.path),
        },
    }
}

fn file_details(file: &FilePlan) -> Value {
    let diff = relaycode_change::diff::diff_file(file);
    let text = unified(&diff.content);
    let first = match &diff.content {
        relaycode_change::diff::DiffContent::Text { hunks, .. } => hunks.first().and_then(|hunk| {
            let changed = hunk.lines.iter().position(|line| line.kind.sign() != ' ')?;
            hunk.lines[changed..].iter().find_map(|line| line.new).or(Some(hunk.new_start))
        }),
        _ => None,
    };
    let op = match file.change {
        FileChangeKind::Added => "create",
        FileChangeKind::Deleted => "delete",
        _ => "update",
    };
    json!({ "path": file.path.as_str(), "op": op, "diff": text, "firstChangedLine": first })
}

/// Refuses files that programs write.
fn check_editable(workspace: &ToolWorkspace, path: &str, bytes: &[u8]) -> Result<(), ToolError> {
    match crate::generated::generated_mark(&workspace.root().join(path), bytes) {
        Some(mark) => Err(ToolError::refused(crate::generated::refusal(path, &mark))),
        None => Ok(()),
    }
}
