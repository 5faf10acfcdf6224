use super::*;

fn assembly() -> Assembly {
    Assembly::new(&crate::models::model::tests::model(), 0)
}

fn events(assembly: &mut Assembly) -> Vec<StreamEvent> {
    std::iter::from_fn(|| assembly.take_event()).collect()
}

#[test]
fn waiting_deltas_of_one_piece_are_merged_and_nothing_overtakes_them() {
    let mut assembly = assembly();
    let text = assembly.open(AnswerPieceKind::Text).unwrap();
    assembly.append_delta(text, "a").unwrap();
    assembly.append_delta(text, "b").unwrap();
    let other = assembly.open(AnswerPieceKind::Thinking).unwrap();
    assembly.append_delta(other, "c").unwrap();
    assembly.append_delta(text, "d").unwrap();
    assembly.finish(StopReason::Stop);
    let kinds: Vec<_> = events(&mut assembly)
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .map(|event| format!("{} {}", event["type"].as_str().unwrap(), event["delta"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(
        kinds,
        [
            "start ",
            "text_start ",
            "text_delta ab",
            "thinking_start ",
            "thinking_delta c",
            "text_delta d",
            "text_end ",
            "thinking_end ",
            "done "
        ]
    );
}

#[test]
fn signatures_and_names_count_towards_the_longest_answer() {
    let mut signed = assembly();
    let thought = signed.open(AnswerPieceKind::Thinking).unwrap();
    let more = "s".repeat(1 << 20);
    let failure = (0..64).find_map(|_| signed.append_signature(thought, &more).err()).unwrap();
    assert_eq!(failure.class, FailureClass::TooLarge);
    let mut named = assembly();
    let call = || AnswerPieceKind::ToolCall { id: "i".repeat(1 << 20), name: "n".repeat(1 << 20) };
    assert_eq!((0..64).find_map(|_| named.open(call()).err()).unwrap().class, FailureClass::TooLarge);
}

#[test]
fn there_is_one_last_event_and_nothing_behind_it() {
    let mut assembly = assembly();
    assembly.fail(&ModelFailure::malformed("half of it"));
    assembly.finish(StopReason::Stop);
    assembly.start();
    let events = events(&mut assembly);
    assert_eq!(events.len(), 1);
    assert!(events[0].is_last());
}

#[test]
fn a_stop_with_tool_calls_waiting_is_a_call_of_tools() {
    let mut assembly = assembly();
    let call = assembly.open(AnswerPieceKind::ToolCall { id: "1".into(), name: "read".into() }).unwrap();
    assembly.append_delta(call, r#"{"path":"#).unwrap();
    assembly.append_delta(call, r#""a"}"#).unwrap();
    assembly.finish(StopReason::Stop);
    let Some(StreamEvent::Done { reason, message }) = events(&mut assembly).pop() else { panic!("not done") };
    assert_eq!(reason, StopReason::ToolUse);
    assert_eq!(message.tool_calls().next().unwrap().arguments["path"], "a");
}

#[test]
fn an_answer_without_end_is_cut_off_at_its_bound() {
    let mut assembly = assembly();
    let text = assembly.open(AnswerPieceKind::Text).unwrap();
    let piece = "x".repeat(1 << 20);
    let error = (0..=32).find_map(|_| assembly.append_delta(text, &piece).err()).unwrap();
    assert_eq!(error.class, FailureClass::TooLarge);
}

#[test]
fn behind_the_last_event_nothing_begins_goes_on_or_ends() {
    for broken in [false, true] {
        let mut assembly = assembly();
        let text = assembly.open(AnswerPieceKind::Text).unwrap();
        assembly.append_delta(text, "all").unwrap();
        if broken {
            assembly.fail(&ModelFailure::cut_off());
        } else {
            assembly.finish(StopReason::Stop);
        }
        let before = assembly.message().clone();
        let late = assembly.open(AnswerPieceKind::ToolCall { id: "1".into(), name: "t".into() }).unwrap();
        assembly.append_delta(late, "{}").unwrap();
        assembly.append_delta(text, "more").unwrap();
        assembly.close(text);
        assembly.close(late);
        assert!(events(&mut assembly).last().unwrap().is_last(), "{broken}");
        assert_eq!(*assembly.message(), before);
    }
}

#[test]
fn the_beginning_of_a_piece_is_kept_back_until_something_is_said() {
    let mut assembly = assembly();
    assembly.start();
    assert!(!assembly.withholds_events());
    let text = assembly.open(AnswerPieceKind::Text).unwrap();
    assert_eq!(assembly.take_event(), Some(StreamEvent::Start));
    assert!(assembly.withholds_events() && !assembly.has_output());
    assembly.append_delta(text, "a").unwrap();
    assert!(!assembly.withholds_events() && assembly.has_output());
}
