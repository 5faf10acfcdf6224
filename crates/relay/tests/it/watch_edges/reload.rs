//! The configuration changes while it is watched.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::*;

const AGAIN: &str = "the configuration was read again";

fn config(patch: &Value) -> Value {
    json!({"projectId": "shop", "patch": patch})
}

#[test]
fn a_changed_linter_is_said_and_asked_about_at_the_next_answer() {
    let watched = Watched::new();
    let screen = watched.pasting();
    watched.configure(&config(&json!({"linter": "test -d ."})));
    screen.wait_for_text("patch.linter is now \"test -d .\"");
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("Run it from now on? [y/N]");
    assert_eq!(watched.text(), BEFORE);
    screen.type_keys("y\r");
    screen.wait_for_text("applied");
    screen.wait_for_text(PASTING);
    // Once is enough.
    screen.paste(&watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    assert_eq!(said(&screen, "Run it from now on?"), 1);
}

#[test]
fn what_the_user_sets_for_all_projects_takes_effect_too() {
    let watched = Watched::new();
    let screen = watched.pasting();
    fs::write(watched.home("config.yml"), "patch:\n  approvalMode: manual\n").unwrap();
    screen.wait_for_text("patch.approvalMode is now");
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("apply? [y/N]");
    screen.type_keys("n\r");
    screen.wait_for_text("nothing was changed");
    screen.wait_for_text(PASTING);
    fs::remove_file(watched.home("config.yml")).unwrap();
    wait_said(&screen, "patch.approvalMode is now", 2);
    screen.paste(&watched.keyed("two", "TWO"));
    screen.wait_for_text("✓ applied");
}

#[test]
fn a_broken_or_removed_configuration_leaves_the_last_good_one_in_force() {
    let watched = Watched::new();
    let screen = watched.pasting();
    let file = watched.scene.project.path("relaycode.config.json");
    let good = fs::read(&file).unwrap();
    fs::write(&file, "{\n  \"projectId\": \"shop\",\n  \"patch\": {\"linter\": 3}\n}\n").unwrap();
    screen.wait_for_text("the configuration as it was before stays in force");
    let seen = screen.text();
    assert!(seen.contains("relaycode.config.json:3") && seen.contains("linter"), "{seen}");
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
    fs::write(&file, &good).unwrap();
    screen.wait_for_text("the configuration can be read again, and says what is in force");
    fs::remove_file(&file).unwrap();
    screen.wait_for_text("the project's configuration is gone");
    wait_said(&screen, "stays in force", 2);
    screen.paste(&watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    fs::write(&file, &good).unwrap();
    wait_said(&screen, "can be read again", 2);
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
}

#[test]
fn however_an_editor_writes_the_file_it_is_read_once() {
    let watched = Watched::new();
    let screen = watched.pasting();
    let file = watched.scene.project.path("relaycode.config.json");
    let with = |interval: u32| {
        json!({"projectId": "shop", "patch": {"linter": "true"}, "watcher": {"clipboardPollInterval": interval}})
            .to_string()
    };
    let said_now = |interval: u32, times: usize| {
        screen.wait_for_text(&format!("watcher.clipboardPollInterval is now {interval}"));
        assert_eq!(said(&screen, AGAIN), times, "{}", screen.text());
    };
    // By renaming another file over it.
    let beside = watched.scene.project.path(".config.swp");
    fs::write(&beside, with(501)).unwrap();
    fs::rename(&beside, &file).unwrap();
    said_now(501, 1);
    // By truncating and writing it, in steps.
    let text = with(502);
    let mut written = fs::File::create(&file).unwrap();
    for part in text.as_bytes().chunks(text.len() / 3) {
        written.write_all(part).unwrap();
        written.sync_data().unwrap();
    }
    drop(written);
    said_now(502, 2);
    // By moving the old one away first.
    fs::rename(&file, watched.scene.project.path("relaycode.config.json~")).unwrap();
    fs::write(&file, with(503)).unwrap();
    said_now(503, 3);
    assert_eq!(said(&screen, "stays in force"), 0, "{}", screen.text());
}

#[test]
fn without_watch_config_nothing_is_read_again() {
    let watched = Watched::new();
    let unwatched = json!({"projectId": "shop", "core": {"watchConfig": false}, "patch": {"linter": "true"}});
    watched.configure(&unwatched);
    let screen = watched.pasting();
    watched.configure(&config(&json!({"linter": "true", "approvalMode": "manual"})));
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
    assert_eq!(said(&screen, AGAIN), 0);
}

#[test]
fn what_was_collected_is_taken_up_when_collecting_is_switched_off() {
    let watched = Watched::new();
    let screen = watched.pasting();
    let bulk = |on: bool| {
        json!({"projectId": "shop", "patch": {"linter": "true"},
               "watcher": {"enableBulkProcessing": on, "bulkSize": 5, "bulkTimeout": 600_000}})
    };
    watched.configure(&bulk(true));
    screen.wait_for_text(AGAIN);
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("1 of 5 collected");
    screen.paste(&watched.keyed("two", "TWO"));
    screen.wait_for_text("2 of 5 collected");
    assert_eq!(watched.text(), BEFORE);
    watched.configure(&bulk(false));
    screen.wait_for_text("2 copies were taken up: 2 applied");
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
}
