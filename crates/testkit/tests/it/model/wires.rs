//! Every wire expresses the same turn in its own way. The agents' tests show that real clients understand
//! it.

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnUsage};
use serde_json::{Value, json};

use super::client::Client;

/// The path of each wire, the end of its stream, and where the text is in its whole answer.
const WIRES: &[(&str, &str, &str, &str)] = &[
    ("anthropic-messages", "/v1/messages", "{\"type\":\"message_stop\"}\n\n", "/content/1/text"),
    ("openai-responses", "/v1/responses", "\"metadata\":{}}}\n\n", "/output/1/content/0/text"),
    ("openai-completions", "/v1/chat/completions", "data: [DONE]\n\n", "/choices/0/message/content"),
    ("google-generative-ai", "/v1beta/models/m:", "}\r\n\r\n", "/candidates/0/content/parts/1/text"),
    ("ollama", "/api/chat", "}\n", "/message/content"),
];

fn full() -> ScriptedTurn {
    let usage = TurnUsage { input: 7, output: 5, cache_read: 3, cache_write: 2, reasoning: 1 };
    ScriptedTurn::text("Let me look.")
        .reasoning("A file, then.")
        .signature("signed")
        .usage(usage)
        .tool("read", json!({"path": "a.rs"}))
}

/// `stream`: whether a stream is requested.
fn ask(server: &ScriptedServer, path: &str, stream: bool) -> super::client::Answer {
    let path = match (path.ends_with(':'), stream) {
        (false, _) => path.to_owned(),
        (true, true) => format!("{path}streamGenerateContent?alt=sse"),
        (true, false) => format!("{path}generateContent"),
    };
    let body = json!({"model": "m", "stream": stream, "tools": [{"name": "read"}]});
    Client::to(server).ask("POST", &path, &body.to_string())
}

#[test]
fn every_wire_streams_thinking_text_and_calls_and_says_the_same_without_a_stream() {
    for (id, path, last, text) in WIRES {
        let server = ScriptedServer::start(Script::new([full(), full()]));
        let streamed = ask(&server, path, true).text();
        for part in ["Let ", "ook.", "A fil", "read", "path", "a.rs"] {
            assert!(streamed.contains(part), "{id}: no {part} in {streamed}");
        }
        assert!(streamed.ends_with(last), "{id}: {streamed}");
        assert_eq!(streamed.contains("signed"), !matches!(*id, "openai-completions" | "ollama"), "{id}");
        let whole = ask(&server, path, false).json();
        assert_eq!(whole.pointer(text), Some(&json!("Let me look.")), "{id}: {whole}");
        assert!(server.requests().iter().all(|request| request.wire == Some(id)), "{id}");
        assert_eq!(server.turns_left(), 0);
    }
}

#[test]
fn every_event_of_every_wire_is_json() {
    for (id, path, ..) in WIRES {
        let server = ScriptedServer::start(Script::new([full()]));
        let streamed = ask(&server, path, true).text();
        let mut events = 0;
        for line in streamed.lines() {
            let data = if *id == "ollama" { Some(line) } else { line.strip_prefix("data: ") };
            if let Some(data) = data.filter(|data| *data != "[DONE]") {
                serde_json::from_str::<Value>(data).unwrap_or_else(|error| panic!("{id}: {error} in {data}"));
                events += 1;
            }
        }
        assert!(events > 5, "{id}");
    }
}

#[test]
fn every_wire_counts_what_a_turn_costs_in_its_own_words() {
    let counts = |path: &str, at: &[&str]| -> Vec<u64> {
        let server = ScriptedServer::start(Script::new([full()]));
        let whole = ask(&server, path, false).json();
        at.iter().map(|place| whole.pointer(place).and_then(Value::as_u64).unwrap()).collect()
    };
    let anthropic = [
        "/usage/input_tokens",
        "/usage/cache_read_input_tokens",
        "/usage/cache_creation_input_tokens",
        "/usage/output_tokens",
    ];
    assert_eq!(counts("/v1/messages", &anthropic), [7, 3, 2, 5]);
    let responses = [
        "/usage/input_tokens",
        "/usage/input_tokens_details/cached_tokens",
        "/usage/output_tokens",
        "/usage/output_tokens_details/reasoning_tokens",
    ];
    assert_eq!(counts("/v1/responses", &responses), [12, 3, 5, 1]);
    let chat =
        ["/usage/prompt_tokens", "/usage/prompt_tokens_details/cached_tokens", "/usage/completion_tokens"];
    assert_eq!(counts("/v1/chat/completions", &chat), [12, 3, 5]);
    let google = [
        "/usageMetadata/promptTokenCount",
        "/usageMetadata/cachedContentTokenCount",
        "/usageMetadata/candidatesTokenCount",
        "/usageMetadata/thoughtsTokenCount",
    ];
    assert_eq!(counts("/v1beta/models/m:", &google), [12, 3, 4, 1]);
    assert_eq!(counts("/api/chat", &["/prompt_eval_count", "/eval_count"]), [12, 5]);
}

#[test]
fn every_wire_fails_and_stops_in_its_own_words() {
    let (limited, broken) =
        (ScriptedTurn::status(429).header("retry-after", "7"), ScriptedTurn::text("One.").stop("own-word"));
    for (id, path, ..) in WIRES {
        let server = ScriptedServer::start(Script::new([limited.clone(), broken.clone(), broken.clone()]));
        let refused = ask(&server, path, true);
        assert_eq!(
            (refused.status, super::client::value(&refused.head, "retry-after")),
            (429, Some("7")),
            "{id}"
        );
        assert!(refused.json().get("error").is_some(), "{id}: {}", refused.text());
        assert!(ask(&server, path, true).text().contains("own-word"), "{id}");
        assert!(ask(&server, path, false).text().contains("own-word"), "{id}");
        server.push(&ScriptedTurn::text("Half.").with(|turn| turn.stream_error = Some("went wrong".into())));
        let failed = ask(&server, path, true).text();
        assert!(failed.contains("went wrong") && failed.contains("Half."), "{id}: {failed}");
        assert!(
            !failed.contains("completed\"") && !failed.contains("[DONE]") && !failed.contains("STOP"),
            "{id}"
        );
    }
}

#[test]
fn lists_have_the_shape_of_the_provider_that_is_asked() {
    let server = ScriptedServer::start(Script::default().models(["one", "two"]).without_path("/props"));
    let get = |path: &str, header: (&str, &str)| {
        let mut client = Client::to(&server);
        client.send("GET", path, &[header], b"");
        client.answer()
    };
    let none = ("accept", "*/*");
    assert_eq!(get("/v1/models", none).json()["data"][1]["id"], "two");
    assert_eq!(get("/v1/models", ("anthropic-version", "2023-06-01")).json()["last_id"], "two");
    assert_eq!(get("/v1beta/models?key=k", none).json()["models"][0]["name"], "models/one");
    assert_eq!(get("/api/tags", none).json()["models"][0]["model"], "one:latest");
    assert_eq!(get("/api/v0/models", none).json()["data"][0]["state"], "loaded");
    assert_eq!(get("/props", none).status, 404);
    let show = Client::to(&server).ask("POST", "/api/show", &json!({"model": "one"}).to_string()).json();
    assert_eq!(show["capabilities"][1], "tools");
    let count = Client::to(&server).ask("POST", "/v1/messages/count_tokens", &"x".repeat(400));
    assert_eq!(count.json()["input_tokens"], 100);
}
