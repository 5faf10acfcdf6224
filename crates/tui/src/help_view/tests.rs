//! Keys and commands are listed, searched and fit.

use super::*;
use crate::picker::test_screen::{SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style};

fn view() -> HelpView {
    let section = |title: &str, rows: &[(&str, &str)]| HelpSection {
        title: title.into(),
        rows: rows.iter().map(|(name, text)| HelpRow::new(*name, *text)).collect(),
    };
    HelpView::new(vec![
        section(
            "Editing",
            &[
                ("Shift+Enter", "a new line"),
                ("Ctrl+R", "search what you said before, in all sessions of this machine"),
            ],
        ),
        section("Commands", &[("/undo", "take the last change back"), ("/tree", "go on from another place")]),
    ])
}

fn shown(view: &HelpView, width: usize, height: usize) -> String {
    framed(&view.lines(&plain_style(), width, height))
}

#[test]
fn help_at_40_columns() {
    insta::assert_snapshot!(shown(&view(), 40, 12), @r"
    |Keys and commands
    |› ▏ type to search
    |Editing
    |  Shift+Enter  a new line
    |  Ctrl+R       search what you said
    |               before, in all sessions
    |               of this machine
    |Commands
    |  /undo        take the last change back
    |  /tree        go on from another place
    |
    |Esc close · Up Down scroll
    ");
}

#[test]
fn help_at_80_columns() {
    insta::assert_snapshot!(shown(&view(), 80, 12), @r"
    |Keys and commands
    |› ▏ type to search
    |Editing
    |  Shift+Enter  a new line
    |  Ctrl+R       search what you said before, in all sessions of this machine
    |Commands
    |  /undo        take the last change back
    |  /tree        go on from another place
    |
    |
    |
    |Esc close · Up Down scroll · PgUp PgDn page
    ");
}

#[test]
fn help_at_20_columns() {
    insta::assert_snapshot!(shown(&view(), 20, 12), @r"
    |Keys and commands
    |› ▏ type to search
    |Editing
    |  Shift+Enter
    |    a new line
    |  Ctrl+R
    |    search what you
    |    said before, in
    |    all sessions of
    |    this machine
    |Commands
    |Esc close
    ");
}

#[test]
fn help_is_searched() {
    let mut view = view();
    view.insert_text("back");
    insta::assert_snapshot!(shown(&view, 60, 9), @r"
    |Keys and commands                                     1 of 4
    |› back▏
    |Commands
    |  /undo        take the last change back
    |
    |
    |
    |
    |Esc clear · Up Down scroll · PgUp PgDn page
    ");
    assert_eq!(view.handle_key(keys("escape")[0]), HelpOutcome::Changed);
    assert_eq!(view.handle_key(keys("escape")[0]), HelpOutcome::Closed);
}

#[test]
fn help_scrolls_to_its_end_and_no_further() {
    let mut view = view();
    shown(&view, 80, 6);
    for key in keys("down down down down down down pagedown") {
        view.handle_key(key);
    }
    assert!(shown(&view, 80, 6).contains("/tree"));
    view.handle_key(keys("home")[0]);
    assert!(shown(&view, 80, 6).contains("Editing"));
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let rows = vec![HelpRow::new(text.clone(), text.clone()); 2];
        let mut view = HelpView::new(vec![HelpSection { title: text.clone(), rows }]);
        for _ in 0..2 {
            for (width, height) in SIZES {
                for style in [plain_style(), ascii_style()] {
                    check_rows(&view.lines(&style, width, height), width, height);
                }
            }
            view.insert_text(&text);
        }
    }
}
