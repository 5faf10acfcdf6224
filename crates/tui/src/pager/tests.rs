//! Texts and diffs are read, searched and fit, however long and hostile they are.

use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::input::KeyPress;
use crate::picker::test_screen::{
    SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed,
};

const DIFF: &str = "--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -85,3 +85,3 @@\n   items\n-  return sum\n+  return round(sum)\n\
                    @@ -99,1 +99,2 @@\n }\n+// end\n\n--- /dev/null\n+++ b/src/money.ts\n@@ -0,0 +1,1 @@\n+export {}\n";

fn numbered(lines: usize) -> String {
    (1..=lines)
        .map(|at| format!("line {at} of a text that is somewhat longer than forty columns\n"))
        .collect()
}

fn shown(pager: &Pager, width: usize, height: usize) -> String {
    framed(&pager.lines(&plain_style(), width, height))
}

fn press(pager: &mut Pager, pressed: &[KeyPress]) -> PagerOutcome {
    pressed.iter().map(|key| pager.handle_key(*key)).last().unwrap_or(PagerOutcome::Ignored)
}

/// The first row of the text.
fn first(pager: &Pager) -> String {
    pager.lines(&plain_style(), 80, 10)[1].clone()
}

#[test]
fn a_text_at_40_columns_is_wrapped() {
    let pager = Pager::new("src/cart.ts", PagerText::plain(numbered(30))).with_numbers();
    insta::assert_snapshot!(shown(&pager, 40, 9), @r"
    |src/cart.ts             1–4 of 30 · 13 %
    | 1  line 1 of a text that is somewhat lo
    |    nger than forty columns
    | 2  line 2 of a text that is somewhat lo
    |    nger than forty columns
    | 3  line 3 of a text that is somewhat lo
    |    nger than forty columns
    | 4  line 4 of a text that is somewhat lo
    |q close · / search · n N next · w wrap
    ");
}

#[test]
fn a_text_at_80_columns() {
    let pager = Pager::new("src/cart.ts", PagerText::plain(numbered(30))).with_numbers().at_line(12);
    insta::assert_snapshot!(shown(&pager, 80, 9), @r"
    |src/cart.ts                                                   12–18 of 30 · 60 %
    |12  line 12 of a text that is somewhat longer than forty columns
    |13  line 13 of a text that is somewhat longer than forty columns
    |14  line 14 of a text that is somewhat longer than forty columns
    |15  line 15 of a text that is somewhat longer than forty columns
    |16  line 16 of a text that is somewhat longer than forty columns
    |17  line 17 of a text that is somewhat longer than forty columns
    |18  line 18 of a text that is somewhat longer than forty columns
    |q close · / search · n N next · w wrap · l numbers · : line
    ");
}

#[test]
fn a_text_that_is_not_wrapped_moves_sideways() {
    let mut pager = Pager::new("src/cart.ts", PagerText::plain(numbered(3)));
    press(&mut pager, &keys("w right"));
    insta::assert_snapshot!(shown(&pager, 40, 7), @r"
    |src/cart.ts             1–3 of 3 · 100 %
    | that is somewhat longer than forty col…
    | that is somewhat longer than forty col…
    | that is somewhat longer than forty col…
    |
    |
    |q close · / search · n N next · w wrap
    ");
}

#[test]
fn a_diff_has_keys_for_hunks_and_files() {
    let mut pager = Pager::new("round totals", PagerText::diff(DIFF));
    insta::assert_snapshot!(shown(&pager, 80, 12), @r"
    |round totals                                                   1–10 of 14 · 71 %
    |--- a/src/cart.ts
    |+++ b/src/cart.ts
    |@@ -85,3 +85,3 @@
    |   items
    |-  return sum
    |+  return round(sum)
    |@@ -99,1 +99,2 @@
    | }
    |+// end
    |
    |q close · ] [ hunk · } { file · / search · n N next · w wrap · l numbers
    ");
    shown(&pager, 80, 5);
    press(&mut pager, &keys("] ]"));
    assert!(first(&pager).starts_with("@@ -99"), "{}", first(&pager));
    press(&mut pager, &keys("["));
    assert!(first(&pager).starts_with("@@ -85"));
    press(&mut pager, &keys("}"));
    assert!(first(&pager).starts_with("--- /dev/null"));
    press(&mut pager, &keys("{"));
    assert!(first(&pager).starts_with("--- a/src/cart.ts"));
    press(&mut pager, &keys("{"));
    assert!(shown(&pager, 80, 12).contains("this is the first file"));
}

#[test]
fn a_search_goes_on_and_back_and_around() {
    let mut pager = Pager::new("t", PagerText::plain(numbered(200)));
    shown(&pager, 80, 10);
    press(&mut pager, &typed("/LINE 1"));
    // A capital letter minds the case.
    assert!(shown(&pager, 80, 10).contains("not found"));
    press(&mut pager, &keys("ctrl+u"));
    press(&mut pager, &typed("line 15"));
    press(&mut pager, &keys("enter"));
    assert!(first(&pager).starts_with("line 15 of"), "{}", first(&pager));
    press(&mut pager, &keys("n"));
    assert!(first(&pager).starts_with("line 150 "));
    press(&mut pager, &keys("N"));
    assert!(first(&pager).starts_with("line 15 of"));
    press(&mut pager, &keys("N"));
    assert!(first(&pager).starts_with("line 159 "));
    assert!(shown(&pager, 80, 10).contains("from the end"));
    press(&mut pager, &keys("n"));
    assert!(first(&pager).starts_with("line 15 of") && shown(&pager, 80, 10).contains("from the beginning"));
}

#[test]
fn escape_leaves_a_search_where_it_began() {
    let mut pager = Pager::new("t", PagerText::plain(numbered(200))).at_line(50);
    shown(&pager, 80, 10);
    press(&mut pager, &typed("/line 99"));
    press(&mut pager, &keys("escape"));
    assert!(first(&pager).starts_with("line 50 "));
}

#[test]
fn a_line_is_gone_to_by_its_number() {
    let mut pager = Pager::new("t", PagerText::plain(numbered(200)));
    shown(&pager, 80, 10);
    press(&mut pager, &typed(":120"));
    press(&mut pager, &keys("enter"));
    assert!(first(&pager).starts_with("line 120 "));
    press(&mut pager, &typed(":x"));
    press(&mut pager, &keys("enter"));
    assert!(shown(&pager, 80, 10).contains("that is no number of a line"));
}

#[test]
fn the_end_of_a_text_stands_in_the_last_row() {
    let mut pager = Pager::new("t", PagerText::plain(numbered(200)));
    shown(&pager, 80, 10);
    press(&mut pager, &keys("G"));
    let lines = pager.lines(&plain_style(), 80, 10);
    assert!(lines[8].starts_with("line 200 "), "{lines:?}");
    press(&mut pager, &keys("space"));
    assert_eq!(pager.lines(&plain_style(), 80, 10), lines);
    press(&mut pager, &keys("g"));
    assert!(first(&pager).starts_with("line 1 "));
}

#[test]
fn scrolling_down_and_up_by_rows_comes_back() {
    let text: String = (1..40).map(|at| format!("{}\n", "word ".repeat(at * 3))).collect();
    let mut pager = Pager::new("t", PagerText::plain(text));
    shown(&pager, 37, 9);
    let mut seen = vec![pager.lines(&plain_style(), 37, 9)];
    for _ in 0..60 {
        press(&mut pager, &keys("down"));
        seen.push(pager.lines(&plain_style(), 37, 9));
    }
    while let Some(lines) = seen.pop() {
        assert_eq!(pager.lines(&plain_style(), 37, 9)[1..8], lines[1..8]);
        press(&mut pager, &keys("up"));
    }
}

#[test]
fn an_empty_text_is_shown() {
    let mut pager = Pager::new("t", PagerText::plain(""));
    for key in keys("down up G g n N space b w l right") {
        pager.handle_key(key);
        check_rows(&pager.lines(&plain_style(), 40, 8), 40, 8);
    }
    assert_eq!(press(&mut pager, &keys("q")), PagerOutcome::Closed);
}

#[test]
fn ten_megabytes_and_a_line_of_five_are_quick() {
    let mut text = numbered(80_000);
    text.push_str(&"a long line without an end ".repeat(5_000_000 / 27));
    text.push('\n');
    text.push_str(&numbered(80_000));
    let size = text.len();
    let start = Instant::now();
    let mut pager = Pager::new("t", PagerText::plain(text)).with_numbers();
    shown(&pager, 80, 40);
    let opened = start.elapsed();
    let start = Instant::now();
    let pressed = keys("G b b g space w right right w : 8 0 0 0 1 enter space space b up up w right w G");
    for key in &pressed {
        pager.handle_key(*key);
        check_rows(&pager.lines(&plain_style(), 80, 40), 80, 40);
    }
    let each = start.elapsed() / u32::try_from(pressed.len()).unwrap();
    println!("{size} bytes: opened in {opened:?}, a key in {each:?}");
    assert!(opened.as_millis() < 3_000 && each.as_millis() < 500, "{opened:?} {each:?}");
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let mut pager = Pager::new(text.clone(), PagerText::diff(format!("{text}\n{text}\t{text}\n+{text}")));
        for stage in ["", "w", "l", "right", "/"] {
            press(&mut pager, &typed(stage));
            pager.insert_text(&text);
            for (width, height) in SIZES {
                for style in [plain_style(), ascii_style()] {
                    check_rows(&pager.lines(&style, width, height), width, height);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn wrapped_rows_hold_all_of_a_text(text in "[a-z日é ]{1,200}", width in 4usize..30) {
        let pager = Pager::new("t", PagerText::plain(text.clone()));
        let lines = pager.lines(&plain_style(), width, 150);
        let body: String = lines[1..lines.len() - 1].concat();
        let squeezed = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
        prop_assert_eq!(squeezed(&body), squeezed(&text));
    }

    #[test]
    fn pieces_are_the_text(text in "([a-z日]{0,40}\n){0,6}x", times in 1usize..400) {
        let text = text.replace('x', &"é".repeat(times * 37));
        let pieces = PagerText::plain(text.clone());
        let mut joined = String::new();
        for piece in 0..pieces.piece_count() {
            if piece > 0 && pieces.is_line_start(piece) {
                joined.push('\n');
            }
            prop_assert!(pieces.piece(piece).len() <= text::PIECE_BYTES);
            joined.push_str(pieces.piece(piece));
        }
        prop_assert_eq!(joined, text);
    }
}
