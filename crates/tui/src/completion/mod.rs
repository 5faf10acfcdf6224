//! Completing what is typed in the prompt: files after `@`, commands after `/` and their arguments.
//!
//! The caller hands in what there is and calls [`PromptCompletion::update`] after each change of the prompt. Nothing is looked up
//! here, and a list of 100 000 files costs milliseconds.

#[cfg(test)]
mod tests;
mod token;

use std::ops::Range;
use std::sync::Arc;

use crate::cells;
use crate::fuzzy::{FuzzyHit, FuzzyIndex};
use crate::input::{KeyCode, KeyPress};
use crate::keymap::{KeyAction, KeyContext, Keymap};

/// Lines of the list at most.
const MAX_ROWS: usize = 8;
/// Entries that can be reached with the keys.
const MAX_HITS: usize = 100;
/// Bytes before the cursor in which a word that is completed begins.
const WORD_BYTES: usize = 1_024;

/// A command that can be completed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionCommand {
    /// Without the slash.
    pub name: String,
    pub text: String,
    /// What may follow, if it is known.
    pub arguments: Vec<String>,
}

/// What can be completed at the cursor, if anything.
#[derive(Debug)]
pub struct PromptCompletion {
    paths: FuzzyIndex,
    commands: Arc<[CompletionCommand]>,
    names: FuzzyIndex,
    /// The arguments of a command that was completed last.
    arguments: Option<(usize, FuzzyIndex)>,
    popup: Option<CompletionPopup>,
    /// Where a word begins that is not to be completed any more.
    dismissed: Option<usize>,
}

#[derive(Debug)]
struct CompletionPopup {
    token: CompletionToken,
    hits: Vec<FuzzyHit>,
    total: usize,
    chosen: usize,
}

/// The effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// Nothing is being completed, or it is a key for the prompt.
    Ignored,
    /// Something is to be drawn.
    Changed,
    /// Replace these bytes of the prompt. `submits`: it is a whole command, and Enter was pressed.
    Accept { range: Range<usize>, text: String, submits: bool },
}

/// Entries that can be reached.
const HITS: usize = 100;

impl Default for PromptCompletion {
    fn default() -> PromptCompletion {
        PromptCompletion {
            paths: FuzzyIndex::new(Arc::from([])),
            commands: Arc::from([]),
            names: FuzzyIndex::new(Arc::from([])),
            arguments: None,
            popup: None,
            dismissed: None,
        }
    }
}

impl PromptCompletion {
    /// Folders end with a slash.
    pub fn set_paths(&mut self, paths: Arc<[String]>) {
        self.paths = FuzzyIndex::new(paths);
    }

    pub fn set_commands(&mut self, commands: Arc<[CompletionCommand]>) {
        self.names = FuzzyIndex::new(commands.iter().map(|command| command.name.clone()).collect());
        (self.commands, self.arguments) = (commands, None);
    }

    pub fn is_open(&self) -> bool {
        self.popup.is_some()
    }

    pub fn close(&mut self) {
        self.popup = None;
    }

    /// The prompt has changed. `text` and `cursor` as [`crate::editor::PromptEditor`] gives them.
    pub fn update(&mut self, text: &str, cursor: usize) {
        let token = CompletionToken::at(text, cursor, &self.commands);
        if token.as_ref().map(|token| token.range.start) != self.dismissed {
            self.dismissed = None;
        }
        let Some(token) = token.filter(|_| self.dismissed.is_none()) else {
            self.popup = None;
            return;
        };
        let found = self.index(token.kind).search(&token.query, HITS);
        // What is written out needs no completion.
        let is_done = found.total == 1 && self.entry(token.kind, found.hits[0].index) == token.query;
        if found.total == 0 || (is_done && token.kind != TokenKind::Command) {
            self.popup = None;
            return;
        }
        self.popup = Some(CompletionPopup { token, hits: found.hits, total: found.total, chosen: 0 });
    }

