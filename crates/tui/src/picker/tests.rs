//! Lists find, mark and show; at every size, whatever is in them.

use std::time::Instant;

use proptest::prelude::*;

use super::painted_row::{clip_painted, painted_cells};
use super::test_screen::{SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed};
use super::*;
use crate::OutputStyle;
use crate::input::{KeyCode, KeyPress};

fn files() -> ListPicker<&'static str> {
    let mut list = ListPicker::new("Open a file", "no file here").with_preview();
    let paths = ["src/cart.ts", "src/money.ts", "src/legacy/old.ts", "tests/cart.test.ts", "README.md"];
    list.set_items(
        paths
            .into_iter()
            .map(|path| PickerItem::new(path, path).detail(format!("{} bytes", path.len())))
            .collect(),
    );
    list
}

fn preview(path: &&str, width: usize, height: usize) -> Vec<String> {
    (0..height.min(4)).map(|at| format!("{path}:{at} {}", "x".repeat(width))).collect()
}

fn shown(list: &ListPicker<&'static str>, width: usize, height: usize) -> String {
    framed(&list.lines_with(&plain_style(), width, height, &preview))
}

fn press(list: &mut ListPicker<&'static str>, pressed: &[KeyPress]) -> PickerOutcome {
    pressed.iter().map(|key| list.handle_key(*key)).last().unwrap_or(PickerOutcome::Ignored)
}

