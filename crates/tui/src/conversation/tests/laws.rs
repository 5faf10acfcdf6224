//! What holds whatever is said, in whatever pieces.

use proptest::prelude::*;
use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;

use super::*;
use crate::cards::tests::ascii_style;

/// Everything that somebody else writes, with one text in each place.
fn hostile_scene(text: &str, settings: ConversationSettings) -> Scene {
    let mut scene = Scene::with(settings, None);
    scene.view.push_head(ConversationHead {
        parts: vec![text.into(), text.into()],
        last_changes: vec![(text.into(), text.into())],
        waiting: vec![text.into()],
        next: vec![text.into()],
        ways_to_a_model: vec![(text.into(), text.into())],
    });
    scene.start();
    scene.say(text);
    scene.event(AgentEvent::MessageStart);
    scene.think(0, text);
    scene.text(1, text);
    let message = json!({"role": "assistant", "stopReason": "toolUse", "content": [
        {"type": "thinking", "thinking": text}, {"type": "text", "text": text},
        {"type": "toolCall", "id": "c1", "name": text, "arguments": {"command": text}},
        {"type": "toolCall", "id": "c2", "name": "b", "arguments": {text: text}}]});
    scene.message(serde_json::from_value(message).unwrap());
    scene.begin_call("c1", text, json!({"command": text}));
    let update = json!({"status": text, "tail": text});
    scene.event(AgentEvent::ToolExecutionUpdate { tool_call_id: "c1".into(), update });
    scene.begin_call("c2", "b", json!({}));
    let diff = format!("@@ -1,1 +1,1 @@\n-{text}\n+{text} more\n");
    let file = relaycode_tools::card::CardDiff { path: text.into(), added: 1, removed: 1, diff };
    let card = ToolCard::new(text, text, CardBody::Diff { files: vec![file.clone(), file] });
    scene.end_call("c2", "b", false, &card, 3);
    scene.event(AgentEvent::Notice { level: relaycode_agent::event::NoticeLevel::Info, text: text.into() });
    scene
}

fn end_hostile(scene: &mut Scene, text: &str) {
    let body = CardBody::Json { value: json!({text: [text, {text: text}]}) };
    scene.end_call("c1", text, true, &ToolCard::new(text, text, body), 3);
    for (at, body) in [CardBody::text(text), tail(&[text, text])].into_iter().enumerate() {
        scene.end_call(&format!("n{at}"), text, true, &ToolCard::new(text, text, body), 3);
    }
    scene.end(EndReason::ModelFailed, Some(text));
}

fn check_lines(lines: &[String], width: usize, text: &str) {
    for line in lines {
        assert!(cells(line) <= width, "wider than {width}: {line:?} of {text:?}");
        assert_eq!(hostile_text::find_unsafe_char(line, false), None, "{line:?} of {text:?}");
        assert!(!line.contains('\n'), "{line:?}");
    }
}

#[test]
fn no_hostile_text_reaches_the_terminal_raw_or_leaves_its_line() {
    for number in 0..120 {
        let text = hostile_text::hostile_string(number);
        let width = [20, 40, 80, 300][usize::try_from(number % 4).unwrap()];
        let is_shown = number % 2 == 0;
        let settings = ConversationSettings { show_thinking: is_shown, ..ConversationSettings::default() };
        let mut scene = hostile_scene(&text, settings);
        let style = if number % 3 == 0 { ascii_style() } else { plain_style() };
        check_lines(&scene.view.live(&style, width, scene.now), width, &text);
        check_lines(&scene.view.take_finished(&style, width), width, &text);
        check_lines(&scene.view.live(&style, width, scene.now), width, &text);
        end_hostile(&mut scene, &text);
        check_lines(&scene.view.take_finished(&style, width), width, &text);
        check_lines(&scene.view.expanded(10, &style, width), width, &text);
        assert!(scene.view.live(&style, width, scene.now).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_text_fits_every_width(text in any::<String>(), width in 2_usize..200) {
        let mut scene = hostile_scene(&text, ConversationSettings::default());
        check_lines(&scene.view.live(&plain_style(), width, scene.now), width, &text);
        end_hostile(&mut scene, &text);
        check_lines(&scene.finished(width), width, &text);
    }

    #[test]
    fn any_pieces_of_an_answer_give_the_same_lines(
        text in "[a-zé日 \n]{0,200}",
        cuts in prop::collection::vec(0_usize..200, 0..20),
        looks in prop::collection::vec(any::<bool>(), 20),
    ) {
        let whole = {
            let mut scene = Scene::new();
            scene.start();
            scene.answer(&text, &[]);
            scene.end(EndReason::Done, None);
            scene.finished(30)
        };
        let mut scene = Scene::new();
        scene.start();
        scene.event(AgentEvent::MessageStart);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at) && *at <= text.len()).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut lines = Vec::new();
        for (pair, is_looked_at) in cuts.windows(2).zip(looks.iter().cycle()) {
            scene.text(0, &text[pair[0]..pair[1]]);
            if *is_looked_at {
                lines.extend(scene.finished(30));
            }
        }
        scene.end_answer(&text, &[]);
        scene.end(EndReason::Done, None);
        lines.extend(scene.finished(30));
        prop_assert_eq!(lines, whole);
    }
}

