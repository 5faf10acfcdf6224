//! What a friend is told when it is to work, and what the record is told of its work.

use std::fmt::Write;

use relaycode_change::plan::tree::{PlanTree, TreeEntry};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{ControlBlock, Operation, Proposal};
use relaycode_door::Door;
use relaycode_text::width::{Ellipsis, clip};

use super::WorkError;
use crate::{AskRequest, ScratchCopy, WorkOptions};

/// Characters of the message that is made of a prompt.
const MESSAGE: usize = 72;
/// Bytes of the prompt, and of the answer, that a change keeps.
const SUMMARY: usize = 2_000;
const REASONING: usize = 16_000;

pub(super) fn copy_prompt(request: &AskRequest, files: &[RelPath], scratch: &ScratchCopy) -> String {
    let mut out = format!(
        "You are asked to change a project.\n\
         Your working directory is {}: a copy of the project, made for you, uncommitted work included.\n\
         Change the files there directly, and nothing outside of it. Nobody can answer questions while you work.\n\
         Afterwards the copy is compared with the project, and the user decides whether your changes go in: leave \
         only files that belong to them, no scripts or notes of your own. Commits are not needed.\n\
         When you are done, answer with a short summary: what you changed and why, and what is left open.\n",
        scratch.directory().display()
    );
    if !scratch.left_out().is_empty() {
        out.push_str("\nNot everything of the project is there:\n");
        for sentence in scratch.left_out() {
            let _ = writeln!(out, "- {sentence}");
        }
    }
    if let Some(check) = &request.check {
        let _ = writeln!(
            out,
            "\nThe project's check is `{check}`. You may run it in your working directory, exactly so, to see whether your \
             changes pass."
        );
    }
    push_request(request, &mut out);
    if !files.is_empty() {
        out.push_str("\nFiles to look at:\n");
        for path in files {
            let _ = writeln!(out, "- {path}");
        }
    }
    out
}

fn push_request(request: &AskRequest, out: &mut String) {
    let _ = writeln!(out, "\nRequest:\n{}", request.prompt.trim());
    if let Some(context) = &request.context {
        let _ = writeln!(out, "\nAdditional Context:\n{context}");
    }
}

/// What a friend is told that answers with a change: relay's own instructions, with the files that the
/// user named.
pub(super) fn patch_prompt(
    friend: &str,
    request: &AskRequest,
    options: &WorkOptions,
    door: &Door,
) -> Result<String, WorkError> {
    let mut files = Vec::new();
    for path in &options.files {
        files.push((path.clone(), read_text(friend, path, &options.limits, door)?));
    }
    let mut out = door.instructions(&files)?.text;
    push_request(request, &mut out);
    Ok(out)
}

fn read_text(friend: &str, path: &RelPath, limits: &PlanLimits, door: &Door) -> Result<String, WorkError> {
    let refuse = |why: String| WorkError::File { path: path.clone(), friend: friend.to_string(), why };
    match door.tree(limits).entry(path).map_err(|error| refuse(error.reason))? {
        TreeEntry::File { bytes, .. } if bytes.contains(&0) => Err(refuse("it is binary".to_string())),
        TreeEntry::File { bytes, .. } => {
            String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_string()))
        }
        TreeEntry::Missing => Err(refuse("it does not exist".to_string())),
        TreeEntry::Other(what) => Err(refuse(format!("it is {what}"))),
    }
}

pub(super) fn proposal_from_copy(prompt: &str, answer: &str, operations: Vec<Operation>) -> Proposal {
    let control = ControlBlock {
        git_commit_msg: Some(commit_message(prompt)),
        prompt_summary: Some(truncate(prompt.trim(), SUMMARY)),
        ..ControlBlock::default()
    };
    let reasoning = vec![truncate(answer.trim(), REASONING)];
    Proposal { control, operations, reasoning, ..Proposal::default() }
}

/// The first line of a prompt, as a message for a commit.
pub(super) fn commit_message(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    clip(line, MESSAGE, Ellipsis::Unicode).into_owned()
}

fn truncate(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..cut])
}
