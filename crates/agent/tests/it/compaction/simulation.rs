//! Conversations of random shape against a model with a tiny window, whose provider counts tokens in its own way: none may fail
//! for lack of room, none may loop, and what must not be lost is not.
//!
//! `RELAY_CONVERSATIONS=17..18` tries these instead; `cargo xtask torture --full --only context` tries 2000.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use relaycode_agent::{Agent, AgentEvent, CompactionAction, EndReason};
use relaycode_llm::CancelToken;
use relaycode_testkit::model::{Script, ScriptedTurn, ServedBy};
use relaycode_testkit::random::Random;
use relaycode_tools::{ToolInvocation, registry};
use serde_json::json;

use super::{WordsTool, agent_messages, say};
use crate::fixture::{Nobody, Scene, WIRES};

const RULE: &str = "RULE-7: never touch the folder called production.";
const USUAL_COUNT: u64 = 24;
/// Prompts of one conversation.
const MAX_PROMPTS: usize = 7;

/// What came of all of them.
#[derive(Default)]
struct SimulationTally {
    prompts: AtomicUsize,
    requests: AtomicUsize,
    refused: AtomicUsize,
    by_model: AtomicUsize,
    by_rule: AtomicUsize,
    undone: AtomicUsize,
}

#[test]
fn no_conversation_of_random_shape_fails_for_lack_of_room_or_loses_what_must_stay() {
    let wanted = std::env::var("RELAY_CONVERSATIONS").unwrap_or(format!("0..{USUAL_COUNT}"));
    let (from, to) = wanted.split_once("..").expect("RELAY_CONVERSATIONS is like 0..2000");
    let seeds = from.parse::<u64>().unwrap()..to.parse::<u64>().unwrap();
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    let tally = SimulationTally::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        break;
                    }
                    if catch_unwind(AssertUnwindSafe(|| converse(seed, &tally))).is_err() {
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
    println!(
        "{} conversations: {} prompts, {} requests of which {} were refused as too long, {} summaries by the model, {} without it, \
         {} undone",
        seeds.end - seeds.start,
        count(&tally.prompts),
        count(&tally.requests),
        count(&tally.refused),
        count(&tally.by_model),
        count(&tally.by_rule),
        count(&tally.undone),
    );
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} failed; replay with RELAY_CONVERSATIONS={}..{}",
        failed.len(),
        failed[0],
        failed[0] + 1
    );
    assert!(seeds.end - seeds.start < USUAL_COUNT || count(&tally.by_model) > 0 && count(&tally.by_rule) > 0);
}

/// One conversation.
fn converse(seed: u64, tally: &SimulationTally) {
    let mut random = Random::of_case(0x51_4d, seed);
    let window = 4_000 + random.below(9_000) as u64;
    // What the model's data say may be wrong either way.
    let believed = window * (60 + random.below(120) as u64) / 100;
    let mut turns = Vec::new();
    let mut tasks = 0;
    for _ in 0..MAX_PROMPTS {
        for _ in 0..random.below(6) {
            turns.push(random_turn(&mut random, window, &mut tasks));
        }
        let text = ScriptedTurn::text(random_text(&mut random, 400));
        turns.push(if random.once_in(12) { text.stop("max_tokens") } else { text });
    }
    let script = Script { aux: random_summary(&mut random), ..Script::new(turns) }.window(window);
    let wire = *random.pick(&WIRES);
    let mut scene = Scene { wire, window: believed, system_prompt: RULE, ..Scene::with_script(script) };
    scene.tools = vec![Arc::new(WordsTool), registry::by_name("todo_write").unwrap().clone()];
    scene.settings.repeat_limit = 10_000;
    scene.settings.check = false;
    let mut said: Vec<String> = Vec::new();
    let mut agent = scene.agent();
    for at in 0..1 + random.below(MAX_PROMPTS) {
        let long = if random.once_in(4) { 2 * window as usize } else { 60 };
        let prompt = format!("PROMPT-{at} {}", random_text(&mut random, long));
        let requests = scene.server.requests().len();
        let (outcome, events) = say(&mut agent, &prompt);
        said.push(prompt);
        assert!(
            matches!(outcome.reason, EndReason::Done | EndReason::Length),
            "seed {seed}: {:?} {:?}",
            outcome.reason,
            outcome.message
        );
        let made =
            events.iter().filter(|event| matches!(event, AgentEvent::AutoCompactionStart { .. })).count();
        let turns = usize::try_from(outcome.usage.turns).unwrap();
        assert!(made <= 2 * turns + 4, "seed {seed}: {made} times in {turns} turns");
        let requests = scene.server.requests().len() - requests;
        assert!(requests <= 12 * turns + 12, "seed {seed}: {requests} requests in {turns} turns");
        note_events(&events, tally);
        tally.prompts.fetch_add(1, Ordering::Relaxed);
        check_kept(seed, &scene, &agent, &said);
        match random.below(6) {
            0 => check_undo(seed, &mut agent, tally),
            1 => {
                let _ = agent.compact(None).unwrap();
            }
            2 => {
                let before = agent_messages(&agent);
                drop(agent);
                agent = scene.agent();
                assert_eq!(agent_messages(&agent), before, "seed {seed}: a resume changes nothing");
            }
            _ => {}
        }
    }
    let requests = scene.server.requests();
    let refused = requests.iter().filter(|request| request.served == ServedBy::TooLong).count();
    tally.requests.fetch_add(requests.len(), Ordering::Relaxed);
    tally.refused.fetch_add(refused, Ordering::Relaxed);
}

