//! Lists below the text, chips, and views that cover the screen.

use std::fs;

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::GENEROUS_TIMEOUT;
use relaycode_testkit::screen::TestScreen;
use serde_json::json;

use super::{LiveConversation, LiveStart};

fn write_a() -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "a.txt", "content": "one\nzwei\nthree\n"}))
}

/// A conversation in which something was done.
fn talked() -> LiveConversation {
    let live = LiveConversation::of([write_a(), ScriptedTurn::text("It says zwei.")]);
    live.ask("Translate", "takes it back");
    live
}

#[test]
fn completions_of_commands_and_files() {
    let live = LiveStart::of([]);
    for path in ["src/client.rs", "src/client_test.rs", "src/server.rs", "docs/client.md"] {
        live.project.put(path, b"x\n");
    }
    let live = live.start();
    live.keys("/");
    live.wait("/help");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("th");
    live.wait_gone("/redo");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\x15");
    live.wait("say what");
    live.keys("look at @cli");
    live.wait("client_test");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\t");
    live.wait("@src/client.rs");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn a_paste_is_a_chip_and_is_sent_whole() {
    let live = LiveConversation::of([ScriptedTurn::text("Seen.")]);
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    live.keys("read ");
    live.screen.paste(&lines);
    live.wait("read [");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\r");
    live.wait("Seen.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    assert!(live.body(0).contains("line 1\\nline 2\\n") && live.body(0).contains("line 300"));
}

#[test]
fn earlier_prompts_are_searched() {
    let mut live = LiveConversation::of([
        ScriptedTurn::text("One."),
        ScriptedTurn::text("Two."),
        ScriptedTurn::text("Three."),
    ]);
    live.ask("rename the parser", "One.");
    live.ask("add a test of the client", "Two.");
    live.keys("\x04");
    live.screen.wait_exit();
    live.again(&[]);
    live.keys("\x12");
    live.wait("add a test of the client");
    live.keys("pars");
    live.screen.wait_for(|screen| screen.text().contains("rename the parser"), GENEROUS_TIMEOUT);
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\r");
    live.settled();
    if live.screen.text().contains("› rename the parser") && live.server.requests().len() == 2 {
        live.keys("\r");
    }
    live.wait("Three.");
    assert!(live.body(2).contains("rename the parser"));
}

#[test]
fn help_is_printed() {
    let live = LiveStart::of([]).size(80, 60).start();
    live.say("/help");
    live.wait("/quit");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn views_cover_the_screen_and_leave_no_trace() {
    let live = talked();
    let before = live.settled();
    let views = [
        ("/keys", "Sending"),
        ("/model", "m1"),
        ("/settings", "core.logLevel"),
        ("/theme", "red-claw"),
        ("/tree", "Translate"),
        ("/resume", "Translate"),
        ("/log", "Translate"),
    ];
    let mut seen = String::new();
    for (command, text) in views {
        live.say(command);
        live.screen.wait_for(|screen| is_alternate(screen) && screen.text().contains(text), GENEROUS_TIMEOUT);
        seen.push_str(&format!("----- {command}\n{}\n", live.settled()));
        live.keys("\x1b");
        live.screen.wait_for(|screen| !is_alternate(screen), GENEROUS_TIMEOUT);
        live.wait("› say");
    }
    insta::assert_snapshot!(seen, @"");
    let after = live.settled();
    assert!(after.starts_with(before.lines().next().unwrap()), "{after}");
    insta::assert_snapshot!(after, @"");
}

fn is_alternate(screen: &TestScreen) -> bool {
    screen.with_emulator(|emulator| emulator.alternate_screen())
}

#[test]
fn commands_that_print() {
    let live = talked();
    let mut seen = String::new();
    for (command, text) in [
        ("/jobs", "no "),
        ("/todo", "no "),
        ("/diff", "zwei"),
        ("/status", "context"),
        ("/model nobody/none", "✗"),
        ("/burn", "no command"),
    ] {
        live.screen.resize(80, 30);
        live.say(command);
        live.screen.wait_for(
            |screen| screen.text().contains(text) && screen.text().contains("› say"),
            GENEROUS_TIMEOUT,
        );
        let shown = live.settled();
        let from = shown.rfind(&format!("› {command}")).unwrap_or(0);
        seen.push_str(&format!("{}\n", &shown[from..]));
    }
    insta::assert_snapshot!(seen, @"");
}

#[test]
fn a_todo_list_stands_below_the_conversation() {
    let todo = json!({"ops": [{"op": "init", "list": [{"phase": "Parser", "items": ["read it", "rename it", "test it"]}]}, {"op": "done", "task": "read it"}]});
    let live = LiveConversation::of([ScriptedTurn::call("todo_write", todo), ScriptedTurn::text("Planned.")]);
    live.ask("Plan", "Planned.");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn what_is_wrong_with_the_users_files_is_said() {
    let live = LiveStart::of([]);
    fs::write(live.project.home().join("keybindings.json"), "{\"app.burn\": \"ctrl+x\"}").unwrap();
    let live = live.config("theme: {dark: nowhere}\n").start();
    insta::assert_snapshot!(live.settled(), @"");
}
