//! Making room, through the binary: what people see, every key of `compaction`, the commands of the conversation, and relay ended in
//! the middle of it.

use std::fs;
use std::process::Stdio;

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agent_run::{WIRES, lines};
use crate::fixture::scratch_project::Project;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

/// A user whose model, `work/m1`, has this window, and says `summary` when it is asked for one. `big.txt` is some 8 000 tokens.
fn serving(
    (api, base): (&str, &str),
    window: u64,
    turns: impl IntoIterator<Item = ScriptedTurn>,
    summary: ScriptedTurn,
) -> (ScriptedServer, Project) {
    let server = ScriptedServer::start(Script { aux: summary, ..Script::new(turns) }.window(1_000_000));
    let project = Project::new(&[("a.txt", "one\n"), ("big.txt", &"some words of a line\n".repeat(1_300))]);
    let file = format!(
        "providers:\n  work:\n    baseUrl: {}{base}\n    api: {api}\n    apiKey: sk-test-0123456789\n    models:\n      \
         - {{id: m1, contextWindow: {window}, maxTokens: 2000, contextPromotionTarget: m2, cost: {{input: 3, output: 15}}}}\n      \
         - {{id: m2, contextWindow: 400000, maxTokens: 2000, cost: {{input: 3, output: 15}}}}\nroles: {{default: work/m1}}\n\
         retry: {{maxRetries: 1, baseDelayMs: 1, requestMaxRetries: 0, streamMaxRetries: 0}}\n",
        server.url()
    );
    fs::write(project.home().join("models.yml"), file).unwrap();
    configure(&project, "compaction: {promotion: false, keepRecentTokens: 1000}\n");
    (server, project)
}

fn configure(project: &Project, text: &str) {
    fs::write(project.home().join("config.yml"), text).unwrap();
}

fn read_big(from: usize) -> ScriptedTurn {
    ScriptedTurn::text("On it.").tool("read", json!({"path": format!("big.txt:{from}")}))
}

/// Reads so often that a window of 60 000 tokens is nearly full.
fn much() -> Vec<ScriptedTurn> {
    (1..6).map(read_big).chain([ScriptedTurn::text("Done.")]).collect()
}

fn ends(out: &str) -> Vec<(String, String)> {
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_string();
    lines(out)
        .into_iter()
        .filter(|event| event["type"] == "auto_compaction_end")
        .map(|event| (text(&event, "reason"), text(&event, "action")))
        .collect()
}

