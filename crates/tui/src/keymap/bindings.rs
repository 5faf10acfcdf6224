//! Every action of the conversation that a key can do: its id in key files, its chords, its text. One list: the key file, the view of
//! `/keys` and the page in the docs are made from it.

/// Where a chord counts. The same chord may serve several places; what has the focus decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyContext {
    /// The prompt.
    Editor,
    /// A list to choose from.
    Select,
    /// The conversation as a whole.
    App,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyAction {
    CursorUp,
    CursorDown,
    CursorLeft,
    CursorRight,
    CursorWordLeft,
    CursorWordRight,
    CursorLineStart,
    CursorLineEnd,
    CursorTextStart,
    CursorTextEnd,
    DeleteCharBackward,
    DeleteCharForward,
    DeleteWordBackward,
    DeleteWordForward,
    DeleteToLineStart,
    DeleteToLineEnd,
    Yank,
    YankPop,
    EditorUndo,
    EditorRedo,
    NewLine,
    Submit,
    Tab,
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
    UndoChange,
    RedoChange,
    CommandPalette,
    SelectModel,
    SelectTemporaryModel,
    CycleAccess,
    ToggleThinking,
    ExpandTools,
    ExternalEditor,
    SearchHistory,
    QueuePrompt,
    DequeuePrompt,
    PasteImage,
    FoldToBackground,
    ShowJobs,
    ScrollUp,
    ScrollDown,
    Redraw,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct KeyBinding {
    pub action: KeyAction,
    pub id: &'static str,
    pub context: KeyContext,
    /// As key files write them.
    pub chords: &'static [&'static str],
    pub text: &'static str,
}

