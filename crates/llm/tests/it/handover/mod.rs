//! Conversations that continue: with the same model, and carried from any wire to any other in the middle.
//! What the second side is sent must follow its documented rules, whatever the first one left behind.

mod provider_rules;

use relaycode_llm::message::{ImageContent, Message, ToolResultMessage, UserContent, UserMessage};
use relaycode_llm::request::Auth;
use relaycode_llm::wire::Wire;
use relaycode_llm::{AssistantMessage, CancelToken, ChatRequest, Model, StopReason, StreamOptions};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use serde_json::{Value, json};

use crate::all_wires::{KEY, all, client, of_wire, question};
use crate::test_wire::{once, options};

/// A pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SIGNATURE: &str = "c2lnbmVkLWJ5LXRoZS1maXJzdC1zaWRl";

/// A model of `wire`; with the name of one that signs its calls, if that matters.
fn model(server: &ScriptedServer, wire: &str) -> Model {
    let id = if wire == "google-generative-ai" { "gemini-3-pro" } else { "m1" };
    Model { id: id.into(), provider: format!("of-{wire}"), ..of_wire(server, wire) }
}

async fn answer(server: &ScriptedServer, wire: &str, request: &ChatRequest) -> AssistantMessage {
    let mut stream = client().stream(&model(server, wire), Auth::Key(KEY.into()), request.clone(), once());
    let message = stream.finish().await.clone();
    assert_eq!(stream.failure(), None, "{wire}");
    message
}

fn result(message: &AssistantMessage, at: usize, content: Vec<UserContent>, is_error: bool) -> Message {
    let call = message.tool_calls().nth(at).unwrap();
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content,
        details: None,
        is_error,
        timestamp: 0,
    })
}

/// A conversation with a model of `wire`, up to a question for somebody to answer.
struct Talk {
    /// After the results of two calls.
    in_a_loop: ChatRequest,
    /// After a call that nobody carried out, a cancelled answer, and a new question.
    later: ChatRequest,
}

async fn talk(wire: &dyn Wire) -> Talk {
    let id = wire.id();
    let server = ScriptedServer::start(Script::new([
        ScriptedTurn::text("Let me look.")
            .reasoning("Both may matter.")
            .signature(SIGNATURE)
            .tool("read", json!({"path": "a.png"}))
            .tool("read", json!({"path": "é.rs", "deep": {"list": [1, null, "x"]}})),
        ScriptedTurn::text("Once more.")
            .reasoning("Hm.")
            .signature(SIGNATURE)
            .tool("read", json!({"path": "c"})),
        ScriptedTurn::pieces(["Half ", "of it"]).with(|turn| turn.hang_s = Some(TurnDelay::Forever(true))),
    ]));
    let mut request = question();
    let first = answer(&server, id, &request).await;
    assert_eq!((first.tool_calls().count(), first.stop_reason), (2, StopReason::ToolUse), "{id}");
    let picture = UserContent::Image(ImageContent { data: PICTURE.into(), mime_type: "image/png".into() });
    let results = [
        result(&first, 0, vec![UserContent::text("a picture"), picture], false),
        result(&first, 1, vec![UserContent::text("no such file")], true),
    ];
    request.messages.push(Message::Assistant(first));
    request.messages.extend(results);
    let in_a_loop = request.clone();
    let second = answer(&server, id, &request).await;
    assert_eq!(second.tool_calls().count(), 1, "{id}");
    request.messages.push(Message::Assistant(second));
    request.messages.push(Message::User(UserMessage::text("Never mind, say what you know.", 0)));
    let cancel = CancelToken::default();
    let broken = StreamOptions { cancel: cancel.clone(), ..options() };
    let mut stream = client().stream(&model(&server, id), Auth::Key(KEY.into()), request.clone(), broken);
    while stream.message().text().is_empty() {
        stream.next().await.unwrap();
    }
    cancel.cancel();
    let half = stream.finish().await.clone();
    assert_eq!((half.text().as_str(), half.stop_reason), ("Half ", StopReason::Aborted), "{id}");
    request.messages.push(Message::Assistant(half));
    request.messages.push(Message::User(UserMessage::text("And now?", 0)));
    for (index, sent) in server.turns().iter().enumerate() {
        assert_eq!(provider_rules::broken(id, &sent.body), [""; 0], "{id}, request {index}: {:#}", sent.body);
    }
    assert!(signed(id, &server.turns()[1].body), "{id}: {:#}", server.turns()[1].body);
    Talk { in_a_loop, later: request }
}

/// The provider gets back what it needs of its own thinking.
fn signed(wire: &str, body: &Value) -> bool {
    let text = body.to_string();
    match wire {
        // Nothing is signed there: the thinking itself goes back.
        "ollama" | "openai-completions" => text.contains("Both may matter."),
        _ => text.contains(SIGNATURE),
    }
}

#[tokio::test]
async fn a_conversation_goes_on_with_its_model_and_with_one_of_any_other_wire() {
    let mut pairs = 0;
    for from in all() {
        let talk = talk(from).await;
        for to in all() {
            for (request, last) in [(&talk.in_a_loop, "no such file"), (&talk.later, "And now?")] {
                let server = ScriptedServer::start(Script::new([ScriptedTurn::text("fine")]));
                assert_eq!(answer(&server, to.id(), request).await.text(), "fine");
                let body = server.turns().remove(0).body;
                let what = format!("from {} to {}: {body:#}", from.id(), to.id());
                assert_eq!(provider_rules::broken(to.id(), &body), [""; 0], "{what}");
                let text = body.to_string();
                for said in ["What does it say?", "Let me look.", "a picture", PICTURE, "é.rs", last] {
                    assert!(text.contains(said), "{said:?} is lost {what}");
                }
                if last == "And now?" {
                    assert!(text.contains("Half ") && text.contains("Never mind"), "{what}");
                }
                if from.id() == to.id() {
                    assert!(signed(to.id(), &body), "{what}");
                } else {
                    assert!(!text.contains(SIGNATURE) && !text.contains("Both may matter."), "{what}");
                }
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 25);
}
