//! What a model gets.

use relaycode_llm::Message;
use relaycode_llm::message::{StopReason, UserContent};
use relaycode_session::{OpenMode, SessionContext};
use serde_json::json;

use crate::fixture::{open, rich, rich_file, with_file};

fn context_of(lines: &[String], leaf: &str) -> SessionContext {
    let (model, _) = with_file((lines.join("\n") + "\n").as_bytes());
    open(&model, OpenMode::Read).context_at(Some(leaf)).unwrap()
}

#[test]
fn settings_hold_from_where_they_were_made() {
    let lines = rich();
    let first = context_of(&lines, "00000001");
    assert_eq!((first.thinking_level.as_str(), first.mode.as_str()), ("off", "none"));
    assert!(first.models.is_empty() && first.selected_mcp_tools.is_none() && first.messages.is_empty());
    let late = context_of(&lines, "00000013");
    assert_eq!((late.thinking_level.as_str(), late.mode.as_str()), ("high", "plan"));
    assert_eq!(late.mode_data, Some(json!({ "planFile": "p" })));
    assert_eq!(late.service_tier, None);
    assert_eq!(late.models["default"], "openai/m");
    assert_eq!(late.injected_ttsr_rules, ["a", "b"]);
    assert_eq!(late.selected_mcp_tools, Some(vec!["s.t".to_string()]));
    assert_eq!(late.messages.len(), 4);
    assert_eq!(late.sources, ["00000003", "00000004", "00000005", "00000009"]);
    assert_eq!(late.messages[3]["role"], "custom");
    assert_eq!(late.messages[3]["attribution"], "agent");
    let branch = context_of(&lines, "00000015");
    assert_eq!(branch.thinking_level, "off", "made on another branch");
}