#[test]
fn a_list_at_40_columns() {
    insta::assert_snapshot!(shown(&files(), 40, 10), @r"
    |Open a file                            5
    |› ▏ type to search
    |▸ src/cart.ts                   11 bytes
    |  src/money.ts                  12 bytes
    |  src/legacy/old.ts             17 bytes
    |  tests/cart.test.ts            18 bytes
    |  README.md                      9 bytes
    |
    |
    |Enter choose · Esc close · Alt+P preview
    ");
}

#[test]
fn a_list_at_80_columns_has_its_preview_below() {
    insta::assert_snapshot!(shown(&files(), 80, 20), @r"
    |Open a file                                                                    5
    |› ▏ type to search
    |▸ src/cart.ts                                                           11 bytes
    |  src/money.ts                                                          12 bytes
    |  src/legacy/old.ts                                                     17 bytes
    |  tests/cart.test.ts                                                    18 bytes
    |  README.md                                                              9 bytes
    |
    |
    |
    |────────────────────────────────────────────────────────────────────────────────
    |src/cart.ts:0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |src/cart.ts:1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |src/cart.ts:2 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |src/cart.ts:3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |
    |
    |
    |
    |Enter choose · Esc close
    ");
}

#[test]
fn a_list_at_120_columns_has_its_preview_beside() {
    insta::assert_snapshot!(shown(&files(), 120, 10), @r"
    |Open a file                                                                                                            5
    |› ▏ type to search
    |▸ src/cart.ts                                 11 bytes │ src/cart.ts:0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |  src/money.ts                                12 bytes │ src/cart.ts:1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |  src/legacy/old.ts                           17 bytes │ src/cart.ts:2 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |  tests/cart.test.ts                          18 bytes │ src/cart.ts:3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    |  README.md                                    9 bytes │
    |                                                       │
    |                                                       │
    |Enter choose · Esc close
    ");
}

#[test]
fn a_list_on_the_smallest_screen() {
    insta::assert_snapshot!(shown(&files(), 20, 5), @r"
    |› ▏ type to search
    |▸ src/cart.ts
    |  src/money.ts
    |  src/legacy/old.ts
    |Enter choose
    ");
}

#[test]
fn a_list_while_something_is_typed() {
    let mut list = files();
    press(&mut list, &typed("cart"));
    insta::assert_snapshot!(shown(&list, 60, 10), @r"
    |Open a file                                           2 of 5
    |› cart▏
    |▸ src/cart.ts                                       11 bytes
    |  tests/cart.test.ts                                18 bytes
    |
    |
    |
    |
    |
    |Enter choose · Esc clear · Alt+P preview
    ");
}

#[test]
fn a_list_in_which_nothing_fits() {
    let mut list = files();
    press(&mut list, &typed("zebra"));
    insta::assert_snapshot!(shown(&list, 60, 8), @r"
    |Open a file                                           0 of 5
    |› zebra▏
    |  nothing fits what you typed; Escape clears it
    |
    |
    |
    |
    |Enter choose · Esc clear · Alt+P preview
    ");
}

#[test]
fn a_list_that_is_empty_and_one_that_is_loading() {
    let mut list: ListPicker<&str> = ListPicker::new("Open a file", "no file here; `relay init` makes some");
    insta::assert_snapshot!(shown(&list, 40, 8), @r"
    |Open a file                            0
    |› ▏ type to search
    |  no file here; `relay init` makes some
    |
    |
    |
    |
    |Esc close
    ");
    list.set_loading(true);
    list.add_items([PickerItem::new("a", "a")]);
    insta::assert_snapshot!(shown(&list, 40, 8), @r"
    |Open a file            loading, 1 so far
    |› ▏ type to search
    |▸ a
    |
    |
    |
    |
    |Enter choose · Esc close
    ");
}

#[test]
fn a_list_with_marks() {
    let mut list = files().multi_select();
    press(&mut list, &keys("tab down tab"));
    insta::assert_snapshot!(shown(&list, 60, 9), @r"
    |Open a file                                      2 marked, 5
    |› ▏ type to search
    |  [x] src/cart.ts                                   11 bytes
    |  [ ] src/money.ts                                  12 bytes
    |  [x] src/legacy/old.ts                             17 bytes
    |▸ [ ] tests/cart.test.ts                            18 bytes
    |  [ ] README.md                                      9 bytes
    |
    |Enter choose · Esc close · Tab mark · Alt+P preview
    ");
    assert_eq!(press(&mut list, &keys("enter")), PickerOutcome::Chosen(vec![0, 2]));
}

#[test]
fn the_selection_wraps_and_pages_stop_at_the_ends() {
    let mut list = files();
    shown(&list, 40, 6);
    assert_eq!(press(&mut list, &keys("up enter")), PickerOutcome::Chosen(vec![4]));
    assert_eq!(press(&mut list, &keys("down enter")), PickerOutcome::Chosen(vec![0]));
    assert_eq!(press(&mut list, &keys("pagedown pagedown pagedown enter")), PickerOutcome::Chosen(vec![4]));
    assert_eq!(press(&mut list, &keys("home enter")), PickerOutcome::Chosen(vec![0]));
}

#[test]
fn escape_clears_what_was_typed_before_it_closes() {
    let mut list = files();
    press(&mut list, &typed("old"));
    assert_eq!(list.fitting_count(), 1);
    assert_eq!(press(&mut list, &keys("escape")), PickerOutcome::Changed);
    assert_eq!(list.fitting_count(), 5);
    assert_eq!(press(&mut list, &keys("escape")), PickerOutcome::Closed);
    assert_eq!(press(&mut list, &keys("ctrl+c")), PickerOutcome::Quit);
}

#[test]
fn enter_in_an_empty_list_does_nothing() {
    let mut list: ListPicker<&str> = ListPicker::new("t", "e");
    assert_eq!(list.handle_key(KeyPress::plain(KeyCode::Enter)), PickerOutcome::Ignored);
    assert_eq!(list.handle_key(KeyPress::plain(KeyCode::Down)), PickerOutcome::Ignored);
}

#[test]
fn labels_that_hold_the_words_come_before_those_that_hold_the_letters() {
    let mut list = ListPicker::new("t", "e");
    let item = |label: &str, more: &str| PickerItem::new(label.to_string(), label).keywords(more);
    list.set_items(vec![item("catch a rabbit", ""), item("other", "about the cart"), item("cart", "")]);
    list.set_query("cart");
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(list.selected().unwrap().clone());
        list.handle_key(KeyPress::plain(KeyCode::Down));
    }
    assert_eq!(order, ["cart", "other", "catch a rabbit"]);
}

#[test]
fn a_field_is_looked_for_in_its_own_lines() {
    let mut list = ListPicker::new("t", "e");
    let item = |label: &str, more: &str| PickerItem::new((), label).keywords(more);
    list.set_items(vec![
        item("one", "origin:agent\nfile:src/cart.ts"),
        item("two", "origin:clipboard\nfile:src/agent.ts"),
    ]);
    for (query, count) in
        [("origin:agent", 1), ("file:cart", 1), ("file:src", 2), ("file:cart origin:clip", 0)]
    {
        list.set_query("");
        for c in query.chars() {
            list.handle_key(KeyPress::char(c));
        }
        assert_eq!(list.fitting_count(), count, "{query}");
    }
}

#[test]
fn typing_letter_by_letter_finds_what_pasting_finds() {
    let labels: Vec<String> =
        (0..500).map(|at| format!("src/{}/file{at}.rs", ["cart", "money", "old"][at % 3])).collect();
    let made = || {
        let mut list = ListPicker::new("t", "e");
        list.set_items(labels.iter().map(|label| PickerItem::new((), label.clone())).collect());
        list
    };
    for query in ["cart 4", "f4 mon", "old12", "SRC"] {
        let (mut one, mut other) = (made(), made());
        query.chars().for_each(|c| drop(one.handle_key(KeyPress::char(c))));
        other.insert_text(query);
        assert_eq!(one.fitting_count(), other.fitting_count(), "{query}");
        assert_eq!(one.selected_index(), other.selected_index(), "{query}");
    }
}

#[test]
fn items_that_come_later_leave_the_selected_one_selected() {
    let mut list = files();
    press(&mut list, &keys("down down"));
    list.add_items([PickerItem::new("a", "a")]);
    assert_eq!(list.selected(), Some(&"src/legacy/old.ts"));
}

#[test]
fn a_hundred_thousand_items_are_quick() {
    let mut list = ListPicker::new("t", "e");
    let path = |at: usize| format!("src/{}/{}/component{at}.test.ts", at % 97, at % 1_003);
    list.set_items((0..100_000).map(|at| PickerItem::new(at, path(at))).collect());
    list.insert_text("c");
    let style = plain_style();
    let start = Instant::now();
    for c in "omponent99".chars() {
        list.handle_key(KeyPress::char(c));
        check_rows(&list.lines(&style, 100, 40), 100, 40);
    }
    let each = start.elapsed() / 10;
    println!("a key in a list of 100,000: {each:?}");
    // Not optimized, and beside other tests; no quadratic work passes.
    assert!(each.as_millis() < 1_500, "{each:?}");
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let mut list = ListPicker::new(text.clone(), text.clone()).multi_select().with_preview();
        list.set_items(vec![PickerItem::new(text.clone(), text.clone()).detail(text.clone()); 3]);
        list.insert_text(&text);
        for (width, height) in SIZES {
            for style in [plain_style(), ascii_style()] {
                let preview = |text: &String, width, height| text_rows(&style, None, text, width, height);
                check_rows(&list.lines_with(&style, width, height, &preview), width, height);
            }
        }
        list.set_query("");
        for (width, height) in SIZES {
            check_rows(&list.lines(&plain_style(), width, height), width, height);
        }
    }
}

#[test]
fn a_typed_line_has_its_cursor_where_keys_move_it() {
    let mut field = TextField::with_text("round totals");
    for key in keys("ctrl+a right right delete end ctrl+w x") {
        field.handle_key(key);
    }
    assert_eq!(field.text(), "rond x");
    let style = plain_style();
    let mut row = PaintedRow::new(&style, 5);
    field.draw(&mut row, true);
    assert_eq!(row.finish(), "nd x▏");
}

proptest! {
    #[test]
    fn painted_text_is_cut_to_its_cells(text in "[a-z日é\t ]{0,40}", limit in 0usize..30, colored in any::<bool>()) {
        let output = OutputStyle { color: true, utf8: true, width: None };
        let text = if colored { format!("\x1b[31m{text}\x1b[0m \x1b]8;;http://a\x1b\\{text}\x1b]8;;\x1b\\") } else { text };
        let cut = clip_painted(&text, limit, &output);
        prop_assert!(painted_cells(&cut) <= limit, "{cut:?}");
        prop_assert!(!cut.contains('\t'));
        prop_assert_eq!(cut.matches("\x1b]8;;").count() % 2, 0);
    }

    #[test]
    fn a_row_is_never_wider_than_its_limit(texts in proptest::collection::vec("\\PC{0,30}", 1..5), limit in 0usize..60) {
        let style = plain_style();
        let mut row = PaintedRow::new(&style, limit);
        for text in &texts {
            row.plain(text).marked(text, &[0, 2, 3], ThemeToken::Accent, 10).path(None, text, 12);
        }
        prop_assert!(painted_cells(&row.finish()) <= limit);
    }
}
