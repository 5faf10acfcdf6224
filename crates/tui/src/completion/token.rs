//! The word at the cursor that may be completed.

use std::ops::Range;

use super::CompletionCommand;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Path,
    Command,
    /// Of the command with this place in the list.
    Argument(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompletionToken {
    pub(super) kind: TokenKind,
    /// What a completion replaces: up to the end of the word.
    pub(super) range: Range<usize>,
    pub(super) query: String,
}

impl CompletionToken {
    pub(super) fn at(text: &str, cursor: usize, commands: &[CompletionCommand]) -> Option<CompletionToken> {
        let head = text.get(..cursor)?;
        let end = cursor + text[cursor..].find(char::is_whitespace).unwrap_or(text.len() - cursor);
        if let Some(path) = path_token(head, end) {
            return Some(path);
        }
        let words = head.strip_prefix('/').filter(|_| !head.contains('\n'))?;
        let Some((name, rest)) = words.split_once(' ') else {
            let query = words.to_string();
            return Some(CompletionToken { kind: TokenKind::Command, range: 0..end, query });
        };
        let place = commands.iter().position(|command| command.name == name)?;
        let is_first = !commands[place].arguments.is_empty() && !rest.trim_start().contains(' ');
        let start = cursor - rest.trim_start().len();
        let query = rest.trim_start().to_string();
        is_first.then_some(CompletionToken { kind: TokenKind::Argument(place), range: start..end, query })
    }
}

/// `@name`, or `@"name with blanks`, at the beginning of a word.
fn path_token(head: &str, end: usize) -> Option<CompletionToken> {
    let is_begin =
        |at: usize| head[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "([{\"'".contains(c));
    let start = head.rmatch_indices('@').map(|(at, _)| at).find(|at| is_begin(*at))?;
    let word = &head[start + 1..];
    let query = match word.strip_prefix('"') {
        Some(quoted) if quoted.contains(['"', '\n']) => return None,
        Some(quoted) => quoted,
        None if word.contains(char::is_whitespace) => return None,
        None => word,
    };
    Some(CompletionToken { kind: TokenKind::Path, range: start..end, query: query.to_string() })
}
