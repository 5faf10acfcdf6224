//! What keys do, as it reaches the model, the project and the next conversation.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::GENEROUS_TIMEOUT;
use serde_json::json;

use super::{LiveConversation, LiveStart, hanging};

/// A model that calls a command which waits for a file, and then says what it heard.
fn working() -> LiveConversation {
    LiveStart::of([
        ScriptedTurn::call("bash", json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo went"})),
        ScriptedTurn::text("I heard."),
        ScriptedTurn::text("And then."),
    ])
    .args(&["run", "--access", "full"])
    .start()
}

#[test]
fn what_is_said_while_it_works_reaches_the_model_with_its_next_request() {
    let live = working();
    live.say("Go");
    live.wait("bash");
    live.say("use the other parser");
    live.wait("queued");
    fs::write(live.project.path("go"), "").unwrap();
    live.wait("I heard.");
    live.wait_idle();
    let body = live.body(1);
    assert!(body.contains("went") && body.contains("use the other parser"), "{body}");
    assert_eq!(live.server.requests().len(), 2);
    assert_eq!(live.screen.scrollback_text().matches("use the other parser").count(), 1);
}

#[test]
fn alt_enter_waits_until_the_agent_is_done() {
    let live = working();
    live.say("Go");
    live.wait("bash");
    live.keys("now commit");
    live.wait("now commit");
    live.keys("\x1b\r");
    live.wait("queued");
    fs::write(live.project.path("go"), "").unwrap();
    live.wait("And then.");
    live.wait_idle();
    assert!(!live.body(1).contains("now commit") && live.body(2).contains("now commit"));
}

#[test]
fn queued_words_are_taken_back_one_key() {
    let live = working();
    live.say("Go");
    live.wait("bash");
    live.say("a second thought");
    live.wait("queued");
    live.keys("\x1b[1;3A");
    live.wait_gone("queued");
    live.wait("› a second thought");
    fs::write(live.project.path("go"), "").unwrap();
    live.wait("I heard.");
    live.wait_idle();
    assert!(!live.body(1).contains("a second thought"));
}

#[test]
fn ctrl_c_clears_and_twice_leaves() {
    let mut live = LiveConversation::of([]);
    live.keys("half a line");
    live.wait("half a line");
    live.keys("\x03");
    live.wait_gone("half a line");
    live.keys("\x03");
    live.wait("Ctrl-C again leaves");
    live.keys("\x03\x03");
    assert_eq!(live.screen.wait_exit().code(), Some(0));
    assert!(live.screen.is_in_shell_mode());
}

#[test]
fn ctrl_c_stops_the_agent() {
    let live = LiveConversation::of([hanging("one two three"), ScriptedTurn::text("Still here.")]);
    live.say("Go");
    live.wait("one");
    live.keys("\x03");
    live.wait_idle();
    live.ask("And now?", "Still here.");
}

#[test]
fn ctrl_d_leaves_only_an_empty_line() {
    let mut live = LiveConversation::of([]);
    live.keys("ab\x04");
    live.settled();
    assert!(live.screen.try_exit_status().is_none());
    live.keys("\x15\x04");
    assert_eq!(live.screen.wait_exit().code(), Some(0));
    assert!(live.screen.is_in_shell_mode());
}

#[test]
fn shift_tab_goes_through_access_and_plan_mode() {
    let live = LiveConversation::of([]);
    let status =
        |live: &LiveConversation| live.settled().lines().last().unwrap_or_default().trim().to_string();
    let mut seen = vec![status(&live)];
    for _ in 0..4 {
        live.keys("\x1b[Z");
        let before = seen.last().cloned();
        live.screen.wait_for(
            |screen| screen.text().lines().last().map(|line| line.trim().to_string()) != before,
            GENEROUS_TIMEOUT,
        );
        seen.push(status(&live));
    }
    let first: Vec<&str> = seen.iter().map(|line| line.split(" · ").next().unwrap_or_default()).collect();
    assert_eq!(first, ["workspace", "plan mode", "ask", "workspace", "plan mode"]);
}

#[test]
fn a_draft_survives_sigkill_and_is_gone_after_it_was_sent() {
    let mut live = LiveConversation::of([ScriptedTurn::text("Heard.")]);
    live.keys("a thought that is not said yet");
    let drafts = live.project.home().join("drafts");
    // One that is being written has another name.
    let is_kept = |_: &_| {
        let paths = fs::read_dir(&drafts).into_iter().flatten().flatten().map(|file| file.path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .filter_map(|path| fs::read_to_string(path).ok())
            .any(|text| text.contains("not said yet"))
    };
    live.screen.wait_for(is_kept, GENEROUS_TIMEOUT);
    live.screen.signal(rustix::process::Signal::KILL);
    live.screen.wait_exit();
    live.again(&[]);
    live.wait("› a thought that is not said yet");
    live.keys("\r");
    live.wait("Heard.");
    live.screen.signal(rustix::process::Signal::KILL);
    live.screen.wait_exit();
    live.again(&[]);
    live.wait("say what to do");
}

#[test]
fn prompts_of_earlier_conversations_come_with_the_arrow_key() {
    let mut live = LiveConversation::of([ScriptedTurn::text("One.")]);
    live.ask("rename the parser", "One.");
    live.keys("\x04");
    live.screen.wait_exit();
    live.again(&[]);
    live.wait("say what to do");
    // They are read while the screen is there already.
    live.settled();
    live.keys("\x1b[A");
    live.wait("› rename the parser");
}

#[test]
fn own_commands_are_shown_to_the_model_or_not() {
    let live = LiveConversation::of([ScriptedTurn::text("Seen.")]);
    live.say("!echo for-the-model");
    live.screen.wait_for(|screen| screen.text().matches("for-the-model").count() >= 2, GENEROUS_TIMEOUT);
    live.wait_idle();
    live.say("!!echo for-me-alone");
    live.screen.wait_for(|screen| screen.text().matches("for-me-alone").count() >= 2, GENEROUS_TIMEOUT);
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › !echo for-the-model

      ● bash echo for-the-model
          for-the-model

    › !!echo for-me-alone

      ● bash echo for-me-alone
          for-me-alone

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.ask("What was it?", "Seen.");
    let body = live.body(0);
    assert!(body.contains("for-the-model") && !body.contains("for-me-alone"), "{body}");
}

#[test]
fn the_users_editor_writes_the_prompt() {
    let start = LiveStart::of([ScriptedTurn::text("Seen.")]);
    let editor = start.project.home().join("editor.sh");
    fs::write(&editor, "#!/bin/sh\nprintf ' and more\\nsecond line\\n' >> \"$1\"\n").unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let live = start.env("EDITOR", editor.to_str().unwrap()).start();
    live.keys("begun");
    live.wait("› begun");
    live.keys("\x07");
    live.wait("second line");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › begun and more
      second line
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.keys("\r");
    live.wait("Seen.");
    let body = live.body(0);
    assert!(body.contains("begun") && body.contains("second line"), "{body}");
}

#[test]
fn an_undo_asks_what_to_do_with_a_command_that_still_runs() {
    let live = LiveStart::of([
        ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"})),
        ScriptedTurn::call("bash", json!({"command": "sleep 887042", "async": true})),
        ScriptedTurn::text("It runs."),
    ])
    .args(&["run", "--access", "full"])
    .start();
    live.ask("Serve", "It runs.");
    live.say("/undo");
    live.wait("End it and undo? [y/N]");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Serve

      ● write a.txt                                     +1 −2
          1 - one
          2 - two
          1 + three
      ● bash sleep 887042                               in the background: bash-1
      It runs.

      1 change, 1 file +1 −2 · 45 tokens · `/undo` takes it back

    › /undo
    bash-1 (sleep 887042) still runs. End it and undo? [y/N]
    ");
    live.keys("y\r");
    live.wait("undone");
    live.wait("› say");
    assert_eq!(live.project.text("a.txt"), "one\ntwo\n");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Serve

      ● write a.txt                                     +1 −2
          1 - one
          2 - two
          1 + three
      ● bash sleep 887042                               in the background: bash-1
      It runs.

      1 change, 1 file +1 −2 · 45 tokens · `/undo` takes it back

    › /undo
    bash-1 (sleep 887042) still runs. End it and undo? [y/N] y
    ! bash-1 failed, 0.1 s: sleep 887042
    ✓ undone: Serve
      `relay redo` brings it back

    › say what to do
      full · 0 % of context · work/m1 · ? keys
    ");
}

#[test]
fn question_mark_shows_the_keys_and_is_a_character_elsewhere() {
    let live = LiveConversation::of([]);
    live.keys("?");
    live.wait("begin a new line");
    live.keys("\x1b");
    live.wait("say what to do");
    live.keys("why?");
    live.wait("› why?");
}

#[test]
fn commands_that_are_typed_while_it_works_run_when_it_is_done() {
    let live = working();
    live.say("Go");
    live.wait("bash");
    live.say("/status");
    live.wait("when the agent is done");
    fs::write(live.project.path("go"), "").unwrap();
    live.wait("I heard.");
    live.wait("› /status");
    live.wait("› say");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · full
      next  say what to do · /help lists commands · ? lists keys

    › Go

      ● bash while [ ! -e go ]; do sleep 0.02; done; echo went
          went
      · when the agent is done: /status
      I heard.

      30 tokens

    › /status
      project     /tmp/project-000000
      directory   /tmp/project-000000
      session     00000000000000000000000000000000
      title       Go
      model       work/m1, thinking off
      access      full
      mode        none

    › say what to do
      full · 0 % of context · work/m1 · ? keys
    ");
}
