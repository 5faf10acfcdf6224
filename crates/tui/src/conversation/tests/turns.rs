//! Turns that are over.

use insta::assert_snapshot;
use relaycode_agent::{CompactionAction, CompactionReason};
use relaycode_llm::message::UserContent;
use relaycode_session::EntryBody;
use relaycode_tools::card::{CardDiff, CardExit};
use relaycode_tools::{Goal, GoalStatus, ProposedPlan};

use super::*;

fn small_diff() -> CardBody {
    let diff = "@@ -14,1 +14,1 @@\n-        let response = self.http.send(request)?;\n+        let response = self.with_retry(|| self.http.send(request.clone()))?;\n";
    let file = CardDiff { path: "src/client.rs".into(), added: 1, removed: 1, diff: diff.into() };
    CardBody::Diff { files: vec![file] }
}

fn whole_turn(scene: &mut Scene) {
    scene.view.push_head(ConversationHead {
        parts: ["relay 0.2", "my-app", "main, 2 changed", "sonnet-5", "workspace"]
            .map(str::to_string)
            .to_vec(),
        ..ConversationHead::default()
    });
    scene.start();
    scene.say("add retry with backoff to the client, and a test");
    let read = json!({"path": "src/client.rs"});
    scene.answer(
        "I'll look at the client first.",
        &[("c1", "read", read.clone()), ("c2", "search", json!({"pattern": "fn send"}))],
    );
    scene.begin_call("c1", "read", read);
    scene.begin_call("c2", "search", json!({"pattern": "fn send"}));
    scene.end_call("c2", "search", false, &ToolCard::line("search fn send", "3 matches in 2 files"), 8);
    scene.end_call("c1", "read", false, &ToolCard::line("read src/client.rs", "212 lines"), 9);
    scene.answer("", &[("c3", "edit", json!({})), ("c4", "bash", json!({"command": "cargo test client"}))]);
    scene.begin_call("c3", "edit", json!({}));
    scene.end_call("c3", "edit", false, &ToolCard::new("edit src/client.rs", "+1 -1", small_diff()), 20);
    scene.begin_call("c4", "bash", json!({"command": "cargo test client"}));
    let exit = Some(CardExit::Exited { code: 0 });
    let card =
        ToolCard::new("bash cargo test client", "4.2 s", tail(&["", "test result: ok. 12 passed; 0 failed"]));
    scene.end_call("c4", "bash", false, &ToolCard { exit, ..card }, 4_200);
    scene.answer("Done: retries up to 5 times, 0.2 s to 10 s, honours `Retry-After`.", &[]);
    scene.end(EndReason::Done, None);
    scene.view.push_turn_summary(TurnSummary {
        edits: 1,
        context_percent: None,
        changes: 1,
        files: 2,
        added: 58,
        removed: 4,
        tokens: 21_312,
        cost: 0.061,
        is_undoable: true,
    });
}

