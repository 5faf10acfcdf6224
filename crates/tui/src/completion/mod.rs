//! The list below the words being written: files after `@`, commands after `/` and what may follow them.
//!
//! It opens by what stands before the cursor, and only where that was typed: pasted text names no files and runs nothing. It
//! never takes a key while it is closed.

mod render;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use crate::editor::{EditorOutcome, PromptEditor};
use crate::fuzzy::{FuzzyHit, FuzzyHits, FuzzyIndex};
use crate::input::KeyPress;
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
    /// Without its slash.
    pub name: String,
    /// For example `[WORDS]`.
    pub arguments: String,
    pub help: String,
    /// What may stand behind its name, if that is known.
    pub values: Vec<CompletionValue>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionValue {
    pub value: String,
    pub help: String,
}

#[derive(Debug)]
pub struct CompletionPopup {
    paths: FuzzyIndex,
    commands: Vec<CompletionCommand>,
    command_names: FuzzyIndex,
    open: Option<OpenCompletion>,
    /// What was closed with Esc: it stays closed until another word is begun.
    dismissed: Option<CompletionWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompletionKind {
    Path,
    Command,
    /// Of the command with this number.
    Value(usize),
}

/// The word that is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompletionWord {
    kind: CompletionKind,
    /// Where it begins, with its `@` or `/`.
    start: usize,
}

#[derive(Debug)]
struct OpenCompletion {
    word: CompletionWord,
    /// The bytes that an entry replaces.
    range: Range<usize>,
    entries: Vec<CompletionEntry>,
    total: usize,
    index: usize,
    /// The first entry that is shown.
    first: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CompletionEntry {
    text: String,
    /// The bytes of `text` at which matched letters begin.
    positions: Vec<usize>,
    arguments: String,
    help: String,
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// The key is the editor's.
    Ignored,
    /// Another entry is chosen.
    Moved,
    /// The text was completed.
    Accepted(EditorOutcome),
    Closed,
}

impl Default for CompletionPopup {
    fn default() -> CompletionPopup {
        CompletionPopup {
            paths: FuzzyIndex::new(Arc::from([])),
            commands: Vec::new(),
            command_names: FuzzyIndex::new(Arc::from([])),
            open: None,
            dismissed: None,
        }
    }
}

impl CompletionPopup {
    /// The files that `@` offers, relative to where the agent looks for them. Those with blanks can't be named with `@`.
    pub fn set_paths(&mut self, paths: Arc<[String]>) {
        let is_nameable = |path: &String| !path.is_empty() && !path.contains(char::is_whitespace);
        let paths = match paths.iter().all(is_nameable) {
            true => paths,
            false => paths.iter().filter(|path| is_nameable(path)).cloned().collect(),
        };
        self.paths = FuzzyIndex::new(paths);
    }

    pub fn set_commands(&mut self, commands: Vec<CompletionCommand>) {
        self.command_names = FuzzyIndex::new(commands.iter().map(|command| command.name.clone()).collect());
        self.commands = commands;
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// To be called whenever the text or the cursor changed.
    pub fn refresh(&mut self, editor: &PromptEditor) {
        let Some((word, range)) = self.word_at_cursor(editor) else {
            self.open = None;
            self.dismissed = None;
            return;
        };
        if self.dismissed.as_ref() == Some(&word) {
            return;
        }
        self.dismissed = None;
        self.open_for(editor, word, range);
    }

    fn open_for(&mut self, editor: &PromptEditor, word: CompletionWord, range: Range<usize>) {
        let query = &editor.text()[word.start..editor.cursor()];
        let found = match word.kind {
            CompletionKind::Path => {
                let query = query.strip_prefix('@').unwrap_or(query);
                let hits = self.paths.search(query, MAX_HITS);
                let texts = self.paths.texts();
                completion_entries(hits, |index| (texts[index].clone(), String::new(), String::new()))
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
            _ => return CompletionOutcome::Ignored,
        }
        CompletionOutcome::Moved
    }

    fn close(&mut self) {
        self.dismissed = self.open.take().map(|open| open.word);
    }

    fn accept(&mut self, editor: &mut PromptEditor) -> CompletionOutcome {
        let Some(open) = self.open.take() else { return CompletionOutcome::Ignored };
        let Some(entry) = open.entries.get(open.index) else { return CompletionOutcome::Closed };
        let is_blank_next = editor.text()[open.range.end..].starts_with([' ', '\n']);
        let blank = if is_blank_next { "" } else { " " };
        let written = format!("{}{blank}", written(open.word.kind, &entry.text));
        let outcome = editor.replace_typed(open.range, &written);
        // The cursor may still stand behind the word that was chosen.
        self.dismissed = is_blank_next.then_some(open.word);
        // The values of a command that was completed are offered next.
        if outcome == EditorOutcome::Changed {
            self.refresh(editor);
        }
        CompletionOutcome::Accepted(outcome)
    }
}

impl OpenCompletion {
    /// Whether the chosen entry stands in the text already.
    fn is_written(&self, editor: &PromptEditor) -> bool {
        let text = &editor.text()[self.range.clone()];
        self.entries.get(self.index).is_some_and(|entry| text == written(self.word.kind, &entry.text))
    }
}

fn written(kind: CompletionKind, text: &str) -> String {
    match kind {
        CompletionKind::Path => format!("@{text}"),
        CompletionKind::Command => format!("/{text}"),
        CompletionKind::Value(_) => text.to_string(),
    }
}

/// The entries, and how many there would be.
fn completion_entries(
    hits: FuzzyHits,
    texts: impl Fn(usize) -> (String, String, String),
) -> (Vec<CompletionEntry>, usize) {
    let entry = |hit: FuzzyHit| {
        let (text, arguments, help) = texts(hit.index);
        CompletionEntry { text, positions: hit.found.positions, arguments, help }
    };
    (hits.hits.into_iter().map(entry).collect(), hits.total)
}
