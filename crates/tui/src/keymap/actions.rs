//! Everything that a key can do: one table of ids, default keys and texts. Key files, `/keys` and the page of keys come from it.

/// Where a key is looked for; what has the focus decides the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyContext {
    /// Sending, new lines, completing.
    Input,
    /// Moving and changing text.
    Editor,
    /// Lists, completions, questions with a choice.
    Select,
    /// The conversation as a whole.
    App,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyAction {
    Submit,
    NewLine,
    Complete,
    CursorLeft,
    CursorRight,
    CursorUp,
    CursorDown,
    CursorWordLeft,
    CursorWordRight,
    CursorLineStart,
    CursorLineEnd,
    CursorTextStart,
    CursorTextEnd,
    PageUp,
    PageDown,
    DeleteBackward,
    DeleteForward,
    KillWordBackward,
    KillWordForward,
    KillToLineStart,
    KillToLineEnd,
    Yank,
    YankPop,
    Undo,
    Redo,
    SelectUp,
    SelectDown,
    SelectPageUp,
    SelectPageDown,
    SelectFirst,
    SelectLast,
    SelectConfirm,
    SelectCancel,
    Interrupt,
    Clear,
    Exit,
    Suspend,
    CycleAccess,
    ToggleThinking,
    ToggleExpand,
    ExternalEditor,
    SearchHistory,
    Queue,
    TakeBack,
    ChooseModel,
    ShowJobs,
    ShowKeys,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct KeyActionEntry {
    pub action: KeyAction,
    /// As key files name it.
    pub id: &'static str,
    pub context: KeyContext,
    pub default_chords: &'static [&'static str],
    /// What it does, in half a line.
    pub text: &'static str,
}

impl KeyContext {
    pub const ALL: [KeyContext; 4] =
        [KeyContext::Input, KeyContext::Editor, KeyContext::Select, KeyContext::App];

    pub fn title(self) -> &'static str {
        match self {
            KeyContext::Input => "Sending",
            KeyContext::Editor => "Editing",
            KeyContext::Select => "Lists and completions",
            KeyContext::App => "The conversation",
        }
    }
}

impl KeyAction {
    pub fn entry(self) -> &'static KeyActionEntry {
        // The table is in the order of the actions; a test checks it.
        &KEY_ACTIONS[self as usize]
    }

    pub fn id(self) -> &'static str {
        self.entry().id
    }

    pub fn from_id(id: &str) -> Option<KeyAction> {
        KEY_ACTIONS.iter().find(|entry| entry.id == id).map(|entry| entry.action)
    }
}

const fn entry(
    action: KeyAction,
    id: &'static str,
    context: KeyContext,
    default_chords: &'static [&'static str],
    text: &'static str,
) -> KeyActionEntry {
    KeyActionEntry { action, id, context, default_chords, text }
}

use KeyAction as Act;
use KeyContext::{App, Editor, Input, Select};

