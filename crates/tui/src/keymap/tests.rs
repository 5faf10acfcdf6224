use insta::assert_snapshot;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

fn plain() -> ThemeStyle {
    let output = OutputStyle { color: false, utf8: true, width: Some(80) };
    ThemeStyle { output, theme: Theme::plain().into(), depth: ColorDepth::None }
}

fn key(text: &str) -> KeyPress {
    text.parse().unwrap()
}

#[test]
fn the_table_is_in_the_order_of_the_actions_and_every_default_is_a_key_of_one_action() {
    for (index, entry) in KEY_ACTIONS.iter().enumerate() {
        assert_eq!(entry.action as usize, index, "{}", entry.id);
        assert_eq!(KeyAction::from_id(entry.id), Some(entry.action));
        assert!(!entry.default_chords.is_empty(), "{}", entry.id);
        let prefix = match entry.context {
            KeyContext::Input => "tui.input.",
            KeyContext::Editor => "tui.editor.",
            KeyContext::Select => "tui.select.",
            KeyContext::App => "app.",
        };
        assert!(entry.id.starts_with(prefix), "{}", entry.id);
        for chord in entry.default_chords {
            assert_eq!(key(chord).to_string(), *chord, "{}", entry.id);
        }
    }
    let chords = KEY_ACTIONS.iter().map(default_chords).collect();
    assert_eq!(Keymap::with_chords(chords).1, []);
}

#[test]
fn a_key_file_changes_and_disables_keys_and_its_mistakes_are_named() {
    let (keymap, problems) = Keymap::from_json(
        r#"{
            "app.tools.expand": "ctrl+e",
            "tui.editor.yank": [],
            "tui.input.newLine": ["alt+n", "hyper+n", 3],
            "tui.editor.cursorLefft": "left",
            "app.suspend": "ctrl+",
            "tui.editor.undo": "ctrl+a",
            "evil\u001b[31m": "x"
        }"#,
    );
    assert_eq!(keymap.action_in(KeyContext::App, key("ctrl+e")), Some(KeyAction::ToggleExpand));
    assert_eq!(keymap.action_in(KeyContext::App, key("ctrl+o")), None);
    assert_eq!(keymap.chords(KeyAction::Yank), []);
    assert_eq!(keymap.chords(KeyAction::NewLine), [key("alt+n")]);
    assert_eq!(keymap.chords(KeyAction::Suspend), [key("ctrl+z")]);
    // A chosen key is taken from the default of another action in the same place.
    assert_eq!(keymap.action_in(KeyContext::Editor, key("ctrl+a")), Some(KeyAction::Undo));
    assert_eq!(keymap.chords(KeyAction::CursorLineStart), [key("home")]);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_snapshot!(told.join("\n"), @r"
    `tui.input.newLine`: `hyper+n` is no key; write it like `ctrl+o`, `shift+enter`, `alt+up`, `f5` or `x`
    `tui.input.newLine`: a key is a text like `ctrl+o`, not 3
    no action is named `tui.editor.cursorLefft`; did you mean `tui.editor.cursorLeft`?
    `app.suspend`: `ctrl+` is no key; write it like `ctrl+o`, `shift+enter`, `alt+up`, `f5` or `x`
    no action is named `evil\u{1b}[31m`
    ");
}

#[test]
fn what_is_no_key_file_leaves_the_defaults() {
    for text in ["[]", "{", "3", "\u{0}", &"x".repeat(KEY_FILE_BYTES + 1)] {
        let (keymap, problems) = Keymap::from_json(text);
        assert_eq!(problems.len(), 1, "{text:.20}");
        assert_eq!(keymap.action_in(KeyContext::App, key("ctrl+o")), Some(KeyAction::ToggleExpand));
    }
    assert_eq!(Keymap::from_json(" \n").1, []);
}

#[test]
fn two_actions_of_one_key_are_told() {
    let (keymap, problems) = Keymap::from_json(r#"{"app.suspend": "f5", "app.jobs.show": "f5"}"#);
    assert_eq!(keymap.action_in(KeyContext::App, key("f5")), Some(KeyAction::Suspend));
    assert_snapshot!(problems[0], @"`f5` is both `app.suspend` and `app.jobs.show`; it does the first");
}

#[test]
fn shift_that_a_character_needed_does_not_matter() {
    let keymap = Keymap::default();
    let pressed = KeyPress { shift: true, ..key("ctrl+_") };
    assert_eq!(keymap.action_in(KeyContext::Editor, pressed), Some(KeyAction::Undo));
    let redo = KeyPress { shift: true, ..key("ctrl+z") };
    assert_eq!(keymap.action_in(KeyContext::Editor, redo), Some(KeyAction::Redo));
}

#[test]
fn the_keys_fit_every_width() {
    for width in [20, 40, 64, 80, 120, 300] {
        for line in Keymap::default().lines(&plain(), width) {
            assert!(relaycode_text::width::cells(&line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_keys_beside_their_texts_or_above() {
    let (keymap, _) = Keymap::from_json(r#"{"app.suspend": []}"#);
    let last = |width: usize, count: usize| {
        let lines = keymap.lines(&plain(), width);
        lines[lines.len() - count..].join("\n")
    };
    assert_snapshot!(last(80, 18), @r"
      Enter                           choose the entry
      Esc · Ctrl+C                    close without choosing

    The conversation
      Esc                             stop the agent; queued words come back
      Ctrl+C                          clear the text; twice within half a second: l…
      Ctrl+D                          leave, if nothing is typed
      (no key)                        back to the shell; `fg` returns
      Shift+Tab                       the next access, then plan mode
      Ctrl+T                          show or fold thinking
      Ctrl+O                          show or fold long output
      Ctrl+G                          write in `$EDITOR`
      Ctrl+R                          search earlier prompts
      Alt+Enter                       send when the agent is done
      Alt+Up                          take the last queued words back
      Ctrl+L                          choose the model
      Alt+J                           show jobs that run in the background
      ?                               show these keys, if nothing is typed
    ");
    assert_snapshot!(last(40, 12), @r"
    Ctrl+R
      search earlier prompts
    Alt+Enter
      send when the agent is done
    Alt+Up
      take the last queued words back
    Ctrl+L
      choose the model
    Alt+J
      show jobs that run in the background
    ?
      show these keys, if nothing is typed
    ");
}

#[test]
fn the_page_of_keys_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/keys.md");
    // `UPDATE_KEYS_PAGE=1 cargo nextest run -p relaycode-tui the_page_of_keys` writes it.
    if std::env::var_os("UPDATE_KEYS_PAGE").is_some() {
        std::fs::write(path, keys_page()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(page, keys_page(), "docs/keys.md is not fresh: run this test with UPDATE_KEYS_PAGE=1");
}
