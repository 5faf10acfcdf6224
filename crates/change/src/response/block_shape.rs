//! What can be told about a block without reading it: whether it is a whole file, names its files itself,
//! or exceeds the limits.

use super::ResponseError;
use super::markers;
use crate::dialect::{self, Dialect, heredocs};
use crate::proposal::limits::PlanLimits;

/// A block of this dialect without a name continues with the file of the last one.
pub(super) const SEARCH_REPLACE: &str = "multi-search-replace";

/// Lines that look like the beginning of an edit are counted first; this many times the limit cannot all be
/// layout.
const MARGIN: usize = 8;

/// The limit that a block exceeds, judged by the lines that begin its edits and files.
pub(super) fn exceeded_limit(text: &str, limits: &PlanLimits) -> Option<ResponseError> {
    let over = |count: usize, most: usize| count / MARGIN > most;
    // There are not more lines than bytes.
    if !over(text.len(), limits.files.min(limits.hunks)) {
        return None;
    }
    let (mut hunks, mut files) = (0, 0);
    for line in text.lines() {
        match line.as_bytes().first() {
            Some(b'@') => hunks += usize::from(line.starts_with("@@")),
            Some(b'<') => hunks += usize::from(markers::is_search(line)),
            Some(b'd') => files += usize::from(line.starts_with("diff --")),
            Some(b'+') => files += usize::from(line.starts_with("+++ ")),
            Some(b'*') => files += usize::from(line.starts_with("*** ")),
            _ => {}
        }
    }
    if over(files, limits.files) {
        return Some(ResponseError::TooManyFiles { most: limits.files });
    }
    over(hunks, limits.hunks).then_some(ResponseError::TooManyHunks { most: limits.hunks })
}

/// Whether a file of this name may well have a text that looks like the dialect: then the block is that file.
pub(super) fn is_kept_as_file(dialect: &dyn Dialect, path: &str) -> bool {
    const PROSE: &[&str] = &["md", "mdx", "markdown", "rst", "txt", "log"];
    const JSON: &[&str] = &["json", "jsonl", "jsonc", "json5", "ndjson"];
    const MARKUP: &[&str] =
        &["xml", "html", "htm", "xhtml", "svg", "xsl", "xsd", "vue", "svelte", "jsx", "tsx", "php"];
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match dialect.name() {
        "tool-calls" => [PROSE, JSON].concat().contains(&extension),
        "xml-tags" => [PROSE, MARKUP].concat().contains(&extension),
        heredocs::NAME => true,
        _ => false,
    }
}

/// The languages of blocks that hold commands.
pub(super) fn is_shell(language: &str) -> bool {
    ["bash", "sh", "shell", "console", "zsh", "powershell", "terminal", "cmd"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(language))
}

/// Whether it is the dialect that takes everything.
pub(super) fn is_whole_file(dialect: &dyn Dialect) -> bool {
    dialect::all().last().is_some_and(|last| last.name() == dialect.name())
}

/// Whether a shell block has a whole patch somewhere below its first commands.
pub(super) fn holds_patch(text: &str) -> bool {
    text.contains("*** Begin Patch") && {
        let is = |marker| text.lines().any(|line| line.trim_end() == marker);
        is("*** Begin Patch") && is("*** End Patch")
    }
}

/// Whether a block begins with a search that names no file: without a name from elsewhere it cannot be
/// read.
pub(super) fn begins_nameless(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    markers::is_search(first) && first.trim_start_matches(['<', '-']).trim() == "SEARCH"
}

/// Whether a diff has lines that name files: then nothing else may.
pub(super) fn names_files_itself(dialect: &dyn Dialect, text: &str) -> bool {
    const NAMES: &[&str] = &["+++ ", "diff --", "*** Add File:", "*** Update File:", "*** Delete File:"];
    dialect.name() != SEARCH_REPLACE
        && text.lines().any(|line| NAMES.iter().any(|name| line.starts_with(name)))
}