/// In the order in which they are shown.
pub const KEY_BINDINGS: &[KeyBinding] = &[
    row(
        KeyAction::CursorUp,
        "tui.editor.cursorUp",
        KeyContext::Editor,
        &["up"],
        "one line up, or the previous prompt",
    ),
    row(
        KeyAction::CursorDown,
        "tui.editor.cursorDown",
        KeyContext::Editor,
        &["down"],
        "one line down, or the next prompt",
    ),
    row(
        KeyAction::CursorLeft,
        "tui.editor.cursorLeft",
        KeyContext::Editor,
        &["left", "ctrl+b"],
        "one character left",
    ),
    row(
        KeyAction::CursorRight,
        "tui.editor.cursorRight",
        KeyContext::Editor,
        &["right", "ctrl+f"],
        "one character right",
    ),
    row(
        KeyAction::CursorWordLeft,
        "tui.editor.cursorWordLeft",
        KeyContext::Editor,
        &["alt+left", "ctrl+left", "alt+b"],
        "one word left",
    ),
    row(
        KeyAction::CursorWordRight,
        "tui.editor.cursorWordRight",
        KeyContext::Editor,
        &["alt+right", "ctrl+right", "alt+f"],
        "one word right",
    ),
    row(
        KeyAction::CursorLineStart,
        "tui.editor.cursorLineStart",
        KeyContext::Editor,
        &["home", "ctrl+a"],
        "to the start of the line",
    ),
    row(
        KeyAction::CursorLineEnd,
        "tui.editor.cursorLineEnd",
        KeyContext::Editor,
        &["end", "ctrl+e"],
        "to the end of the line",
    ),
    row(
        KeyAction::CursorTextStart,
        "tui.editor.cursorTextStart",
        KeyContext::Editor,
        &["ctrl+home", "alt+<"],
        "to the start of the text",
    ),
    row(
        KeyAction::CursorTextEnd,
        "tui.editor.cursorTextEnd",
        KeyContext::Editor,
        &["ctrl+end", "alt+>"],
        "to the end of the text",
    ),
    row(
        KeyAction::DeleteCharBackward,
        "tui.editor.deleteCharBackward",
        KeyContext::Editor,
        &["backspace", "shift+backspace", "ctrl+h"],
        "delete the character before",
    ),
    row(
        KeyAction::DeleteCharForward,
        "tui.editor.deleteCharForward",
        KeyContext::Editor,
        &["delete", "ctrl+d"],
        "delete the character behind",
    ),
    row(
        KeyAction::DeleteWordBackward,
        "tui.editor.deleteWordBackward",
        KeyContext::Editor,
        &["ctrl+w", "alt+backspace", "ctrl+backspace"],
        "cut the word before",
    ),
    row(
        KeyAction::DeleteWordForward,
        "tui.editor.deleteWordForward",
        KeyContext::Editor,
        &["alt+d", "alt+delete", "ctrl+delete"],
        "cut the word behind",
    ),
    row(
        KeyAction::DeleteToLineStart,
        "tui.editor.deleteToLineStart",
        KeyContext::Editor,
        &["ctrl+u"],
        "cut to the start of the line",
    ),
    row(
        KeyAction::DeleteToLineEnd,
        "tui.editor.deleteToLineEnd",
        KeyContext::Editor,
        &["ctrl+k"],
        "cut to the end of the line",
    ),
    row(KeyAction::Yank, "tui.editor.yank", KeyContext::Editor, &["ctrl+y"], "put back what was cut"),
    row(
        KeyAction::YankPop,
        "tui.editor.yankPop",
        KeyContext::Editor,
        &["alt+y"],
        "put back what was cut before that instead",
    ),
    row(KeyAction::EditorUndo, "tui.editor.undo", KeyContext::Editor, &["ctrl+_", "ctrl+-"], "undo typing"),
    row(KeyAction::EditorRedo, "tui.editor.redo", KeyContext::Editor, &["alt+_", "alt+-"], "redo typing"),
    row(
        KeyAction::NewLine,
        "tui.input.newLine",
        KeyContext::Editor,
        &["shift+enter", "ctrl+enter", "ctrl+j"],
        "begin a new line",
    ),
    row(KeyAction::Submit, "tui.input.submit", KeyContext::Editor, &["enter"], "send"),
    row(KeyAction::Tab, "tui.input.tab", KeyContext::Editor, &["tab"], "complete"),
    row(KeyAction::SelectUp, "tui.select.up", KeyContext::Select, &["up", "ctrl+p"], "the entry above"),
    row(KeyAction::SelectDown, "tui.select.down", KeyContext::Select, &["down", "ctrl+n"], "the entry below"),
    row(KeyAction::SelectPageUp, "tui.select.pageUp", KeyContext::Select, &["pageup"], "one page up"),
    row(KeyAction::SelectPageDown, "tui.select.pageDown", KeyContext::Select, &["pagedown"], "one page down"),
    row(KeyAction::SelectFirst, "tui.select.first", KeyContext::Select, &["ctrl+home"], "the first entry"),
    row(KeyAction::SelectLast, "tui.select.last", KeyContext::Select, &["ctrl+end"], "the last entry"),
    row(KeyAction::SelectConfirm, "tui.select.confirm", KeyContext::Select, &["enter"], "take the entry"),
    row(
        KeyAction::SelectCancel,
        "tui.select.cancel",
        KeyContext::Select,
        &["escape", "ctrl+c"],
        "close without taking one",
    ),
    row(
        KeyAction::Interrupt,
        "app.interrupt",
        KeyContext::App,
        &["escape"],
        "stop what runs; queued words come back",
    ),
    row(KeyAction::Clear, "app.clear", KeyContext::App, &["ctrl+c"], "clear the prompt; twice leaves"),
    row(KeyAction::Exit, "app.exit", KeyContext::App, &["ctrl+d"], "leave, if the prompt is empty"),
    row(KeyAction::Suspend, "app.suspend", KeyContext::App, &["ctrl+z"], "suspend relay"),
    row(KeyAction::UndoChange, "app.undo", KeyContext::App, &["alt+u"], "undo the last change of files"),
    row(KeyAction::RedoChange, "app.redo", KeyContext::App, &["alt+r"], "redo it"),
    row(KeyAction::CommandPalette, "app.palette", KeyContext::App, &["ctrl+p"], "all commands"),
    row(KeyAction::SelectModel, "app.model.select", KeyContext::App, &["ctrl+l"], "choose a model"),
    row(
        KeyAction::SelectTemporaryModel,
        "app.model.selectTemporary",
        KeyContext::App,
        &["alt+p"],
        "choose a model for the next prompt only",
    ),
    row(
        KeyAction::CycleAccess,
        "app.access.cycle",
        KeyContext::App,
        &["shift+tab"],
        "the next kind of access, or planning",
    ),
    row(
        KeyAction::ToggleThinking,
        "app.thinking.toggle",
        KeyContext::App,
        &["ctrl+t"],
        "fold or unfold thinking",
    ),
    row(KeyAction::ExpandTools, "app.tools.expand", KeyContext::App, &["ctrl+o"], "show what is folded"),
    row(
        KeyAction::ExternalEditor,
        "app.editor.external",
        KeyContext::App,
        &["ctrl+g"],
        "write the prompt in your own editor",
    ),
    row(
        KeyAction::SearchHistory,
        "app.history.search",
        KeyContext::App,
        &["ctrl+r"],
        "search earlier prompts",
    ),
    row(
        KeyAction::QueuePrompt,
        "app.message.queue",
        KeyContext::App,
        &["alt+enter", "alt+q"],
        "send when the present work is done",
    ),
    row(
        KeyAction::DequeuePrompt,
        "app.message.dequeue",
        KeyContext::App,
        &["alt+up"],
        "take queued words back",
    ),
    row(
        KeyAction::PasteImage,
        "app.clipboard.pasteImage",
        KeyContext::App,
        &["ctrl+v"],
        "add the image on the clipboard",
    ),
    row(
        KeyAction::FoldToBackground,
        "app.tools.background",
        KeyContext::App,
        &["ctrl+b"],
        "let the running command go on in the background",
    ),
    row(KeyAction::ShowJobs, "app.jobs.show", KeyContext::App, &["alt+j"], "commands in the background"),
    row(KeyAction::ScrollUp, "app.transcript.pageUp", KeyContext::App, &["pageup"], "read what came before"),
    row(KeyAction::ScrollDown, "app.transcript.pageDown", KeyContext::App, &["pagedown"], "read on"),
    row(KeyAction::Redraw, "app.redraw", KeyContext::App, &["ctrl+shift+l"], "draw everything anew"),
];

const fn row(
    action: KeyAction,
    id: &'static str,
    context: KeyContext,
    chords: &'static [&'static str],
    text: &'static str,
) -> KeyBinding {
    KeyBinding { action, id, context, chords, text }
}

impl KeyContext {
    pub const ALL: [KeyContext; 3] = [KeyContext::Editor, KeyContext::Select, KeyContext::App];

    pub fn title(self) -> &'static str {
        match self {
            KeyContext::Editor => "writing a prompt",
            KeyContext::Select => "choosing from a list",
            KeyContext::App => "the conversation",
        }
    }
}
