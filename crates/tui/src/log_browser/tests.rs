//! Changes are walked through with their diffs, and taken back or committed.

use relaycode_change::diff;
use relaycode_change::plan::FileChangeKind;
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;

use super::*;
use crate::picker::test_screen::{
    SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed,
};

fn row(index: usize, id: &str, origin: &str, summary: &str, paths: &[&str]) -> LogBrowserRow {
    let row = LogRow {
        index,
        id: Some(id.to_string()),
        short: 8,
        members: vec![id.to_string()],
        edits: 1,
        created_at: "long ago".into(),
        origin: origin.into(),
        files: paths.len(),
        added: 24,
        removed: 5,
        summary: summary.into(),
        undone: false,
        partly_undone: false,
        revertible: true,
        foreign: false,
        interrupted: false,
        revert_of: Vec::new(),
        damage: None,
    };
    LogBrowserRow { row, paths: paths.iter().map(|path| (*path).to_string()).collect() }
}

fn rows() -> Vec<LogBrowserRow> {
    let mut rows = vec![
        row(1, "3f9c1e2a", "clipboard", "feat: round totals to cents", &["src/cart.ts", "src/money.ts"]),
        row(2, "a81b07c4", "agent", "add retry to the client", &["src/client.rs"]),
        row(3, "77e2d910", "clipboard", "fix: typo", &["README.md"]),
        row(4, "c01fe8d2", "file", "edit src/main.rs", &["src/main.rs"]),
    ];
    rows[1].row.edits = 4;
    rows[2].row.undone = true;
    rows[3].row.revertible = false;
    rows
}

fn file(path: &str, before: &str, after: &str) -> (FilePlan, FileDiff) {
    let plan = FilePlan {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        change: FileChangeKind::Modified,
        before: Some(before.as_bytes().to_vec()),
        after: Some(after.as_bytes().to_vec()),
        mode_before: Some(GitFileMode::Regular),
        mode_after: Some(GitFileMode::Regular),
        added: 1,
        removed: 1,
        dialect: None,
        hunks: Vec::new(),
    };
    let diff = diff::diff_file(&plan);
    (plan, diff)
}

fn browser() -> LogBrowser {
    let mut browser = LogBrowser::new(rows(), 4);
    let files = vec![file("src/cart.ts", "let a = 1;\nreturn sum;\n", "let a = 1;\nreturn round(sum);\n")];
    browser.set_diff("3f9c1e2a", LogDiff { files, note: String::new() });
    browser
}

fn shown(browser: &LogBrowser, width: usize, height: usize) -> String {
    framed(&browser.lines(&plain_style(), width, height))
}

fn press(browser: &mut LogBrowser, pressed: &[KeyPress]) -> LogOutcome {
    pressed.iter().map(|key| browser.handle_key(*key)).last().unwrap_or(LogOutcome::Ignored)
}

#[test]
fn changes_at_40_columns() {
    insta::assert_snapshot!(shown(&browser(), 40, 10), @r"
    |Log                                    4
    |› / filters: words, origin:agent, file:…
    |▸   feat: round totals to cen…  long ago
    |    add retry to the client     long ago
    |  ↩ fix: typo                   long ago
    |    edit src/main.rs            long ago
    |
    |
    |
    |Enter diff · Esc close · u undo · U redo
    ");
}

#[test]
fn changes_at_80_columns_with_the_diff_below() {
    insta::assert_snapshot!(shown(&browser(), 80, 22), @r"
    |Log                                                                            4
    |› / filters: words, origin:agent, file:cart
    |▸   feat: round totals to cents        long ago  clipboard   2 files  +24 -5
    |    add retry to the client            long ago  agent        1 file  +24 -5
    |  ↩ fix: typo                          long ago  clipboard    1 file  +24 -5
    |    edit src/main.rs                   long ago  file         1 file  +24 -5
    |
    |
    |
    |
    |
    |────────────────────────────────────────────────────────────────────────────────
    |feat: round totals to cents
    |--- a/src/cart.ts
    |+++ b/src/cart.ts
    |@@ -1,2 +1,2 @@
    | let a = 1;
    |-return sum;
    |+return round(sum);
    |
    |
    |Enter diff · Esc close · u undo · U redo · r revert · c commit · / filter
    ");
}

#[test]
fn changes_at_140_columns_with_the_diff_beside() {
    insta::assert_snapshot!(shown(&browser(), 140, 12), @r"
    |Log                                                                                                                                        4
    |› / filters: words, origin:agent, file:cart
    |▸   feat: round totals to cents                        long ago │ feat: round totals to cents
    |    add retry to the client                            long ago │ --- a/src/cart.ts
    |  ↩ fix: typo                                          long ago │ +++ b/src/cart.ts
    |    edit src/main.rs                                   long ago │ @@ -1,2 +1,2 @@
    |                                                                │  let a = 1;
    |                                                                │ -return sum;
    |                                                                │ +return round(sum);
    |                                                                │
    |                                                                │
    |Enter diff · Esc close · u undo · U redo · r revert · c commit · / filter · Tab mark
    ");
}

#[test]
fn nothing_was_applied_yet() {
    insta::assert_snapshot!(shown(&LogBrowser::new(Vec::new(), 0), 60, 8), @r"
    |Log                                                        0
    |› / filters: words, origin:agent, file:cart
    |  nothing has been applied here yet
    |
    |
    |
    |
    |Esc close
    ");
}

#[test]
fn letters_are_actions() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, &keys("u")), LogOutcome::Undo);
    assert_eq!(press(&mut browser, &keys("U")), LogOutcome::Redo);
    assert_eq!(press(&mut browser, &keys("j r")), LogOutcome::Revert { id: "a81b07c4".into() });
    assert_eq!(press(&mut browser, &keys("c")), LogOutcome::Commit { ids: vec!["a81b07c4".into()] });
    assert_eq!(press(&mut browser, &keys("q")), LogOutcome::Closed);
    assert_eq!(press(&mut browser, &keys("escape")), LogOutcome::Closed);
    assert_eq!(press(&mut browser, &keys("ctrl+c")), LogOutcome::Quit);
}

#[test]
fn several_changes_are_marked_and_committed_together() {
    let mut browser = browser();
    let ids = vec!["3f9c1e2a".into(), "a81b07c4".into()];
    assert_eq!(press(&mut browser, &keys("tab tab c")), LogOutcome::Commit { ids });
}

#[test]
fn what_cannot_be_taken_back_says_why() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, &keys("j j r")), LogOutcome::Changed);
    assert!(shown(&browser, 80, 10).contains("it is undone already"));
    press(&mut browser, &keys("j r"));
    assert!(shown(&browser, 80, 10).contains("it can no longer be undone"));
}

