//! Both layouts of one plan with everything in it, and the laws: nothing is lost, nothing is too wide,
//! colours add nothing but colours.

use relaycode_change::plan::FileChangeKind;
use relaycode_change::proposal::path::RelPath;
use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };
const COLOUR: OutputStyle = OutputStyle { color: true, utf8: true, width: Some(80) };

const CART: (&str, &str) = (
    "// Totals.\nimport { Item } from './item';\n\nexport function total(items: Item[]): number {\n  \
     return items.reduce((sum, item) => sum + item.price, 0);\n}\n\nfunction unused() {\n  \
     return 'gone';\n}\n",
    "// Totals.\nimport { Item } from './item';\nimport { round } from './money';\n\nexport function total(items: Item[]): \
     number {\n  return round(items.reduce((sum, item) => sum + item.price * item.count, 0));\n}\n\nconst LIMIT = 10;\n",
);

fn file(name: &str, before: Option<&str>, after: Option<&str>) -> FilePlan {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    let (before, after) = (bytes(before), bytes(after));
    FilePlan {
        path: RelPath::parse(name).unwrap(),
        renamed_from: None,
        change: match (&before, &after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ => FileChangeKind::Modified,
        },
        mode_before: before.is_some().then_some(GitFileMode::Regular),
        mode_after: after.is_some().then_some(GitFileMode::Regular),
        before,
        after,
        added: 0,
        removed: 0,
        dialect: None,
        hunks: Vec::new(),
    }
}

/// One of every kind of file and of line.
fn everything() -> Plan {
    let mut moved = file("src/new/name.rs", Some("fn a() {}\n"), Some("fn b() {}\n"));
    moved.renamed_from = Some(RelPath::parse("src/old.rs").unwrap());
    moved.change = FileChangeKind::Renamed;
    let mut script = file("run.sh", Some("#!/bin/sh\necho 1\n"), Some("#!/bin/sh\necho 2\n"));
    script.mode_after = Some(GitFileMode::Executable);
    let files = vec![
        file("src/cart.ts", Some(CART.0), Some(CART.1)),
        file(
            "notes.txt",
            Some("今日は晴れです。散歩に行きましょう。公園で本を読むのもいいですね。\n"),
            Some("今日は雨です。家に居ましょう。公園で本を読むのもいいですね。\n"),
        ),
        file(
            "main.go",
            Some("func f() {\n\tif a {\n\t\treturn 1\n\t}\n}\n"),
            Some("func f() {\n\tif a {\n\t\tb :=\t2\n\t\treturn b\n\t}\n}\n"),
        ),
        file("dos.txt", Some("one\r\ntwo\r\nthree\r\n"), Some("one\r\ntwo changed\nthree\n")),
        file("all.txt", Some("one\r\ntwo\r\n"), Some("one\ntwo\n")),
        file("end.py", Some("x = 1\ny = 2"), Some("x = 1\ny = 3\n")),
        file("indent.yaml", Some("a:\n  - b: 1 # one\n"), Some("a:\n    - b: 1 # one\n")),
        file("evil.rs", Some("let a = 1;\n"), Some("let a = 1; // \u{1b}[2J\u{202e}gpj.exe\u{200b}\n")),
        file("pic.png", Some("\0\0\0"), Some("\0\0")),
        moved,
        script,
        file("new.rs", None, Some("fn new() {}\n")),
        file("gone.rs", Some("fn gone() {}\n"), None),
    ];
    Plan { files, ..Plan::default() }
}

/// Makes escape sequences readable.
fn visible(text: &str) -> String {
    text.replace("\x1b[0m", "⟩").replace("\x1b[", "⟨").replace('\t', "→")
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |out, part| out + part.split_once('m').map_or("", |(_, rest)| rest))
}

fn side(columns: usize) -> DiffLayout {
    DiffLayout::SideBySide { columns }
}

#[test]
fn unified_plain() {
    insta::assert_snapshot!(visible(&text(&everything(), &PLAIN)));
}

#[test]
fn unified_in_colours() {
    insta::assert_snapshot!(visible(&text(&everything(), &COLOUR)));
}

#[test]
fn unified_in_ascii() {
    let text = text(&everything(), &ASCII);
    assert!(text.is_ascii());
    insta::assert_snapshot!(visible(&text));
}

#[test]
fn side_by_side_plain() {
    insta::assert_snapshot!(text_with_layout(&everything(), side(120), &PLAIN));
}

#[test]
fn side_by_side_in_colours() {
    insta::assert_snapshot!(visible(&text_with_layout(&everything(), side(100), &COLOUR)));
}

