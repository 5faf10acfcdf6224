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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › /
    ▸ /help              what can be typed here
      /undo              take back the newest change, as `relay undo` does
      /redo              bring back what the last undo took out
      /model [MODEL]     which model answers, or another one from now on
      /thinking [LEVEL]  how much the model thinks: off, minimal, low, medium, hig…
      /access [ACCESS]   what the agent may do: read-only, ask, workspace or full
      /plan [PROMPT]     plan before anything changes; `/plan off` ends that
      1 of 39
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.keys("th");
    live.wait_gone("/redo");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › /th
    ▸ /theme [NAME]      the colours of the conversation
      /thinking [LEVEL]  how much the model thinks: off, minimal, low, medium, hig…
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.keys("\x15");
    live.wait("say what");
    live.keys("look at @cli");
    live.wait("client_test");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › look at @cli
    ▸ src/client.rs
      docs/client.md
      src/client_test.rs
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.keys("\t");
    live.wait("@src/client.rs");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › look at @src/client.rs
      workspace · 13 % of context · work/m1 · ? keys
    ");
}

#[test]
fn a_paste_is_a_chip_and_is_sent_whole() {
    let live = LiveConversation::of([ScriptedTurn::text("Seen.")]);
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    live.keys("read ");
    live.screen.paste(&lines);
    live.wait("read [");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › read [paste 1: 300 lines]
      workspace · 13 % of context · work/m1 · ? keys
    ");
    live.keys("\r");
    live.wait("Seen.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
      line 9
      line 10
      line 11
      line 12
      line 13
      line 14
      line 15
      line 16
      line 17
      line 18
      line 19
      line 20
      line 21
      line 22
      line 23
      line 24
      line 25
      line 26
      line 27
      line 28
      line 29
      line 30
      … 270 more lines

      Seen.

      15 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

      rename the parser
    search: pars   1 of 1   Enter takes it   Ctrl+R older   Esc back
      workspace · 13 % of context · work/m1 · ? keys
    ");
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
    insta::assert_snapshot!(live.settled(), @"
      /redo                     bring back what the last undo took out
      /model [MODEL]            which model answers, or another one from now on
      /thinking [LEVEL]         how much the model thinks: off, minimal, low,
                                medium, high, xhigh or max
      /access [ACCESS]          what the agent may do: read-only, ask, workspace or
                                full
      /plan [PROMPT]            plan before anything changes; `/plan off` ends that
      /goal [TEXT]              show or set a goal that the agent works towards;
                                also `pause`, `resume`, `drop`
      /todo                     the agent's list of tasks
      /jobs [end ID|end all]    commands in the background; `/jobs end ID` ends one
      /compact [WORDS|undo]     sum up what was said so far, with a look at WORDS;
                                `/compact undo` takes that back
      /context                  how full the model's window is, and of what
      /handoff [WORDS]          go on in a fresh session that knows what it has to
      /tree [ENTRY [summary]]   what was said, or go on from there, with a summary
                                of what is left
      /label ENTRY [LABEL]      give an entry of the tree a label, or take it away
      /new                      begin a new conversation; this one stays in
                                `/resume`
      /resume [SESSION]         list the conversations of this project, or go on
                                with another one
      /branch ENTRY             go on before a prompt of `/tree`, in a conversation
                                of its own
      /fork                     go on in a copy of this conversation
      /rename TITLE             give this conversation a title
      /diff                     all that this conversation changed, as one diff
      /log [OPTIONS]            walk through what was done to the project; with
                                options as `relay log`
      /show [ID|N]              one change with its diff, as `relay show --diff`
      /commit [ID|N]            commit exactly what a change did, as `relay git
                                commit`
      /review [OPTIONS]         have another agent review, as `relay review`
      /copy                     copy the last answer to the clipboard
      /dump                     copy the whole conversation to the clipboard, with
                                what tools were asked and said
      /export [OPTIONS]         this conversation as one page, as `relay sessions
                                export`
      /status                   model, access, session and project of this
                                conversation
      /cost                     what this conversation has cost so far
      /stats [OPTIONS]          tokens, cost and tools of your sessions, as `relay
                                stats`
      /permissions [COMMAND]    the rules for what may run, as `relay permissions`
      /settings [WORDS]         look at settings and change your own
      /theme [NAME]             the colours of the conversation
      /keys                     what the keys do; `keybindings.json` in your
                                directory of relay changes them
      /init                     let the agent write AGENTS.md: what agents have to
                                know about this project
      /bug [WORDS]              write a file for a bug report, without secrets and
                                without what was said; nothing is sent
      /doctor                   what works here and what does not, as `relay doctor`
      /quit                     leave; Ctrl-D does, too
      @FILE, typed as a word of its own, sends a file of the project along. Esc
      stops the agent, Ctrl-C clears the line, Ctrl-D on an empty line leaves;
      `/keys` lists all keys

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
}

#[test]
fn views_cover_the_screen_and_leave_no_trace() {
    let live = talked();
    // What is typed to find something, so that a new model or setting is nothing to look at here.
    let views = [
        ("/keys", "Sending", ""),
        ("/model", "m1", "work"),
        ("/settings", "core.logLevel", "theme"),
        ("/theme", "red-claw", ""),
        ("/tree", "Translate", ""),
        ("/resume", "Translate", ""),
        ("/log", "Translate", ""),
    ];
    let mut seen = String::new();
    for (command, text, typed) in views {
        live.say(command);
        live.screen.wait_for(|screen| is_alternate(screen) && screen.text().contains(text), GENEROUS_TIMEOUT);
        live.keys(typed);
        seen.push_str(&format!("----- {command}\n{}\n", live.settled()));
        if !typed.is_empty() {
            // The first gives up the search.
            live.keys("\x1b");
            live.wait("type to search");
            live.settled();
        }
        live.keys("\x1b");
        live.screen.wait_for(|screen| !is_alternate(screen), GENEROUS_TIMEOUT);
        live.wait("› say");
    }
    insta::assert_snapshot!(seen, @r#"
    ----- /keys
    Keys and commands
    › ▏ type to search
    Sending
      enter                         send; while the agent works: tell it, or wait
                                    in the queue
      shift+enter, ctrl+j           begin a new line
      tab                           complete a path or a command
    Editing
      left, ctrl+b                  one character left
      right, ctrl+f                 one character right
      up, ctrl+p                    one row up; in the first row: the prompt before
      down, ctrl+n                  one row down; in the last row: the next prompt
      alt+b, alt+left, ctrl+left    one word left
      alt+f, alt+right, ctrl+right  one word right
      home, ctrl+a                  start of the line
      end, ctrl+e                   end of the line
      alt+<, ctrl+home              start of the text
      alt+>, ctrl+end               end of the text
      alt+pageup, alt+v             one page up in a long text
      alt+pagedown                  one page down in a long text
      backspace, ctrl+h, shift+ba…  delete the character before the cursor
      delete, ctrl+d                delete the character at the cursor
      ctrl+w, alt+backspace, ctrl…  cut the word before the cursor
      alt+d, alt+delete, ctrl+del…  cut the word behind the cursor
      ctrl+u                        cut to the start of the line
      ctrl+k                        cut to the end of the line
      ctrl+y                        put back what was cut last
      alt+y                         then: what was cut before that
      ctrl+_, ctrl+-, ctrl+/        undo typing
    Esc close · Up Down scroll · PgUp PgDn page
    ----- /model
    Choose a model                                                          1 of 15
    › work▏                                                          does not think
    ▸ * work/m1                                           32k  $3 / $15












    ───────────────────────────────────────────────────────────────────────────────
    m1
    model     work/m1
    window    32k tokens
    price     $3 / $15 per million tokens in / out
    images    no
    thinking  no
    key       there






    Enter choose · Esc clear · Left Right thinking
    ----- /settings
    Settings                                                                5 of 90
    › theme▏
    ▸ theme.dark                                              red-claw  default
      theme.light                                            blue-crab  default
      symbolPreset                                               theme  default
      watcher.bulkTimeout                                        30000  default
      git.gitBranchTemplate                               gitCommitMsg  default








    ───────────────────────────────────────────────────────────────────────────────
    theme.dark
    The theme on a dark background.
    value    red-claw
    default  red-claw
    may be   the name of a theme, such as "red-claw"
    set in   nowhere: it is the default
    for      every command






    Enter edit · Esc clear · Left Right change · Del default
    ----- /theme
    Choose a theme                                                                2
    › ▏ type to search
        blue-crab
    ▸ * red-claw

























    Enter keep · Esc close
    ----- /tree
    Session tree                                                   default · 3 of 6
    › ▏ type to search
      • user: Translate
      • toolResult: Successfully wrote 15 bytes to a.txt Note: this replaced 2 lin…
    ▸ • assistant: It says zwei.
    Enter go there · Shift+L label · Ctrl+O filter · Esc close
    ----- /resume
    Resume a session, this project                                                1
    › ▏ type to search
    ▸ * Translate                                        now    4 messages     2 kB












    ───────────────────────────────────────────────────────────────────────────────
    Translate
    id       00000000000000000000000000000000
    project  /tmp/project-000000
    begun    2026-01-01 12:34
    last     now
    size     2 kB  4 messages

    Translate





    Enter resume · Esc close · Tab all projects · Ctrl+R rename · Ctrl+D delete
    ----- /log
    Log                                                                           1
    › / filters: words, origin:agent, file:cart
    ▸   Translate                              now  agent        1 file  +2 -1












    ───────────────────────────────────────────────────────────────────────────────
    Translate
    --- a/a.txt
    +++ b/a.txt
    @@ -1,2 +1,3 @@
     one
    -two
    +zwei
    +three





    Enter diff · Esc close · u undo · U redo · r revert · c commit · / filter
    "#);
    insta::assert_snapshot!(live.settled(), @r"
          2 - two
          2 + zwei
          3 + three

      It says zwei.

      1 change, 1 file +2 −1 · 30 tokens · `/undo` takes it back

    › /keys

    › /model

    › /settings

    › /theme

    › /tree

    › /resume

    › /log

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
}

fn is_alternate(screen: &TestScreen) -> bool {
    screen.with_emulator(|emulator| emulator.alternate_screen())
}

#[test]
fn commands_that_print() {
    let live = talked();
    let mut seen = String::new();
    for (command, text) in [
        ("/jobs", "nothing runs"),
        ("/todo", "no list"),
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
    insta::assert_snapshot!(seen, @"
    › /jobs
      nothing runs in the background

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    › /todo
      the agent has no list of tasks

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    › /diff

    --- a/a.txt
    +++ b/a.txt
    @@ -1,2 +1,3 @@
     one
    -two
    +zwei
    +three

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    › /status
      project     /tmp/project-000000
      directory   /tmp/project-000000
      session     00000000000000000000000000000000
      title       Translate
      model       work/m1, thinking off
      access      workspace
      mode        none

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    › /model nobody/none
    ✗ there is no model `nobody/none`
      `relay models --all` lists every model

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    › /burn
    ✗ there is no command `/burn`
      `/help` lists them; begin with a blank or another word to say it to the model

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
}

#[test]
fn a_todo_list_stands_below_the_conversation() {
    let todo = json!({"ops": [{"op": "init", "list": [{"phase": "Parser", "items": ["read it", "rename it", "test it"]}]}, {"op": "done", "task": "read it"}]});
    let live = LiveConversation::of([ScriptedTurn::call("todo_write", todo), ScriptedTurn::text("Planned.")]);
    live.ask("Plan", "Planned.");
    insta::assert_snapshot!(live.settled(), @r"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Plan

      ● todo  1 of 3 tasks done, now: rename it
          Parser
            ☑ read it
            ◐ rename it
            ☐ test it

      Planned.

      30 tokens

      todo · 1 of 3 done
        Parser
          ☑ read it
          ◐ rename it
          ☐ test it

    › say what to do
      workspace · 0 % of context · work/m1 · 1 of 3 tasks · ? keys
    ");
}

#[test]
fn what_is_wrong_with_the_users_files_is_said() {
    let live = LiveStart::of([]);
    fs::write(live.project.home().join("keybindings.json"), "{\"app.burn\": \"ctrl+x\"}").unwrap();
    let live = live.config("theme: {dark: nowhere}\n").start();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

      ! Theme not found: nowhere
      ! keybindings.json: no action is named `app.burn`

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
}
