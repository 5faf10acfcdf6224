//! Making room: when, how, what stays, what comes of a model that does not play along, and the way back.

mod branches;
mod failures;
mod hooks;
mod simulation;

use std::sync::{Arc, OnceLock};

use relaycode_agent::{
    Agent, AgentEvent, AgentHandle, CompactionAction, CompactionReason, EndReason, RunOutcome, UserPrompt,
};
use relaycode_llm::models::model::ModelPrice;
use relaycode_llm::request::Tool as ToolDefinition;
use relaycode_testkit::model::{Script, ScriptedTurn};
use relaycode_tools::{
    Tool, ToolCard, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, ToolWorkspace, TouchedFiles,
    registry,
};
use serde_json::{Map, Value, json};

use crate::fixture::{Scene, WIRES};

/// Answers with as many words as it is asked for.
pub(crate) struct WordsTool;

impl Tool for WordsTool {
    fn name(&self) -> &'static str {
        "words"
    }

    fn definition(&self, _: &ToolWorkspace) -> ToolDefinition {
        let parameters = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
        ToolDefinition { name: "words".into(), description: "Words".into(), parameters }
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let count = call.arguments.get("count").and_then(Value::as_u64).unwrap_or(0);
        let text = "word ".repeat(usize::try_from(count).unwrap());
        Ok(ToolOutput::text(text, ToolCard::line(format!("words {count}"), "said")))
    }

    fn touched_files(&self, arguments: &Map<String, Value>, _: &Value) -> TouchedFiles {
        let name =
            |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_string).into_iter().collect();
        TouchedFiles { read: name("read"), changed: name("changed") }
    }
}

/// A model with this window, that sums up with `summary`.
pub(crate) fn scene(
    window: u64,
    turns: impl IntoIterator<Item = ScriptedTurn>,
    summary: ScriptedTurn,
) -> Scene {
    let script = Script { aux: summary, ..Script::new(turns) }.window(window);
    let mut scene = Scene { window, ..Scene::with_script(script) };
    scene.tools = vec![Arc::new(WordsTool)];
    scene
        .tools
        .extend(registry::all().iter().filter(|tool| ["read", "todo_write"].contains(&tool.name())).cloned());
    scene
}

pub(crate) fn words(count: u64) -> ScriptedTurn {
    ScriptedTurn::call("words", json!({ "count": count }))
}

/// A prompt, and what happened.
pub(crate) fn say(agent: &mut Agent, text: &str) -> (RunOutcome, Vec<AgentEvent>) {
    let handle = agent.handle();
    let mut reader = handle.read_events(handle.last_seq());
    let outcome = agent.prompt(&UserPrompt::text(text));
    let mut events = Vec::new();
    while let Some(event) = reader.next_event() {
        events.push(event.event.clone());
        if matches!(event.event, AgentEvent::AgentEnd { .. }) {
            break;
        }
    }
    (outcome, events)
}

pub(crate) fn compactions(events: &[AgentEvent]) -> Vec<(CompactionReason, CompactionAction)> {
    let ends = events.iter().filter_map(|event| match event {
        AgentEvent::AutoCompactionEnd { reason, action, .. } => Some((*reason, *action)),
        _ => None,
    });
    ends.collect()
}

/// The conversation of the last request that offered tools.
pub(crate) fn last_sent(scene: &Scene) -> String {
    let requests = scene.server.requests();
    let is_turn = |body: &Value| body.get("tools").is_some();
    let sent = requests.iter().rev().find(|request| is_turn(&request.body)).unwrap();
    sent.body.to_string()
}

/// What was asked for a summary.
pub(crate) fn summary_questions(scene: &Scene) -> Vec<String> {
    let requests = scene.server.requests();
    let asked = requests.iter().filter(|request| request.body.get("tools").is_none());
    asked.map(|request| request.body.to_string()).collect()
}