#[test]
fn after_a_compaction_its_summary_stands_for_what_it_did_not_keep() {
    let lines = rich();
    let context = context_of(&lines, "00000014");
    let roles: Vec<&str> = context.messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["compactionSummary", "assistant", "toolResult", "custom"]);
    assert_eq!(context.messages[0]["tokensBefore"], 42_000);
    assert_eq!(context.messages[0]["shortSummary"], "short");
    assert_eq!(context.sources[0], "00000014");

    let entry = |id: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"type":{rest},"id":"{id}","parentId":"{parent}","timestamp":"2026-02-16T11:00:00.000Z"}}"#
        )
    };
    let mut more = lines[..15].to_vec();
    more.push(entry("m1", "00000014", r#""message","message":{"role":"user","content":"after"}"#));
    more.push(entry("c2", "m1", r#""compaction","summary":"second","firstKeptEntryId":"m1""#));
    more.push(entry("m2", "c2", r#""message","message":{"role":"user","content":"last"}"#));
    let context = context_of(&more, "m2");
    let summaries = context.messages.iter().filter(|message| message["role"] == "compactionSummary").count();
    assert_eq!((summaries, context.sources.join(" ").as_str()), (1, "c2 m1 m2"));
    more.push(entry("c3", "m2", r#""compaction","summary":"third","firstKeptEntryId":"not there""#));
    assert_eq!(context_of(&more, "c3").sources, ["c3"]);
    more.push(entry("c4", "m2", r#""compaction","summary":7"#));
    assert_eq!(context_of(&more, "c4").sources.len(), 6, "one that says nothing hides nothing");
}

#[test]
fn without_a_chosen_model_the_last_that_answered_counts() {
    let mut lines = rich();
    lines[2] = lines[2].replace("\"role\":\"default\"", "\"role\":\"smol\"");
    let context = context_of(&lines, "00000006");
    assert_eq!(context.models["smol"], "openai/m");
    assert_eq!(context.models["default"], "anthropic/a");
}

#[test]
fn models_are_given_the_roles_that_they_know() {
    let (model, _) = with_file(&rich_file());
    let session = open(&model, OpenMode::Read);
    let context = session.context().unwrap();
    let messages = context.to_model_messages();
    let text = |message: &Message| match message {
        Message::User(user) => match &user.content[0] {
            UserContent::Text(text) => text.text.clone(),
            UserContent::Image(_) => "image".into(),
        },
        Message::Assistant(answer) => format!("{:?}", answer.stop_reason),
        other => format!("{other:?}"),
    };
    // The branch: a prompt, the summary of what was left behind, a failed answer, a command, a prompt.
    assert_eq!(messages.len(), 5, "{messages:?}");
    assert!(text(&messages[1]).contains("<summary>\nLeft behind\n</summary>"));
    assert_eq!(text(&messages[2]), format!("{:?}", StopReason::Error));
    assert!(text(&messages[3]).contains("`ls`"));
    let compacted = session.context_at(Some("00000014")).unwrap().to_model_messages();
    assert!(text(&compacted[0]).contains("What was."));
    assert!(matches!(&compacted[1], Message::Assistant(answer) if answer.tool_calls().count() == 1));
    assert!(matches!(&compacted[3], Message::User(_)));
    assert_eq!(session.context_at(None).unwrap(), SessionContext::default());
    assert!(session.context_at(Some("nobody")).is_err());
}

#[test]
fn an_undone_compaction_does_not_count_and_what_was_said_since_does() {
    let lines = rich();
    let base = context_of(&lines, "00000013");
    let undone = |of: &str, id: &str, parent: &str| {
        format!(
            r#"{{"type":"custom","id":"{id}","parentId":"{parent}","timestamp":"t","customType":"compaction-undone","data":{{"entryId":"{of}"}}}}"#
        )
    };
    let said = r#"{"type":"message","id":"m1","parentId":"00000014","timestamp":"t","message":{"role":"user","content":"after"}}"#;
    let mut more = lines[..15].to_vec();
    more.push(said.to_string());
    more.push(undone("00000014", "u1", "m1"));
    let context = context_of(&more, "u1");
    assert_eq!(context.messages[..base.messages.len()], base.messages);
    assert_eq!((context.sources.last().unwrap().as_str(), context.compaction), ("m1", None));
    assert_eq!(context.counted_from, context.messages.len(), "no answer counted this context");
    let (model, _) = with_file((more.join("\n") + "\n").as_bytes());
    let session = open(&model, OpenMode::Read);
    assert_eq!(session.latest_context_change().unwrap(), (None, true));
    // One of another branch, or of nothing, is passed by.
    assert!(context_of(&more, "m1").compaction.is_some());
    more.push(undone("nothing", "u2", "m1"));
    assert_eq!(context_of(&more, "u2").compaction.unwrap().entry_id, "00000014");
}

#[test]
fn outputs_that_were_cut_stand_as_a_line_until_that_is_undone() {
    let result = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"t","message":{{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{{"type":"text","text":"much"}}],"details":{{"a":1}}}}}}"#
        )
    };
    let cut = r#"{"type":"custom","id":"c1","parentId":"r2","timestamp":"t","customType":"cut-outputs","data":{"outputs":{"r1":"cut","00000003":"no result"}}}"#;
    let undone = r#"{"type":"custom","id":"u1","parentId":"c1","timestamp":"t","customType":"compaction-undone","data":{"entryId":"c1"}}"#;
    let mut lines = rich()[..4].to_vec();
    lines.extend([result("r1", "00000003"), result("r2", "r1"), cut.to_string(), undone.to_string()]);
    let texts = |leaf: &str| {
        let messages = context_of(&lines, leaf).messages;
        let results = messages.iter().filter(|message| message["role"] == "toolResult");
        results.map(|message| message["content"][0]["text"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(texts("r2"), ["much", "much"]);
    assert_eq!(texts("c1"), ["cut", "much"]);
    assert_eq!(texts("u1"), ["much", "much"]);
    let context = context_of(&lines, "c1");
    assert_eq!(context.messages[1]["details"], json!({"a": 1}));
    assert_eq!(context.counted_from, context.messages.len());
}

#[test]
fn pieces_of_no_known_kind_cost_themselves_alone() {
    let messages = vec![
        json!({ "role": "user", "content": [{ "type": "video", "data": "x" }, { "type": "text", "text": "look" }] }),
        json!({ "role": "custom", "content": [{ "type": "text", "text": "a" }, 7] }),
        json!({ "role": "someone", "content": "x" }),
        json!({ "role": "user", "content": 7 }),
        json!("not a message"),
    ];
    let context = SessionContext { messages, ..SessionContext::default() };
    let messages = context.to_model_messages();
    assert_eq!(messages.len(), 2, "{messages:?}");
}