#[test]
fn a_whole_turn_from_prompt_to_summary() {
    assert_snapshot!(played(whole_turn), @r#"
    -- 40 ----------------------------------
    relay 0.2 · my-app · main, 2 changed

    › add retry with backoff to the client,
      and a test

      I'll look at the client first.
      ● read src/client.rs    212 lines
      ● search fn send  3 matches in 2 files
      ● edit src/client.rs    +1 −1
          14 - let response = self.http.sen…
          14 + let response = self.with_ret…
      ● bash cargo test client  4.2 s
          test result: ok. 12 passed; 0 fai…

      Done: retries up to 5 times, 0.2 s to
      10 s, honours `Retry-After`.

      1 change, 2 files +58 −4
      21k tokens, $0.06
      `/undo` takes it back
    -- 80 --------------------------------------------------------------------------
    relay 0.2 · my-app · main, 2 changed · sonnet-5 · workspace

    › add retry with backoff to the client, and a test

      I'll look at the client first.
      ● read src/client.rs                               212 lines
      ● search fn send                                   3 matches in 2 files
      ● edit src/client.rs                               +1 −1
          14 - let response = self.http.send(request)?;
          14 + let response = self.with_retry(|| self.http.send(request.clone()))?;
      ● bash cargo test client                           4.2 s
          test result: ok. 12 passed; 0 failed

      Done: retries up to 5 times, 0.2 s to 10 s, honours `Retry-After`.

      1 change, 2 files +58 −4 · 21k tokens, $0.06 · `/undo` takes it back
    -- 120 -----------------------------------------------------------------------------------------------------------------
    relay 0.2 · my-app · main, 2 changed · sonnet-5 · workspace

    › add retry with backoff to the client, and a test

      I'll look at the client first.
      ● read src/client.rs                                          212 lines
      ● search fn send                                              3 matches in 2 files
      ● edit src/client.rs                                          +1 −1
          14 - let response = self.http.send(request)?;
          14 + let response = self.with_retry(|| self.http.send(request.clone()))?;
      ● bash cargo test client                                      4.2 s
          test result: ok. 12 passed; 0 failed

      Done: retries up to 5 times, 0.2 s to 10 s, honours `Retry-After`.

      1 change, 2 files +58 −4 · 21k tokens, $0.06 · `/undo` takes it back
    "#);
}

#[test]
fn a_whole_turn_at_twenty_columns() {
    assert_snapshot!(played_at(&[20], whole_turn), @r#"
    -- 20 --------------
    relay 0.2 · my-app

    › add retry with
      backoff to the
      client, and a test

    I'll look at the
    client first.
    ● read src/client.rs
        212 lines
    ● search fn send
        3 matches in 2
        files
    ● edit src/client.rs
        +1 −1
      14 - let response…
      14 + let response…
    ● bash cargo test c…
        4.2 s
      test result: ok. …

    Done: retries up to
    5 times, 0.2 s to 10
    s, honours
    `Retry-After`.

    1 change, 2 files
      +58 −4
    21k tokens, $0.06
    `/undo` takes it
      back
    "#);
}

#[test]
fn a_whole_turn_in_ascii() {
    let drawn = at_widths(&[80], |width| {
        let mut scene = Scene::new();
        whole_turn(&mut scene);
        scene.view.take_finished(&crate::cards::tests::ascii_style(), width)
    });
    assert!(drawn.is_ascii(), "{drawn}");
    assert_snapshot!(drawn, @r#"
    -- 80 --------------------------------------------------------------------------
    relay 0.2 - my-app - main, 2 changed - sonnet-5 - workspace

    > add retry with backoff to the client, and a test

      I'll look at the client first.
      * read src/client.rs                               212 lines
      * search fn send                                   3 matches in 2 files
      * edit src/client.rs                               +1 -1
          14 - let response = self.http.send(request)?;
          14 + let response = self.with_retry(|| self.http.send(request.clone()))?;
      * bash cargo test client                           4.2 s
          test result: ok. 12 passed; 0 failed

      Done: retries up to 5 times, 0.2 s to 10 s, honours `Retry-After`.

      1 change, 2 files +58 -4 - 21k tokens, $0.06 - `/undo` takes it back
    "#);
}

#[test]
fn the_head_says_where_the_project_stands() {
    assert_snapshot!(played(|scene| {
        scene.view.push_head(ConversationHead {
            parts: ["relay 0.2", "my-app", "main, 2 changed", "anthropic/sonnet-5", "workspace"].map(str::to_string).to_vec(),
            last_changes: vec![
                ("add retry with backoff to the client".into(), "2 min ago".into()),
                ("fix: typo".into(), "yesterday".into()),
            ],
            waiting: vec!["1 change waits for your answer: `relay apply` shows it".into()],
            next: vec!["say what to do, or `/resume` goes on with \"round totals to cents\"".into()],
            ..ConversationHead::default()
        });
    }), @r#"
    -- 40 ----------------------------------
    relay 0.2 · my-app · main, 2 changed
      last  add retry with back… · 2 min ago
            fix: typo · yesterday
      ! 1 change waits for your answer:
        `relay apply` shows it
      next  say what to do, or `/resume`
            goes on with "round totals to
            cents"
    -- 80 --------------------------------------------------------------------------
    relay 0.2 · my-app · main, 2 changed · anthropic/sonnet-5 · workspace
      last  add retry with backoff to the client · 2 min ago
            fix: typo · yesterday
      ! 1 change waits for your answer: `relay apply` shows it
      next  say what to do, or `/resume` goes on with "round totals to cents"
    -- 120 -----------------------------------------------------------------------------------------------------------------
    relay 0.2 · my-app · main, 2 changed · anthropic/sonnet-5 · workspace
      last  add retry with backoff to the client · 2 min ago
            fix: typo · yesterday
      ! 1 change waits for your answer: `relay apply` shows it
      next  say what to do, or `/resume` goes on with "round totals to cents"
    "#);
}

#[test]
fn the_head_without_a_model_says_how_to_get_one() {
    assert_snapshot!(played(|scene| {
        let way = |command: &str, does: &str| (command.to_string(), does.to_string());
        scene.view.push_head(ConversationHead {
            parts: ["relay 0.2", "my-app", "main, clean"].map(str::to_string).to_vec(),
            ways_to_a_model: vec![
                way("relay keys add anthropic", "a key of a provider's, kept on this computer alone"),
                way("ollama serve", "a model on this computer: relay finds it by itself"),
                way("/model", "choose among the models that relay knows"),
            ],
            ..ConversationHead::default()
        });
    }), @r#"
    -- 40 ----------------------------------
    relay 0.2 · my-app · main, clean
      ! There is no model yet. Any of these
        gets you one:
        relay keys add anthropic
          a key of a provider's, kept on
          this computer alone
        ollama serve
          a model on this computer: relay
          finds it by itself
        /model
          choose among the models that relay
          knows
    -- 80 --------------------------------------------------------------------------
    relay 0.2 · my-app · main, clean
      ! There is no model yet. Any of these gets you one:
        relay keys add anthropic  a key of a provider's, kept on this computer alone
        ollama serve              a model on this computer: relay finds it by itself
        /model                    choose among the models that relay knows
    -- 120 -----------------------------------------------------------------------------------------------------------------
    relay 0.2 · my-app · main, clean
      ! There is no model yet. Any of these gets you one:
        relay keys add anthropic  a key of a provider's, kept on this computer alone
        ollama serve              a model on this computer: relay finds it by itself
        /model                    choose among the models that relay knows
    "#);
}

#[test]
fn what_went_along_with_a_prompt_is_named_and_a_long_one_is_folded() {
    assert_snapshot!(played_at(&[80], |scene| {
        scene.start();
        let pasted: String = (1..=40).map(|line| format!("log line {line}\n")).collect();
        scene.message(Message::User(UserMessage {
            content: vec![
                UserContent::text(format!("why does this fail?\n{pasted}")),
                UserContent::text("<file path=\"src/client.rs\">\nfn send() {}\n</file>"),
                UserContent::Image(relaycode_llm::message::ImageContent::default()),
            ],
            timestamp: 0,
        }));
    }), @r#"
    -- 80 --------------------------------------------------------------------------
    › why does this fail?
      log line 1
      log line 2
      log line 3
      log line 4
      log line 5
      log line 6
      log line 7
      log line 8
      log line 9
      log line 10
      log line 11
      log line 12
      log line 13
      log line 14
      log line 15
      log line 16
      log line 17
      log line 18
      log line 19
      log line 20
      log line 21
      log line 22
      log line 23
      log line 24
      log line 25
      log line 26
      log line 27
      log line 28
      log line 29
      … 11 more lines
      + src/client.rs
      + 1 image
    ~~ live ~~

      ⠋ waiting for the model · Esc stops
    "#);
}

#[test]
fn thinking_is_one_line_that_says_how_much() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("why?");
        scene.event(AgentEvent::MessageStart);
        scene.think(0, "The user asks why. I should look ");
        scene.after(4_300);
        scene.think(0, "at the client first, and then at the tests.");
        scene.text(1, "Because the client never gives up.");
        let message = json!({"role": "assistant", "stopReason": "stop", "content": [
            {"type": "thinking", "thinking": "The user asks why. I should look at the client first, and then at the tests."},
            {"type": "text", "text": "Because the client never gives up."}]});
        scene.message(serde_json::from_value(message).unwrap());
        scene.end(EndReason::Done, None);
    }), @r#"
    -- 40 ----------------------------------
    › why?

      ∴ thought for 4 s · 16 words (Ctrl-T)
      Because the client never gives up.
    -- 80 --------------------------------------------------------------------------
    › why?

      ∴ thought for 4 s · 16 words (Ctrl-T)
      Because the client never gives up.
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › why?

      ∴ thought for 4 s · 16 words (Ctrl-T)
      Because the client never gives up.
    "#);
}

#[test]
fn thinking_can_be_shown_as_it_comes() {
    let settings = ConversationSettings { show_thinking: true, ..ConversationSettings::default() };
    let drawn = at_widths(&[40, 80], |width| {
        let mut scene = Scene::with(settings.clone(), None);
        scene.start();
        scene.say("why?");
        scene.event(AgentEvent::MessageStart);
        scene.think(0, "The user asks why.\nI should look at the client first, and then at the tests.");
        scene.screen(width)
    });
    assert_snapshot!(drawn, @r#"
    -- 40 ----------------------------------
    › why?

      │ The user asks why.
    ~~ live ~~
      │ I should look at the client first,
      │ and then at the tests.
    -- 80 --------------------------------------------------------------------------
    › why?

      │ The user asks why.
    ~~ live ~~
      │ I should look at the client first, and then at the tests.
    "#);
}

#[test]
fn what_happens_beside_answers_is_a_sentence_each() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.event(AgentEvent::RequestRetry {
            attempt: 1,
            max_attempts: 3,
            delay_ms: 2_000,
            error_message: "anthropic is overloaded".into(),
        });
        scene.event(AgentEvent::CredentialSwitched {
            provider: "anthropic".into(),
            key: 2,
            of: 3,
            error_message: "the key is used up".into(),
        });
        scene.event(AgentEvent::RetryFallbackApplied {
            from: "anthropic/sonnet-5".into(),
            to: "openai/gpt-6".into(),
            role: "default".into(),
        });
        scene.event(AgentEvent::AutoRetryEnd { success: false, attempt: 3, final_error: Some("no answer".into()) });
        scene.event(AgentEvent::AutoCompactionEnd {
            reason: CompactionReason::Threshold,
            action: CompactionAction::Summarized,
            tokens_before: 181_400,
            tokens_after: 24_100,
            entry_id: None,
            error_message: None,
            will_retry: false,
            duration_ms: 1,
        });
        scene.event(AgentEvent::ConversationRewound { entry_id: "e".into(), report: "The cache is not it.\nNeither is the clock.".into() });
        let goal = |status| Goal { objective: "all tests pass".into(), status, evidence: None };
        scene.event(AgentEvent::GoalChanged { goal: goal(GoalStatus::Active) });
        scene.event(AgentEvent::GoalContinued { round: 2, most: 10 });
        scene.event(AgentEvent::GoalChanged { goal: goal(GoalStatus::Complete) });
        scene.event(AgentEvent::ModeChanged { mode: "plan".into(), data: None, is_fresh: false });
        scene.event(AgentEvent::ModeChanged { mode: "none".into(), data: None, is_fresh: true });
        scene.event(AgentEvent::ProjectCheckEnd {
            command: "cargo check".into(),
            result: "ended with code 101".into(),
            errors: Some(3),
            new_errors: Some(1),
            told: true,
        });
        scene.event(AgentEvent::Notice {
            level: relaycode_agent::event::NoticeLevel::Warning,
            text: "bash npm test: cannot be undone: node_modules/.cache, a file outside of the project".into(),
        });
    }), @r#"
    -- 40 ----------------------------------
      ! anthropic is overloaded; try 1 of 3
        in 2 s
      ! the key is used up; using anthropic
        key 2 of 3 from now on
      ! openai/gpt-6 takes over from
        anthropic/sonnet-5, which does not
        answer
      ✓ summed up the conversation: 181k →
        24k tokens
      ✓ went back to the checkpoint
        The cache is not it.
        Neither is the clock.
      · goal: all tests pass
      · the goal is not reached yet: going
        on (2 of 10)
      ✓ goal reached: all tests pass
      ✓ planning: nothing changes but the
        plan, until you approve it
      ✓ carrying out the plan in a fresh
        conversation
      ! check `cargo check` ended with code
        101: 3 errors, 1 new; the agent
        looks at them
      ! bash npm test: cannot be undone:
        node_modules/.cache, a file outside
        of the project
    ~~ live ~~
      ⠋ waiting for the model · Esc stops
    -- 80 --------------------------------------------------------------------------
      ! anthropic is overloaded; try 1 of 3 in 2 s
      ! the key is used up; using anthropic key 2 of 3 from now on
      ! openai/gpt-6 takes over from anthropic/sonnet-5, which does not answer
      ✓ summed up the conversation: 181k → 24k tokens
      ✓ went back to the checkpoint
        The cache is not it.
        Neither is the clock.
      · goal: all tests pass
      · the goal is not reached yet: going on (2 of 10)
      ✓ goal reached: all tests pass
      ✓ planning: nothing changes but the plan, until you approve it
      ✓ carrying out the plan in a fresh conversation
      ! check `cargo check` ended with code 101: 3 errors, 1 new; the agent looks at
        them
      ! bash npm test: cannot be undone: node_modules/.cache, a file outside of the
        project
    ~~ live ~~
      ⠋ waiting for the model · Esc stops
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ! anthropic is overloaded; try 1 of 3 in 2 s
      ! the key is used up; using anthropic key 2 of 3 from now on
      ! openai/gpt-6 takes over from anthropic/sonnet-5, which does not answer
      ✓ summed up the conversation: 181k → 24k tokens
      ✓ went back to the checkpoint
        The cache is not it.
        Neither is the clock.
      · goal: all tests pass
      · the goal is not reached yet: going on (2 of 10)
      ✓ goal reached: all tests pass
      ✓ planning: nothing changes but the plan, until you approve it
      ✓ carrying out the plan in a fresh conversation
      ! check `cargo check` ended with code 101: 3 errors, 1 new; the agent looks at them
      ! bash npm test: cannot be undone: node_modules/.cache, a file outside of the project
    ~~ live ~~
      ⠋ waiting for the model · Esc stops
    "#);
}

#[test]
fn a_plan_stands_in_the_conversation_before_it_is_asked_about() {
    assert_snapshot!(played_at(&[40, 80], |scene| {
        scene.start();
        scene.event(AgentEvent::PlanProposed {
            proposed: ProposedPlan {
                title: "Round the totals".into(),
                plan: "1. Add `Money` with cents as an integer.\n2. Use it in `cart.ts` and `invoice.ts`.\n\nTests: one for each place where a total is rounded.\n".into(),
                plan_file: "/plans/round.md".into(),
                is_edited: true,
            },
        });
    }), @r#"
    -- 40 ----------------------------------
      plan: Round the totals, edited since
        the agent wrote it
      │ 1. Add `Money` with cents as an
      │ integer.
      │ 2. Use it in `cart.ts` and
      │ `invoice.ts`.
      │
      │ Tests: one for each place where a
      │ total is rounded.
    ~~ live ~~

      ⠋ waiting for the model · Esc stops
    -- 80 --------------------------------------------------------------------------
      plan: Round the totals, edited since the agent wrote it
      │ 1. Add `Money` with cents as an integer.
      │ 2. Use it in `cart.ts` and `invoice.ts`.
      │
      │ Tests: one for each place where a total is rounded.
    ~~ live ~~

      ⠋ waiting for the model · Esc stops
    "#);
}

#[test]
fn a_run_that_was_stopped_says_so_and_drops_calls_that_were_never_made() {
    assert_snapshot!(played(|scene| {
        scene.start();
        scene.say("delete everything");
        scene.event(AgentEvent::MessageStart);
        scene.text(0, "First I'll look at");
        scene.event(AgentEvent::MessageUpdate {
            update: MessageUpdate::ToolcallStart { content_index: 1, tool_name: "bash".into() },
        });
        let message = json!({"role": "assistant", "stopReason": "aborted", "content": [
            {"type": "text", "text": "First I'll look at"},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}]});
        scene.message(serde_json::from_value(message).unwrap());
        scene.end(EndReason::Aborted, None);
    }), @r#"
    -- 40 ----------------------------------
    › delete everything

      First I'll look at
      ! stopped; what was finished stays
    -- 80 --------------------------------------------------------------------------
    › delete everything

      First I'll look at
      ! stopped; what was finished stays
    -- 120 -----------------------------------------------------------------------------------------------------------------
    › delete everything

      First I'll look at
      ! stopped; what was finished stays
    "#);
}

#[test]
fn a_model_that_does_not_answer_is_told_with_its_reason() {
    assert_snapshot!(played_at(&[80], |scene| {
        scene.start();
        scene.say("hello");
        scene.end(EndReason::ModelFailed, Some("anthropic refused the key: `relay keys` shows where it comes from"));
    }), @r#"
    -- 80 --------------------------------------------------------------------------
    › hello

      ✗ anthropic refused the key: `relay keys` shows where it comes from
    "#);
}

#[test]
fn a_session_that_goes_on_shows_its_end_at_once() {
    assert_snapshot!(played(|scene| {
        let entry = |value: Value| EntryBody::Message { message: value };
        let entries = [
            entry(json!({"role": "user", "content": "round totals to cents"})),
            entry(json!({"role": "assistant", "stopReason": "toolUse", "content": [
                {"type": "thinking", "thinking": "one two three"},
                {"type": "text", "text": "I'll round in one place."},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "npm test"}},
                {"type": "toolCall", "id": "c2", "name": "read", "arguments": {"path": "a.ts"}}]})),
            entry(json!({"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": true, "content": "exit 1",
                "details": {"card": {"title": "bash npm test", "summary": "exit 1, 2.0 s", "body": {"kind": "text", "text": "1 failing", "isTail": true},
                    "exit": {"kind": "exited", "code": 1}, "durationMs": 2000}}})),
            EntryBody::ModelChange { model: "openai/gpt-6".into(), role: None },
            entry(json!({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": "One test still fails."}]})),
            EntryBody::ModeChange { mode: "plan".into(), data: None },
        ];
        scene.view.replay(142, entries.iter().map(|body| ("e", body)), scene.now);
    }), @r#"
    -- 40 ----------------------------------
      · 142 earlier entries; `/tree` shows
        them

    › round totals to cents

      ∴ thought · 3 words (Ctrl-T)
      I'll round in one place.
      ✗ bash npm test         exit 1 · 2.0 s
          1 failing
      · model: openai/gpt-6
      One test still fails.
      ✓ plan mode
    -- 80 --------------------------------------------------------------------------
      · 142 earlier entries; `/tree` shows them

    › round totals to cents

      ∴ thought · 3 words (Ctrl-T)
      I'll round in one place.
      ✗ bash npm test                                    exit 1 · 2.0 s
          1 failing
      · model: openai/gpt-6
      One test still fails.
      ✓ plan mode
    -- 120 -----------------------------------------------------------------------------------------------------------------
      · 142 earlier entries; `/tree` shows them

    › round totals to cents

      ∴ thought · 3 words (Ctrl-T)
      I'll round in one place.
      ✗ bash npm test                                               exit 1 · 2.0 s
          1 failing
      · model: openai/gpt-6
      One test still fails.
      ✓ plan mode
    "#);
}