#[rustfmt::skip]
pub const KEY_ACTIONS: &[KeyActionEntry] = &[
    entry(Act::Submit, "tui.input.submit", Input, &["enter"], "send; while the agent works: tell it, or wait in the queue"),
    entry(Act::NewLine, "tui.input.newLine", Input, &["shift+enter", "ctrl+j"], "begin a new line"),
    entry(Act::Complete, "tui.input.tab", Input, &["tab"], "complete a path or a command"),
    entry(Act::CursorLeft, "tui.editor.cursorLeft", Editor, &["left", "ctrl+b"], "one character left"),
    entry(Act::CursorRight, "tui.editor.cursorRight", Editor, &["right", "ctrl+f"], "one character right"),
    entry(Act::CursorUp, "tui.editor.cursorUp", Editor, &["up", "ctrl+p"], "one row up; in the first row: the prompt before"),
    entry(Act::CursorDown, "tui.editor.cursorDown", Editor, &["down", "ctrl+n"], "one row down; in the last row: the next prompt"),
    entry(Act::CursorWordLeft, "tui.editor.cursorWordLeft", Editor, &["alt+b", "alt+left", "ctrl+left"], "one word left"),
    entry(Act::CursorWordRight, "tui.editor.cursorWordRight", Editor, &["alt+f", "alt+right", "ctrl+right"], "one word right"),
    entry(Act::CursorLineStart, "tui.editor.cursorLineStart", Editor, &["home", "ctrl+a"], "start of the line"),
    entry(Act::CursorLineEnd, "tui.editor.cursorLineEnd", Editor, &["end", "ctrl+e"], "end of the line"),
    entry(Act::CursorTextStart, "tui.editor.cursorTextStart", Editor, &["alt+<", "ctrl+home"], "start of the text"),
    entry(Act::CursorTextEnd, "tui.editor.cursorTextEnd", Editor, &["alt+>", "ctrl+end"], "end of the text"),
    entry(Act::PageUp, "tui.editor.pageUp", Editor, &["alt+pageup", "alt+v"], "one page up in a long text"),
    entry(Act::PageDown, "tui.editor.pageDown", Editor, &["alt+pagedown"], "one page down in a long text"),
    entry(Act::DeleteBackward, "tui.editor.deleteCharBackward", Editor, &["backspace", "ctrl+h", "shift+backspace"], "delete the character before the cursor"),
    entry(Act::DeleteForward, "tui.editor.deleteCharForward", Editor, &["delete", "ctrl+d"], "delete the character at the cursor"),
    entry(Act::KillWordBackward, "tui.editor.deleteWordBackward", Editor, &["ctrl+w", "alt+backspace", "ctrl+backspace"], "cut the word before the cursor"),
    entry(Act::KillWordForward, "tui.editor.deleteWordForward", Editor, &["alt+d", "alt+delete", "ctrl+delete"], "cut the word behind the cursor"),
    entry(Act::KillToLineStart, "tui.editor.deleteToLineStart", Editor, &["ctrl+u"], "cut to the start of the line"),
    entry(Act::KillToLineEnd, "tui.editor.deleteToLineEnd", Editor, &["ctrl+k"], "cut to the end of the line"),
    entry(Act::Yank, "tui.editor.yank", Editor, &["ctrl+y"], "put back what was cut last"),
    entry(Act::YankPop, "tui.editor.yankPop", Editor, &["alt+y"], "then: what was cut before that"),
    entry(Act::Undo, "tui.editor.undo", Editor, &["ctrl+_", "ctrl+-", "ctrl+/"], "undo typing"),
    entry(Act::Redo, "tui.editor.redo", Editor, &["alt+_", "alt+/", "ctrl+shift+z"], "redo typing"),
    entry(Act::SelectUp, "tui.select.up", Select, &["up", "ctrl+p"], "the entry above"),
    entry(Act::SelectDown, "tui.select.down", Select, &["down", "ctrl+n"], "the entry below"),
    entry(Act::SelectPageUp, "tui.select.pageUp", Select, &["pageup"], "one page up"),
    entry(Act::SelectPageDown, "tui.select.pageDown", Select, &["pagedown"], "one page down"),
    entry(Act::SelectFirst, "tui.select.first", Select, &["home"], "the first entry"),
    entry(Act::SelectLast, "tui.select.last", Select, &["end"], "the last entry"),
    entry(Act::SelectConfirm, "tui.select.confirm", Select, &["enter"], "choose the entry"),
    entry(Act::SelectCancel, "tui.select.cancel", Select, &["escape", "ctrl+c"], "close without choosing"),
    entry(Act::Interrupt, "app.interrupt", App, &["escape"], "stop the agent; queued words come back"),
    entry(Act::Clear, "app.clear", App, &["ctrl+c"], "clear the text; twice within half a second: leave"),
    entry(Act::Exit, "app.exit", App, &["ctrl+d"], "leave, if nothing is typed"),
    entry(Act::Suspend, "app.suspend", App, &["ctrl+z"], "back to the shell; `fg` returns"),
    entry(Act::CycleAccess, "app.access.cycle", App, &["shift+tab"], "the next access, then plan mode"),
    entry(Act::ToggleThinking, "app.thinking.toggle", App, &["ctrl+t"], "show or fold thinking"),
    entry(Act::ToggleExpand, "app.tools.expand", App, &["ctrl+o"], "show or fold long output"),
    entry(Act::ExternalEditor, "app.editor.external", App, &["ctrl+g"], "write in `$EDITOR`"),
    entry(Act::SearchHistory, "app.history.search", App, &["ctrl+r"], "search earlier prompts"),
    entry(Act::Queue, "app.message.queue", App, &["alt+enter"], "send when the agent is done"),
    entry(Act::TakeBack, "app.message.takeBack", App, &["alt+up"], "take the last queued words back"),
    entry(Act::ChooseModel, "app.model.select", App, &["ctrl+l"], "choose the model"),
    entry(Act::ShowJobs, "app.jobs.show", App, &["alt+j"], "show jobs that run in the background"),
    entry(Act::ShowKeys, "app.keys.show", App, &["?"], "show these keys, if nothing is typed"),
];