#[test]
fn people_get_one_line_and_programs_the_events() {
    let (server, project) = serving(WIRES[0], 60_000, much(), ScriptedTurn::text("# Goal\nRead it."));
    let ran = project.relay(&["run", "Read it often"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{ran:?}");
    let said: Vec<&str> = ran.err.lines().filter(|line| line.contains("summed up")).collect();
    assert!(said.len() == 1 && said[0].starts_with("✓ conversation summed up: "), "{}", ran.err);
    let last = server.requests().last().unwrap().body.to_string();
    assert!(last.contains("Read it often") && last.contains("# Goal"), "{last}");
    let (_server, project) = serving(WIRES[0], 60_000, much(), ScriptedTurn::status(500));
    let ran = project.relay(&["run", "--json", "Read it often"]);
    assert_eq!(ends(&ran.out), [("threshold".to_string(), "summarized_by_rule".to_string())], "{ran:?}");
    let starts = lines(&ran.out).into_iter().filter(|event| event["type"] == "auto_compaction_start").count();
    assert_eq!(starts, 1);
    assert!(ran.err.contains("! conversation shortened without a model: "), "{}", ran.err);
}

#[test]
fn a_request_that_is_too_long_is_made_shorter_on_every_wire() {
    for wire in WIRES {
        let (server, project) = serving(wire, 200_000, [], ScriptedTurn::text("It was read."));
        let script = Script { aux: ScriptedTurn::text("It was read."), ..Script::new(much()) }.window(30_000);
        let server = {
            drop(server);
            ScriptedServer::start(script)
        };
        let file = fs::read_to_string(project.home().join("models.yml")).unwrap();
        let base = format!("    baseUrl: {}{}", server.url(), wire.1);
        let file: Vec<&str> = file
            .lines()
            .map(|line| if line.starts_with("    baseUrl:") { base.as_str() } else { line })
            .collect();
        fs::write(project.home().join("models.yml"), file.join("\n")).unwrap();
        let ran = project.relay(&["run", "--json", "Read it often"]);
        assert_eq!(ran.code, 0, "{wire:?}: {ran:?}");
        let made = ends(&ran.out);
        assert!(!made.is_empty() && made[0].0 == "overflow", "{wire:?}: {made:?}");
        let last = server.requests().last().unwrap().body.to_string();
        assert!(last.contains("Read it often"), "{wire:?}");
    }
}

#[test]
fn every_key_of_compaction_acts() {
    let run = |config: &str| {
        let (server, project) = serving(WIRES[0], 60_000, much(), ScriptedTurn::text("# Goal\nRead it."));
        configure(&project, config);
        let ran = project.relay(&["run", "--json", "Read it often"]);
        let last = server.requests().last().unwrap().body.clone();
        (ran.code, ends(&ran.out), last)
    };
    let summed_up = [("threshold".to_string(), "summarized".to_string())];
    let none: [(String, String); 0] = [];
    assert_eq!(run("compaction: {promotion: false}\n").1, summed_up);
    assert_eq!(run("compaction: {promotion: false, enabled: false}\n").1, none);
    assert_eq!(run("compaction: {promotion: false, midTurn: false}\n").1, none);
    assert_eq!(run("compaction: {promotion: false, thresholdPercent: 99}\n").1, none);
    assert_eq!(run("compaction: {promotion: false, thresholdTokens: 59000}\n").1, none);
    assert_eq!(run("compaction: {promotion: false, reserveTokens: 300}\n").1, none);
    let (code, made, _) = run("compaction: {promotion: false, autoContinue: false}\n");
    assert_eq!((code, made.as_slice()), (11, summed_up.as_slice()));
    let (_, made, last) = run("compaction: {promotion: true}\n");
    assert_eq!((made, &last["model"]), (vec![("threshold".into(), "promoted".into())], &json!("m2")));
}

#[test]
fn so_much_of_the_end_stays_as_the_user_wants() {
    let kept = |tokens: u64| {
        let small = (0..3).map(|_| ScriptedTurn::call("read", json!({"path": "a.txt"})));
        let turns = (1..6)
            .map(read_big)
            .chain(small)
            .chain([ScriptedTurn::text("Done."), ScriptedTurn::text("Yes.")]);
        let (server, project) = serving(WIRES[0], 60_000, turns, ScriptedTurn::text("# Goal\nRead it."));
        configure(&project, "compaction: {enabled: false}\n");
        assert_eq!(project.relay(&["run", "Read it often"]).code, 0);
        configure(&project, &format!("compaction: {{promotion: false, keepRecentTokens: {tokens}}}\n"));
        assert_eq!(project.relay(&["run", "--continue", "And?"]).code, 0);
        let last = server.requests().last().unwrap().body.to_string();
        assert!(last.contains("Know") || last.contains("# Goal"), "{last}");
        last.matches("\"tool_result\"").count()
    };
    assert_eq!((kept(0), kept(1_000)), (0, 3));
}

#[test]
fn old_outputs_are_cut_unless_the_user_does_not_want_it() {
    for (prune, action) in [("true", "pruned"), ("false", "summarized")] {
        let turns = (1..15).map(read_big).chain([ScriptedTurn::text("Done.")]);
        let (_server, project) = serving(WIRES[0], 115_000, turns, ScriptedTurn::text("# Goal\nRead it."));
        configure(&project, &format!("compaction: {{promotion: false, prune: {prune}}}\n"));
        let ran = project.relay(&["run", "--json", "Read it often"]);
        assert_eq!(ends(&ran.out), [("threshold".to_string(), action.to_string())], "{ran:?}");
    }
}

#[test]
fn a_session_that_was_killed_while_it_was_summed_up_goes_on_as_it_was() {
    let hangs = ScriptedTurn::text("one two").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let turns = much().into_iter().chain([ScriptedTurn::text("Again here.")]);
    let (server, project) = serving(WIRES[1], 60_000, turns, hangs);
    let mut child = project
        .command(&["run", "Read it often"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_summary = |body: &Value| body.get("tools").is_none();
    server.wait_for(|requests| requests.iter().any(|request| is_summary(&request.body)));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let tree = project.relay(&["sessions", "tree", "--filter", "all"]);
    assert!(!tree.out.contains("compaction"), "{}", tree.out);
    let before = server.requests().len();
    configure(&project, "compaction: {enabled: false}\n");
    let ran = project.relay(&["run", "--continue", "Where were we?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let sent = server.requests()[before].body.to_string();
    assert!(sent.contains("Read it often") && sent.contains("some words of a line"), "as it was");
}

#[test]
fn the_conversation_is_summed_up_taken_back_handed_over_and_gone_on_with_elsewhere() {
    let turns = [
        read_big(1),
        ScriptedTurn::text("It says words."),
        ScriptedTurn::text("Hello again."),
        ScriptedTurn::text("Fresh."),
    ];
    let (server, project) = serving(WIRES[0], 60_000, turns, ScriptedTurn::text("# Goal\nKnow the words."));
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("/compact\r");
    session.wait_for("! the conversation stays as it is: there is nothing to sum up yet");
    session.wait_for("› ");
    session.type_in("/handoff\r");
    session.wait_for("there is nothing to hand over yet");
    session.wait_for("› ");
    session.type_in("What does it say?\r");
    session.wait_for("It says words.");
    session.wait_for("› ");
    session.type_in("/context\r");
    session.wait_for(" of 60.0k tokens (");
    session.wait_for("room is made from 43.6k on");
    session.wait_for("system prompt");
    session.wait_for("tool outputs");
    session.wait_for("› ");
    session.type_in("/compact the words\r");
    session.wait_for("✓ conversation summed up: ");
    session.wait_for("`/compact undo` takes it back");
    session.wait_for("› ");
    session.type_in("/compact undo\r");
    session.wait_for("✓ the conversation is as it was before: ");
    session.wait_for("› ");
    session.type_in("/compact undo\r");
    session.wait_for("there is no summary to take back");
    session.wait_for("› ");
    session.type_in("Hello\r");
    session.wait_for("Hello again.");
    session.wait_for("› ");
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("some words of a line") && !sent.contains("Know the words."), "{sent}");
    session.type_in("/tree\r");
    session.wait_for("user: What does it say?");
    session.wait_for("compaction, undone: Goal");
    session.wait_for("› ");
    session.type_in("/tree nothing\r");
    session.wait_for("`/tree` lists the entries");
    session.wait_for("› ");
    session.type_in("/handoff the tests\r");
    session.wait_for("Know the words.");
    session.wait_for("✓ a fresh session goes on: ");
    session.wait_for("› ");
    session.type_in("Go on\r");
    session.wait_for("Fresh.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("<handoff from=") && !sent.contains("some words of a line"), "{sent}");
    let listed = project.relay(&["sessions", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2, "{listed}");
    let file = fs::read_to_string(listed["sessions"][0]["path"].as_str().unwrap()).unwrap();
    assert_eq!(lines(&file)[0]["parentSession"], listed["sessions"][1]["id"], "{listed}");
}

#[test]
fn another_branch_begins_where_the_tree_says_and_labels_stay() {
    let turns = [ScriptedTurn::text("One."), ScriptedTurn::text("Two."), ScriptedTurn::text("Three.")];
    let (server, project) = serving(WIRES[0], 60_000, turns, ScriptedTurn::text("It led nowhere."));
    let mut session = Session::start(&project, &[], "");
    for (said, answer) in [("First", "One."), ("Second", "Two.")] {
        session.wait_for("› ");
        session.type_in(&format!("{said}\r"));
        session.wait_for(answer);
    }
    session.wait_for("› ");
    let tree = project.relay(&["sessions", "tree", "--json", "--filter", "user-only"]).json();
    let second = tree["entries"][1]["id"].as_str().unwrap().to_string();
    session.type_in(&format!("/label {second} turn back here\r"));
    session.wait_for(&format!("✓ {second} is labelled turn back here"));
    session.wait_for("› ");
    session.type_in(&format!("/tree {second} summary\r"));
    session.wait_for("with a summary of what was left; files stay as they are");
    session.wait_for("you said there: Second");
    session.wait_for("› ");
    session.type_in("Another\r");
    session.wait_for("Three.");
    session.wait_for("› ");
    session.type_in("\x04");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("It led nowhere.") && !sent.contains("Two."), "{sent}");
    let tree = project.relay(&["sessions", "tree"]).out;
    assert!(tree.contains("turn back here") && tree.contains("branch summary"), "{tree}");
}

#[test]
fn sessions_show_what_was_summed_up_and_what_was_there_before() {
    let (_server, project) = serving(WIRES[0], 60_000, much(), ScriptedTurn::text("# Goal\nRead it."));
    assert_eq!(project.relay(&["run", "Read it often"]).code, 0);
    let tree = project.relay(&["sessions", "tree", "--filter", "no-tools"]).out;
    assert!(tree.contains("user: Read it often") && tree.contains("compaction: Goal"), "{tree}");
    let shown = project.relay(&["sessions", "show"]).out;
    assert!(shown.contains("in place of ") && shown.contains("some words of a line"), "{shown}");
}

#[test]
fn a_target_of_promotion_that_is_of_no_use_is_told() {
    let (_server, project) =
        serving(WIRES[0], 500_000, [ScriptedTurn::text("Hello.")], ScriptedTurn::text("x"));
    relay_snapshot!(project.relay(&["run", "Hi"]), @"
    exit 0
    ----- stdout -----
    Hello.
    ----- stderr -----
    ! m2 reads no more than m1, so contextPromotionTarget does nothing
    ");
}

#[test]
fn a_long_conversation_is_summed_up_while_nobody_says_anything() {
    let turns = [read_big(1), ScriptedTurn::text("It says words.")];
    let (_server, project) = serving(WIRES[0], 60_000, turns, ScriptedTurn::text("# Goal\nKnow the words."));
    let keys = "idleEnabled: true, idleThresholdTokens: 5000, idleTimeoutSeconds: 1";
    configure(&project, &format!("compaction: {{promotion: false, {keys}}}\n"));
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("What does it say?\r");
    session.wait_for("It says words.");
    session.wait_for("✓ conversation summed up: ");
    session.wait_for("› ");
    session.type_in("\x04");
    assert_eq!(session.end().0, Some(0));
}
