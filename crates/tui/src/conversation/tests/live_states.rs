//! What may still change.

use insta::assert_snapshot;
use relaycode_agent::CompactionReason;

use super::*;

fn progress(scene: &mut Scene, id: &str, status: &str, tail: &str) {
    let update = json!({"status": status, "tail": tail});
    scene.event(AgentEvent::ToolExecutionUpdate { tool_call_id: id.into(), update });
}

#[test]
fn waiting_for_the_first_word() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("hello");
        scene.event(AgentEvent::TurnStart { turn: 1 });
        scene.after(5_200);
    }), @r#"
    -- 40 ----------------------------------
    › hello
    ~~ live ~~

      ⠴ waiting for the model, 5 s
    -- 80 --------------------------------------------------------------------------
    › hello
    ~~ live ~~

      ⠴ waiting for the model, 5 s · Esc stops
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › hello
    ~~ live ~~

      ⠴ waiting for the model, 5 s · Esc stops
    "#);
}

#[test]
fn an_answer_whose_last_line_is_open() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("hello");
        scene.event(AgentEvent::MessageStart);
        scene.text(0, "The first paragraph is whole and stands, however long it is, on lines of its own.\n\nThe second ");
        scene.text(0, "is still being wri");
    }), @r"
    -- 40 ----------------------------------
    › hello

      The first paragraph is whole and
      stands, however long it is, on lines
      of its own.
    ~~ live ~~

      The second is still being wri
    -- 80 --------------------------------------------------------------------------
    › hello

      The first paragraph is whole and stands, however long it is, on lines of its
      own.
    ~~ live ~~

      The second is still being wri
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › hello

      The first paragraph is whole and stands, however long it is, on lines of its own.
    ~~ live ~~

      The second is still being wri
    ");
}

#[test]
fn thinking_while_nothing_is_said_yet() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("why?");
        scene.event(AgentEvent::MessageStart);
        scene.think(0, "The user asks why, and I should look at the client first.");
        scene.after(1_000);
    }), @r#"
    -- 40 ----------------------------------
    › why?
    ~~ live ~~

      ⠹ thinking · 12 words
    -- 80 --------------------------------------------------------------------------
    › why?
    ~~ live ~~

      ⠹ thinking · 12 words
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › why?
    ~~ live ~~

      ⠹ thinking · 12 words
    "#);
}

#[test]
fn a_call_whose_arguments_still_come() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.event(AgentEvent::MessageStart);
        scene.text(0, "I'll write the test.");
        scene.event(AgentEvent::MessageUpdate {
            update: MessageUpdate::ToolcallStart { content_index: 1, tool_name: "write".into() },
        });
        let delta = "x".repeat(2_400);
        scene.event(AgentEvent::MessageUpdate { update: MessageUpdate::ToolcallDelta { content_index: 1, delta } });
    }), @r#"
    -- 40 ----------------------------------
      I'll write the test.
    ~~ live ~~
      ⠋ write  2 kB
    -- 80 --------------------------------------------------------------------------
      I'll write the test.
    ~~ live ~~
      ⠋ write  2 kB
    -- 120 -----------------------------------------------------------------------------------------------------------------
      I'll write the test.
    ~~ live ~~
      ⠋ write  2 kB
    "#);
}

