//! Texts that a grammar must not be given: its scanner writes what is open (indentation, here-documents) into a buffer
//! of 1 024 bytes, and the process is aborted when that does not fit. Counted here is at least what the scanner would
//! keep; a text that is taken for worse than it is is only not checked.

use std::collections::{HashSet, VecDeque};

use ast_grep_language::SupportLang;

/// Most depths of indentation; the scanner of YAML has room for 253, that of Python for 383.
const DEPTHS: usize = 200;
/// Most bytes about here-documents of Ruby that are open at the same time, and the longest word that ends one.
const HEREDOC_BYTES: usize = 400;
const HEREDOC_WORD: usize = 200;
/// Most strings of Ruby inside of each other, with five bytes each.
const INTERPOLATIONS: usize = 60;

/// Whether the scanner of the grammar may not have room for what this text opens.
pub(super) fn overflows(text: &str, language: SupportLang) -> bool {
    match language {
        SupportLang::Python => python_widths(text) > DEPTHS,
        SupportLang::Yaml => yaml_columns(text) > DEPTHS,
        SupportLang::Ruby => ruby_overflows(text),
        _ => false,
    }
}

/// How many widths of indentation there are: each open block has another one.
fn python_widths(text: &str) -> usize {
    let mut widths = HashSet::new();
    let (mut width, mut is_indentation) = (0_usize, true);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' | b'\r' | b'\x0c' => (width, is_indentation) = (0, true),
            _ if !is_indentation => {}
            b' ' => width += 1,
            b'\t' => width += 8,
            // The next line goes on with the width of this one.
            b'\\' if matches!(bytes.peek(), Some(b'\n' | b'\r')) => {
                bytes.next_if_eq(&b'\r');
                bytes.next_if_eq(&b'\n');
            }
            _ => {
                widths.insert(width);
                is_indentation = false;
            }
        }
    }
    widths.len()
}

/// How many columns there are where a block may begin: the first of a line, that of `-`, `?` or `:`, and the next one.
/// Each open block begins in another one.
fn yaml_columns(text: &str) -> usize {
    let mut columns = HashSet::new();
    let (mut column, mut begins) = (0_usize, true);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' || c == '\r' {
            (column, begins) = (0, true);
            continue;
        }
        let is_blank = c == ' ' || c == '\t';
        let is_indicator =
            matches!(c, '-' | '?' | ':') && chars.peek().is_none_or(|next| next.is_ascii_whitespace());
        if is_indicator || (begins && !is_blank) {
            columns.insert(column);
        }
        begins = is_indicator || (begins && is_blank);
        column += 1;
    }
    columns.len()
}

fn ruby_overflows(text: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for (at, _) in text.match_indices(['{', '}']) {
        match text.as_bytes()[at] {
            b'}' => depth = depth.saturating_sub(1),
            _ if text[..at].ends_with('#') => depth += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let mut open: VecDeque<(&str, bool)> = VecDeque::new();
    let mut kept = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let said = line.trim_end_matches(['\n', '\r']);
        if let Some((word, indented)) = open.front()
            && *word == if *indented { said.trim_start() } else { said }
        {
            kept -= word.len() + 4;
            open.pop_front();
        }
        for (at, _) in line.match_indices("<<") {
            let (word, indented) = heredoc_word(&text[start + at + 2..]);
            if word.len() > HEREDOC_WORD {
                return true;
            }
            if !word.is_empty() {
                kept += word.len() + 4;
                open.push_back((word, indented));
            }
            if kept > HEREDOC_BYTES {
                return true;
            }
        }
        start += line.len();
    }
    deepest > INTERPOLATIONS
}

/// The word that ends a here-document, if `text` below `<<` begins one, and whether it may be indented.
fn heredoc_word(text: &str) -> (&str, bool) {
    let rest = text.strip_prefix(['-', '~']).unwrap_or(text);
    let quoted = ['"', '\'', '`'].into_iter().find_map(|quote| Some((rest.strip_prefix(quote)?, quote)));
    let word = match quoted {
        Some((inner, quote)) => &inner[..inner.find(quote).unwrap_or(inner.len())],
        None => {
            let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii();
            &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
        }
    };
    let begins = quoted.is_some() || !word.starts_with(|c: char| c.is_ascii_digit());
    (if begins { word } else { "" }, rest.len() < text.len())
}
