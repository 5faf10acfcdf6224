//! The instructions that a user gives to a model, so that its answers can be read: what [`crate::response`]
//! understands, seen from the other side.
//!
//! Two things hold. Everything the prompt shows as an example is an answer that relay reads without a
//! remark; and the prompt itself is not an answer: its example stands inside another fence, so that a
//! prompt which comes back by mistake changes nothing. The files that come with it could say anything,
//! though: check text from elsewhere with [`is_prompt`] first.

mod block_forms;

pub mod repair;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::proposal::path::RelPath;
use crate::response;
use block_forms::{PromptForm, forms};

/// Most bytes of all files in a prompt.
pub const FILES_BYTES: usize = 512 * 1024;

/// The first line of every prompt.
const TITLE: &str = "# Answers that change files";
/// What holds for every answer.
const RULES: &str = include_str!("rules.md");
/// Stands where the author puts an id; not a valid id, so it cannot be mistaken for one.
const NEW_ID: &str = "(a new random uuid, version 4)";

#[derive(Debug, Clone, Copy)]
pub struct PromptOptions<'a> {
    /// The project's name for answers, with its key: `my-app.k3yk3yk3yk`.
    pub project_id: &'a str,
    /// The form that the user prefers.
    pub strategy: PromptStrategy,
    /// How many files an answer should change at least.
    pub min_files: u64,
    /// How many files an answer should change at most.
    pub max_files: Option<u64>,
    /// Files to include.
    pub files: &'a [PromptFile<'a>],
}

/// How changes to existing files are to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptStrategy {
    /// As the author thinks fit.
    #[default]
    Auto,
    /// The whole file.
    Replace,
    /// A diff without line numbers.
    NewUnified,
    /// Text to find and text to put there.
    MultiSearchReplace,
}

/// A file as the author is to see it.
#[derive(Debug, Clone, Copy)]
pub struct PromptFile<'a> {
    pub path: &'a RelPath,
    pub text: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// Over [`FILES_BYTES`].
    #[error(
        "`{path}` has {bytes} bytes, and with it the files are more than the {FILES_BYTES} bytes that a prompt \
         hands along; name fewer or smaller ones"
    )]
    TooMuch {
        /// The file that exceeds the limit.
        path: RelPath,
        bytes: usize,
    },
}

/// ```
/// use relaycode_change::prompt::{self, PromptOptions, PromptStrategy};
///
/// let about = PromptOptions { project_id: "my-app.k3y", strategy: PromptStrategy::Auto, min_files: 0, max_files: None, files: &[] };
/// assert!(prompt::render(&about).unwrap().contains("\nprojectId: my-app.k3y\n"));
/// ```
///
/// # Errors
/// [`PromptError`] if the files are too large.
pub fn render(about: &PromptOptions<'_>) -> Result<String, PromptError> {
    check_size(about.files)?;
    let mut out = format!("{TITLE}\n\n{RULES}");
    push_file_counts(about, &mut out);
    let forms = forms(about.strategy);
    out.push_str("\nThe forms:\n\n");
    for (PromptForm { name, rules, .. }, use_for) in &forms {
        let rules: String = rules.iter().map(|rule| format!(" {rule}")).collect();
        let _ = writeln!(out, "- {name}: {use_for}.{rules}");
    }
    push_example(about.project_id, &forms, &mut out);
    push_files(about.files, &mut out);
    Ok(out)
}

/// Whether a text is a prompt of relay's, and so not an answer.
pub fn is_prompt(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    text.strip_prefix(TITLE).is_some_and(|rest| rest.starts_with(['\n', '\r']))
}

fn push_file_counts(about: &PromptOptions<'_>, out: &mut String) {
    let count = about.min_files;
    if count > 1 {
        let _ = writeln!(out, "- I expect changes to at least {count} files; if fewer are enough, say so.");
    }
    if let Some(most) = about.max_files {
        let files = if most == 1 { "file" } else { "files" };
        let _ = writeln!(
            out,
            "- Change at most {most} {files} in one answer. Where it takes more, say so and send the rest when I ask for it."
        );
    }
}

/// A whole answer, with its closing control block.
fn push_example(named: &str, forms: &[(PromptForm, &str)], out: &mut String) {
    let blocks: Vec<&str> = forms.iter().map(|(form, _)| form.example).collect();
    let rows: String = forms.iter().map(|(form, _)| format!("  - {}\n", form.row)).collect();
    let named = if is_plain(named) { named.to_owned() } else { response::quote(named) };
    let _ = write!(
        out,
        "\nEvery answer that changes files ends with a block as the last one here, and nothing below it. \
         projectId is always exactly this one, the uuid another one in every answer; changeSummary has a row \
         for each file; gitCommitMsg is short and in the imperative. The four backticks are not part of the \
         example:\n\n````markdown\n{}\n```yaml\nprojectId: {named}\nuuid: {NEW_ID}\nchangeSummary:\n{rows}\
         promptSummary: \"What I asked for, in a sentence or two.\"\n\
         gitCommitMsg: \"fix: take the total of an empty cart to be 0\"\n```\n````\n",
        blocks.join("\n")
    );
}

/// Whether YAML reads the name as a string without quotes. No number, date or truth value begins with a
/// letter and has such a sign in it.
fn is_plain(named: &str) -> bool {
    named.starts_with(|c: char| c.is_ascii_alphabetic())
        && named.contains(['.', '-'])
        && named.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

fn check_size(files: &[PromptFile<'_>]) -> Result<(), PromptError> {
    let mut left = FILES_BYTES;
    for PromptFile { path, text } in files {
        let bytes = text.len();
        left = left
            .checked_sub(bytes.saturating_add(path.as_str().len()))
            .ok_or_else(|| PromptError::TooMuch { path: (*path).clone(), bytes })?;
    }
    Ok(())
}

/// Each in a fence that none of its lines can close. The name stands inside a sentence: alone on its line
/// it would make the block a change.
fn push_files(files: &[PromptFile<'_>], out: &mut String) {
    if files.is_empty() {
        return;
    }
    out.push_str("\n# The files as they are now\n");
    for PromptFile { path, text } in files {
        let fence = fence(text, 4);
        let language = response::fence_language(path);
        let open = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let remark = if open.is_empty() { "" } else { ", without a line ending at its end" };
        let _ =
            write!(out, "\nThe file `{path}` is now{remark}:\n\n{fence}{language}\n{text}{open}{fence}\n");
    }
}

/// At least so many backticks, and more than any run in the text.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(least))
}
