use insta::assert_snapshot;
use proptest::prelude::*;
use relaycode_text::escape::is_unsafe;
use relaycode_text::width::cells;

use super::*;
use crate::OutputStyle;
use crate::input::decode::PastedText;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

fn plain(utf8: bool) -> ThemeStyle {
    let output = OutputStyle { color: false, utf8, width: Some(80) };
    ThemeStyle { output, theme: Theme::plain().into(), depth: ColorDepth::None }
}

fn popup() -> CompletionPopup {
    let command = |name: &str, arguments: &str, help: &str, values: &[(&str, &str)]| CompletionCommand {
        name: name.into(),
        arguments: arguments.into(),
        help: help.into(),
        values: values
            .iter()
            .map(|(value, help)| CompletionValue { value: (*value).into(), help: (*help).into() })
            .collect(),
    };
    let mut popup = CompletionPopup::default();
    popup.set_commands(vec![
        command("undo", "[N]", "undo the last change, or N of them", &[]),
        command("redo", "", "bring an undone change back", &[]),
        command("model", "[NAME]", "show or choose the model", &[]),
        command(
            "access",
            "[read|workspace|full]",
            "show or set what the agent may do without asking",
            &[("read", "look only"), ("workspace", "change files of the project"), ("full", "everything")],
        ),
    ]);
    let mut paths: Vec<String> =
        ["src/client.rs", "src/cart/total.rs", "src/a file.rs", "docs/client.md", "Cargo.toml"]
            .map(Into::into)
            .into();
    paths.extend(
        (0..20).map(|number| {
            format!("packages/a-very-long-package-name/source/nested/module_{number}/index.ts")
        }),
    );
    popup.set_paths(paths.into());
    popup
}

/// Types, and asks the list first as the caller does.
fn press(popup: &mut CompletionPopup, editor: &mut PromptEditor, chords: &str) -> Vec<CompletionOutcome> {
    let keymap = Keymap::default();
    let press = |chord: &str| {
        let key: KeyPress = chord.parse().unwrap();
        let outcome = popup.handle_key(key, &keymap, editor);
        if outcome == CompletionOutcome::Ignored {
            editor.handle_key(key, &keymap);
            popup.refresh(editor);
        }
        outcome
    };
    chords.split(' ').map(press).collect()
}

fn state(popup: &mut CompletionPopup, editor: &PromptEditor, width: usize) -> String {
    format!("{}\n{}", editor.text().trim_end(), popup.lines(&plain(true), width).join("\n"))
}

