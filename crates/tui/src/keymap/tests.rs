use std::collections::HashSet;
use std::sync::Arc;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme};

fn plain() -> ThemeStyle {
    ThemeStyle {
        output: OutputStyle { color: false, utf8: true, width: Some(80) },
        theme: Arc::new(Theme::plain()),
        depth: ColorDepth::None,
    }
}

#[test]
fn the_table_is_sound() {
    let mut ids = HashSet::new();
    let mut chords = HashSet::new();
    for binding in KEY_BINDINGS {
        assert!(ids.insert(binding.id), "{} is there twice", binding.id);
        let is_named = match binding.context {
            KeyContext::Editor => {
                binding.id.starts_with("tui.editor.") || binding.id.starts_with("tui.input.")
            }
            KeyContext::Select => binding.id.starts_with("tui.select."),
            KeyContext::App => binding.id.starts_with("app."),
        };
        assert!(is_named, "{}", binding.id);
        for chord in binding.chords {
            let key: KeyPress = chord.parse().expect(chord);
            assert!(chords.insert((binding.context, key)), "{chord} is there twice");
        }
    }
}

#[test]
fn a_key_file_changes_adds_and_switches_off() {
    let text = r#"{"app.palette": "ctrl+x", "tui.editor.yank": [], "app.jobs.show": ["f5", "ctrl+t"]}"#;
    let (keymap, problems) = Keymap::from_json(text);
    assert_eq!(problems, []);
    let app = |key: &str| keymap.action(KeyContext::App, key.parse().unwrap());
    assert_eq!(app("ctrl+x"), Some(KeyAction::CommandPalette));
    assert_eq!(app("ctrl+p"), None);
    assert_eq!(app("f5"), Some(KeyAction::ShowJobs));
    // Taken from the action that had it.
    assert_eq!(app("ctrl+t"), Some(KeyAction::ShowJobs));
    assert!(keymap.chords(KeyAction::ToggleThinking).is_empty());
    assert_eq!(keymap.action(KeyContext::Editor, KeyPress::ctrl('y')), None);
    assert_eq!(keymap.label(KeyAction::ShowJobs).as_deref(), Some("F5"));
    // The same chord in another context is another thing.
    assert_eq!(keymap.action(KeyContext::Editor, KeyPress::ctrl('b')), Some(KeyAction::CursorLeft));
    assert_eq!(app("ctrl+b"), Some(KeyAction::FoldToBackground));
}

#[test]
fn what_is_wrong_in_a_key_file_is_named_and_the_rest_counts() {
    let text = r#"{"palette": "ctrl+x", "nothing": "x", "app.exit": "hyper+x", "app.clear": 3, "app.jobs.show": "f5", "app.undo": "f5", "app.redo": "f6"}"#;
    let (keymap, problems) = Keymap::from_json(text);
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    `palette` is no action; did you mean `app.palette`?
    `nothing` is no action; `/keys` lists them
    `app.exit`: `hyper+x` is no key; write it like `ctrl+o`, `shift+enter`, `alt+up`, `f5` or `x`
    `app.clear`: a chord is a text like `ctrl+o`; an empty list switches the action off
    `f5` is given to `app.jobs.show` and to `app.undo`; `app.jobs.show` has it
    ");
    assert_eq!(keymap.label(KeyAction::RedoChange).as_deref(), Some("F6"));
    assert_eq!(keymap.label(KeyAction::UndoChange), None);
    assert_eq!(keymap.label(KeyAction::Exit).as_deref(), Some("Ctrl-D"));
    for text in ["", "[]", "{", "null"] {
        let (keymap, problems) = Keymap::from_json(text);
        assert!(matches!(problems[..], [KeymapProblem::NoObject(_)]), "{text}");
        assert_eq!(keymap.label(KeyAction::Exit).as_deref(), Some("Ctrl-D"));
    }
}

#[test]
fn chords_are_shown_as_people_read_them() {
    let labels: Vec<String> =
        ["ctrl+o", "shift+enter", "alt+up", "escape", "f5", "x", "pageup", "alt+shift+b", "ctrl+space"]
            .iter()
            .map(|chord| chord_label(chord.parse().unwrap()))
            .collect();
    assert_eq!(labels.join(" "), "Ctrl-O Shift-Enter Alt-Up Esc F5 x PageUp Alt-Shift-B Ctrl-Space");
}

#[test]
fn the_list_of_keys_fits() {
    for width in [20, 40, 80, 120] {
        let lines = Keymap::default().lines(&plain(), width);
        assert!(lines.iter().all(|line| cells(line) <= width), "at {width}");
    }
    let narrow = Keymap::default().lines(&plain(), 40);
    insta::assert_snapshot!(narrow[..5].join("\n"), @"
    writing a prompt
      Up
        one line up, or the previous prompt
      Down
        one line down, or the next prompt
    ");
    let wide = Keymap::default().lines(&plain(), 80);
    insta::assert_snapshot!(wide[..7].join("\n"), @"
    writing a prompt
      Up                                one line up, or the previous prompt
      Down                              one line down, or the next prompt
      Left, Ctrl-B                      one character left
      Right, Ctrl-F                     one character right
      Alt-Left, Ctrl-Left, Alt-B        one word left
      Alt-Right, Ctrl-Right, Alt-F      one word right
    ");
}

#[test]
fn the_page_in_the_docs_lists_every_action() {
    let page = include_str!("../../../../docs/keys.md");
    for binding in KEY_BINDINGS {
        let chords: Vec<String> = binding.chords.iter().map(|chord| format!("`{chord}`")).collect();
        let row = format!("| `{}` | {} | {} |", binding.id, chords.join(" "), binding.text);
        assert!(page.contains(&row), "docs/keys.md lacks this row:\n{row}");
    }
}
