//! What the screen shows while one talks: at the beginning, while it works, when it is done.

use relaycode_testkit::model::{ScriptedTurn, TurnDelay};
use relaycode_testkit::process::GENEROUS_TIMEOUT;
use serde_json::json;

use super::{LiveConversation, LiveStart, hanging};
use crate::fixture::scratch_project::whole;

const MARKDOWN: &str = "# Plan\n\nUse **backoff**, `retry` and [docs](https://example.com/a).\n\n- first\n  - inner\n- second\n\n\
                        1. one\n2. two\n\n> quoted words\n\n| name | value |\n|---|---:|\n| a | 1 |\n| long name | 200 |\n\n\
                        ```rust\nfn main() {\n    println!(\"hi\");\n}\n```\n\nDone.";

fn write_a() -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "a.txt", "content": "one\nzwei\nthree\n"}))
}

#[test]
fn start_in_an_empty_project() {
    insta::assert_snapshot!(LiveConversation::of([]).settled(), @"");
}

#[test]
fn start_in_a_project_with_changes() {
    let live = LiveStart::of([]).repository();
    live.project.applied(&whole("b.txt", "new\n"));
    let live = live.start();
    live.wait("main");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn start_at_40_and_at_120_columns() {
    let live = LiveStart::of([]).size(40, 20).start();
    insta::assert_snapshot!(live.settled(), @"");
    let live = LiveStart::of([]).size(120, 20).repository().start();
    live.wait("main");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn an_answer_with_markdown() {
    let live = LiveConversation::of([ScriptedTurn::text(MARKDOWN)]);
    live.ask("What is the plan?", "Done.");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn an_answer_in_the_colours_of_a_dark_and_of_a_light_terminal() {
    let turn = || ScriptedTurn::text("# Plan\n\nUse **backoff** and `retry`.\n\n```rust\nlet a = 1;\n```");
    let dark = LiveStart::of([turn()]).env("COLORTERM", "truecolor").start();
    dark.ask("Plan?", "let a");
    insta::assert_snapshot!(dark.coloured(), @"");
    let light = LiveStart::of([turn()]).env("COLORTERM", "truecolor").start();
    light.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    light.ask("Plan?", "let a");
    insta::assert_snapshot!(light.coloured(), @"");
    let light = LiveStart::of([turn()]).env("COLORFGBG", "0;15").start();
    light.ask("Plan?", "let a");
    insta::assert_snapshot!(light.coloured(), @"");
}

#[test]
fn without_colour_and_without_utf_8() {
    let live =
        LiveStart::of([write_a(), ScriptedTurn::text("**Done** — `a` …")]).env("NO_COLOR", "1").start();
    live.ask("Go", "takes it back");
    let plain = live.settled();
    assert_eq!(live.coloured(), plain, "nothing but text");
    insta::assert_snapshot!(plain, @"");
    let live = LiveStart::of([
        write_a(),
        ScriptedTurn::text("**Done** — `a` …\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ])
    .env("LANG", "C")
    .start();
    live.ask("Go", "takes it back");
    let ascii = live.settled();
    insta::assert_snapshot!(ascii, @"");
    assert!(ascii.is_ascii());
}

#[test]
fn tools_that_run_and_that_ended() {
    let live = LiveStart::of([
        ScriptedTurn::text("I'll look first.").tool("read", json!({"path": "a.txt"})).tool(
            "bash",
            json!({"command": "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended; exit 3"}),
        ),
        ScriptedTurn::text("It ended with 3."),
    ])
    .args(&["run", "--access", "full"])
    .start();
    live.say("Look");
    live.wait("begun");
    insta::assert_snapshot!(live.settled(), @"");
    std::fs::write(live.project.path("go"), "").unwrap();
    live.wait("It ended with 3.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\x0f");
    live.wait("ended\n");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn a_change_and_its_diff_and_the_undo_of_it() {
    let live = LiveConversation::of([write_a(), ScriptedTurn::text("It says zwei.")]);
    live.ask("Translate", "takes it back");
    insta::assert_snapshot!(live.settled(), @"");
    live.say("/undo");
    live.wait("undone");
    live.wait("› say");
    assert_eq!(live.project.text("a.txt"), "one\ntwo\n");
    insta::assert_snapshot!(live.settled(), @"");
    live.say("/redo");
    live.screen.wait_for(|_| live.project.text("a.txt") == "one\nzwei\nthree\n", GENEROUS_TIMEOUT);
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn thinking_is_folded_and_shown_by_a_key() {
    let thinks = || ScriptedTurn::text("Two.").reasoning("First I count.\nThen I add.\nThat is two.");
    let live = LiveConversation::of([thinks(), thinks()]);
    live.ask("One and one?", "Two.");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\x14");
    live.wait("thinking is shown");
    live.ask("Again?", "Then I add.");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn words_that_wait_come_back_with_escape() {
    let live = LiveConversation::of([hanging("one two three"), ScriptedTurn::text("Later.")]);
    live.say("Go");
    live.wait("one");
    live.say("and the tests");
    live.wait("queued");
    live.keys("then commit");
    live.wait("then commit");
    live.keys("\x1b\r");
    live.wait("2 queued");
    live.keys("half a thought");
    live.wait("half a thought");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("\x1b");
    live.wait_gone("queued");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    assert_eq!(live.server.requests().len(), 1);
}

#[test]
fn a_model_that_fails() {
    let live = LiveConversation::of([
        ScriptedTurn::status(400).body(
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no such thing"}}),
        ),
        ScriptedTurn::text("half of it").with(|turn| turn.disconnect_after = Some(3)),
        ScriptedTurn::text("half of it").with(|turn| turn.disconnect_after = Some(3)),
        ScriptedTurn::text("Here again."),
    ]);
    live.say("Go");
    live.wait("✗");
    live.wait("› say");
    insta::assert_snapshot!(live.settled(), @"");
    live.say("Again");
    live.screen.wait_for(
        |screen| screen.text().matches('✗').count() > 1 && screen.text().contains("› say"),
        GENEROUS_TIMEOUT,
    );
    insta::assert_snapshot!(live.settled(), @"");
    live.ask("And again", "Here again.");
}

#[test]
fn no_model_at_all() {
    let start = LiveStart::of([]).first("✗ there is no model yet");
    std::fs::remove_file(start.project.home().join("models.yml")).unwrap();
    let mut live = start.start();
    assert_eq!(live.screen.wait_exit().code(), Some(2));
    assert!(live.screen.is_in_shell_mode());
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn a_session_that_goes_on() {
    let mut live = LiveConversation::of([
        write_a(),
        ScriptedTurn::text("It says **zwei**."),
        ScriptedTurn::text("Still."),
    ]);
    live.ask("Translate", "takes it back");
    live.keys("\x04");
    live.screen.wait_exit();
    insta::assert_snapshot!(live.settled(), @"");
    live.again(&["run", "--continue"]);
    live.wait("It says zwei.");
    insta::assert_snapshot!(live.settled(), @"");
    live.ask("And now?", "Still.");
    assert!(live.body(2).contains("It says **zwei**."));
}

#[test]
fn a_job_that_ends_while_nobody_types() {
    let live = LiveStart::of([
        ScriptedTurn::call(
            "bash",
            json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo the end", "async": true}),
        ),
        ScriptedTurn::text("It builds."),
    ])
    .args(&["run", "--access", "full"])
    .start();
    live.ask("Build", "It builds.");
    live.wait("1 job");
    insta::assert_snapshot!(live.settled(), @"");
    std::fs::write(live.project.path("go"), "").unwrap();
    live.wait("bash-1 completed");
    live.wait_gone("1 job");
    live.wait("› say");
    insta::assert_snapshot!(live.settled(), @"");
}

#[test]
fn a_status_line_that_becomes_narrow() {
    let slow =
        ScriptedTurn::pieces(["one ", "two"]).with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let live = LiveStart::of([slow]).size(120, 12).repository().start();
    live.wait("main");
    live.say("Go");
    live.wait("one");
    let mut seen = String::new();
    for columns in [120, 80, 60, 40, 30, 20] {
        live.screen.resize(columns, 12);
        let line = live.settled().lines().last().unwrap_or_default().to_string();
        seen.push_str(&format!("{columns:>3} |{line}\n"));
    }
    insta::assert_snapshot!(seen, @"");
}