#[test]
fn finished_lines_are_given_out_once_and_in_order_however_calls_end() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut scene = Scene::new();
        scene.start();
        let ids = ["c0", "c1", "c2"];
        let calls = ids.map(|id| (id, "read", json!({"path": id})));
        scene.answer("", &calls);
        let mut lines = scene.finished(80);
        for at in order {
            scene.begin_call(ids[at], "read", json!({"path": ids[at]}));
        }
        for at in order {
            scene.end_call(ids[at], "read", false, &ToolCard::line(format!("read {}", ids[at]), ""), 1);
            lines.extend(scene.finished(80));
        }
        assert_eq!(lines, ["  ● read c0", "  ● read c1", "  ● read c2"], "{order:?}");
    }
}

#[test]
fn deltas_that_were_missed_come_with_the_whole_message() {
    let mut scene = Scene::new();
    scene.start();
    scene.event(AgentEvent::MessageStart);
    scene.text(0, "The begin");
    scene.end_answer("The beginning, and the end.", &[("c1", "read", json!({"path": "a"}))]);
    assert_eq!(scene.finished(80), ["  The beginning, and the end."]);
    let call = ToolCall { id: "c1".into(), name: "read".into(), ..ToolCall::default() };
    scene.message(Message::ToolResult(ToolResultMessage::text(&call, "no such file\nmore", true, 0)));
    assert_eq!(scene.finished(80), ["  ✗ read a                                           no such file"]);
}

#[test]
fn an_event_that_comes_again_counts_once() {
    let mut scene = Scene::new();
    let said = |seq| {
        let message = Box::new(Message::User(UserMessage::text("hello", 0)));
        SequencedEvent { seq, event: AgentEvent::MessageEnd { entry_id: "e".into(), message } }
    };
    for seq in [1, 1, 2, 1, 2] {
        scene.view.apply(&said(seq), scene.now);
    }
    assert_eq!(scene.finished(80), ["› hello", "", "› hello"]);
}

#[test]
fn what_stands_for_a_secret_is_replaced_even_in_pieces() {
    let unmask: TextUnmask = Box::new(|text| text.replace("#AB12#", "hunter2"));
    let mut scene = Scene::with(ConversationSettings::default(), Some(unmask));
    scene.start();
    scene.event(AgentEvent::MessageStart);
    for piece in ["The password is #A", "B1", "2#, and", " no other."] {
        scene.text(0, piece);
        assert!(!scene.live(80).join("").contains('#'));
    }
    scene.end_answer("The password is #AB12#, and no other.", &[]);
    assert_eq!(scene.finished(80), ["  The password is hunter2, and no other."]);
}

#[test]
fn what_is_kept_to_be_unfolded_is_bounded() {
    let mut scene = Scene::new();
    scene.start();
    for at in 0..200 {
        let body = CardBody::text("x".repeat(300 << 10));
        scene.end_call(&format!("c{at}"), "read", false, &ToolCard::new("read a", "", body), 1);
        scene.finished(80);
    }
    assert!(scene.view.kept_bytes() <= 4 << 20 && scene.view.expandable() <= 30);
    assert!(scene.view.expandable() > 5);
    let lines = scene.view.expanded(1, &plain_style(), 80);
    assert!(lines.len() > 10 && lines.len() <= 5_002, "{}", lines.len());
}

#[test]
fn a_line_of_five_megabytes_and_ten_thousand_lines_cost_little() {
    let mut scene = Scene::new();
    scene.start();
    let began = Instant::now();
    scene.say(&"y".repeat(5 << 20));
    let text = format!("{}\n{}", "x".repeat(5 << 20), "a line of code\n".repeat(10_000));
    let body = CardBody::text(text.clone());
    scene.end_call("c1", "read", true, &ToolCard::new("read a", "", body), 1);
    scene.end_call("c2", "bash", true, &ToolCard::new("bash a", "", tail(&[&text])), 1);
    let lines = scene.finished(80);
    assert!(lines.len() < 100, "{}", lines.len());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
