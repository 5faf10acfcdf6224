//! What can be told about a block without reading it: whether it is a whole file, names its files itself,
//! or exceeds the limits.

use super::{EDIT_LINES, ResponseError, file_names, markers};
use crate::dialect::patch_marker::{self, PatchMarker};
use crate::dialect::{self, Dialect, heredocs};
use crate::proposal::limits::PlanLimits;

/// A block of this dialect without a name continues with the file of the last one.
pub(super) const SEARCH_REPLACE: &str = "multi-search-replace";

/// Lines that look like the beginning of an edit are counted first; this many times the limit cannot all be
/// layout.
const MARGIN: usize = 8;

/// The limit that a block exceeds, judged by the lines that begin its edits and files.
pub(super) fn exceeded_limit(text: &str, limits: &PlanLimits) -> Option<ResponseError> {
    if text.len() > EDIT_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > EDIT_LINES {
        return Some(ResponseError::TooManyLines);
    }
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
    let is = |marker| text.lines().any(|line| patch_marker::parse(line.trim_start()) == Some(marker));
    text.contains("**") && is(PatchMarker::Begin) && is(PatchMarker::End)
}

/// Whether the line above a SEARCH block, first in the text, mentions a file.
pub(super) fn holds_named_search(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    lines.next().is_some_and(|first| file_names::mentioned_path(first).is_some())
        && lines.next().is_some_and(markers::is_search)
        && lines.any(markers::is_replace)
}

/// Whether a block begins with a search that names no file: without a name from elsewhere it cannot be
/// read.
pub(super) fn begins_nameless(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    markers::is_search(first) && first.trim_start_matches(['<', '-']).trim() == "SEARCH"
}

/// Whether a diff has lines that name files: then nothing else may.
pub(super) fn names_files_itself(dialect: &dyn Dialect, text: &str) -> bool {
    let names = |line: &str| {
        line.starts_with("+++ ")
            || line.starts_with("diff --")
            || patch_marker::parse(line.trim_start()).is_some_and(|marker| marker.names_file())
    };
    dialect.name() != SEARCH_REPLACE && text.lines().any(names)
}

/// Whether some lines are added or removed.
pub(super) fn has_changed_lines(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(['+', '-']))
}

/// Whether every line is added, removed or kept as in a diff, and some are added and some removed: no file
/// looks like that.
pub(super) fn is_headless_diff(text: &str) -> bool {
    let some = |sign| text.lines().any(|line| line.starts_with(sign));
    some('+') && some('-') && text.lines().all(|line| line.is_empty() || line.starts_with(['+', '-', ' ']))
}

/// The text of an edit that stands on one line, with `\n` for its line ends, as a JSON string has it. `None`: it is no
/// such text. An error: it does not say for certain which `\n` are line ends.
pub(super) fn unescape_edit(text: &str) -> Option<Result<String, &'static str>> {
    let line = text.trim();
    // A tool call in JSON has escapes of its own.
    if line.contains('\n') || !line.contains("\\n") || line.starts_with(['{', '[']) {
        return None;
    }
    let inside = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line);
    if is_whole_file(dialect::detect(&inside.replace("\\n", "\n"))) {
        return None;
    }
    let unescaped =
        serde_json::from_str::<String>(&format!("\"{inside}\"")).map(|text| match text.ends_with('\n') {
            true => text,
            false => text + "\n",
        });
    Some(unescaped.map_err(|_| {
        "this edit stands on one line, with `\\n` between its lines, and it is not clear which are meant; send it line by line"
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_on_one_line_is_unescaped_if_it_is_certain() {
        let edit = r#"<<<<<<< SEARCH\na \"b\" \\n\n=======\nc\n>>>>>>> REPLACE"#;
        let wanted = "<<<<<<< SEARCH\na \"b\" \\n\n=======\nc\n>>>>>>> REPLACE\n";
        assert_eq!(unescape_edit(&format!("{edit}\n")), Some(Ok(wanted.to_owned())));
        assert_eq!(unescape_edit(&format!("\"{edit}\\n\"\n")), Some(Ok(wanted.to_owned())));
        assert!(
            unescape_edit("*** Begin Patch\\nprint(\"a\\n\")\\n*** End Patch\n")
                .is_some_and(|text| text.is_err())
        );
        for text in [r"print('a\nb')", "<<<<<<< SEARCH\na\\n\n", "", "*** Begin Patch\n"] {
            assert_eq!(unescape_edit(text), None, "{text}");
        }
    }
}