#[test]
fn calls_beside_each_other_stay_in_the_order_of_the_answer() {
    assert_snapshot!(played(|scene| {
        scene.start();
        let command = json!({"command": "cargo test client"});
        let calls = [("c1", "bash", command.clone()), ("c2", "read", json!({"path": "a.rs"})), ("c3", "read", json!({"path": "b.rs"}))];
        scene.answer("Three at once.", &calls);
        scene.begin_call("c2", "read", json!({"path": "a.rs"}));
        scene.begin_call("c1", "bash", command);
        progress(scene, "c1", "", "running 12 tests\n\u{1b}[32mtest a ... ok\u{1b}[0m\ntest b ... ok\n10%\r40%\r");
        scene.end_call("c2", "read", false, &ToolCard::line("read a.rs", "12 lines"), 3);
        scene.after(3_400);
    }), @r"
    -- 40 ----------------------------------
      Three at once.
    ~~ live ~~
      ⠹ bash cargo test client  3 s
          running 12 tests
          test a ... ok
          test b ... ok
          40%
      ● read a.rs             12 lines
      ☐ read b.rs  waits
    -- 80 --------------------------------------------------------------------------
      Three at once.
    ~~ live ~~
      ⠹ bash cargo test client  3 s
          running 12 tests
          test a ... ok
          test b ... ok
          40%
      ● read a.rs                                        12 lines
      ☐ read b.rs  waits
    -- 120 -----------------------------------------------------------------------------------------------------------------
      Three at once.
    ~~ live ~~
      ⠹ bash cargo test client  3 s
          running 12 tests
          test a ... ok
          test b ... ok
          40%
      ● read a.rs                                                   12 lines
      ☐ read b.rs  waits
    ");
}

#[test]
fn what_is_said_while_a_call_runs_stands_below_it() {
    assert_snapshot!(played_at(&[80], |scene| {
        scene.start();
        let command = json!({"command": "make"});
        scene.answer("", &[("c1", "bash", command.clone())]);
        scene.begin_call("c1", "bash", command);
        scene.say("use the other client");
        scene.event(AgentEvent::Notice {
            level: relaycode_agent::event::NoticeLevel::Warning,
            text: "the disk is nearly full".into(),
        });
        scene.after(4_000);
    }), @r#"
    -- 80 --------------------------------------------------------------------------
    ~~ live ~~
      ⠋ bash make  4 s

    › use the other client

      ! the disk is nearly full
    "#);
}

#[test]
fn a_long_command_shows_its_time_and_the_end_of_its_output() {
    assert_snapshot!(played(|scene| {
        scene.start();
        let command = json!({"command": "cargo test --workspace --all-features -- --nocapture --test-threads 1 client::retry"});
        scene.answer("", &[("c1", "bash", command.clone())]);
        scene.begin_call("c1", "bash", command);
        let tail: String = (1..=30).map(|line| format!("   Compiling crate-{line} v0.1.{line} (/home/user/projects/my-app/crates/crate-{line})\n")).collect();
        progress(scene, "c1", "in the sandbox", &tail);
        scene.after(185_000);
    }), @r#"
    -- 40 ----------------------------------
    ~~ live ~~
      ⠹ bash cargo test --worksp…  3 min 5 s
             Compiling crate-26 v0.1.26 (/h…
             Compiling crate-27 v0.1.27 (/h…
             Compiling crate-28 v0.1.28 (/h…
             Compiling crate-29 v0.1.29 (/h…
             Compiling crate-30 v0.1.30 (/h…
    -- 80 --------------------------------------------------------------------------
    ~~ live ~~
      ⠹ bash cargo test --workspace --all-features -- -…  3 min 5 s · in the sandbox
             Compiling crate-26 v0.1.26 (/home/user/projects/my-app/crates/crate-26)
             Compiling crate-27 v0.1.27 (/home/user/projects/my-app/crates/crate-27)
             Compiling crate-28 v0.1.28 (/home/user/projects/my-app/crates/crate-28)
             Compiling crate-29 v0.1.29 (/home/user/projects/my-app/crates/crate-29)
             Compiling crate-30 v0.1.30 (/home/user/projects/my-app/crates/crate-30)
    -- 120 -----------------------------------------------------------------------------------------------------------------
    ~~ live ~~
      ⠹ bash cargo test --workspace --all-features -- --nocapture --test-threads 1 client::retry  3 min 5 s · in the sandbox
             Compiling crate-26 v0.1.26 (/home/user/projects/my-app/crates/crate-26)
             Compiling crate-27 v0.1.27 (/home/user/projects/my-app/crates/crate-27)
             Compiling crate-28 v0.1.28 (/home/user/projects/my-app/crates/crate-28)
             Compiling crate-29 v0.1.29 (/home/user/projects/my-app/crates/crate-29)
             Compiling crate-30 v0.1.30 (/home/user/projects/my-app/crates/crate-30)
    "#);
}

#[test]
fn a_retry_counts_down() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("hello");
        scene.event(AgentEvent::AutoRetryStart {
            attempt: 2,
            max_attempts: 10,
            delay_ms: 8_000,
            error_message: "anthropic is overloaded".into(),
        });
        scene.after(3_100);
    }), @r#"
    -- 40 ----------------------------------
    › hello

      ! anthropic is overloaded; try 2 of 10
        in 8 s
    ~~ live ~~
      ⠇ trying again in 5 s · Esc stops
    -- 80 --------------------------------------------------------------------------
    › hello

      ! anthropic is overloaded; try 2 of 10 in 8 s
    ~~ live ~~
      ⠇ trying again in 5 s · Esc stops
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › hello

      ! anthropic is overloaded; try 2 of 10 in 8 s
    ~~ live ~~
      ⠇ trying again in 5 s · Esc stops
    "#);
}

#[test]
fn room_is_being_made() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.event(AgentEvent::AutoCompactionStart { reason: CompactionReason::Threshold, tokens_before: 180_000 });
        scene.after(12_000);
    }), @r#"
    -- 40 ----------------------------------
    ~~ live ~~
      ⠋ summing up the conversation, 12 s
    -- 80 --------------------------------------------------------------------------
    ~~ live ~~
      ⠋ summing up the conversation, 12 s · Esc stops
    -- 120 -----------------------------------------------------------------------------------------------------------------
    ~~ live ~~
      ⠋ summing up the conversation, 12 s · Esc stops
    "#);
}

#[test]
fn the_projects_check_runs() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.event(AgentEvent::ProjectCheckStart { command: "cargo check".into() });
        scene.after(2_000);
    }), @r#"
    -- 40 ----------------------------------
    ~~ live ~~
      ⠴ checking with `cargo check`, 2 s
    -- 80 --------------------------------------------------------------------------
    ~~ live ~~
      ⠴ checking with `cargo check`, 2 s · Esc stops
    -- 120 -----------------------------------------------------------------------------------------------------------------
    ~~ live ~~
      ⠴ checking with `cargo check`, 2 s · Esc stops
    "#);
}

#[test]
fn nothing_moves_while_nothing_is_done() {
    let mut scene = Scene::new();
    assert_eq!(scene.view.next_frame(), None);
    scene.start();
    assert_eq!(scene.view.next_frame(), Some(FRAME_TIME));
    scene.end(EndReason::Done, None);
    assert_eq!(scene.view.next_frame(), None);
    assert_eq!(scene.live(80), Vec::<String>::new());
}

#[test]
fn panels_follow_the_events() {
    let mut scene = Scene::new();
    scene.event(AgentEvent::QueueUpdate { steering: vec!["a".into()], follow_up: vec!["b".into()] });
    assert_eq!(scene.view.queued().len(), 2);
    let phases = vec![TodoPhase { name: "Client".into(), tasks: Vec::new() }];
    let card = ToolCard::new("todo", "", CardBody::Todo { phases: phases.clone() });
    scene.end_call("c1", "todo_write", false, &card, 1);
    assert_eq!(scene.view.todo(), phases);
}
