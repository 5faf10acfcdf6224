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
    insta::assert_snapshot!(LiveConversation::of([]).settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
}

#[test]
fn start_in_a_project_with_changes() {
    let live = LiveStart::of([]).repository();
    live.project.applied(&whole("b.txt", "new\n"));
    let live = live.start();
    live.wait("main");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      last  add b.txt · now
      next  /undo takes the last change back · /help lists commands · ? lists keys

    › say what to do
      workspace · 13 % of context · work/m1 · main ?1 · ? keys
    ");
}

#[test]
fn start_at_40_and_at_120_columns() {
    let live = LiveStart::of([]).size(40, 20).start();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1
      next  say what to do · /help lists
            commands · ? lists keys

    › say what to do
    workspace · 13 % · m1 · ? keys
    ");
    let live = LiveStart::of([]).size(120, 20).repository().start();
    live.wait("main");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › say what to do
      workspace · 13 % of context · work/m1 · main · ? keys
    ");
}

#[test]
fn an_answer_with_markdown() {
    let live = LiveConversation::of([ScriptedTurn::text(MARKDOWN)]);
    live.ask("What is the plan?", "Done.");
    insta::assert_snapshot!(live.settled(), @r#"
      Plan

      Use backoff, retry and docs.

      • first
        • inner
      • second

      1. one
      2. two

      │ quoted words

      name      │ value
      ──────────┼──────
      a         │     1
      long name │   200

        rust
        fn main() {
            println!("hi");
        }

      Done.

      15 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    "#);
}

#[test]
fn an_answer_in_the_colours_of_a_dark_and_of_a_light_terminal() {
    let turn = || ScriptedTurn::text("# Plan\n\nUse **backoff** and `retry`.\n\n```rust\nlet a = 1;\n```");
    let dark = LiveStart::of([turn()]).env("COLORTERM", "truecolor").start();
    dark.ask("Plan?", "let a");
    insta::assert_snapshot!(dark.coloured(), @"
    {#e8927c}relay 0.1.0{/}{#9396a0} · {/}{#a3a6af}project-000000{/}{#9396a0} · {/}{#a3a6af}work/m1{/}{#9396a0} · {/}{#a3a6af}workspace{/}
      {#a3a6af}next{/}  say what to do · /help lists commands · ? lists keys

    {#e8927c}›{/} Plan?

      {bold underline #e8927c}Plan{/}

      Use {bold}backoff{/} and {#74c7c2}retry{/}.

        {#72757f}rust{/}
        {#c3a3e6}let{/} {#c9ccd4}a{/} {#b4b8c4}={/} {#e0a370}1{/}{#a3a6af};{/}

      {#9396a0}15 tokens{/}

    {#e8927c}›{/} {#9396a0}say what to do{/}
      {#7fb4e0}workspace{/}{#72757f} · {/}{#74c7c2}0 % of context{/}{#72757f} · {/}{#e8927c}work/m1{/}{#72757f} · {/}{#9396a0}? keys{/}
    ");
    let light = LiveStart::of([turn()]).env("COLORTERM", "truecolor").start();
    light.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    light.ask("Plan?", "let a");
    insta::assert_snapshot!(light.coloured(), @"
    {#e8927c}relay 0.1.0{/}{#9396a0} · {/}{#a3a6af}project-000000{/}{#9396a0} · {/}{#a3a6af}work/m1{/}{#9396a0} · {/}{#a3a6af}workspace{/}
      {#a3a6af}next{/}  say what to do · /help lists commands · ? lists keys

    {#1f5fa8}›{/} Plan?

      {bold underline #1f5fa8}Plan{/}

      Use {bold}backoff{/} and {#10666b}retry{/}.

        {#868c98}rust{/}
        {#74399a}let{/} {#2b303a}a{/} {#454b57}={/} {#944600}1{/}{#555b67};{/}

      {#5f6571}15 tokens{/}

    {#1f5fa8}›{/} {#5f6571}say what to do{/}
      {#10666b}workspace{/}{#868c98} · {/}{#10666b}0 % of context{/}{#868c98} · {/}{#1f5fa8}work/m1{/}{#868c98} · {/}{#5f6571}? keys{/}
    ");
    let light = LiveStart::of([turn()]).env("COLORFGBG", "0;15").start();
    light.ask("Plan?", "let a");
    insta::assert_snapshot!(light.coloured(), @"
    {#1f5fa8}relay 0.1.0{/}{#5f6571} · {/}{#555b67}project-000000{/}{#5f6571} · {/}{#555b67}work/m1{/}{#5f6571} · {/}{#555b67}workspace{/}
      {#555b67}next{/}  say what to do · /help lists commands · ? lists keys

    {#1f5fa8}›{/} Plan?

      {bold underline #1f5fa8}Plan{/}

      Use {bold}backoff{/} and {#10666b}retry{/}.

        {#868c98}rust{/}
        {#74399a}let{/} {#2b303a}a{/} {#454b57}={/} {#944600}1{/}{#555b67};{/}

      {#5f6571}15 tokens{/}

    {#1f5fa8}›{/} {#5f6571}say what to do{/}
      {#10666b}workspace{/}{#868c98} · {/}{#10666b}0 % of context{/}{#868c98} · {/}{#1f5fa8}work/m1{/}{#868c98} · {/}{#5f6571}? keys{/}
    ");
}

#[test]
fn without_colour_and_without_utf_8() {
    let live =
        LiveStart::of([write_a(), ScriptedTurn::text("**Done** — `a` …")]).env("NO_COLOR", "1").start();
    live.ask("Go", "takes it back");
    let plain = live.settled();
    assert_eq!(live.coloured(), plain, "nothing but text");
    insta::assert_snapshot!(plain, @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Go

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      Done — `a` …

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    let live = LiveStart::of([
        write_a(),
        ScriptedTurn::text("**Done** — `a` …\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ])
    .env("LANG", "C")
    .start();
    live.ask("Go", "takes it back");
    let ascii = live.settled();
    insta::assert_snapshot!(ascii, @r#"
    relay 0.1.0 - project-000000 - work/m1 - workspace
      next  say what to do - /help lists commands - ? lists keys

    > Go

      * write a.txt                                     +2 -1
          1   one
          2 - two
          2 + zwei
          3 + three

      Done \u{2014} a \u{2026}

      - one

      a | b
      --+--
      1 | 2

      1 change, 1 file +2 -1 - 30 tokens - `/undo` takes it back

    > say what to do
      workspace - 0 % of context - work/m1 - ? keys
    "#);
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Look

      I'll look first.
      ● read a.txt                                      2 lines

      ⠋ bash echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended; …
          begun

    › say what to do
      ⠋ working · full · 13 % of context · work/m1 · ? keys
    ");
    std::fs::write(live.project.path("go"), "").unwrap();
    live.wait("It ended with 3.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Look

      I'll look first.
      ● read a.txt                                      2 lines
      ✗ bash echo begun; while [ ! -e go ]; do sleep 0.02; done; e…  exit 3
          begun
          ended

      It ended with 3.

      1 change, 1 file · 30 tokens · `/undo` takes it back

    › say what to do
      full · 0 % of context · work/m1 · ? keys
    ");
    live.keys("\x0f");
    live.wait("ended\n");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Look

      I'll look first.
      ● read a.txt                                      2 lines
      ✗ bash echo begun; while [ ! -e go ]; do sleep 0.02; done; e…  exit 3
          begun
          ended

      It ended with 3.

      1 change, 1 file · 30 tokens · `/undo` takes it back

      ● read a.txt                                      2 lines
          1  one
          2  two

      ✗ bash echo begun; while [ ! -e go ]; do sleep 0.02; done; e…  exit 3
          begun
          ended

    › say what to do
      full · 0 % of context · work/m1 · ? keys
    ");
}

#[test]
fn a_change_and_its_diff_and_the_undo_of_it() {
    let live = LiveConversation::of([write_a(), ScriptedTurn::text("It says zwei.")]);
    live.ask("Translate", "takes it back");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Translate

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      It says zwei.

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    live.say("/undo");
    live.wait("undone");
    live.wait("› say");
    assert_eq!(live.project.text("a.txt"), "one\ntwo\n");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Translate

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      It says zwei.

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back

    › /undo
    ✓ undone: Translate
      `relay redo` brings it back

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    live.say("/redo");
    live.screen.wait_for(|_| live.project.text("a.txt") == "one\nzwei\nthree\n", GENEROUS_TIMEOUT);
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Translate

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      It says zwei.

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back

    › /undo
    ✓ undone: Translate
      `relay redo` brings it back

    › /redo
    ✓ brought back: Translate
      `relay undo` takes it out again

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
}

#[test]
fn thinking_is_folded_and_shown_by_a_key() {
    let thinks = || ScriptedTurn::text("Two.").reasoning("First I count.\nThen I add.\nThat is two.");
    let live = LiveConversation::of([thinks(), thinks()]);
    live.ask("One and one?", "Two.");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › One and one?

      ∴ thought · 9 words (Ctrl+T)
      Two.

      15 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    live.keys("\x14");
    live.wait("thinking is shown");
    live.ask("Again?", "Then I add.");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › One and one?

      ∴ thought · 9 words (Ctrl+T)
      Two.

      15 tokens
      · thinking is shown from now on

    › Again?

      │ First I count.
      │ Then I add.
      │ That is two.
      Two.

      15 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Go

      one t
      ↳ next: and the tests                                  Alt+Up takes them back
      ↳ then: then commit

    › half a thought
      ⠋ writing · workspace · 13 % of context · work/m1 · 2 queued · ? keys
    ");
    live.keys("\x1b");
    live.wait_gone("queued");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Go

      one t
      ! stopped; what was finished stays

      11 tokens

    › and the tests
      then commit
      half a thought
      workspace · 13 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Go

      ✗ work does not take the request (status 400): no such thing

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.say("Again");
    live.screen.wait_for(
        |screen| screen.text().matches('✗').count() > 1 && screen.text().contains("› say"),
        GENEROUS_TIMEOUT,
    );
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Go

      ✗ work does not take the request (status 400): no such thing

    › Again

      ! the connection to work at 127.0.0.1:40000 broke: Connection reset by peer
        (os error 104); try 1 of 1 in 1 s
      ✗ the connection to work at 127.0.0.1:40000 broke: Connection reset by peer
        (os error 104)

      22 tokens
      · try again; if it stays so, is http://127.0.0.1:40000 the right address, and
        reachable from here?

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.ask("And again", "Here again.");
}

#[test]
fn no_model_at_all() {
    let start = LiveStart::of([]).first("✗ there is no model yet").env("OLLAMA_HOST", "127.0.0.1:1");
    std::fs::remove_file(start.project.home().join("models.yml")).unwrap();
    let mut live = start.start();
    assert_eq!(live.screen.wait_exit().code(), Some(2));
    assert!(live.screen.is_in_shell_mode());
    insta::assert_snapshot!(live.settled(), @"
    ✗ there is no model yet: no provider has a key, and no model server on this
      machine has one; nothing was changed
      there are three ways: a key (`relay keys set anthropic`; `relay keys list
      --all` lists the providers), a model server on this machine (relay finds
      Ollama, llama.cpp and LM Studio by itself), or another agent (`relay friends`
      lists those relay knows)
    ");
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Translate

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      It says zwei.

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back
    `relay run --resume 00000000000000000000000000000000` goes on with this
    ");
    live.again(&["run", "--continue"]);
    live.wait("It says zwei.");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      last  Translate · now
      next  /undo takes the last change back · /help lists commands · ? lists keys

      · model: work/m1

    › Translate

      ● write a.txt                                     +2 −1
          1   one
          2 - two
          2 + zwei
          3 + three

      It says zwei.

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Build

      ● bash while [ ! -e go ]; do sleep 0.02; done; ec…  in the background: bash-1
      It builds.

      30 tokens

      1 job · bash-1 while [ ! -e go ]; do sleep 0.02; done; echo the end

    › say what to do
      full · 0 % of context · work/m1 · 1 job · ? keys
    ");
    std::fs::write(live.project.path("go"), "").unwrap();
    live.wait("bash-1 completed");
    live.wait_gone("1 job");
    live.wait("› say");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Build

      ● bash while [ ! -e go ]; do sleep 0.02; done; ec…  in the background: bash-1
      It builds.

      30 tokens

    ✓ bash-1 completed, 0.1 s: while [ ! -e go ]; do sleep 0.02; done; echo the end

    › say what to do
      full · 0 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(seen, @"
    120 |  ⠋ writing · workspace · 13 % of context · work/m1 · main · ? keys
     80 |  ⠋ writing · workspace · 13 % of context · work/m1 · main · ? keys
     60 |  ⠋ writing · workspace · 13 % · m1 · main · ? keys
     40 |⠋ writing · workspace · 13 % · m1
     30 |⠋ writing · workspace · 13 %
     20 |⠋ · workspace
    ");
}
