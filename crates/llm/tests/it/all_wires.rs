//! The setup for tests of every wire: a scripted server, a model of each wire on it, one question.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use relaycode_llm::message::{Message, UserMessage};
use relaycode_llm::models::model::ModelPrice;
use relaycode_llm::request::{Auth, ThinkingLevel, Tool};
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::wire::Wire;
use relaycode_llm::{
    AnswerStream, AssistantMessage, ChatRequest, Model, ModelClient, ModelFailure, StreamOptions, wire,
};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::json;

use crate::test_wire::{model, options};

/// A key that no message may contain. Longer than what the server remembers of one.
pub(crate) const KEY: &str = "sk-test-5d9a37c0e1b84f62-never-shown";

/// Where the paths of a wire begin on the server.
fn base(server: &ScriptedServer, wire: &str) -> String {
    let beneath = match wire {
        "google-generative-ai" => "/v1beta",
        "openai-completions" | "openai-responses" => "/v1",
        _ => "",
    };
    format!("{}{beneath}", server.url())
}

/// A model on the server that speaks `wire`, thinks, and reads images.
pub(crate) fn of_wire(server: &ScriptedServer, wire: &str) -> Model {
    Model {
        api: wire.into(),
        provider: "scripted".into(),
        reasoning: true,
        images: true,
        context_window: 200_000,
        max_tokens: 32_000,
        price: ModelPrice { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 },
        ..model(&base(server, wire))
    }
}

/// A question that offers a tool.
pub(crate) fn question() -> ChatRequest {
    ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![Message::User(UserMessage::text("What does it say?", 0))],
        tools: vec![read_tool()],
        thinking: ThinkingLevel::Low,
        ..ChatRequest::default()
    }
}

pub(crate) fn read_tool() -> Tool {
    Tool {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }
}

pub(crate) fn client() -> ModelClient {
    ModelClient::new(&ClientSettings::default()).unwrap()
}

/// The answer of a wire's model, not requested yet.
pub(crate) fn asked(server: &ScriptedServer, wire: &dyn Wire, options: StreamOptions) -> AnswerStream {
    client().stream(&of_wire(server, wire.id()), Auth::Key(KEY.into()), question(), options)
}

/// The result of a script.
pub(crate) struct Came {
    pub(crate) message: AssistantMessage,
    pub(crate) failure: Option<ModelFailure>,
    pub(crate) requests: usize,
}

/// Asks a server with these turns, followed by "as planned".
pub(crate) async fn came(wire: &dyn Wire, turns: Vec<ScriptedTurn>, options: StreamOptions) -> Came {
    let server = ScriptedServer::start(Script::new(
        turns.into_iter().chain([ScriptedTurn::text("as planned").repeat(20)]),
    ));
    let mut stream = asked(&server, wire, options);
    let steps = crate::test_wire::steps(&mut stream).await;
    let (message, failure) = (stream.message().clone(), stream.failure().cloned());
    let lasts = steps.iter().filter(|step| step.starts_with("done") || step.starts_with("error")).count();
    assert_eq!(lasts, 1, "{}: {steps:?}", wire.id());
    assert!(steps.last().unwrap().starts_with(if failure.is_some() { "error" } else { "done" }), "{steps:?}");
    let requests = server.turns().len();
    Came { message, failure, requests }
}

impl Came {
    /// A summary: `Malformed after 1: one two`.
    pub(crate) fn short(&self) -> String {
        let class =
            self.failure.as_ref().map_or("whole".to_owned(), |failure| format!("{:?}", failure.class));
        let text: String = self.message.text().replace('\n', "/").chars().take(40).collect();
        format!("{class} after {}: {text}", self.requests)
    }
}

/// The bytes that `wire` streams for a turn.
pub(crate) async fn body(wire: &dyn Wire, turn: ScriptedTurn) -> Vec<u8> {
    let server = ScriptedServer::start(Script::new([turn]));
    let between = Between::new(server.address());
    let mut model = of_wire(&server, wire.id());
    model.base_url = model.base_url.replace(&server.url(), &format!("http://{}", between.address));
    client().stream(&model, Auth::None, question(), options()).finish().await;
    let seen = between.seen.lock().unwrap().clone();
    let head = seen.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    unchunked(&seen[head..])
}

fn unchunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&chunks[..end]).unwrap(), 16).unwrap();
        body.extend_from_slice(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 4 + length..];
    }
    body
}

pub(crate) fn all() -> impl Iterator<Item = &'static dyn Wire> {
    wire::ALL.iter().copied()
}

/// Between a client and a server, like a proxy: passes bytes on and counts those that come back.
pub(crate) struct Between {
    pub(crate) address: SocketAddr,
    /// Bytes from the server to the client.
    pub(crate) passed: Arc<AtomicUsize>,
    pub(crate) connections: Arc<AtomicUsize>,
    /// The first megabyte from the server.
    pub(crate) seen: Arc<Mutex<Vec<u8>>>,
    /// What the clients sent.
    pub(crate) asked: Arc<Mutex<Vec<u8>>>,
}

impl Between {
    /// Forwards everything to `server`.
    pub(crate) fn new(server: SocketAddr) -> Between {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let between = Between {
            address: listener.local_addr().unwrap(),
            passed: Arc::default(),
            connections: Arc::default(),
            seen: Arc::default(),
            asked: Arc::default(),
        };
        let (passed, connections) = (between.passed.clone(), between.connections.clone());
        let (seen, asked) = (between.seen.clone(), between.asked.clone());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) else { break };
                connections.fetch_add(1, Ordering::SeqCst);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let asked = asked.clone();
                std::thread::spawn(move || pass(from, to, &|bytes| keep(&asked, bytes)));
                let (passed, seen) = (passed.clone(), seen.clone());
                std::thread::spawn(move || {
                    pass(server, client, &|bytes| {
                        passed.fetch_add(bytes.len(), Ordering::SeqCst);
                        keep(&seen, bytes);
                    });
                });
            }
        });
        between
    }
}

fn keep(kept: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut kept = kept.lock().unwrap();
    let room = (1usize << 20).saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Passes bytes on until one side closes; then both do.
fn pass(mut from: TcpStream, mut to: TcpStream, each: &dyn Fn(&[u8])) {
    let mut piece = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        each(&piece[..count]);
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Short timeouts, one attempt.
pub(crate) fn impatient() -> StreamOptions {
    let soon = Duration::from_millis(200);
    let mut options = crate::test_wire::once();
    options.timeouts.first_byte = soon;
    options.timeouts.idle = soon;
    options
}