#[test]
fn a_filter_goes_by_origin_file_and_words() {
    for (query, ids) in [
        ("origin:clip", vec!["3f9c1e2a", "77e2d910"]),
        ("file:money", vec!["3f9c1e2a"]),
        ("retry", vec!["a81b07c4"]),
        ("origin:agent file:client retry", vec!["a81b07c4"]),
    ] {
        let mut browser = browser();
        press(&mut browser, &keys("/"));
        press(&mut browser, &typed(query));
        assert_eq!(browser.list.fitting_count(), ids.len(), "{query}");
        assert_eq!(browser.selected_id(), Some(ids[0]));
        // The filter stays, and letters are actions again.
        assert_eq!(press(&mut browser, &keys("enter u")), LogOutcome::Undo);
        press(&mut browser, &keys("/ escape"));
        assert_eq!(browser.list.fitting_count(), 4);
    }
}

#[test]
fn a_filter_is_typed() {
    let mut browser = browser();
    press(&mut browser, &keys("/"));
    press(&mut browser, &typed("round"));
    insta::assert_snapshot!(shown(&browser, 80, 9), @r"
    |Log                                                                       1 of 4
    |› round▏
    |▸   feat: round totals to cents        long ago  clipboard   2 files  +24 -5
    |
    |
    |
    |
    |
    |Enter keep the filter · Esc clear it
    ");
}

#[test]
fn enter_shows_the_whole_diff_and_q_comes_back() {
    let mut browser = browser();
    press(&mut browser, &keys("enter"));
    insta::assert_snapshot!(shown(&browser, 80, 12), @r"
    |feat: round totals to cents                                     1–6 of 6 · 100 %
    |--- a/src/cart.ts
    |+++ b/src/cart.ts
    |@@ -1,2 +1,2 @@
    | let a = 1;
    |-return sum;
    |+return round(sum);
    |
    |
    |
    |
    |q close · ] [ hunk · } { file · / search · n N next · w wrap · l numbers
    ");
    assert_eq!(press(&mut browser, &keys("q")), LogOutcome::Changed);
    assert!(shown(&browser, 80, 12).contains("U redo"));
    press(&mut browser, &keys("j enter"));
    assert!(shown(&browser, 80, 12).contains("its diff is not there yet"));
}

#[test]
fn a_diff_is_asked_for_once_and_more_rows_near_the_end() {
    let mut browser = browser();
    assert_eq!(browser.wants_diff(), None);
    press(&mut browser, &keys("j"));
    assert_eq!(browser.wants_diff(), Some("a81b07c4"));
    browser.set_diff("a81b07c4", LogDiff { files: Vec::new(), note: "the bytes are gone".into() });
    assert_eq!(browser.wants_diff(), None);
    assert!(shown(&browser, 80, 22).contains("✗ the bytes are gone"));
    assert_eq!(browser.wants_more(), None);
    browser.set_rows(rows(), 40);
    assert_eq!(browser.wants_more(), Some(4));
    browser.add_rows((5..41).map(|at| row(at, &format!("old{at}"), "file", "older", &[])).collect());
    assert_eq!(browser.wants_more(), None);
}

#[test]
fn new_rows_leave_the_same_change_selected() {
    let mut browser = browser();
    press(&mut browser, &keys("j j"));
    let mut new = rows();
    new.insert(0, row(1, "9d04aa31", "undo", "undoes: fix: typo", &["README.md"]));
    browser.set_rows(new, 5);
    assert_eq!(browser.selected_id(), Some("77e2d910"));
    let without: Vec<LogBrowserRow> =
        rows().into_iter().filter(|row| row.row.id.as_deref() != Some("77e2d910")).collect();
    browser.set_rows(without, 3);
    assert_eq!(browser.selected_id(), Some("c01fe8d2"));
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let mut one = row(1, &text, &text, &text, &[&text]);
        one.row.created_at.clone_from(&text);
        let mut browser = LogBrowser::new(vec![one], 1);
        let files = vec![file("a", &text, &format!("{text}\t{text}\n"))];
        for stage in ["j", "/", "escape enter", "w"] {
            for (width, height) in SIZES {
                for style in [plain_style(), ascii_style()] {
                    check_rows(&browser.lines(&style, width, height), width, height);
                }
            }
            browser.set_diff(&text, LogDiff { files: files.clone(), note: text.clone() });
            press(&mut browser, &keys(stage));
            browser.set_note(&text);
        }
    }
}