#[test]
fn before_the_window_is_full_the_conversation_is_summed_up_on_every_wire_and_goes_on() {
    for wire in WIRES {
        let turns = [words(6_000), words(6_000), words(6_000), words(6_000), ScriptedTurn::text("done")];
        let mut scene = Scene { wire, ..scene(40_000, turns, ScriptedTurn::text("## Goal\nCount words.")) };
        scene.settings.compaction.prune = false;
        let mut agent = scene.agent();
        let (outcome, events) = say(&mut agent, "Count all the words, and nothing else!");
        assert_eq!(
            (outcome.reason, outcome.answer.as_str()),
            (EndReason::Done, "done"),
            "{wire:?} {outcome:?}"
        );
        assert_eq!(
            compactions(&events),
            [(CompactionReason::Threshold, CompactionAction::Summarized)],
            "{wire:?}"
        );
        let sent = last_sent(&scene);
        assert!(
            sent.contains("Count words.") && sent.contains("Count all the words, and nothing else!"),
            "{sent}"
        );
        assert!(sent.contains("Be brief."), "the instructions stay");
        assert!(outcome.usage.context_tokens < 24_000, "{:?}", outcome.usage);
        // What is in memory is what the session has.
        drop(agent);
        assert!(scene.agent().context_tokens() < 24_000);
    }
}

#[test]
fn a_request_that_is_refused_as_too_long_is_made_shorter_and_sent_again_on_every_wire() {
    for wire in WIRES {
        let turns = [words(3_000), words(3_000), ScriptedTurn::text("done")];
        let mut scene = Scene { wire, ..scene(7_000, turns, ScriptedTurn::text("Words were counted.")) };
        // The model's data are wrong: it reads much less.
        scene.window = 200_000;
        let mut agent = scene.agent();
        let (outcome, events) = say(&mut agent, "Count");
        assert_eq!(
            (outcome.reason, outcome.answer.as_str()),
            (EndReason::Done, "done"),
            "{wire:?} {outcome:?}"
        );
        assert!(
            compactions(&events).iter().all(|(reason, _)| *reason == CompactionReason::Overflow),
            "{events:?}"
        );
        assert!(compactions(&events).len() <= 3, "{wire:?} {:?}", compactions(&events));
        assert!(agent.window() < 10_000, "what was refused is remembered: {}", agent.window());
    }
}

#[test]
fn one_message_that_is_larger_than_the_window_is_no_end() {
    let scene = scene(4_000, [ScriptedTurn::text("seen")], ScriptedTurn::text("x"));
    let mut agent = scene.agent();
    let long = format!("BEGIN {} END", "word ".repeat(20_000));
    let (outcome, _) = say(&mut agent, &long);
    assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
    let sent = last_sent(&scene);
    assert!(
        sent.contains("BEGIN word") && sent.contains("word  END") && sent.contains("history://"),
        "{sent}"
    );
}

#[test]
fn one_result_that_is_larger_than_the_window_is_no_end() {
    let scene =
        scene(4_000, [words(20_000), ScriptedTurn::text("seen")], ScriptedTurn::text("It said words."));
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Say much");
    assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
    assert_eq!(compactions(&events), [(CompactionReason::Threshold, CompactionAction::Summarized)]);
    assert!(last_sent(&scene).contains("It said words."));
}

#[test]
fn a_result_that_the_model_has_not_read_stays_while_the_window_holds_it() {
    // Beyond the threshold of 16 000 with its first result already.
    let turns = [words(17_000), ScriptedTurn::text("read"), ScriptedTurn::text("later")];
    let scene = scene(32_000, turns, ScriptedTurn::text("Many words."));
    let mut agent = scene.agent();
    let (outcome, _) = say(&mut agent, "Say much");
    assert_eq!(outcome.answer, "read");
    assert!(last_sent(&scene).contains(&"word ".repeat(16_000)), "it was read whole");
    assert!(summary_questions(&scene).is_empty(), "there was nothing else to sum up");
    // Now it was read.
    let (_, events) = say(&mut agent, "And?");
    assert_eq!(compactions(&events), [(CompactionReason::Threshold, CompactionAction::Summarized)]);
    assert!(!last_sent(&scene).contains(&"word ".repeat(16_000)));
}

