//! Questions: of the model, about access, about guarded files, about a plan.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{LiveConversation, LiveStart};

#[test]
fn a_question_of_the_model() {
    let question = json!({"questions": [{"id": "c", "question": "Which colour?", "recommended": 1,
        "options": [{"label": "red"}, {"label": "blue"}]}]});
    let live = LiveConversation::of([ScriptedTurn::call("ask", question), ScriptedTurn::text("Fine.")]);
    live.say("Paint it");
    live.wait("Which colour?");
    live.wait("blue");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Paint it

      ⠋ ask Which colour?

      ! Which colour?                                                     1 s left
        1 red
      › 2 blue (Recommended)
        3 Other (type your own)
        1-9 chooses · Enter the default · Esc stops everything
      ! waiting for your answer · workspace · 13 % of context · work/m1 · ? keys
    ");
    live.wait_until_keys_count();
    live.keys("1");
    live.wait("Fine.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Paint it

      ● ask: Which colour?                              red
      Fine.

      30 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    assert!(live.body(1).contains("User selected: red"), "{}", live.body(1));
}

#[test]
fn a_question_about_a_command() {
    let live = LiveStart::of([
        ScriptedTurn::call("bash", json!({"command": "touch made.txt"})),
        ScriptedTurn::text("I may not."),
        ScriptedTurn::call("bash", json!({"command": "touch made.txt"})),
        ScriptedTurn::text("It is made."),
    ])
    .args(&["run", "--access", "ask"])
    .start();
    live.say("Make it");
    live.wait("touch made.txt");
    live.wait("always");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · ask
      next  say what to do · /help lists commands · ? lists keys

    › Make it

      ⠋ bash touch made.txt

      ! run this command?
        │ touch made.txt
        no rule allows writing ./made.txt
        y once · a always `edit ./made.txt` here · Enter no · n no, and say why
        w which rule
      ! waiting for your answer · ask · 13 % of context · work/m1 · ? keys
    ");
    live.wait_until_keys_count();
    live.keys("n");
    live.wait_gone("always");
    let asks_why = live.settled();
    live.keys("\r");
    live.wait("I may not.");
    live.wait_idle();
    insta::assert_snapshot!(asks_why, @"
    relay 0.1.0 · project-000000 · work/m1 · ask
      next  say what to do · /help lists commands · ? lists keys

    › Make it

      ⠋ bash touch made.txt

      ! run this command?
        │ touch made.txt
        no rule allows writing ./made.txt
        › no, because
        Enter says no · Esc back
      ! waiting for your answer · ask · 13 % of context · work/m1 · ? keys
    ");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · ask
      next  say what to do · /help lists commands · ? lists keys

    › Make it

      ✗ bash touch made.txt
          the command did not run: the user said no (`touch made.txt`: no rule
          allows writing ./made.txt)

      I may not.

      30 tokens

    › say what to do
      ask · 0 % of context · work/m1 · ? keys
    ");
    assert!(!live.project.path("made.txt").exists());
    live.say("Please");
    live.wait("always");
    live.wait_until_keys_count();
    live.keys("y");
    live.wait("It is made.");
    live.wait_idle();
    assert!(live.project.path("made.txt").exists());
}

#[test]
fn a_question_about_a_guarded_file_gets_the_terminal() {
    let live = LiveStart::of([
        ScriptedTurn::call("write", json!({"path": ".envrc", "content": "export A=1\n"})),
        ScriptedTurn::text("It is written."),
    ])
    .start();
    live.say("Set A");
    live.wait("[y/N]");
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Set A
    ▸ Set A                                                               1 file  +1
        A  .envrc  +1
      ! .envrc may hold secrets

    --- /dev/null
    +++ b/.envrc
    @@ -0,0 +1,1 @@
    +export A=1
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    live.keys("y\r");
    live.wait("It is written.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

    › Set A
    ▸ Set A                                                               1 file  +1
        A  .envrc  +1
      ! .envrc may hold secrets

    --- /dev/null
    +++ b/.envrc
    @@ -0,0 +1,1 @@
    +export A=1
      apply? [y/N]  d diff · f pick · e edit · w why · ?  y

      ● write .envrc                                    +1
          1 + export A=1

      It is written.

      1 change, 1 file +1 · 30 tokens · `/undo` takes it back

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    assert_eq!(live.project.text(".envrc"), "export A=1\n");
}

#[test]
fn a_plan_is_approved() {
    let live = LiveStart::of([
        ScriptedTurn::call(
            "write",
            json!({"path": "plan://", "content": "# Plan\n\n1. Change `a.txt`.\n2. Test it.\n"}),
        ),
        ScriptedTurn::call("exit_plan", json!({"title": "change-a"})),
        ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"})),
        ScriptedTurn::text("It is done."),
    ])
    .args(&["run", "--plan"])
    .start();
    live.say("Change a.txt");
    live.wait("Test it.");
    live.wait("Carry out the plan");
    insta::assert_snapshot!(live.settled(), @r#"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

      ✓ plan mode
      ✓ planning: nothing changes but the plan, until you approve it

    › Change a.txt

      ● write the plan                                  4 lines

      ⠋ exit_plan change-a

      plan: change-a
      │ # Plan
      │
      │ 1. Change `a.txt`.
      │ 2. Test it.

      ! Carry out the plan "change-a"?
        1 approve
        2 approve, and start over with the plan alone
      › 3 keep planning (default)
        4 reject
        1-9 chooses · Enter the default · t say what should change
        Esc stops everything
      ! waiting for your answer · plan mode · 13 % of context · work/m1 · ? keys
    "#);
    live.wait_until_keys_count();
    live.keys("1");
    live.wait("It is done.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

      ✓ plan mode
      ✓ planning: nothing changes but the plan, until you approve it

    › Change a.txt

      ● write the plan                                  4 lines
      ● plan: change-a                                  approved, 4 lines

      plan: change-a
      │ # Plan
      │
      │ 1. Change `a.txt`.
      │ 2. Test it.

      ✓ no longer planning
      ● write a.txt                                     +1 −2
          1 - one
          2 - two
          1 + three

      It is done.

      1 change, 1 file +1 −2 · 60 tokens · `/undo` takes it back

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    assert_eq!(live.project.text("a.txt"), "three\n");
}
