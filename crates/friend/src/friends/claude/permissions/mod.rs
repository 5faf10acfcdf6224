//! Which uses of a tool are allowed. Claude asks before each, whatever the user's own rules allow.
//!
//! Invariants: with read-only or workspace, nothing outside of the directory is read, and nothing is allowed that
//! is not known to do only what its name says. A path counts as inside only if it is so by its letters and by
//! where links lead. What git or relay would act on is not written (`.git`, `.relaycode`).

use std::fs;
use std::path::{Component, Path, PathBuf};

use relaycode_change::proposal::path::is_sealed;
use relaycode_clients::claude_stdio::ClaudeToolUse;
use relaycode_project::access::Access;
use serde_json::Value;

use crate::DeclinedActionKind;

/// The tool by which claude hands in an answer that follows a schema.
pub(super) const STRUCTURED_OUTPUT_TOOL: &str = "StructuredOutput";

/// Tools that read, and the key of the path that they read; without one, it is where claude works.
const READS: &[(&str, &str)] = &[("Read", "file_path"), ("Grep", "path"), ("Glob", "path")];

/// Tools that write, and the key of the file.
const WRITES: &[(&str, &str)] =
    &[("Edit", "file_path"), ("Write", "file_path"), ("NotebookEdit", "notebook_path")];

const COMMANDS: &[&str] = &["Bash", "BashOutput", "KillShell", "Monitor", "PowerShell"];

const MAX_DESCRIPTION: usize = 300;

/// Whether this may be done.
///
/// # Errors
/// Why not, for the model.
pub(super) fn check_tool_use(access: Access, directory: &Path, tool: &ClaudeToolUse) -> Result<(), String> {
    if access == Access::Full || tool.name == STRUCTURED_OUTPUT_TOOL {
        return Ok(());
    }
    if let Some(path) = path_of(READS, tool) {
        let pattern = if tool.name == "Glob" { text(&tool.input, "pattern") } else { "" };
        let strays = pattern.starts_with(['/', '~', '\\'])
            || Path::new(pattern).components().any(|part| part == Component::ParentDir);
        return match resolve_within(directory, path) {
            Some(_) if !strays => Ok(()),
            _ => Err("only files of this project may be read".to_string()),
        };
    }
    let Some(path) = path_of(WRITES, tool) else {
        return Err(format!("{} is not allowed here", tool.name));
    };
    if access != Access::Workspace {
        return Err("nothing may be changed here: answer in words".to_string());
    }
    let Some(place) = resolve_within(directory, path).filter(|place| !place.as_os_str().is_empty()) else {
        return Err("only files of this project may be changed".to_string());
    };
    if place.components().any(|part| is_sealed(part.as_os_str().to_string_lossy().as_ref())) {
        return Err("this is not changed by hand".to_string());
    }
    Ok(())
}

/// Whether a tool runs this command, and nothing beside it that says where or how.
pub(super) fn is_check(check: Option<&str>, tool: &ClaudeToolUse) -> bool {
    let beside = ["command", "description", "timeout"];
    let plain =
        tool.input.as_object().is_some_and(|input| input.keys().all(|key| beside.contains(&key.as_str())));
    tool.name == "Bash" && plain && check.is_some_and(|check| text(&tool.input, "command").trim() == check)
}

fn path_of<'a>(tools: &[(&str, &str)], tool: &'a ClaudeToolUse) -> Option<&'a str> {
    let (_, key) = tools.iter().find(|(name, _)| *name == tool.name)?;
    Some(text(&tool.input, key))
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_default()
}

/// Where a path is in the directory, links followed; `None`: it is not in it, by its letters or by where they lead.
fn resolve_within(directory: &Path, path: &str) -> Option<PathBuf> {
    // A home that claude would put in its place is somewhere else.
    if path.starts_with('~') || path.contains('\0') {
        return None;
    }
    let plain = normalize_path(&directory.join(path)).filter(|plain| plain.starts_with(directory))?;
    let there = plain.ancestors().find(|part| fs::symlink_metadata(part).is_ok())?;
    // A link that leads nowhere might be made a file elsewhere: it is not followed, and not allowed.
    let real = fs::canonicalize(there).ok()?.join(plain.strip_prefix(there).ok()?);
    Some(real.strip_prefix(fs::canonicalize(directory).ok()?).ok()?.to_path_buf())
}

/// The path without `.` and `..`, as claude itself takes it.
fn normalize_path(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !plain.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

pub(super) fn declined_kind(name: &str) -> DeclinedActionKind {
    if WRITES.iter().any(|(writes, _)| *writes == name) {
        DeclinedActionKind::Write
    } else if COMMANDS.contains(&name) {
        DeclinedActionKind::Command
    } else {
        DeclinedActionKind::Other
    }
}

pub(super) fn describe_input(name: &str, input: &Value) -> String {
    let keys = ["file_path", "notebook_path", "command", "pattern", "path", "url", "query", "description"];
    let first = keys.iter().map(|key| text(input, key)).find(|text| !text.is_empty());
    first.unwrap_or(name).chars().take(MAX_DESCRIPTION).collect()
}

#[cfg(test)]
mod tests;
