//! The marker lines of the relaycode contract and similar ones: START and END, the delete marker, SEARCH
//! and REPLACE, wrapper tags. Each function reads one line and is forgiving about blanks, case and comment
//! syntax, and about nothing else.

use super::file_names;
use super::marker_events::MarkerKind;

/// Tags that models use as fences when the content is full of backticks.
pub(super) const TAGS: &[&str] = &["source", "code", "pre", "codeblock", "sourcecode", "file", "document"];

/// No marker line is longer, in any comment syntax.
const MARKER_BYTES: usize = 64;

/// `// START` in any comment syntax.
pub(crate) fn is_start(line: &str) -> bool {
    is_comment_of(line, "START")
}

/// `// END` in any comment syntax.
pub(crate) fn is_end(line: &str) -> bool {
    is_comment_of(line, "END")
}

fn is_comment_of(line: &str, word: &str) -> bool {
    line.len() <= MARKER_BYTES
        && line.contains(word)
        && file_names::comment_text(line.trim_end()).is_some_and(|said| said == word)
}

/// `//TODO: delete this file`, forgiving about blanks, case and comment syntax.
pub(super) fn is_delete(text: &str) -> bool {
    let line = text.trim();
    if line.len() > MARKER_BYTES || line.contains('\n') {
        return false;
    }
    let Some(said) = file_names::comment_text(line) else {
        return false;
    };
    let words: Vec<String> = said
        .split(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '!'))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words == ["todo", "delete", "this", "file"]
}

/// `<<<<<<< SEARCH` or `------- SEARCH`, perhaps followed by a path; `line` has no leading blanks.
pub(super) fn is_search(line: &str) -> bool {
    is_arrow(line, b"<-", &["SEARCH", "ORIGINAL"])
}

/// `>>>>>>> REPLACE` or `+++++++ REPLACE`; `line` has no leading blanks.
pub(super) fn is_replace(line: &str) -> bool {
    is_arrow(line, b">+", &["REPLACE", "UPDATED"]) && line.len() <= MARKER_BYTES
}

/// Five to nine of one sign, then one of the words.
fn is_arrow(line: &str, signs: &[u8], words: &[&str]) -> bool {
    let Some(sign) = line.bytes().next().filter(|sign| signs.contains(sign)) else {
        return false;
    };
    let count = line.bytes().take_while(|byte| *byte == sign).count();
    let rest = line[count..].trim_start();
    (5..=9).contains(&count)
        && words.iter().any(|word| {
            let found = rest.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
            let bounded = |next: char| !next.is_alphanumeric() && next != '_';
            found && rest[word.len()..].chars().next().is_none_or(bounded)
        })
}

/// A wrapper tag alone on its line except for a language name: `<source>python`, `<file path="x">`,
/// `</pre>`.
pub(super) fn parse_tag(line: &str) -> Option<MarkerKind> {
    let line = line.trim_end();
    let close = line.starts_with("</");
    let rest = line.trim_start_matches("</").trim_start_matches('<');
    let name_bytes = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (name, rest) = rest.split_at(name_bytes);
    let index = TAGS.iter().position(|tag| tag.eq_ignore_ascii_case(name))?;
    let index = u8::try_from(index).ok()?;
    if close {
        return (rest.trim() == ">").then_some(MarkerKind::TagClose(index));
    }
    let (attributes, language) = rest.split_once('>')?;
    let is_language = language.len() <= 24
        && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte));
    let has_attributes = attributes.is_empty() || attributes.starts_with(' ');
    (is_language && has_attributes).then_some(MarkerKind::TagOpen(index))
}

/// The content between START and END, if it begins and ends with them, and on which of its lines (from 0)
/// it begins. One blank line after START and one before END belong to the template, not to the file.
pub(super) fn strip_start_end(text: &str) -> StartEndMarkers<'_> {
    let lead = text.len() - text.trim_start_matches(['\n', ' ', '\t']).len();
    // Back to the beginning of the first meaningful line.
    let first_at = text[..lead].rfind('\n').map_or(0, |at| at + 1);
    let (first, rest) = text[first_at..].split_once('\n').unwrap_or((&text[first_at..], ""));
    let body = rest.trim_end();
    let last_at = body.rfind('\n').map_or(0, |at| at + 1);
    let last = if body.is_empty() { first } else { &body[last_at..] };
    match (is_start(first.trim()), is_end(last.trim())) {
        (true, true) => {
            let mut inner = &rest[..last_at];
            let mut skipped = text[..first_at].matches('\n').count() + 1;
            if let Some((blank, below)) = inner.split_once('\n')
                && blank.trim().is_empty()
            {
                inner = below;
                skipped += 1;
            }
            let before = inner.strip_suffix('\n').unwrap_or(inner);
            let last_line = before.rfind('\n').map_or(0, |at| at + 1);
            if !inner.is_empty() && before[last_line..].trim().is_empty() {
                inner = &inner[..last_line];
            }
            StartEndMarkers::Pair { text: inner, skipped }
        }
        // Alone it counts only at the margin: a diff may end with ` // END` as context.
        (true, false) if is_start(first) => StartEndMarkers::Lone("START"),
        (false, true) if is_end(last) => StartEndMarkers::Lone("END"),
        _ => StartEndMarkers::None,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StartEndMarkers<'a> {
    Pair {
        /// The text between them.
        text: &'a str,
        /// How many lines of the block come before it.
        skipped: usize,
    },
    Lone(&'static str),
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known_in_any_comment_syntax() {
        for line in ["// START", "# START", "<!-- START -->", "/* START */", "-- START", "//START"] {
            assert!(is_start(line), "{line}");
        }
        for line in ["START", "// STARTING", "// start the engine", "//"] {
            assert!(!is_start(line), "{line}");
        }
        for text in
            ["//TODO: delete this file\n", "  # todo : Delete this file.", "<!-- TODO: delete this file -->"]
        {
            assert!(is_delete(text), "{text}");
        }
        for text in ["//TODO: delete this file\ncode", "TODO: delete this file", "// delete"] {
            assert!(!is_delete(text), "{text}");
        }
    }

    #[test]
    fn one_blank_line_beside_each_marker_belongs_to_the_template() {
        let pair = |text| match strip_start_end(text) {
            StartEndMarkers::Pair { text, skipped } => (text, skipped),
            other => panic!("{other:?}"),
        };
        assert_eq!(pair("// START\na\n// END\n"), ("a\n", 1));
        assert_eq!(pair("// START\n\na\n\n// END\n"), ("a\n", 2));
        assert_eq!(pair("\n// START\n\n\na\n\n\n// END\n\n"), ("\na\n\n", 3));
        assert_eq!(pair("// START\n// END\n"), ("", 1));
        assert_eq!(pair("// START\n\n\n// END\n"), ("", 2));
        assert_eq!(strip_start_end("// START\na\n"), StartEndMarkers::Lone("START"));
        assert_eq!(strip_start_end("a\n# END\n"), StartEndMarkers::Lone("END"));
        assert_eq!(strip_start_end("a\n"), StartEndMarkers::None);
    }
}
