use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use relaycode_text::escape::is_unsafe;
use relaycode_text::width::cells;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

fn plain(utf8: bool) -> ThemeStyle {
    let output = OutputStyle { color: false, utf8, width: Some(80) };
    ThemeStyle { output, theme: Theme::plain().into(), depth: ColorDepth::None }
}

fn keys(editor: &mut PromptEditor, chords: &str) -> Vec<EditorOutcome> {
    let keymap = Keymap::default();
    chords.split(' ').map(|chord| editor.handle_key(chord.parse().unwrap(), &keymap)).collect()
}

fn typed(editor: &mut PromptEditor, text: &str) {
    let keymap = Keymap::default();
    for c in text.chars() {
        let key = if c == '\n' { KeyPress::ctrl('j') } else { KeyPress::char(c) };
        assert_eq!(editor.handle_key(key, &keymap), EditorOutcome::Changed, "{c:?}");
    }
}

fn pasted(text: &str) -> PastedText {
    PastedText { bytes: text.as_bytes().to_vec(), truncated: false }
}

/// The lines with the cursor drawn as `▍`.
fn shown(editor: &mut PromptEditor, width: usize, rows: usize) -> String {
    shown_as(editor, &plain(true), width, rows)
}

fn shown_as(editor: &mut PromptEditor, style: &ThemeStyle, width: usize, rows: usize) -> String {
    let (mut lines, (row, column)) = editor.lines(style, width, rows);
    let line = &mut lines[row];
    let mut reached = 0;
    let at = line.char_indices().find(|(_, c)| {
        let is_there = reached >= column;
        reached += cells(c.encode_utf8(&mut [0; 4]));
        is_there
    });
    let at = at.map_or(line.len(), |(at, _)| at);
    line.insert(at, '▍');
    // Blanks before a break are not seen.
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

fn image(name: &str) -> EditorImage {
    EditorImage {
        name: name.into(),
        mime_type: "image/png".into(),
        size: Some((640, 480)),
        data: "aGk=".into(),
    }
}

#[test]
fn a_prompt_is_written_over_several_rows() {
    let mut editor = PromptEditor::default();
    editor.set_placeholder("Ask for a change, or /help");
    assert_snapshot!(shown(&mut editor, 40, 8), @"› ▍Ask for a change, or /help");
    typed(&mut editor, "add retry with backoff to the client, and a test\nthen round totals to cents");
    assert_snapshot!(shown(&mut editor, 40, 8), @r"
    › add retry with backoff to the client,
      and a test
      then round totals to cents▍
    ");
    assert_snapshot!(shown(&mut editor, 80, 8), @r"
    › add retry with backoff to the client, and a test
      then round totals to cents▍
    ");
    assert_snapshot!(shown(&mut editor, 20, 3), @r"
    ↑ test
      then round totals
      to cents▍
    ");
    keys(&mut editor, "up up");
    assert_snapshot!(shown(&mut editor, 20, 3), @r"
    ↑ test▍
      then round totals
      to cents
    ");
    keys(&mut editor, "alt+<");
    assert_snapshot!(shown_as(&mut editor, &plain(false), 20, 3), @r"
    > ▍add retry with
      backoff to the
    v client, and a
    ");
}

#[test]
fn long_pastes_and_images_are_labels_and_are_sent_whole() {
    let mut editor = PromptEditor::default();
    typed(&mut editor, "why @a.rs ");
    let long = "line\n".repeat(119) + "line @etc/passwd";
    assert_eq!(editor.paste(&pasted(&long)), EditorOutcome::Changed);
    typed(&mut editor, " ");
    assert_eq!(editor.paste(&pasted("see @b.rs")), EditorOutcome::Changed);
    typed(&mut editor, " and ");
    assert_eq!(editor.paste(&pasted(&"x".repeat(1_001))), EditorOutcome::Changed);
    editor.add_image(image("a.png"));
    assert_snapshot!(shown(&mut editor, 80, 8), @r"
    › why @a.rs [paste 1: 120 lines] see @b.rs and [paste 2: 1001 characters][image
      1: a.png 640×480]▍
    ");
    assert_snapshot!(shown(&mut editor, 40, 8), @r"
    › why @a.rs [paste 1: 120 lines] see
      @b.rs and [paste 2: 1001
      characters][image 1: a.png 640×480]▍
    ");
    assert_snapshot!(shown_as(&mut editor, &plain(false), 40, 8), @r"
    > why @a.rs [paste 1: 120 lines] see
      @b.rs and [paste 2: 1001
      characters][image 1: a.png 640x480]▍
    ");
    // One key crosses a label, and one deletes it.
    keys(&mut editor, "left");
    assert!(editor.text()[editor.cursor()..].starts_with("[image 1: a.png"));
    keys(&mut editor, "backspace");
    assert!(!editor.text().contains("[paste 2"));
    keys(&mut editor, "ctrl+_");
    assert!(editor.text().contains("[paste 2: 1001 characters]"));
    let message = editor.take();
    let folded = "x".repeat(1_001);
    assert_eq!(
        message.words.text(),
        format!("why @a.rs {long} see @b.rs and {folded}[image 1: a.png 640×480]")
    );
    let names: Vec<&str> = message.words.typed().filter(|word| word.starts_with('@')).collect();
    assert_eq!(names, ["@a.rs"]);
    assert_eq!(message.images, [image("a.png")]);
    assert!(editor.is_empty());
}

#[test]
fn what_is_too_large_is_refused_and_says_so() {
    let mut editor = PromptEditor::default();
    typed(&mut editor, "keep me");
    let refused = editor.paste(&pasted(&"x".repeat(PROMPT_BYTES + 1)));
    assert_eq!(refused, EditorOutcome::Refused(EditorRefusal::PasteTooLarge));
    assert_snapshot!(EditorRefusal::PasteTooLarge, @"not pasted: it has more than 256 kB; save it as a file and name that with @");
    assert_eq!(editor.paste(&pasted(&"x".repeat(PROMPT_BYTES))), EditorOutcome::Refused(EditorRefusal::Full));
    let room = PROMPT_BYTES - "keep me".len() - "[paste 1: 262000 characters]".len();
    assert_eq!(editor.paste(&pasted(&"x".repeat(room))), EditorOutcome::Changed);
    assert_eq!(
        editor.handle_key(KeyPress::char('x'), &Keymap::default()),
        EditorOutcome::Refused(EditorRefusal::Full)
    );
    editor.take();
    for index in 0..=MAX_IMAGES {
        let outcome = editor.add_image(image("a.png"));
        let is_full = outcome == EditorOutcome::Refused(EditorRefusal::TooManyImages);
        assert_eq!(is_full, index == MAX_IMAGES);
    }
}

#[test]
fn hostile_text_is_shown_written_out_and_sent_as_it_was() {
    let hostile = "a\u{1b}[31mb\u{202e}c\u{200b}d\u{7}é日本\t👨\u{200d}👩\u{200d}👧👍🏽❤\u{fe0f}\u{301}";
    let mut editor = PromptEditor::default();
    editor.paste(&pasted(hostile));
    assert_snapshot!(shown(&mut editor, 80, 8), @r"› a\u{1b}[31mb\u{202e}c\u{200b}d\u{7}é日本    👨👩👧👍❤▍́");
    assert_snapshot!(shown_as(&mut editor, &plain(false), 40, 8), @r"
    > a\u{1b}[31mb\u{202e}c\u{200b}d\u{7}
      \u{e9}\u{65e5}\u{672c}
      \u{1f468}\u{1f469}\u{1f467}\u{1f44d}
      \u{2764}\u{301}▍
    ");
    assert_eq!(editor.take().words.text(), hostile);
}

#[test]
fn words_are_cut_and_put_back() {
    let mut editor = PromptEditor::default();
    typed(&mut editor, "one two three");
    keys(&mut editor, "ctrl+w ctrl+w");
    assert_eq!(editor.text(), "one ");
    keys(&mut editor, "ctrl+a ctrl+k ctrl+y");
    assert_eq!(editor.text(), "one ");
    keys(&mut editor, "alt+y");
    assert_eq!(editor.text(), "two three");
    keys(&mut editor, "alt+y");
    assert_eq!(editor.text(), "one ");
    // Only right behind a yank.
    keys(&mut editor, "left");
    assert_eq!(keys(&mut editor, "alt+y"), [EditorOutcome::Ignored]);
    keys(&mut editor, "alt+b");
    assert_eq!(editor.cursor(), 0);
    keys(&mut editor, "alt+f");
    assert_eq!(editor.cursor(), 3);
    keys(&mut editor, "ctrl+u alt+d");
    assert_eq!(editor.text(), "");
}

#[test]
fn typing_is_undone_word_by_word_and_redone() {
    let mut editor = PromptEditor::default();
    typed(&mut editor, "one two");
    keys(&mut editor, "ctrl+_");
    assert_eq!(editor.text(), "one ");
    keys(&mut editor, "ctrl+_");
    assert!(editor.is_empty());
    assert_eq!(keys(&mut editor, "ctrl+_"), [EditorOutcome::Ignored]);
    keys(&mut editor, "alt+_ alt+_");
    assert_eq!((editor.text(), editor.cursor()), ("one two", 7));
    keys(&mut editor, "ctrl+_ x");
    assert_eq!(keys(&mut editor, "alt+_"), [EditorOutcome::Ignored]);
    assert_eq!(editor.text(), "one x");
    editor.clear();
    assert!(editor.is_empty());
    keys(&mut editor, "ctrl+y");
    assert_eq!(editor.text(), "one x");
}

#[test]
fn earlier_prompts_are_one_key_up_and_what_was_written_waits_below() {
    let mut editor = PromptEditor::default();
    editor.set_history(Arc::from(["first".to_string(), "second\nof two lines".to_string()]));
    typed(&mut editor, "draft");
    editor.paste(&pasted(&"line\n".repeat(20)));
    let draft = editor.to_draft();
    keys(&mut editor, "up");
    assert_eq!(editor.text(), "second\nof two lines");
    keys(&mut editor, "up");
    assert_eq!(editor.text(), "first");
    assert_eq!(keys(&mut editor, "up"), [EditorOutcome::Ignored]);
    keys(&mut editor, "down");
    assert_eq!((editor.text(), editor.cursor()), ("second\nof two lines", 19));
    keys(&mut editor, "down");
    assert_eq!(editor.to_draft(), draft);
    assert_eq!(keys(&mut editor, "down"), [EditorOutcome::Ignored]);
}

struct Found(Vec<&'static str>);

impl PromptSearchSource for Found {
    fn search(&mut self, query: &str, limit: usize) -> Vec<String> {
        let is_hit = |text: &&&str| text.contains(query);
        self.0.iter().filter(is_hit).take(limit).map(ToString::to_string).collect()
    }
}

#[test]
fn earlier_prompts_are_searched() {
    let mut editor = PromptEditor::default();
    assert_eq!(keys(&mut editor, "ctrl+r"), [EditorOutcome::Unhandled(KeyAction::SearchHistory)]);
    editor.set_search_source(Box::new(Found(vec![
        "fix the test\nand run it",
        "write a test",
        "evil \u{1b}[31m te",
    ])));
    typed(&mut editor, "half");
    keys(&mut editor, "ctrl+r t e");
    assert_snapshot!(shown(&mut editor, 80, 8), @r"
      fix the test
      and run it
    search: te▍   1 of 3   Enter takes it   Ctrl+R older   Esc back
    ");
    keys(&mut editor, "ctrl+r");
    assert_snapshot!(shown(&mut editor, 40, 8), @r"
      write a test
    search: te▍   2 of 3   Enter takes it
    ");
    assert_snapshot!(shown(&mut editor, 20, 8), @r"
      write a test
    search: te▍   2 of 3
    ");
    keys(&mut editor, "ctrl+r");
    assert_snapshot!(shown(&mut editor, 80, 8), @r"
      evil \u{1b}[31m te
    search: te▍   3 of 3   Enter takes it   Ctrl+R older   Esc back
    ");
    keys(&mut editor, "x");
    assert_snapshot!(shown(&mut editor, 40, 8), @"search: tex▍   nothing found");
    keys(&mut editor, "escape");
    assert_eq!(editor.text(), "half");
    assert_eq!(keys(&mut editor, "ctrl+r w enter")[2], EditorOutcome::Changed);
    assert_eq!(editor.text(), "write a test");
    keys(&mut editor, "ctrl+_");
    assert_eq!(editor.text(), "half");
}

#[test]
fn keys_of_the_conversation_come_back_to_the_caller() {
    let mut editor = PromptEditor::default();
    assert_eq!(keys(&mut editor, "ctrl+d"), [EditorOutcome::Unhandled(KeyAction::Exit)]);
    assert_eq!(keys(&mut editor, "?"), [EditorOutcome::Unhandled(KeyAction::ShowKeys)]);
    typed(&mut editor, "a?");
    assert_eq!(editor.text(), "a?");
    keys(&mut editor, "ctrl+a ctrl+d");
    assert_eq!(editor.text(), "?");
    let outcomes = keys(&mut editor, "escape ctrl+c shift+tab alt+enter alt+up enter f9");
    let unhandled = [
        KeyAction::Interrupt,
        KeyAction::Clear,
        KeyAction::CycleAccess,
        KeyAction::Queue,
        KeyAction::TakeBack,
    ];
    let mut expected: Vec<EditorOutcome> = unhandled.map(EditorOutcome::Unhandled).into();
    expected.extend([EditorOutcome::Submit, EditorOutcome::Ignored]);
    assert_eq!(outcomes, expected);
    assert_eq!(editor.text(), "?");
}

#[test]
fn a_draft_comes_back_whole_and_a_damaged_one_changes_nothing() {
    let mut editor = PromptEditor::default();
    typed(&mut editor, "see ");
    editor.paste(&pasted(&"line\n".repeat(20)));
    editor.add_image(image("a.png"));
    keys(&mut editor, "left");
    let text = serde_json::to_string(&editor.to_draft()).unwrap();
    let mut other = PromptEditor::default();
    assert_eq!(other.restore_draft(serde_json::from_str(&text).unwrap()), EditorOutcome::Changed);
    assert_eq!((other.cursor(), other.to_draft()), (editor.cursor(), editor.to_draft()));
    assert_eq!(other.take(), editor.take());
    for damaged in [
        r#"{"text": "aé", "spans": [{"start": 0, "end": 2, "kind": "pasted"}]}"#,
        r#"{"text": "ab", "spans": [{"start": 1, "end": 9, "kind": "pasted"}]}"#,
        r#"{"text": "ab", "spans": [{"start": 1, "end": 2, "kind": "pasted"}, {"start": 0, "end": 1, "kind": "pasted"}]}"#,
    ] {
        assert_eq!(other.restore_draft(serde_json::from_str(damaged).unwrap()), EditorOutcome::Ignored);
        assert!(other.is_empty());
    }
    // A cursor within a character goes to its beginning.
    other.restore_draft(serde_json::from_str(r#"{"text": "aé", "cursor": 2}"#).unwrap());
    assert_eq!(other.cursor(), 1);
}

/// What a key does to a text, as simply as it can be said.
#[derive(Debug, Clone)]
enum Edit {
    Type(char),
    Paste(String),
    Key(&'static str),
}

const EDIT_KEYS: &[&str] = &[
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "alt+<",
    "alt+>",
    "alt+b",
    "alt+f",
    "backspace",
    "delete",
    "ctrl+w",
    "alt+d",
    "ctrl+u",
    "ctrl+k",
    "ctrl+y",
    "alt+y",
    "ctrl+_",
    "alt+_",
    "ctrl+j",
];

fn edits(chars: &'static str) -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        6 => chars.prop_map(|text| Edit::Paste(text).into_typed()),
        2 => prop::collection::vec(chars, 0..30).prop_map(|texts| Edit::Paste(texts.concat())),
        8 => prop::sample::select(EDIT_KEYS).prop_map(Edit::Key),
    ];
    prop::collection::vec(edit, 0..60)
}

impl Edit {
    fn into_typed(self) -> Edit {
        match self {
            Edit::Paste(text) => text.chars().next().map_or(Edit::Key("left"), Edit::Type),
            other => other,
        }
    }

    fn apply(&self, editor: &mut PromptEditor) {
        match self {
            Edit::Type(c) => {
                editor.handle_key(KeyPress::char(*c), &Keymap::default());
            }
            Edit::Paste(text) => {
                editor.paste(&pasted(text));
            }
            Edit::Key(key) => {
                keys(editor, key);
            }
        }
    }
}

const ANY: &str = "[a-c \\n\\t/@日é\u{301}\u{200d}👍🏽🇩🇪\u{1b}\u{202e}\\x00-\\x1f]";

fn check_invariants(editor: &PromptEditor) {
    let text = editor.text();
    assert!(text.is_char_boundary(editor.cursor()));
    assert!(editor.text.chip_around(editor.cursor()).is_none());
    let mut reached = 0;
    for span in &editor.text.spans {
        assert!(
            span.range.start >= reached && span.range.end > span.range.start && span.range.end <= text.len()
        );
        assert!(text.is_char_boundary(span.range.start) && text.is_char_boundary(span.range.end));
        reached = span.range.end;
    }
}

proptest! {
    /// Against a string and a place in it.
    #[test]
    fn edits_do_what_they_would_do_to_a_string(edits in edits("[a-z \\n]")) {
        let mut editor = PromptEditor::default();
        let (mut text, mut at, mut cut) = (String::new(), 0_usize, String::new());
        for edit in &edits {
            let line = |text: &str, at: usize| {
                (text[..at].rfind('\n').map_or(0, |n| n + 1), text[at..].find('\n').map_or(text.len(), |n| at + n))
            };
            let (start, end) = line(&text, at);
            match edit {
                Edit::Type(c) if *c != '\n' => {
                    text.insert(at, *c);
                    at += 1;
                }
                Edit::Key("left") => at = at.saturating_sub(1),
                Edit::Key("right") => at = (at + 1).min(text.len()),
                Edit::Key("home") => at = start,
                Edit::Key("end") => at = end,
                Edit::Key("alt+<") => at = 0,
                Edit::Key("alt+>") => at = text.len(),
                Edit::Key("ctrl+j") => {
                    text.insert(at, '\n');
                    at += 1;
                }
                Edit::Key("backspace") if at > 0 => {
                    at -= 1;
                    text.remove(at);
                }
                Edit::Key("delete") if at < text.len() => {
                    text.remove(at);
                }
                Edit::Key("backspace" | "delete") => {}
                Edit::Key("ctrl+k") if end > at => {
                    cut = text.drain(at..end).collect();
                    // Joined cuts are another law.
                    keys(&mut editor, "alt+b alt+f");
                    editor.cursor = at;
                }
                Edit::Key("ctrl+y") if !cut.is_empty() => {
                    text.insert_str(at, &cut);
                    at += cut.len();
                }
                _ => continue,
            }
            edit.apply(&mut editor);
            prop_assert_eq!((editor.text(), editor.cursor()), (text.as_str(), at), "{:?}", edit);
        }
    }

    #[test]
    fn undo_is_the_inverse_and_redo_its_inverse(edits in edits(ANY)) {
        let mut editor = PromptEditor::default();
        for edit in &edits {
            edit.apply(&mut editor);
            check_invariants(&editor);
        }
        let after = editor.text.clone();
        while editor.apply_action(KeyAction::Undo) == EditorOutcome::Changed {
            check_invariants(&editor);
        }
        prop_assert_eq!(editor.text(), "");
        prop_assert!(editor.text.spans.is_empty());
        while editor.apply_action(KeyAction::Redo) == EditorOutcome::Changed {
            check_invariants(&editor);
        }
        // What was undone among the edits comes back, too.
        if !edits.iter().any(|edit| matches!(edit, Edit::Key("ctrl+_" | "alt+_"))) {
            prop_assert_eq!(&editor.text, &after);
        }
    }

    /// The rows that are kept up to date are those that a fresh start finds.
    #[test]
    fn rows_are_those_of_a_fresh_layout(edits in edits(ANY), width in 4_usize..40, utf8: bool) {
        let mut editor = PromptEditor::default();
        let style = plain(utf8);
        editor.lines(&style, width, 5);
        for edit in &edits {
            edit.apply(&mut editor);
            let row_cells = width - 3;
            editor.lines(&style, width, 5);
            prop_assert_eq!(&editor.layout, &EditorLayout::new(editor.text(), row_cells, utf8));
        }
    }

    #[test]
    fn lines_fit_and_hold_no_control_and_the_cursor_is_among_them(
        edits in edits(ANY), width in 1_usize..60, rows in 1_usize..6, utf8: bool,
    ) {
        let mut editor = PromptEditor::default();
        for edit in &edits {
            edit.apply(&mut editor);
            let (lines, (row, column)) = editor.lines(&plain(utf8), width, rows);
            prop_assert!(lines.len() <= rows && row < lines.len() && column < width.max(1));
            for line in &lines {
                prop_assert!(width < 4 || cells(line) <= width, "{line:?} is wider than {width}");
                prop_assert!(!line.chars().any(is_unsafe), "{line:?}");
            }
        }
        let sent = editor.message();
        prop_assert_eq!(editor.take(), sent);
    }

    #[test]
    fn any_bytes_can_be_pasted(bytes in prop::collection::vec(any::<u8>(), 0..3_000), width in 4_usize..120) {
        let mut editor = PromptEditor::default();
        editor.paste(&PastedText { bytes, truncated: false });
        for _ in 0..3 {
            let (lines, _) = editor.lines(&plain(true), width, 10);
            prop_assert!(lines.iter().all(|line| cells(line) <= width && !line.chars().any(is_unsafe)));
            keys(&mut editor, "left backspace ctrl+left");
            check_invariants(&editor);
        }
    }
}

/// `cargo nextest run -p relaycode-tui --run-ignored all --no-capture a_key_in_a_long_text` prints what a key costs.
#[test]
#[ignore = "it measures"]
fn a_key_in_a_long_text_costs_little() {
    let one_line = "a word and another ".repeat(13_000);
    for (name, text) in [("one line", one_line.clone()), ("short lines", one_line.replace("and", "\n"))] {
        for start in [true, false] {
            let mut editor = PromptEditor::default();
            editor.set_text(&text);
            editor.lines(&plain(true), 80, 10);
            keys(&mut editor, if start { "alt+<" } else { "alt+>" });
            let keymap = Keymap::default();
            let mut worst = std::time::Duration::ZERO;
            let begun = std::time::Instant::now();
            for c in "typed in the middle of it ".repeat(8).chars() {
                let key = std::time::Instant::now();
                editor.handle_key(KeyPress::char(c), &keymap);
                editor.lines(&plain(true), 80, 10);
                worst = worst.max(key.elapsed());
            }
            let mean = begun.elapsed() / (8 * 26);
            println!(
                "{name}, {} kB, at its start: {start}: {mean:?} a key with its lines, at worst {worst:?}",
                text.len() >> 10
            );
        }
    }
}
