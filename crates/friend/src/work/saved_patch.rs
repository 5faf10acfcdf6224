//! Work that did not go in is not lost: it is written down as an answer that `relay apply` takes, in
//! `kept/` of the user's own directory, for the user alone. The oldest go when there are many.
//!
//! Every change that is written is read back and planned before it counts; one that would not come out byte
//! by byte (binary files, line endings that an answer cannot carry) is named as left out instead.

use std::io;
use std::path::{Path, PathBuf};

use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{NoSeenTexts, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, ExactImage, FileAction, FileEdit, Operation, Proposal};
use relaycode_change::response;
use relaycode_durable::private_files::{PrivateFileError, PrivateFolder};

const FOLDER: &str = "kept";
pub const MAX_SAVED_PATCHES: usize = 50;
/// Answers of one friend in one second.
const SAME: usize = 2 * MAX_SAVED_PATCHES;
/// Bytes of one.
const BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPatch {
    /// The file, for `relay apply`; `None`: nothing of it can be written as an answer.
    pub path: Option<PathBuf>,
    /// Files of which the change is not in there.
    pub left_out: Vec<RelPath>,
    pub required_limits: PlanLimits,
}

/// Work that is in no file yet, and why.
#[derive(Debug, thiserror::Error)]
#[error("it cannot be kept{}: {source}", folder.as_ref().map(|at| format!(" in {}", at.display())).unwrap_or_default())]
pub struct SavePatchError {
    /// Where it was to go; `None`: nothing says where.
    pub folder: Option<PathBuf>,
    pub answer: String,
    pub name: String,
    /// Files of which the change is not in there.
    pub left_out: Vec<RelPath>,
    pub required_limits: PlanLimits,
    pub source: PrivateFileError,
}

/// Writes a proposal down. `project` is what the project is called; `now` is ISO 8601 in UTC.
///
/// # Errors
/// If it cannot be written; it is given back then.
pub fn save_patch(
    home: Option<&Path>,
    friend: &str,
    project: &str,
    proposal: &Proposal,
    now: &str,
) -> Result<SavedPatch, Box<SavePatchError>> {
    let (written, left_out) = writable(proposal);
    if written.is_empty() {
        return Ok(SavedPatch { path: None, left_out, required_limits: PlanLimits::default() });
    }
    let mut answer = Proposal { operations: written, ..Proposal::default() };
    answer.control = proposal.control.clone();
    answer.control.present = true;
    // A name without the key: whoever applies it hands it over.
    answer.control.project_id = Some(project.to_string());
    answer.control.uuid = None;
    let text = response::print(&answer);
    let needs = required_limits(&text, &answer.operations);
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect()
    };
    let stem = format!("{}-{}", plain(now), plain(friend));
    let folder = PrivateFolder::new(home, FOLDER, BYTES).into_secret();
    match write(&folder, &stem, &text) {
        Ok(path) => Ok(SavedPatch { path: Some(path), left_out, required_limits: needs }),
        Err(source) => {
            let (folder, name) = (home.map(|home| home.join(FOLDER)), format!("{stem}.md"));
            let (answer, required_limits) = (text, needs);
            Err(Box::new(SavePatchError { folder, answer, name, left_out, required_limits, source }))
        }
    }
}

/// What it takes to read an answer and plan it: never less than what is needed.
fn required_limits(text: &str, operations: &[Operation]) -> PlanLimits {
    let most = usize::MAX;
    let wide = PlanLimits { text_bytes: most, files: most, hunks: most, ..PlanLimits::default() };
    let read = response::read(text, &wide).map(|read| read.operations).unwrap_or_default();
    let hunks = read.iter().map(|operation| match &operation.action {
        FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } => hunks.len().max(1),
        _ => 1,
    });
    let files = operations.iter().map(|operation| match &operation.action {
        FileAction::Rename { .. } => 2,
        _ => 1,
    });
    let long = |image: &Option<ExactImage>| image.as_ref().map_or(0, |image| image.bytes.len());
    let file_bytes = operations.iter().map(|operation| match &operation.action {
        FileAction::Exact { before, after, .. } => [long(before), long(after)],
        _ => [0; 2],
    });
    let total_bytes = file_bytes.clone().flatten().sum();
    let file_bytes = file_bytes.flatten().max().unwrap_or(0);
    let (text_bytes, files, hunks) = (text.len(), files.sum(), hunks.sum());
    PlanLimits { text_bytes, files, file_bytes, hunks, total_bytes, ..PlanLimits::default() }
}

