//! Every wire against the scripted model server: what one side writes the other must read, both ways.

use relaycode_llm::message::{Message, ToolResultMessage, UserContent};
use relaycode_llm::request::Auth;
use relaycode_llm::{AssistantMessage, ChatRequest, FailureClass, Model, StopReason, wire};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::json;

use crate::all_wires::{client, of_wire, question};
use crate::test_wire::options;

async fn ask(model: &Model, request: &ChatRequest) -> (AssistantMessage, Option<FailureClass>) {
    let mut stream = client().stream(model, Auth::Key("k1".into()), request.clone(), options());
    let message = stream.finish().await.clone();
    (message, stream.failure().map(|failure| failure.class))
}

#[tokio::test]
async fn a_call_its_result_and_the_answer_go_over_every_wire() {
    for wire in wire::ALL {
        let server = ScriptedServer::start(Script::new([
            ScriptedTurn::text("Let me look.")
                .reasoning("It may be long.")
                .tool("read", json!({"path": "é.rs"})),
            ScriptedTurn::text("It says hello.").expect("hello, world"),
        ]));
        let model = of_wire(&server, wire.id());
        let mut request = question();
        let (first, failure) = ask(&model, &request).await;
        assert_eq!(failure, None, "{}: {:?}", wire.id(), first.error_message);
        assert_eq!(
            (first.text().as_str(), first.stop_reason),
            ("Let me look.", StopReason::ToolUse),
            "{}",
            wire.id()
        );
        let call = first.tool_calls().next().unwrap().clone();
        assert_eq!((call.name.as_str(), &call.arguments["path"]), ("read", &json!("é.rs")), "{}", wire.id());
        assert!(first.usage.total_tokens > 0, "{}", wire.id());
        request.messages.push(Message::Assistant(first));
        request.messages.push(Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id,
            tool_name: call.name,
            content: vec![UserContent::text("hello, world")],
            details: None,
            is_error: false,
            timestamp: 0,
        }));
        let (second, failure) = ask(&model, &request).await;
        assert_eq!(failure, None, "{}: {:?}", wire.id(), second.error_message);
        assert_eq!(
            (second.text().as_str(), second.stop_reason),
            ("It says hello.", StopReason::Stop),
            "{}",
            wire.id()
        );
        assert_eq!((server.expectation_misses(), server.turns_left()), (0, 0), "{}", wire.id());
    }
}