    pub fn handle_key(&mut self, key: KeyPress, keymap: &Keymap) -> CompletionOutcome {
        let Some(popup) = &mut self.popup else { return CompletionOutcome::Ignored };
        let last = popup.hits.len().saturating_sub(1);
        let is_tab = key == KeyPress::plain(KeyCode::Tab);
        match keymap.action(KeyContext::Select, key) {
            // The first is next to the last.
            Some(KeyAction::SelectUp) => popup.chosen = popup.chosen.checked_sub(1).unwrap_or(last),
            Some(KeyAction::SelectDown) => {
                popup.chosen = if popup.chosen == last { 0 } else { popup.chosen + 1 }
            }
            CompletionKind::Command => {
                let query = query.strip_prefix('/').unwrap_or(query);
                let hits = self.command_names.search(query, MAX_HITS);
                completion_entries(hits, |index| {
                    let command = &self.commands[index];
                    (command.name.clone(), command.arguments.clone(), command.help.clone())
                })
            }
            CompletionKind::Value(command) => {
                let values = &self.commands[command].values;
                let texts: Vec<String> = values.iter().map(|value| value.value.clone()).collect();
                let hits = FuzzyIndex::new(texts.into()).search(query, MAX_HITS);
                completion_entries(hits, |index| {
                    (values[index].value.clone(), String::new(), values[index].help.clone())
                })
            }
        };
        let (entries, total) = found;
        let is_whole = entries.len() == 1
            && editor.text()[word.start..range.end] == written(word.kind, &entries[0].text);
        self.open = (!entries.is_empty() && !is_whole).then_some(OpenCompletion {
            word,
            range,
            entries,
            total,
            index: 0,
            first: 0,
        });
    }

    /// What stands before the cursor, if something can complete it.
    fn word_at_cursor(&self, editor: &PromptEditor) -> Option<(CompletionWord, Range<usize>)> {
        if editor.is_searching() {
            return None;
        }
        let (text, cursor) = (editor.text(), editor.cursor());
        let least = cursor.saturating_sub(WORD_BYTES);
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        let start = text.as_bytes()[..cursor].iter().rposition(is_blank).map_or(0, |blank| blank + 1);
        if start < least {
            return None;
        }
        let end =
            text.as_bytes()[cursor..].iter().position(is_blank).map_or(text.len(), |blank| cursor + blank);
        let is_typed = |mut range: Range<usize>| range.all(|at| editor.is_typed(at));
        // A cursor within a word that goes on behind it completes nothing that was pasted or folded there.
        let end = if end - cursor <= WORD_BYTES && is_typed(cursor..end) { end } else { cursor };
        let kind = match text.as_bytes().get(start) {
            Some(b'@') if start < cursor => CompletionKind::Path,
            Some(b'/') if start == 0 && cursor > 0 && !text[1..cursor].contains('/') => {
                CompletionKind::Command
            }
            _ => CompletionKind::Value(self.command_before(text, start)?),
        };
        let word = CompletionWord { kind, start };
        is_typed(start..cursor).then_some((word, start..end))
    }

    /// The command whose first word behind the name begins at `start`.
    fn command_before(&self, text: &str, start: usize) -> Option<usize> {
        let before = text[..start].strip_prefix('/').filter(|before| before.len() <= WORD_BYTES)?;
        let name = before.strip_suffix(' ')?.trim_end_matches(' ');
        let index = self.commands.iter().position(|command| command.name == name)?;
        (!self.commands[index].values.is_empty()).then_some(index)
    }

    /// To be asked before the editor; it changes the editor if an entry is chosen.
    pub fn handle_key(
        &mut self,
        key: KeyPress,
        keymap: &Keymap,
        editor: &mut PromptEditor,
    ) -> CompletionOutcome {
        let Some(open) = &mut self.open else { return CompletionOutcome::Ignored };
        if keymap.action_in(KeyContext::Input, key) == Some(KeyAction::Complete) {
            return self.accept(editor);
        }
        let last = open.entries.len() - 1;
        match keymap.action_in(KeyContext::Select, key) {
            Some(KeyAction::SelectUp) => open.index = open.index.checked_sub(1).unwrap_or(last),
            Some(KeyAction::SelectDown) => open.index = if open.index < last { open.index + 1 } else { 0 },
            Some(KeyAction::SelectPageUp) => open.index = open.index.saturating_sub(MAX_ROWS - 1),
            Some(KeyAction::SelectPageDown) => open.index = (open.index + MAX_ROWS - 1).min(last),
            Some(KeyAction::SelectConfirm) if open.is_written(editor) => {
                // The word is there already: the key sends it.
                self.close();
                return CompletionOutcome::Ignored;
            }
            Some(KeyAction::SelectConfirm) => return self.accept(editor),
            Some(KeyAction::SelectCancel) => {
                self.close();
                return CompletionOutcome::Closed;
            }
            _ if is_tab => return self.accept(false),
            _ => return CompletionOutcome::Ignored,
        }
        CompletionOutcome::Changed
    }

    /// At most `max_rows` rows; none if nothing is completed.
    pub fn lines(&self, style: &ThemeStyle, width: usize, max_rows: usize) -> Vec<String> {
        let Some(popup) = &self.popup else { return Vec::new() };
        let is_cut = popup.total > max_rows;
        let room = max_rows.saturating_sub(usize::from(is_cut && max_rows > 1));
        let first = (popup.chosen + 1).saturating_sub(room);
        let shown = popup.hits.iter().enumerate().skip(first).take(room);
        let mut lines: Vec<String> =
            shown.map(|(number, hit)| self.entry_line(hit, number == popup.chosen, style, width)).collect();
        if is_cut && max_rows > 1 {
            let more = format!("  {} of {}", popup.chosen + 1, popup.total);
            lines.push(style.paint(ThemeToken::Dim, &style.output.clip(&more, width)));
        }
        lines
    }