#[test]
fn side_by_side_in_ascii_at_its_narrowest() {
    let text = text_with_layout(&everything(), side(SIDE_COLUMNS), &ASCII);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn on_a_narrow_terminal_side_by_side_is_unified_and_says_so() {
    let plan = Plan { files: vec![file("a.txt", Some("a\n"), Some("b\n"))], ..Plan::default() };
    let narrow = OutputStyle { width: Some(40), ..PLAIN };
    let text = text_with_layout(&plan, side(79), &narrow);
    let expected = "
unified: side by side needs 80 columns,
there are 79

--- a/a.txt
+++ b/a.txt
@@ -1,1 +1,1 @@
-a
+b
";
    assert_eq!(text, expected);
    assert_eq!(
        file_text_with_layout(&plan.files[0], &diff::diff_file(&plan.files[0]), side(79), &narrow),
        text
    );
}

#[test]
fn colours_add_nothing_but_colours() {
    for layout in [DiffLayout::Unified, side(80), side(133)] {
        let coloured = text_with_layout(&everything(), layout, &COLOUR);
        assert!(coloured.contains("\x1b[35m"), "{layout:?} has colours of a language");
        assert!(coloured.contains("\x1b[1;32m"), "{layout:?} has words");
        assert_eq!(without_colours(&coloured), text_with_layout(&everything(), layout, &PLAIN), "{layout:?}");
    }
}

#[test]
fn every_escape_is_closed_in_its_line() {
    for layout in [DiffLayout::Unified, side(80)] {
        for line in text_with_layout(&everything(), layout, &COLOUR).lines() {
            let (opened, closed) = (line.matches("\x1b[").count(), line.matches("\x1b[0m").count());
            assert_eq!(opened, closed * 2, "{line:?}");
        }
    }
}

#[test]
fn no_row_is_too_wide_and_no_character_is_lost() {
    for first in (0..hostile_text::string_count()).step_by(97) {
        let texts: Vec<String> = (first..first + 4).map(hostile_text::hostile_string).collect();
        let before = format!("{}\tä日本語\n{}\n", texts[0], texts[1]);
        let after = format!("{}\tö日本語\n{}\n{}", texts[0], texts[2], texts[3]);
        let file = file("a.rs", Some(&before), Some(&after));
        let diff = diff::diff_file(&file);
        for (columns, style) in [(80, PLAIN), (81, COLOUR), (80, ASCII), (200, PLAIN)] {
            let text = file_text_with_layout(&file, &diff, side(columns), &style);
            assert_eq!(hostile_text::find_unsafe_char(&text, style.color), None, "string {first}: {text:?}");
            let plain = without_colours(&text);
            assert!(!plain.contains('\t'));
            let DiffContent::Text { hunks, .. } = &diff.content else {
                continue;
            };
            let wide = plain.lines().find(|line| cells(line) > columns && !line.starts_with(['-', '+']));
            assert_eq!(wide, None, "string {first}");
            let shown = |c: char| plain.matches(c).count();
            for line in
                hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == DiffLineKind::Added)
            {
                let letters = line.text.chars().filter(|c| c.is_ascii_alphabetic());
                assert!(letters.clone().all(|c| shown(c) > 0), "string {first}");
            }
        }
    }
}

#[test]
fn a_line_is_shown_whole_in_rows() {
    let long: String = ('a'..='z').cycle().take(150).collect();
    let file = file("a.txt", Some("x\n"), Some(&format!("{long}\n")));
    let text = file_text_with_layout(&file, &diff::diff_file(&file), side(80), &PLAIN);
    let rows = text.lines().skip(4).map(|row| row.split_once('│').unwrap().1);
    let joined: String = rows.map(|row| row.chars().skip(6).collect::<String>()).collect();
    assert_eq!(joined, long);
}

#[test]
fn side_by_side_breaks_lines_between_words_and_operators() {
    let line = "    if (customer.address.country_code === shop.address.country_code && a->b !== c) {";
    let file = file("a.js", Some("x\n"), Some(&format!("{line}\n")));
    let text = file_text_with_layout(&file, &diff::diff_file(&file), side(80), &PLAIN);
    let right = |row: &str| row.split_once('│').unwrap().1.to_string();
    let rows: Vec<String> = text.lines().skip(4).map(right).collect();
    assert_eq!(
        rows,
        [
            "   1 +    if (customer.address.",
            "   …  country_code === shop.address.",
            "   …  country_code && a->b !== c) {",
        ]
    );
}

#[test]
fn marks_without_width_do_not_pile_up_unseen() {
    let file = file("a.txt", Some("x\n"), Some(&format!("e{}\n", "\u{301}".repeat(20))));
    let text = file_text_with_layout(&file, &diff::diff_file(&file), side(80), &PLAIN);
    assert_eq!((text.matches('\u{301}').count(), text.matches("\\u{301}").count()), (MARKS, 20 - MARKS));
}

const MARKS: usize = 8;