#[test]
fn old_outputs_are_cut_to_a_line_if_that_is_enough() {
    let turns = [words(30_000), words(30_000), words(30_000), words(30_000), ScriptedTurn::text("done")];
    let scene = scene(140_000, turns, ScriptedTurn::text("never"));
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
    assert_eq!(compactions(&events), [(CompactionReason::Threshold, CompactionAction::Pruned)]);
    let sent = last_sent(&scene);
    assert!(sent.contains("This output was left out to save room. words 30000: said."), "{}", &sent[..2_000]);
    assert!(summary_questions(&scene).is_empty(), "no model is asked for it");
    // The same after a resume, and without it after an undo.
    let cut = agent.context_tokens();
    assert!(agent.undo_compaction().unwrap().is_some());
    assert!(agent.context_tokens() > cut + 30_000, "{} {cut}", agent.context_tokens());
    assert!(agent.undo_compaction().unwrap().is_none());
}

#[test]
fn an_output_that_was_cut_can_be_read_again_and_so_can_every_message_of_the_users() {
    let turns = [words(2_000), ScriptedTurn::text("ok"), words(2_000), ScriptedTurn::text("ok")];
    let scene = scene(6_000, turns, ScriptedTurn::text("Words."));
    let mut agent = scene.agent();
    say(&mut agent, "First thing");
    say(&mut agent, &format!("Second thing {}", "long ".repeat(900)));
    let read = |path: &str| {
        let arguments = json!({ "path": path }).as_object().unwrap().clone();
        let invocation = ToolInvocation {
            id: "c",
            arguments: &arguments,
            workspace: agent.workspace(),
            host: &crate::fixture::Nobody,
            cancel: &relaycode_llm::CancelToken::default(),
        };
        registry::by_name("read")
            .unwrap()
            .run(&invocation)
            .map(|output| output.to_text())
            .map_err(|error| error.to_string())
    };
    let all = read("history://user").unwrap();
    assert!(all.contains("First thing") && all.contains("Second thing long"), "{all}");
    let address = all.lines().next().unwrap().trim_start_matches("1|").to_string();
    assert!(read(&address).unwrap().contains("First thing"));
    assert!(read("history://").unwrap().contains("The user said 2 messages"));
    assert!(read("history://nothing").unwrap_err().contains("there is no entry `nothing`"));
}

#[test]
fn tasks_stay_word_for_word_and_go_on_with_the_session() {
    let list =
        json!({"ops": [{"op": "init", "list": [{"phase": "Ship", "items": ["pack `a.rs`", "send it"]}]}]});
    let turns = [
        ScriptedTurn::call("todo_write", list),
        words(3_000),
        words(3_000),
        words(3_000),
        ScriptedTurn::text("ok"),
        ScriptedTurn::call("todo_write", json!({"ops": [{"op": "done", "task": "pack `a.rs`"}]})),
        ScriptedTurn::text("ok"),
    ];
    let scene = scene(20_000, turns, ScriptedTurn::text("Packing."));
    let mut agent = scene.agent();
    let (_, events) = say(&mut agent, "Ship it");
    assert_eq!(compactions(&events).len(), 1);
    assert!(last_sent(&scene).contains(r"Ship\n  [/] pack `a.rs`\n  [ ] send it"), "{}", last_sent(&scene));
    drop(agent);
    // Another process has the list, though the call that made it was summed up.
    let mut agent = scene.agent();
    say(&mut agent, "Go on");
    assert!(last_sent(&scene).contains("Remaining items (1)"), "{}", last_sent(&scene));
}