/// Writes a new file, and removes the oldest where there are many.
fn write(folder: &PrivateFolder, stem: &str, text: &str) -> Result<PathBuf, PrivateFileError> {
    let mut names = std::iter::once(format!("{stem}.md")).chain((2..=SAME).map(|n| format!("{stem}-{n}.md")));
    let name = loop {
        let Some(name) = names.next() else {
            let path = folder.path_of(&format!("{stem}.md"))?;
            return Err(PrivateFileError::System { path, source: io::ErrorKind::AlreadyExists.into() });
        };
        if folder.write_new(&name, text.as_bytes())? {
            break name;
        }
    };
    // It is written: that older ones cannot go is no reason to say otherwise.
    let all = folder.list().unwrap_or_default();
    // Names begin with the time, so that the first are the oldest.
    for old in all.iter().filter(|old| **old != name).take(all.len().saturating_sub(MAX_SAVED_PATCHES)) {
        let _ = folder.remove(old);
    }
    folder.path_of(&name)
}

/// The operations that come out as they should when they are read back, and the files of the others.
fn writable(proposal: &Proposal) -> (Vec<Operation>, Vec<RelPath>) {
    let (mut written, mut left_out) = (Vec::new(), Vec::new());
    let mut rest = &proposal.operations[..];
    while let Some(first) = rest.first() {
        // A rename and what is done to the file afterwards belong together.
        let pair = match (&first.action, rest.get(1).map(|next| &next.action)) {
            (FileAction::Rename { to, .. }, Some(FileAction::Exact { path, .. })) => to == path,
            _ => false,
        };
        let (unit, more) = rest.split_at(if pair { 2 } else { 1 });
        rest = more;
        if round_trips(unit) {
            // A file that only moves needs no diff, and has none.
            written.extend(unit.iter().filter(changes_bytes).cloned());
        } else {
            left_out.push(first.action.path().clone());
        }
    }
    (written, left_out)
}

fn changes_bytes(operation: &&Operation) -> bool {
    !matches!(&operation.action, FileAction::Exact { before, after, .. } if before == after)
}

/// Whether operations, written down and read back, do what they did.
fn round_trips(unit: &[Operation]) -> bool {
    let mut tree = MemoryTree::default();
    let mut wanted: Option<(&RelPath, Option<&ExactImage>)> = None;
    let mut from = None;
    for operation in unit {
        match &operation.action {
            FileAction::Rename { from: old, .. } => from = Some(old.clone()),
            FileAction::Exact { path, before, after } => {
                if let Some(before) = before {
                    let old = from.take().unwrap_or_else(|| path.clone());
                    tree.insert_with_mode(old, before.bytes.clone(), before.mode);
                }
                wanted = Some((path, after.as_ref()));
            }
            // It was read from an answer, and can be written as one.
            _ => return true,
        }
    }
    let Some((path, after)) = wanted else { return true };
    let operations = unit.iter().filter(changes_bytes).cloned().collect();
    let text = response::print(&Proposal { operations, ..Proposal::default() });
    let limits = PlanLimits { text_bytes: usize::MAX, file_bytes: usize::MAX, ..PlanLimits::default() };
    let Ok(read) = response::read(&text, &limits) else { return false };
    let Ok(plan) = plan(&read, &tree, &NoSeenTexts, &limits) else { return false };
    match &plan.files[..] {
        [file] => {
            let mode = after.map(|after| after.mode);
            file.path == *path
                && file.after.as_deref() == after.map(|after| &after.bytes[..])
                && (file.mode_after == mode || after.is_none())
        }
        _ => false,
    }
}
