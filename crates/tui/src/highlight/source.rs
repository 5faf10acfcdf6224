//! Colours of a whole text by its grammar; by the scanner where there is no grammar, or the text is too large for one.

use std::ops::Range;
use std::time::Duration;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::syntax::highlight::{SyntaxClass, highlight_lines};

use super::{CodeLanguage, CodeScanner, CodeSpan, expand_tabs, paint_code_line};
use crate::theme::{ThemeStyle, ThemeToken};

/// A grammar may take this long.
const BUDGET: Duration = Duration::from_millis(60);

/// The colours of the requested lines (numbers from 1) of a file; lines are as in `str::lines`.
pub fn source_spans(path: &str, text: &str, wanted: Range<usize>) -> Vec<Vec<CodeSpan>> {
    let grammar = RelPath::parse(path)
        .ok()
        .and_then(|path| highlight_lines(&path, text, std::slice::from_ref(&wanted), BUDGET));
    let mut scanner = CodeScanner::new(CodeLanguage::from_path(path));
    let mut out = Vec::with_capacity(wanted.len().min(10_000));
    for (index, line) in text.lines().enumerate().take(wanted.end.saturating_sub(1)) {
        let number = index + 1;
        // Without a grammar every line is scanned, since what is open begins somewhere before.
        let scanned =
            if grammar.is_none() || number >= wanted.start { scanner.next_line(line) } else { Vec::new() };
        if number < wanted.start {
            continue;
        }
        out.push(match &grammar {
            None => scanned,
            Some(found) => with_gaps(found.line(number), &scanned),
        });
    }
    out
}

/// What the grammar says, and between that the operators, signs and names that the scanner found.
fn with_gaps(found: &[(Range<usize>, SyntaxClass)], scanned: &[CodeSpan]) -> Vec<CodeSpan> {
    let mut out: Vec<CodeSpan> = Vec::with_capacity(found.len() + scanned.len());
    let mut scanned = scanned.iter().peekable();
    for (bytes, class) in found {
        while let Some((other, token)) = scanned.next_if(|(other, _)| other.start < bytes.start) {
            if other.end <= bytes.start && is_quiet(*token) {
                out.push((other.clone(), *token));
            }
        }
        while scanned.next_if(|(other, _)| other.start < bytes.end).is_some() {}
        out.push((bytes.clone(), class_token(*class)));
    }
    out.extend(scanned.filter(|(_, token)| is_quiet(*token)).cloned());
    out
}

/// What a grammar has no class for.
fn is_quiet(token: ThemeToken) -> bool {
    matches!(token, ThemeToken::SyntaxOperator | ThemeToken::SyntaxPunctuation | ThemeToken::SyntaxVariable)
}

fn class_token(class: SyntaxClass) -> ThemeToken {
    match class {
        SyntaxClass::Comment => ThemeToken::SyntaxComment,
        SyntaxClass::Text => ThemeToken::SyntaxString,
        SyntaxClass::Number => ThemeToken::SyntaxNumber,
        SyntaxClass::Keyword => ThemeToken::SyntaxKeyword,
        SyntaxClass::Type => ThemeToken::SyntaxType,
        SyntaxClass::Name => ThemeToken::SyntaxFunction,
    }
}

/// The requested lines (numbers from 1) of a file, safe and painted, not cut. Tabs are blanks.
pub fn paint_source_lines(style: &ThemeStyle, path: &str, text: &str, wanted: Range<usize>) -> Vec<String> {
    let text: String = text.lines().map(|line| expand_tabs(line).into_owned() + "\n").collect();
    let spans = if style.is_painted() { source_spans(path, &text, wanted.clone()) } else { Vec::new() };
    let lines = text.lines().skip(wanted.start.saturating_sub(1)).take(wanted.len());
    let none = Vec::new();
    lines
        .enumerate()
        .map(|(at, line)| {
            paint_code_line(style, line, spans.get(at).unwrap_or(&none), ThemeToken::MdCodeBlock)
        })
        .collect()
}
