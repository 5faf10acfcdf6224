//! Settings are found, explained, changed in place and checked by the table; themes are previewed before they are kept.

use std::path::Path;

use relaycode_project::config::load_all;
use serde_json::json;

use super::*;
use crate::picker::test_screen::{SIZES, ascii_style, check_rows, framed, keys, plain_style, typed};

/// A user who set two keys, in a project that sets one.
fn loaded() -> LoadedConfig {
    let dir = tempfile::tempdir().unwrap();
    let (root, home) = (dir.path().join("my-app"), dir.path().join("home"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(
        root.join("relaycode.config.json"),
        r#"{"projectId": "my-app", "core": {"logLevel": "warn"}}"#,
    )
    .unwrap();
    std::fs::write(home.join("config.yml"), "agent:\n  steeringMode: all\n  maxTurns: 50\n").unwrap();
    load_all(Path::new(&root), Some(&home)).0
}

fn view() -> SettingsView {
    SettingsView::new(&loaded())
}

fn at(key: &str) -> SettingsView {
    let mut view = view();
    view.search(key);
    view
}

fn shown(view: &SettingsView, width: usize, height: usize) -> String {
    framed(&view.lines(&plain_style(), width, height))
}

fn press(view: &mut SettingsView, pressed: &[KeyPress]) -> SettingsOutcome {
    pressed.iter().map(|key| view.handle_key(*key)).last().unwrap_or(SettingsOutcome::Ignored)
}

#[test]
fn settings_at_40_columns() {
    insta::assert_snapshot!(shown(&view(), 40, 12), @r"
    |Settings                              90
    |› ▏ type to search
    |▸ projectId                       my-app
    |  core.logLevel                     warn
    |  core.enableNotifications          true
    |  core.watchConfig                  true
    |  watcher.clipboardPollInterval     2000
    |  watcher.preferredStrategy         auto
    |  watcher.enableBulkProcessing     false
    |  watcher.bulkSize                     5
    |  watcher.bulkTimeout              30000
    |Enter edit · Esc close · Del default
    ");
}

#[test]
fn settings_at_80_columns() {
    insta::assert_snapshot!(shown(&at("steeringMode"), 80, 22), @r#"
    |Settings                                                                 1 of 90
    |› steeringMode▏
    |▸ agent.steeringMode                                            all  yours
    |
    |
    |
    |
    |
    |
    |
    |
    |────────────────────────────────────────────────────────────────────────────────
    |agent.steeringMode
    |How many messages that steer the agent go to the model together.
    |value    all
    |default  one-at-a-time
    |may be   "one-at-a-time" or "all"
    |set in   your config.yml, line 2
    |for      every command
    |
    |
    |Enter edit · Esc clear · Left Right change · Del default
    "#);
}

#[test]
fn settings_at_120_columns() {
    insta::assert_snapshot!(shown(&at("messages agent"), 120, 14), @r#"
    |Settings                                                                                                         2 of 90
    |› messages agent▏
    |▸ agent.steeringMode                  all  yours       │ agent.steeringMode
    |  agent.followUpMode        one-at-a-time  default     │ How many messages that steer the agent go to the model
    |                                                       │ together.
    |                                                       │ value    all
    |                                                       │ default  one-at-a-time
    |                                                       │ may be   "one-at-a-time" or "all"
    |                                                       │ set in   your config.yml, line 2
    |                                                       │ for      every command
    |                                                       │
    |                                                       │
    |                                                       │
    |Enter edit · Esc clear · Left Right change · Del default
    "#);
}

#[test]
fn every_key_of_the_table_is_there_and_found_by_its_words() {
    let mut view = view();
    assert_eq!(view.list.fitting_count(), KEYS.len());
    view.search("tools that only look");
    assert_eq!(view.list.selected().unwrap().key.name, "agent.parallelTools");
}

#[test]
fn a_switch_is_turned_by_enter() {
    let mut view = at("agent.checkpoint");
    let before = view.list.selected().unwrap().value.as_bool().unwrap();
    let set = SettingsOutcome::Set { key: "agent.checkpoint", value: json!(!before) };
    assert_eq!(press(&mut view, &keys("enter")), set);
    assert_eq!(view.list.selected().unwrap().value, json!(!before));
}

#[test]
fn left_and_right_go_through_choices() {
    let mut view = at("agent.followUpMode");
    let set = |value: &str| SettingsOutcome::Set { key: "agent.followUpMode", value: json!(value) };
    assert_eq!(press(&mut view, &keys("right")), set("all"));
    assert_eq!(press(&mut view, &keys("left")), set("one-at-a-time"));
}

#[test]
fn a_number_is_checked_by_the_table() {
    let mut view = at("agent.parallelTools");
    press(&mut view, &keys("enter ctrl+u 9 9 9"));
    insta::assert_snapshot!(shown(&view, 60, 12), @r"
    |Settings                                             1 of 90
    |› agent.parallelTools▏
    |▸ agent.parallelTools                         8  default
    |
    |
    |
    |
    |
    |
    |agent.parallelTools: 999▏
    |a whole number from 1 to 64
    |Enter set · Esc back
    ");
    press(&mut view, &keys("enter"));
    insta::assert_snapshot!(shown(&view, 60, 12), @r"
    |Settings                                             1 of 90
    |› agent.parallelTools▏
    |▸ agent.parallelTools                         8  default
    |
    |
    |
    |
    |
    |agent.parallelTools: 999▏
    |`agent.parallelTools` is 999; it must be a whole number from
    |1 to 64
    |Enter set · Esc back
    ");
    let set = SettingsOutcome::Set { key: "agent.parallelTools", value: json!(9) };
    assert_eq!(press(&mut view, &keys("backspace backspace enter")), set);
}

#[test]
fn texts_and_lists_are_typed_as_the_table_wants_them() {
    let set = |key: &str, typed: &str| {
        let mut view = at(key);
        press(&mut view, &keys("enter ctrl+u"));
        view.insert_text(typed);
        press(&mut view, &keys("enter"))
    };
    let value = json!(["cargo test *"]);
    assert_eq!(
        set("permissions.allow", r#"["cargo test *"]"#),
        SettingsOutcome::Set { key: "permissions.allow", value }
    );
    let value = json!("cargo check --tests");
    assert_eq!(
        set("patch.linter", "cargo check --tests"),
        SettingsOutcome::Set { key: "patch.linter", value }
    );
    assert_eq!(set("permissions.allow", "cargo"), SettingsOutcome::Changed);
    assert_eq!(set("agent.steeringMode", "some"), SettingsOutcome::Changed);
    // It names one project.
    assert_eq!(set("projectId", "other"), SettingsOutcome::Changed);
    let value = json!(null);
    assert_eq!(set("agent.maxTurns", "null"), SettingsOutcome::Set { key: "agent.maxTurns", value });
}

#[test]
fn delete_brings_the_default_back() {
    let mut view = at("agent.maxTurns");
    assert_eq!(press(&mut view, &keys("delete")), SettingsOutcome::Reset { key: "agent.maxTurns" });
    assert_eq!(view.list.selected().unwrap().value, json!(null));
    assert_eq!(press(&mut view, &keys("delete")), SettingsOutcome::Changed);
    assert!(shown(&view, 60, 12).contains("it is not in your own config.yml"));
}

#[test]
fn what_the_project_sets_says_so() {
    let text = shown(&at("core.logLevel"), 120, 14);
    assert!(text.contains("what you set does nothing"), "{text}");
}

#[test]
fn escape_leaves_a_value_as_it_was() {
    let mut view = at("agent.parallelTools");
    assert_eq!(press(&mut view, &keys("enter 9 escape")), SettingsOutcome::Changed);
    assert!(!matches!(press(&mut view, &keys("down")), SettingsOutcome::Set { .. }));
}

#[test]
fn every_size_fits() {
    let mut view = view();
    for stage in ["down", "enter", "x", "enter"] {
        press(&mut view, &keys(stage));
        for (width, height) in SIZES {
            for style in [plain_style(), ascii_style()] {
                check_rows(&view.lines(&style, width, height), width, height);
            }
        }
    }
}

fn themes() -> ThemePicker {
    let names = ["red-claw", "blue-crab", "mine"].map(|name| (name.to_string(), "built in".to_string()));
    ThemePicker::new(names.to_vec(), "blue-crab")
}

#[test]
fn walking_through_themes_previews_and_only_enter_keeps() {
    let mut picker = themes();
    let mut press = |key: &str| picker.handle_key(key.parse().unwrap());
    assert_eq!(press("down"), ThemeOutcome::Preview("mine".into()));
    assert_eq!(press("up"), ThemeOutcome::Preview("blue-crab".into()));
    assert_eq!(press("up"), ThemeOutcome::Preview("red-claw".into()));
    assert_eq!(press("enter"), ThemeOutcome::Confirm("red-claw".into()));
}

#[test]
fn leaving_the_themes_brings_the_one_before_back() {
    let mut picker = themes();
    picker.handle_key(KeyPress::plain(KeyCode::Down));
    assert_eq!(picker.handle_key(KeyPress::plain(KeyCode::Escape)), ThemeOutcome::Cancel("blue-crab".into()));
    assert_eq!(picker.handle_key(KeyPress::ctrl('c')), ThemeOutcome::Cancel("blue-crab".into()));
}

#[test]
fn themes_at_40_columns() {
    let mut picker = themes();
    for key in typed("cr") {
        picker.handle_key(key);
    }
    insta::assert_snapshot!(framed(&picker.lines(&plain_style(), 40, 9)), @r"
    |Choose a theme                    1 of 3
    |› cr▏
    |▸ * blue-crab                   built in
    |
    |
    |
    |
    |
    |Enter keep · Esc clear
    ");
}