#[test]
fn files_accumulate_and_a_later_summary_begins_with_the_earlier_one() {
    let read = |path: &str, count: u64| ScriptedTurn::call("words", json!({"count": count, "read": path}));
    let changed =
        |path: &str, count: u64| ScriptedTurn::call("words", json!({"count": count, "changed": path}));
    let turns = [
        read("a.rs", 100),
        changed("b.rs", 3_000),
        read("c.rs", 3_000),
        read("b.rs", 3_000),
        ScriptedTurn::text("ok"),
        changed("a.rs", 4_000),
        read("d.rs", 4_000),
        ScriptedTurn::text("ok"),
    ];
    let scene = scene(16_000, turns, ScriptedTurn::text("NOTES of the model."));
    let mut agent = scene.agent();
    say(&mut agent, "One");
    assert_eq!(summary_questions(&scene).len(), 1);
    say(&mut agent, "Two");
    let asked = summary_questions(&scene);
    assert!(
        asked.len() > 1 && asked.iter().any(|question| question.contains("NOTES of the model.")),
        "{asked:?}"
    );
    let sent = last_sent(&scene);
    assert!(sent.contains(r"<read-files>\nc.rs"), "{sent}");
    assert!(
        sent.contains(r"<modified-files>\nb.rs\na.rs\n</modified-files>") && sent.contains("<open-edits>"),
        "{sent}"
    );
}

#[test]
fn words_of_the_user_and_the_handle_ask_for_a_summary() {
    let turns = [words(500), ScriptedTurn::text("ok"), words(500), ScriptedTurn::text("ok")];
    let scene = scene(50_000, turns, ScriptedTurn::text("Short."));
    let mut agent = scene.agent();
    let nothing = agent.compact(None).unwrap();
    assert_eq!(nothing.action, CompactionAction::Nothing, "{nothing:?}");
    say(&mut agent, "Count");
    let outcome = agent.compact(Some("the numbers")).unwrap();
    assert_eq!(outcome.action, CompactionAction::Summarized, "{outcome:?}");
    assert!(outcome.tokens_after < outcome.tokens_before, "{outcome:?}");
    assert!(
        summary_questions(&scene)[0].contains("above all: the numbers"),
        "{:?}",
        summary_questions(&scene)
    );
    // Between runs nobody sees to it.
    assert!(!agent.handle().compact("x"));
    assert!(agent.handle().is_auto_compaction());
}

/// Asks for a summary, as a client of the run would.
#[derive(Default)]
struct ClientTool(OnceLock<AgentHandle>);

impl Tool for ClientTool {
    fn name(&self) -> &'static str {
        "client"
    }

    fn definition(&self, _: &ToolWorkspace) -> ToolDefinition {
        let parameters = json!({"type": "object"});
        ToolDefinition { name: "client".into(), description: "A client".into(), parameters }
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, _: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        assert!(self.0.get().unwrap().compact("the end"));
        Ok(ToolOutput::text("asked", ToolCard::line("client", "")))
    }
}

#[test]
fn what_a_client_asks_for_within_a_run_is_done_before_the_next_request() {
    let turns = [words(500), ScriptedTurn::call("client", json!({})), ScriptedTurn::text("ok")];
    let mut scene = scene(50_000, turns, ScriptedTurn::text("Short."));
    let client = Arc::new(ClientTool::default());
    scene.tools.push(client.clone());
    let mut agent = scene.agent();
    client.0.set(agent.handle()).ok();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!(outcome.reason, EndReason::Done);
    assert_eq!(
        compactions(&events),
        [(CompactionReason::Manual, CompactionAction::Summarized)],
        "{events:?}"
    );
    assert!(summary_questions(&scene)[0].contains("above all: the end"));
}

#[test]
fn a_model_with_a_larger_window_goes_on_where_one_is_configured() {
    let turns = [words(8_000), words(8_000), ScriptedTurn::text("ok")];
    let mut scene = scene(60_000, turns, ScriptedTurn::text("never"));
    let mut large = scene.model("large");
    large.model.price = ModelPrice::default();
    scene.promotion = Some(Box::new(large));
    scene.window = 20_000;
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
    assert_eq!(compactions(&events), [(CompactionReason::Threshold, CompactionAction::Promoted)]);
    let promoted = AgentEvent::ContextPromoted { from: "scripted/first".into(), to: "scripted/large".into() };
    assert!(events.contains(&promoted), "{events:?}");
    assert_eq!(scene.server.requests().last().unwrap().body["model"], "large");
    // The session itself goes on with the model that was chosen.
    say(&mut agent, "And?");
    let models = agent.with_session(|session| session.context().unwrap().models);
    assert_eq!(
        (models["default"].as_str(), models["temporary"].as_str()),
        ("scripted/first", "scripted/large")
    );
}

