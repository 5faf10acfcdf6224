//! JSON as a small tree: a line for each value, branches for what is within.

use serde_json::Value;

use super::body_indent;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Deeper values are told in one line.
const MAX_DEPTH: usize = 6;
/// Entries of one list or object.
const MAX_ENTRIES: usize = 50;
/// Characters of a text.
const MAX_CHARS: usize = 400;

pub(super) fn lines(value: &Value, style: &ThemeStyle, width: usize) -> std::vec::IntoIter<SpanLine> {
    let mut tree = JsonTree { style, width, lines: Vec::new() };
    tree.entries(value, &" ".repeat(body_indent(width)), 0);
    if tree.lines.is_empty() {
        tree.line("", "", None, value, 0);
    }
    tree.lines.into_iter()
}

struct JsonTree<'a> {
    style: &'a ThemeStyle,
    width: usize,
    lines: Vec<SpanLine>,
}

impl JsonTree<'_> {
    fn entries(&mut self, value: &Value, prefix: &str, depth: usize) {
        let entries: Vec<(Option<&str>, &Value)> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (Some(name.as_str()), value)).collect()
            }
            Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
            _ => return,
        };
        let left_out = entries.len().saturating_sub(MAX_ENTRIES);
        let last = entries.len().min(MAX_ENTRIES);
        for (at, (name, value)) in entries.into_iter().take(MAX_ENTRIES).enumerate() {
            let is_last = at + 1 == last && left_out == 0;
            let (branch, below) = match (depth, is_last) {
                (0, _) => (String::new(), String::new()),
                (_, true) => {
                    (symbol(self.style, ConversationSymbol::LastBranch).to_string(), "  ".to_string())
                }
                (_, false) => (
                    symbol(self.style, ConversationSymbol::Branch).to_string(),
                    format!("{} ", symbol(self.style, ConversationSymbol::Bar)),
                ),
            };
            self.line(prefix, &branch, name, value, depth);
            if depth < MAX_DEPTH {
                self.entries(value, &format!("{prefix}{below}"), depth + 1);
            }
        }
        if left_out > 0 {
            let sign = symbol(self.style, ConversationSymbol::Ellipsis);
            self.lines.push(SpanLine::painted(ThemeToken::Dim, format!("{prefix}{sign} {left_out} more")));
        }
    }

    fn line(&mut self, prefix: &str, branch: &str, name: Option<&str>, value: &Value, depth: usize) {
        let cut = |text: &str| {
            shown(&self.style.output, &text.chars().take(MAX_CHARS).collect::<String>()).into_owned()
        };
        let mut line = SpanLine::painted(ThemeToken::Dim, format!("{prefix}{branch}"));
        if let Some(name) = name {
            line = line.with(ThemeToken::SyntaxVariable, cut(name)).with(ThemeToken::Dim, ": ");
        }
        let (token, text) = match value {
            Value::Null => (ThemeToken::SyntaxKeyword, "null".to_string()),
            Value::Bool(truth) => (ThemeToken::SyntaxKeyword, truth.to_string()),
            Value::Number(number) => (ThemeToken::SyntaxNumber, number.to_string()),
            Value::String(text) => (ThemeToken::SyntaxString, format!("\"{}\"", cut(text))),
            Value::Array(items) if items.is_empty() => (ThemeToken::Dim, "[]".to_string()),
            Value::Object(fields) if fields.is_empty() => (ThemeToken::Dim, "{}".to_string()),
            Value::Array(items) if depth >= MAX_DEPTH => (ThemeToken::Dim, format!("[{}]", items.len())),
            Value::Object(fields) if depth >= MAX_DEPTH => (ThemeToken::Dim, format!("{{{}}}", fields.len())),
            Value::Array(items) => (ThemeToken::Dim, format!("[{}]", items.len())),
            Value::Object(_) if name.is_some() => (ThemeToken::Dim, String::new()),
            Value::Object(fields) => (ThemeToken::Dim, format!("{{{}}}", fields.len())),
        };
        self.lines.push(line.with(token, text).clip(self.width, &self.style.output));
    }
}
