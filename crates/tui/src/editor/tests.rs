use std::sync::Arc;

use proptest::prelude::*;

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

fn press(editor: &mut PromptEditor, keys: &str) -> EditorOutcome {
    let history = RecentPrompts(vec!["first prompt".into(), "second\nprompt".into(), "third".into()]);
    let mut last = EditorOutcome::Ignored;
    for key in keys.split(' ') {
        last = editor.handle_key(key.parse().expect(key), &Keymap::default(), &history);
    }
    last
}

fn typed(editor: &mut PromptEditor, text: &str) {
    for c in text.chars() {
        let key = if c == '\n' { KeyPress::ctrl('j') } else { KeyPress::char(c) };
        editor.handle_key(key, &Keymap::default(), &RecentPrompts::default());
    }
}

fn pasted(text: &str) -> PastedText {
    PastedText { bytes: text.as_bytes().to_vec(), truncated: false }
}

/// The rows with `▍` at the cursor.
fn drawn(editor: &PromptEditor, width: usize, rows: usize) -> String {
    let (mut lines, (row, column)) = editor.lines(&plain(), width, rows);
    assert!(lines.len() <= rows.max(1));
    assert!(lines.iter().all(|line| cells(line) <= width), "{lines:?}");
    let mut used = 0;
    let at = lines[row].char_indices().find(|(_, c)| {
        let is_there = used >= column;
        used += cells(c.encode_utf8(&mut [0; 4]));
        is_there
    });
    let at = at.map_or(lines[row].len(), |(at, _)| at);
    lines[row].insert(at, '▍');
    lines.join("\n")
}

#[test]
fn text_wraps_between_words_and_scrolls() {
    let mut editor = PromptEditor::new("ask for a change");
    insta::assert_snapshot!(drawn(&editor, 40, 5), @"› ▍ask for a change");
    typed(&mut editor, "add retry with backoff to the client, and a test\nthen commit");
    insta::assert_snapshot!(drawn(&editor, 40, 5), @"
    › add retry with backoff to the client,
      and a test
      then commit▍
    ");
    insta::assert_snapshot!(drawn(&editor, 24, 2), @"
      client, and a test
      then commit▍
    ");
    press(&mut editor, "up up");
    insta::assert_snapshot!(drawn(&editor, 24, 2), @"
      backoff to ▍the 
      client, and a test
    ");
}

#[test]
fn large_pastes_and_images_are_chips_that_go_as_one() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "fix ");
    let log: String = (0..120).map(|number| format!("line {number}\n")).collect();
    assert_eq!(editor.paste(&pasted(&log)), EditorOutcome::Changed);
    typed(&mut editor, " like ");
    editor.add_image("a.png", "640×480", "blob1");
    editor.paste(&pasted("x\ty\u{1b}[31m\u{202e}"));
    insta::assert_snapshot!(drawn(&editor, 120, 5), @r"› fix [paste 1: 120 lines] like [image 1: a.png 640×480]x    y\u{1b}[31m\u{202e}▍");
    press(&mut editor, "ctrl+a alt+f ctrl+f right right");
    insta::assert_snapshot!(drawn(&editor, 120, 5), @r"› fix [paste 1: 120 lines] ▍like [image 1: a.png 640×480]x    y\u{1b}[31m\u{202e}");
    press(&mut editor, "backspace backspace");
    assert_eq!(editor.expanded_text(), "fix like [image 1]x\ty\u{1b}[31m\u{202e}");
    press(&mut editor, "ctrl+_");
    let prompt = editor.take_prompt();
    assert_eq!(prompt.text, format!("fix {log} like [image 1]x\ty\u{1b}[31m\u{202e}"));
    assert_eq!(prompt.chips.len(), 2);
    assert!(editor.is_empty());
}

#[test]
fn a_paste_that_is_too_large_is_refused_and_nothing_is_lost() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "keep");
    let large = PastedText { bytes: vec![b'a'; 1 << 20], truncated: true };
    insta::assert_snapshot!(format!("{:?}", editor.paste(&large)), @r#"Refused("that is more than 4 MB, too much to paste; save it to a file and write its name after @")"#);
    for _ in 0..4 {
        assert_eq!(editor.paste(&pasted(&"x\n".repeat(2 << 20))), EditorOutcome::Changed);
    }
    assert!(matches!(editor.paste(&pasted(&"x\n".repeat(2 << 20))), EditorOutcome::Refused(_)));
    assert!(drawn(&editor, 80, 4).starts_with("› keep[paste 1: 2097152 lines]"));
}

#[test]
fn emacs_keys_cut_and_put_back() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "one two three");
    press(&mut editor, "ctrl+w ctrl+w ctrl+y");
    assert_eq!(editor.text(), "one two three");
    press(&mut editor, "ctrl+a alt+d ctrl+k");
    assert_eq!(editor.text(), "");
    press(&mut editor, "ctrl+y");
    assert_eq!(editor.text(), "one two three");
    press(&mut editor, "ctrl+u");
    typed(&mut editor, "x ");
    press(&mut editor, "ctrl+u ctrl+y alt+y");
    assert_eq!(editor.text(), "one two three");
    press(&mut editor, "alt+b alt+b ctrl+k ctrl+a ctrl+d end ctrl+h");
    assert_eq!(editor.text(), "ne");
    // Lines are joined by cutting from their start.
    typed(&mut editor, "\nb");
    press(&mut editor, "ctrl+u ctrl+u");
    assert_eq!(editor.text(), "ne");
}

#[test]
fn typing_is_undone_by_words_and_redone() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "one two three");
    press(&mut editor, "ctrl+_");
    assert_eq!(editor.text(), "one two");
    press(&mut editor, "ctrl+_ ctrl+_ ctrl+_");
    assert_eq!(editor.text(), "");
    press(&mut editor, "alt+_ alt+_");
    assert_eq!(editor.text(), "one two");
}