#[test]
fn what_was_undone_is_read_again_byte_for_byte_also_by_an_agent_that_resumes() {
    for wire in WIRES {
        let turns = [words(1_000), words(1_000), words(10)]
            .into_iter()
            .chain((0..6).map(|_| ScriptedTurn::text("ok")));
        let scene = Scene { wire, ..scene(100_000, turns, ScriptedTurn::text("Short.")) };
        let mut agent = scene.agent();
        say(&mut agent, "Count");
        let before = agent_messages(&agent);
        assert_eq!(agent.compact(None).unwrap().action, CompactionAction::Summarized);
        let compacted = agent_messages(&agent);
        assert_ne!(before, compacted);
        assert!(agent.undo_compaction().unwrap().is_some());
        assert_eq!(agent_messages(&agent), before, "{wire:?}");
        // What was said after a compaction stays when it is undone.
        assert_eq!(agent.compact(None).unwrap().action, CompactionAction::Summarized);
        say(&mut agent, "After");
        assert!(agent.undo_compaction().unwrap().is_some());
        let all = agent_messages(&agent);
        assert!(all.starts_with(before.trim_end_matches(']')) && all.contains("After"), "{all}");
        drop(agent);
        let mut agent = scene.agent();
        assert_eq!(agent_messages(&agent), all);
        assert!(agent.undo_compaction().unwrap().is_none(), "each once");
        say(&mut agent, "Last");
        let sent = last_sent(&scene);
        assert!(sent.contains("After") && sent.contains(&"word ".repeat(900)), "{sent}");
    }
}

/// As they are sent, without what is only counted.
fn agent_messages(agent: &Agent) -> String {
    let messages = agent.with_session(|session| session.context().unwrap().to_model_messages());
    let mut messages = serde_json::to_value(&messages).unwrap();
    for message in messages.as_array_mut().unwrap() {
        message.as_object_mut().unwrap().shift_remove("usage");
    }
    messages.to_string()
}

#[test]
fn requests_extend_each_other_between_two_compactions() {
    let turns = (0..40).map(|at| words(200 + at)).chain([ScriptedTurn::text("done")]);
    let scene = scene(12_000, turns, ScriptedTurn::text("Short."));
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Go");
    assert_eq!(outcome.reason, EndReason::Done);
    let made = compactions(&events).len();
    assert!((1..8).contains(&made), "{made}");
    let text =
        |body: &Value| body["messages"].to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let requests = scene.server.requests();
    let bodies: Vec<String> = requests
        .iter()
        .filter(|request| request.body.get("tools").is_some())
        .map(|request| text(&request.body))
        .collect();
    let breaks = bodies.windows(2).filter(|pair| !pair[1].starts_with(pair[0].trim_end_matches(']'))).count();
    assert_eq!(breaks, made, "only a compaction begins anew");
}

#[test]
fn the_report_says_how_full_the_window_is_and_of_what() {
    let scene = scene(50_000, [words(500), ScriptedTurn::text("ok")], ScriptedTurn::text("Short."));
    let mut agent = scene.agent();
    say(&mut agent, "Count");
    agent.compact(None).unwrap();
    let report = agent.context_report();
    let names: Vec<(&str, usize)> = report.parts.iter().map(|part| (part.name, part.messages)).collect();
    assert_eq!(names[..3], [("system prompt", 0), ("tools", 0), ("summaries", 1)]);
    assert_eq!((report.window, report.threshold), (50_000, Some(33_616)));
    agent.set_auto_compaction(false);
    assert_eq!(agent.context_report().threshold, None);
}