/// A rule, every task, and every message of the user's is in the context, or has an address there that shows it.
fn check_kept(seed: u64, scene: &Scene, agent: &Agent, said: &[String]) {
    let requests = scene.server.requests();
    let answered = requests
        .iter()
        .rev()
        .find(|request| request.status == 200 && request.body.to_string().contains(RULE));
    assert!(answered.is_some(), "seed {seed}: the rule went along with the last answer");
    let context = agent.with_session(|session| session.context().unwrap().to_model_messages());
    let context = serde_json::to_string(&context).unwrap();
    for task in open_tasks(agent) {
        assert!(context.contains(&task), "seed {seed}: the task {task} is lost");
    }
    let arguments = json!({"path": "history://user:raw"}).as_object().unwrap().clone();
    let (host, cancel) = (Nobody, CancelToken::default());
    let invocation = ToolInvocation {
        id: "c",
        arguments: &arguments,
        workspace: agent.workspace(),
        host: &host,
        cancel: &cancel,
    };
    let mut history = None;
    for text in said {
        let in_json = serde_json::to_string(text).unwrap();
        if context.contains(in_json.trim_matches('"')) {
            continue;
        }
        assert!(context.contains("history://"), "seed {seed}: an address for what the user said");
        let history = history.get_or_insert_with(|| {
            registry::by_name("read").unwrap().run(&invocation).unwrap();
            agent.workspace().history.as_ref().unwrap().read("user").unwrap()
        });
        assert!(history.contains(text.as_str()), "seed {seed}: {} is lost", &text[..20]);
    }
}

fn open_tasks(agent: &Agent) -> Vec<String> {
    let kept = relaycode_tools::kept_contexts(agent.workspace());
    let lines = kept.iter().flat_map(|(_, text)| text.lines());
    lines.filter_map(|line| Some(line.split_once("] ")?.1.to_string())).collect()
}

/// The same context, byte for byte.
fn check_undo(seed: u64, agent: &mut Agent, tally: &SimulationTally) {
    let before = agent_messages(agent);
    let outcome = agent.compact(Some("everything")).unwrap();
    if outcome.entry_id.is_none() {
        assert_eq!(agent_messages(agent), before, "seed {seed}: nothing was done");
        return;
    }
    assert!(outcome.tokens_after <= outcome.tokens_before, "seed {seed}: {outcome:?}");
    assert_eq!(agent.undo_compaction().unwrap(), outcome.entry_id, "seed {seed}");
    assert_eq!(agent_messages(agent), before, "seed {seed}: as it was");
    tally.undone.fetch_add(1, Ordering::Relaxed);
}

fn note_events(events: &[AgentEvent], tally: &SimulationTally) {
    for event in events {
        let AgentEvent::AutoCompactionEnd { action, tokens_before, tokens_after, .. } = event else {
            continue;
        };
        let slot = match action {
            CompactionAction::Summarized => &tally.by_model,
            CompactionAction::SummarizedByRule => &tally.by_rule,
            _ => continue,
        };
        assert!(tokens_after <= tokens_before, "{event:?}");
        slot.fetch_add(1, Ordering::Relaxed);
    }
}

fn random_turn(random: &mut Random, window: u64, tasks: &mut usize) -> ScriptedTurn {
    let count = |random: &mut Random| match random.below(8) {
        0 => 2 * window,
        1 | 2 => window / 2,
        _ => random.below(300) as u64,
    };
    match random.below(10) {
        0 => {
            let mut items = Vec::new();
            for _ in 0..1 + random.below(4) {
                *tasks += 1;
                items.push(format!(
                    "TASK-{tasks} {}",
                    random_text(random, 12).replace(['\n', '"', '\\'], " ").trim()
                ));
            }
            let list = json!([{"phase": "Phase", "items": items}]);
            ScriptedTurn::call("todo_write", json!({"ops": [{"op": "init", "list": list}]}))
        }
        1 => ScriptedTurn::text(random_text(random, 600)).tool("words", json!({"count": count(random)})),
        2 => (0..1 + random.below(5)).fold(ScriptedTurn::default(), |turn, at| {
            turn.tool("words", json!({"count": count(random), "read": format!("src/{at}.rs")}))
        }),
        3 => ScriptedTurn::call("words", json!({"count": count(random), "changed": "src/a.rs"})),
        _ => ScriptedTurn::call("words", json!({"count": count(random)})),
    }
}

/// What the model says when it is asked to sum up: something useful, or not.
fn random_summary(random: &mut Random) -> ScriptedTurn {
    match random.below(8) {
        0 => ScriptedTurn::default(),
        1 => ScriptedTurn::status(*random.pick(&[400, 401, 429, 500, 529])),
        2 => ScriptedTurn::text("again and again ".repeat(20_000)),
        3 => ScriptedTurn::text("cut").with(|turn| turn.truncate = true),
        _ => ScriptedTurn::text(format!("## Goal\n{}", random_text(random, 150))),
    }
}

/// So many words at most, of several scripts.
fn random_text(random: &mut Random, most: usize) -> String {
    const WORDS: [&str; 12] = [
        "look",
        "internationalisation",
        "x",
        "1234567",
        "Straße",
        "привет",
        "你好世界",
        "fn main() {}",
        "a\nb",
        "</summary>",
        "\"quoted\"",
        "🙂",
    ];
    let count = 1 + random.below(most);
    (0..count).map(|_| *random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}