    fn entry_line(&self, hit: &FuzzyHit, is_chosen: bool, style: &ThemeStyle, width: usize) -> String {
        let Some(popup) = &self.popup else { return String::new() };
        let text = self.entry(popup.token.kind, hit.index);
        let sign = match (is_chosen, style.output.utf8) {
            (false, _) => "  ",
            (true, true) => "› ",
            (true, false) => "> ",
        };
        let slash = if popup.token.kind == TokenKind::Command { "/" } else { "" };
        let room = width.saturating_sub(cells(sign) + slash.len());
        let base = if is_chosen { ThemeToken::Text } else { ThemeToken::Muted };
        let name = marked_name(text, &hit.found.positions, base, style, room);
        let about = match popup.token.kind {
            TokenKind::Command => self.commands[hit.index].text.as_str(),
            TokenKind::Path | TokenKind::Argument(_) => "",
        };
        let used = cells(sign) + slash.len() + cells(&style.output.safe(text));
        let column = used.max(18) + 2;
        let about = match width.saturating_sub(column) {
            left if about.is_empty() || left < 12 => String::new(),
            left => {
                let text = style.paint(ThemeToken::Dim, &style.output.clip(about, left));
                format!("{}{text}", " ".repeat(column - used))
            }
        };
        let lead = style.paint(if is_chosen { ThemeToken::Accent } else { base }, &format!("{sign}{slash}"));
        format!("{lead}{name}{about}")
    }

    fn accept(&mut self, by_enter: bool) -> CompletionOutcome {
        let Some(popup) = self.popup.take() else { return CompletionOutcome::Ignored };
        let Some(hit) = popup.hits.get(popup.chosen) else { return CompletionOutcome::Ignored };
        let text = self.entry(popup.token.kind, hit.index);
        let (text, submits) = match popup.token.kind {
            TokenKind::Command => {
                let is_whole = self.commands[hit.index].arguments.is_empty();
                (format!("/{text} "), by_enter && is_whole)
            }
            TokenKind::Argument(_) => (text.to_string(), false),
            TokenKind::Path => {
                let is_quoted = text.contains(char::is_whitespace);
                let goes_on = text.ends_with('/');
                match (is_quoted, goes_on) {
                    (false, true) => (format!("@{text}"), false),
                    (false, false) => (format!("@{text} "), false),
                    // The quote stays open until the name is whole.
                    (true, true) => (format!("@\"{text}"), false),
                    (true, false) => (format!("@\"{text}\" "), false),
                }
            }
        };
        CompletionOutcome::Accept { range: popup.token.range, text, submits }
    }

    fn index(&mut self, kind: TokenKind) -> &mut FuzzyIndex {
        match kind {
            TokenKind::Path => &mut self.paths,
            TokenKind::Command => &mut self.names,
            TokenKind::Argument(place) => {
                let is_known = self.arguments.as_ref().is_some_and(|(known, _)| *known == place);
                if !is_known {
                    self.arguments = None;
                }
                let commands = &self.commands;
                let fresh = || (place, FuzzyIndex::new(commands[place].arguments.as_slice().into()));
                &mut self.arguments.get_or_insert_with(fresh).1
            }
        }
    }

    /// An entry of a list, as it stands there.
    fn entry(&self, kind: TokenKind, index: usize) -> &str {
        let text = match kind {
            TokenKind::Path => self.paths.texts().get(index),
            TokenKind::Command => self.commands.get(index).map(|command| &command.name),
            TokenKind::Argument(place) => self.commands[place].arguments.get(index),
        };
        text.map_or("", String::as_str)
    }
}

/// Safe, with the matched characters painted; shortened in its middle without them.
fn marked_name(text: &str, positions: &[usize], base: ThemeToken, style: &ThemeStyle, room: usize) -> String {
    if cells(&style.output.safe(text)) > room {
        return style.paint(base, &style.output.path(text, room));
    }
    let mut out = String::new();
    let mut run = String::new();
    let mut is_marked = false;
    for (at, c) in text.char_indices() {
        let marks = positions.binary_search(&at).is_ok();
        if marks != is_marked {
            out += &style.paint(if is_marked { ThemeToken::Accent } else { base }, &std::mem::take(&mut run));
            is_marked = marks;
        }
        run += &style.output.safe(c.encode_utf8(&mut [0; 4]));
    }
    out + &style.paint(if is_marked { ThemeToken::Accent } else { base }, &run)
}
