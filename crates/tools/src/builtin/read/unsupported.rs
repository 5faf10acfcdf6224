//! What `read` does not open yet, refused in words that say what to do instead.

use std::path::Path;

/// Ends of names, and what such a file is.
const KINDS: &[(&[&str], &str)] = &[
    (&[".zip", ".tar", ".tar.gz", ".tgz"], "an archive"),
    (&[".sqlite", ".sqlite3", ".db", ".db3"], "an SQLite database"),
    (&[".pdf", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".epub"], "a document"),
];

/// How a file of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// What a file that is not text is, by its name and its first bytes.
pub(super) fn describe_binary(path: &Path, bytes: &[u8]) -> &'static str {
    if bytes.starts_with(SQLITE) {
        return "an SQLite database";
    }
    kind_of(&path.to_string_lossy()).unwrap_or("a binary file")
}

/// What stands before the first colon, if that names something with an inside: `a.zip:inner/file`.
pub(super) fn container_of(text: &str) -> Option<(&str, &'static str)> {
    let (path, _) = text.match_indices([':', '?']).find_map(|(at, _)| {
        let kind = kind_of(&text[..at])?;
        Some((&text[..at], kind))
    })?;
    Some((path, kind_of(path)?))
}

fn kind_of(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    KINDS.iter().find(|(ends, _)| ends.iter().any(|end| name.ends_with(end))).map(|(_, kind)| *kind)
}