#[test]
fn characters_of_several_code_points_are_one() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "ae\u{301}🇩🇪日");
    press(&mut editor, "left left backspace");
    assert_eq!(editor.text(), "a🇩🇪日");
    press(&mut editor, "delete");
    assert_eq!(editor.text(), "a日");
    insta::assert_snapshot!(drawn(&editor, 20, 1), @"› a▍日");
}

#[test]
fn up_and_down_go_through_rows_then_through_earlier_prompts_and_the_draft_comes_back() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "draft");
    drawn(&editor, 40, 5);
    press(&mut editor, "up");
    assert_eq!(editor.text(), "third");
    press(&mut editor, "up");
    assert_eq!(editor.text(), "second\nprompt");
    press(&mut editor, "up");
    assert_eq!((editor.text(), editor.cursor()), ("second\nprompt", 6));
    press(&mut editor, "up up up");
    assert_eq!(editor.text(), "first prompt");
    press(&mut editor, "down down down down down");
    assert_eq!(editor.text(), "draft");
    assert_eq!(press(&mut editor, "down"), EditorOutcome::Ignored);
}

#[test]
fn a_search_of_the_history_is_typed_and_taken() {
    let mut editor = PromptEditor::new("");
    typed(&mut editor, "draft");
    let history = RecentPrompts(vec!["first prompt".into(), "second\nprompt".into(), "third".into()]);
    editor.start_search(&history);
    press(&mut editor, "p r");
    insta::assert_snapshot!(drawn(&editor, 40, 8), @r"
      first prompt
    › second\nprompt
    search: pr▍
    ");
    press(&mut editor, "ctrl+r enter");
    assert_eq!(editor.text(), "first prompt");
    editor.start_search(&history);
    press(&mut editor, "z");
    insta::assert_snapshot!(drawn(&editor, 40, 8), @"
      no prompt matches
    search: z▍
    ");
    press(&mut editor, "escape");
    assert_eq!(editor.text(), "first prompt");
    assert!(!editor.is_searching());
}

#[test]
fn enter_sends_and_a_backslash_before_it_does_not() {
    let mut editor = PromptEditor::new("");
    assert_eq!(press(&mut editor, "enter"), EditorOutcome::Ignored);
    typed(&mut editor, "a\\");
    assert_eq!(press(&mut editor, "enter"), EditorOutcome::Changed);
    typed(&mut editor, "b");
    assert_eq!(press(&mut editor, "shift+enter enter"), EditorOutcome::Submit);
    assert_eq!(editor.take_prompt().text, "a\nb\n");
}

#[test]
fn a_draft_comes_back_as_it_was() {
    let mut editor = PromptEditor::new("");
    assert_eq!(editor.to_draft(), None);
    typed(&mut editor, "see ");
    editor.paste(&pasted(&"row\n".repeat(20)));
    press(&mut editor, "left");
    let draft = serde_json::to_string(&editor.to_draft().unwrap()).unwrap();
    let mut again = PromptEditor::from_draft(serde_json::from_str(&draft).unwrap(), "");
    assert_eq!((again.text(), again.cursor()), (editor.text(), editor.cursor()));
    assert_eq!(again.expanded_text(), editor.expanded_text());
    again.paste(&pasted(&"row\n".repeat(20)));
    assert!(drawn(&again, 80, 3).contains("[paste 2: 20 lines]"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_keys_and_texts_fit_and_are_safe(
        steps in proptest::collection::vec((0_usize..24, any::<String>()), 0..30),
        width in 1_usize..60, rows in 0_usize..6,
    ) {
        const MOVES: [&str; 20] = ["up", "down", "left", "right", "alt+b", "alt+f", "home", "end", "backspace", "delete", "ctrl+w",
            "alt+d", "ctrl+u", "ctrl+k", "ctrl+y", "alt+y", "ctrl+_", "alt+_", "ctrl+j", "ctrl+home"];
        let mut editor = PromptEditor::new("say something");
        for (step, text) in steps {
            match MOVES.get(step) {
                Some(key) => { press(&mut editor, key); }
                None if step == 20 => { editor.paste(&pasted(&text.repeat(20))); }
                None if step == 21 => { editor.add_image(&text, "1×1", "k"); }
                None => { editor.paste(&pasted(&text)); }
            }
            prop_assert!(editor.text().is_char_boundary(editor.cursor()));
            prop_assert_eq!(editor.text().matches(CHIP_MARK).count(), editor.buffer.state.chips.len());
            let (lines, (row, column)) = editor.lines(&plain(), width, rows);
            prop_assert!(!lines.is_empty() && lines.len() <= rows.max(1));
            prop_assert!(row < lines.len() && column < width);
            for line in &lines {
                prop_assert!(width < 4 || cells(line) <= width, "{line:?}");
                prop_assert!(!line.chars().any(relaycode_text::escape::is_unsafe));
            }
        }
        let draft = editor.to_draft().unwrap_or_default();
        let again = PromptEditor::from_draft(draft, "");
        prop_assert_eq!(again.expanded_text(), editor.expanded_text());
    }

    #[test]
    fn undoing_everything_is_where_it_began(text in "[a-z \n]{0,30}", keys in proptest::collection::vec(0_usize..6, 0..10)) {
        const KEYS: [&str; 6] = ["ctrl+w", "ctrl+k", "backspace", "ctrl+y", "left", "alt+b"];
        let mut editor = PromptEditor::new("");
        typed(&mut editor, &text);
        for key in keys {
            press(&mut editor, KEYS[key]);
        }
        for _ in 0..60 {
            press(&mut editor, "ctrl+_");
        }
        prop_assert_eq!(editor.text(), "");
    }
}