#[test]
fn commands_are_offered_after_a_slash_and_then_their_values() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "/");
    assert_snapshot!(state(&mut popup, &editor, 80), @r"
    /
    ▸ /undo [N]                      undo the last change, or N of them
      /redo                          bring an undone change back
      /model [NAME]                  show or choose the model
      /access [read|workspace|full]  show or set what the agent may do without aski…
    ");
    assert_snapshot!(state(&mut popup, &editor, 40), @r"
    /
    ▸ /undo [N]
      /redo
      /model [NAME]
      /access [read|workspace|full]
    ");
    assert_snapshot!(state(&mut popup, &editor, 20), @r"
    /
    ▸ /undo [N]
      /redo
      /model [NAME]
      /access [read|wor…
    ");
    press(&mut popup, &mut editor, "a c down up tab");
    assert_snapshot!(state(&mut popup, &editor, 120), @r"
    /access
    ▸ read       look only
      workspace  change files of the project
      full       everything
    ");
    press(&mut popup, &mut editor, "w enter");
    assert_eq!(editor.text(), "/access workspace ");
    assert!(!popup.is_open());
    // Behind a blank, or in another line, it is no command.
    editor.take();
    press(&mut popup, &mut editor, "space /");
    assert!(!popup.is_open());
}

#[test]
fn a_command_that_is_there_already_is_sent_by_enter() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "/ u n d o");
    assert_eq!(press(&mut popup, &mut editor, "enter"), [CompletionOutcome::Ignored]);
    assert_eq!(editor.text(), "/undo");
}

#[test]
fn files_are_offered_after_an_at_sign() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "s e e space @ c l i");
    assert_snapshot!(state(&mut popup, &editor, 80), @r"
    see @cli
    ▸ src/client.rs
      docs/client.md
      packages/a-very-long-package-name/source/nested/module_0/index.ts
      packages/a-very-long-package-name/source/nested/module_1/index.ts
      packages/a-very-long-package-name/source/nested/module_2/index.ts
      packages/a-very-long-package-name/source/nested/module_3/index.ts
      packages/a-very-long-package-name/source/nested/module_4/index.ts
      1 of 22
    ");
    press(&mut popup, &mut editor, "down enter");
    assert_eq!(editor.text(), "see @docs/client.md ");
    press(&mut popup, &mut editor, "@ i n d e x");
    assert_snapshot!(state(&mut popup, &editor, 40), @r"
    see @docs/client.md @index
    ▸ packages/a-v…/nested/module_0/index.ts
      packages/a-v…/nested/module_1/index.ts
      packages/a-v…/nested/module_2/index.ts
      packages/a-v…/nested/module_3/index.ts
      packages/a-v…/nested/module_4/index.ts
      packages/a-v…/nested/module_5/index.ts
      packages/a-v…/nested/module_6/index.ts
      1 of 20
    ");
    press(&mut popup, &mut editor, "up");
    assert_snapshot!(state(&mut popup, &editor, 20), @r"
    see @docs/client.md @index
      packages…/index.ts
      packages…/index.ts
      packages…/index.ts
      packages…/index.ts
      packages…/index.ts
      packages…/index.ts
    ▸ packages…/index.ts
      20 of 20
    ");
    // A name in the middle of a word is no file.
    editor.take();
    press(&mut popup, &mut editor, "m e @ c");
    assert!(!popup.is_open());
}

#[test]
fn a_list_that_was_closed_stays_closed_for_this_word() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "@ c");
    assert_eq!(press(&mut popup, &mut editor, "escape"), [CompletionOutcome::Closed]);
    press(&mut popup, &mut editor, "l");
    assert!(!popup.is_open());
    // Now it is the conversation's key again.
    assert_eq!(press(&mut popup, &mut editor, "escape"), [CompletionOutcome::Ignored]);
    press(&mut popup, &mut editor, "space @ c");
    assert!(popup.is_open());
}

#[test]
fn pasted_words_offer_nothing() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    editor.paste(&PastedText { bytes: b"/undo @cli".to_vec(), truncated: false });
    popup.refresh(&editor);
    assert!(!popup.is_open());
    press(&mut popup, &mut editor, "e");
    assert!(!popup.is_open());
}

#[test]
fn the_rest_of_a_word_behind_the_cursor_is_replaced() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "@ t o t x y home right right right right tab");
    assert_eq!(editor.text(), "@src/cart/total.rs ");
    assert_eq!(editor.cursor(), editor.text().len());
}

#[test]
fn the_list_stays_closed_behind_a_word_that_was_chosen() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "@ c l i space x home right right right right tab");
    assert_eq!(editor.text(), "@src/client.rs x");
    assert!(!popup.is_open());
}

#[test]
fn matched_letters_and_the_chosen_entry_are_painted() {
    let (mut popup, mut editor) = (popup(), PromptEditor::default());
    press(&mut popup, &mut editor, "@ t o m l");
    assert_eq!(popup.lines(&plain(false), 40), ["> Cargo.toml"]);
}

proptest! {
    #[test]
    fn lines_fit_and_hold_no_control(
        paths in prop::collection::vec(any::<String>(), 0..20),
        help in any::<String>(),
        typed in "[@/a-c ]{0,6}",
        width in 20_usize..140,
        utf8: bool,
    ) {
        let mut popup = CompletionPopup::default();
        popup.set_paths(paths.iter().map(|path| format!("a{path}")).collect());
        let names = paths.iter().map(|name| CompletionCommand {
            name: name.clone(),
            arguments: help.clone(),
            help: help.clone(),
            values: vec![CompletionValue { value: help.clone(), help: help.clone() }],
        });
        popup.set_commands(names.collect());
        let mut editor = PromptEditor::default();
        let keymap = Keymap::default();
        for c in typed.chars() {
            editor.handle_key(KeyPress::char(c), &keymap);
            popup.refresh(&editor);
            let lines = popup.lines(&plain(utf8), width);
            prop_assert!(lines.len() <= MAX_ROWS);
            for line in lines {
                prop_assert!(cells(&line) <= width, "{line:?} is wider than {width}");
                prop_assert!(!line.chars().any(is_unsafe), "{line:?}");
            }
        }
        popup.handle_key(KeyPress::plain(crate::input::KeyCode::Tab), &keymap, &mut editor);
        prop_assert!(editor.text().is_char_boundary(editor.cursor()));
    }
}
