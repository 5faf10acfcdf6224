//! The connection to a provider, on every wire: proxies, redirects, web pages, compressed answers, keys,
//! secrets, reused connections, and a system without certificates.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use relaycode_llm::message::{Message, UserMessage};
use relaycode_llm::request::Auth;
use relaycode_llm::request::secrets::{SecretEntry, SecretMode, SecretPattern, Secrets};
use relaycode_llm::stream::proxy::ProxySettings;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{ChatRequest, FailureClass, ModelClient, StreamEvent, StreamOptions, StreamStep};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnUsage};
use serde_json::json;

use crate::all_wires::{Between, KEY, all, asked, body, client, of_wire, question};
use crate::test_wire::{once, options, steps};

fn three() -> ScriptedTurn {
    ScriptedTurn::pieces(["one ", "two ", "three"])
}

#[tokio::test]
async fn a_proxy_is_used_for_others_and_not_for_this_machine_or_for_those_it_is_not_for() {
    for wire in all() {
        let server = ScriptedServer::start(Script::new([three().repeat(9)]));
        let proxy = Between::new(server.address());
        let proxies = ProxySettings {
            http: Some(format!("http://{}", proxy.address)),
            no_proxy: Some("direct.invalid".into()),
            ..ProxySettings::default()
        };
        let client = ModelClient::new(&ClientSettings { proxies, ..ClientSettings::default() }).unwrap();
        let mut model = of_wire(&server, wire.id());
        let here = model.base_url.clone();
        for (host, through) in [("models.invalid", 1), ("direct.invalid", 1), ("127.0.0.1", 1)] {
            model.base_url = if host == "127.0.0.1" {
                here.clone()
            } else {
                here.replace(&server.url(), &format!("http://{host}"))
            };
            let mut stream = client.stream(&model, Auth::None, question(), once());
            let text = stream.finish().await.text();
            assert_eq!(
                text.is_empty(),
                host == "direct.invalid",
                "{} {host}: {:?}",
                wire.id(),
                stream.failure()
            );
            assert_eq!(proxy.connections.load(Ordering::SeqCst), through, "{} {host}", wire.id());
        }
        let asked = String::from_utf8(proxy.asked.lock().unwrap().clone()).unwrap();
        assert!(asked.starts_with("POST http://models.invalid/"), "{asked}");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told_as_what_it_is() {
    let server = ScriptedServer::start(Script::new([
        ScriptedTurn::status(407).body(json!("<html>proxy wants a name</html>")),
        ScriptedTurn::status(502).body(json!("<html>bad gateway</html>")),
    ]));
    let proxy = Between::new(server.address());
    let proxies = ProxySettings { http: Some(proxy.address.to_string()), ..ProxySettings::default() };
    let client = ModelClient::new(&ClientSettings { proxies, ..ClientSettings::default() }).unwrap();
    let mut model = of_wire(&server, "openai-completions");
    model.base_url = "http://models.invalid/v1".into();
    for words in ["status 407", "status 502"] {
        let mut stream = client.stream(&model, Auth::None, question(), once());
        stream.finish().await;
        let message = &stream.failure().unwrap().message;
        assert!(message.contains(words) && message.contains("proxy"), "{message}");
    }
}

#[tokio::test]
async fn an_answer_elsewhere_or_a_web_page_is_no_answer_and_asked_for_once() {
    for wire in all() {
        for status in [301, 302, 303, 307, 308] {
            let other = ScriptedServer::start(Script::new([three()]));
            let turn = ScriptedTurn::status(status)
                .header("location", &format!("{}/v1/messages?key={KEY}", other.url()));
            let server = ScriptedServer::start(Script::new([turn]));
            let mut stream = asked(&server, wire, options());
            assert_eq!(steps(&mut stream).await, ["error error"], "{}", wire.id());
            let failure = stream.failure().unwrap();
            assert_eq!(failure.class, FailureClass::Config, "{failure}");
            assert!(failure.message.contains("baseUrl in models.yml"), "{failure}");
            assert!(!failure.message.contains(KEY), "{failure}");
            assert_eq!((server.turns().len(), other.connections().opened), (1, 0));
        }
        for kind in ["text/html; charset=utf-8", "text/plain", "text/event-stream"] {
            let page = ScriptedTurn::raw(["<!DOCTYPE html><html><body>Sign in</body></html>"])
                .header("content-type", kind);
            let server = ScriptedServer::start(Script::new([page]));
            let mut stream = asked(&server, wire, options());
            stream.finish().await;
            let failure = stream.failure().unwrap();
            assert_eq!(
                (failure.class, server.turns().len()),
                (FailureClass::Config, 1),
                "{} {kind}: {failure}",
                wire.id()
            );
            assert!(failure.message.contains("web page"), "{failure}");
        }
    }
}

/// As gzip, without compressing anything.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let length = u16::try_from(bytes.len()).unwrap();
    out.push(1);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(&(!crc).to_le_bytes());
    out.extend_from_slice(&u32::from(length).to_le_bytes());
    out
}

#[tokio::test]
async fn a_compressed_answer_is_read() {
    for wire in all() {
        let bytes = gzipped(&body(wire, three()).await);
        for piece in [bytes.len(), 7] {
            let turn = ScriptedTurn::raw(bytes.chunks(piece)).header("content-encoding", "gzip");
            let server = ScriptedServer::start(Script::new([turn]));
            let mut stream = asked(&server, wire, once());
            assert_eq!(stream.finish().await.text(), "one two three", "{} {:?}", wire.id(), stream.failure());
            let asked = server.turns();
            assert!(
                asked[0].header("accept-encoding").is_some_and(|kinds| kinds.contains("gzip")),
                "{}",
                wire.id()
            );
        }
        let half = ScriptedTurn::raw([&bytes[..bytes.len() / 2]]).header("content-encoding", "gzip");
        let server = ScriptedServer::start(Script::new([half]));
        let mut stream = asked(&server, wire, once());
        stream.finish().await;
        let failure = stream.failure().unwrap();
        assert_eq!(failure.class, FailureClass::Network, "{failure}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again_behind_a_whole_answer_and_behind_a_refusal() {
    for wire in all() {
        let server = ScriptedServer::start(Script::new([
            three().repeat(3),
            ScriptedTurn::status(400),
            ScriptedTurn::status(500),
            ScriptedTurn::text("fine").repeat(2),
        ]));
        let (client, model) = (client(), of_wire(&server, wire.id()));
        for _ in 0..6 {
            client.stream(&model, Auth::Key(KEY.into()), question(), options()).finish().await;
        }
        assert_eq!(server.turns().len(), 7, "{}", wire.id());
        assert_eq!(server.connections().opened, 1, "{}", wire.id());
    }
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_refused_before_anybody_is_asked() {
    for wire in all() {
        let server = ScriptedServer::start(Script::new([three().repeat(9)]));
        for key in
            ["sk-secret\n", "sk-\r\nx-evil: secret", "sk secret", "sk-sécret", "\u{feff}sk-secret", "", " "]
        {
            let mut stream =
                client().stream(&of_wire(&server, wire.id()), Auth::Key(key.into()), question(), options());
            assert_eq!(steps(&mut stream).await, ["error error"], "{}", wire.id());
            let failure = stream.failure().unwrap();
            assert_eq!(failure.class, FailureClass::Config, "{failure}");
            assert!(failure.message.contains("`relay keys set scripted`"), "{failure}");
            assert!(!failure.message.contains("cret"), "{failure}");
        }
        assert_eq!(server.connections().opened, 0, "{}", wire.id());
    }
}

#[tokio::test]
async fn the_key_goes_where_the_wire_says_and_as_a_bearer_where_the_user_says() {
    for wire in all() {
        let server = ScriptedServer::start(Script::new([three().repeat(2)]));
        let key = "k-0123456789";
        for bearer in [None, Some(true)] {
            let mut model = of_wire(&server, wire.id());
            model.compat.auth_header = bearer;
            let mut stream = client().stream(&model, Auth::Key(key.into()), question(), once());
            assert_eq!(stream.finish().await.text(), "one two three", "{}", wire.id());
            let asked = server.turns().pop().unwrap();
            let held: Vec<&str> = asked
                .headers
                .iter()
                .filter(|(_, value)| value.contains(key))
                .map(|(name, _)| name.as_str())
                .collect();
            let expected: &[&str] = match (wire.id(), bearer) {
                ("anthropic-messages", None) => &["x-api-key", "authorization"],
                ("google-generative-ai", None) => &["x-goog-api-key"],
                _ => &["authorization"],
            };
            assert_eq!(held, expected, "{} {bearer:?}", wire.id());
            assert!(!asked.path.contains(key) && !asked.body.to_string().contains(key), "{}", wire.id());
            if held.contains(&"authorization") {
                assert_eq!(asked.header("authorization"), Some("Bearer k-0123456789"));
            }
        }
    }
}

#[tokio::test]
async fn the_same_usage_costs_the_same_on_every_wire_as_far_as_it_can_say_it() {
    let usage = TurnUsage { input: 1000, output: 300, cache_read: 5000, cache_write: 700, reasoning: 120 };
    for wire in all() {
        let server = ScriptedServer::start(Script::new([three().reasoning("hm").usage(usage)]));
        let came = asked(&server, wire, once()).finish().await.usage;
        let (input, read, write) = match wire.id() {
            "anthropic-messages" => (1000, 5000, 700),
            "ollama" => (6700, 0, 0),
            _ => (1700, 5000, 0),
        };
        assert_eq!(
            (came.input, came.output, came.cache_read, came.cache_write, came.total_tokens),
            (input, 300, read, write, 7000),
            "{}",
            wire.id()
        );
        let cost = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let expected = cost(input, 3.0) + cost(300, 15.0) + cost(read, 0.3) + cost(write, 3.75);
        assert!((came.cost.total - expected).abs() < 1e-12, "{}: {:?}", wire.id(), came.cost);
    }
}

#[tokio::test]
async fn a_secret_never_leaves_and_is_itself_again_in_the_call_however_it_was_cut() {
    let secret = "hunter2-hunter2";
    let entry = SecretEntry { pattern: SecretPattern::Plain(secret.into()), mode: SecretMode::Obfuscate };
    let secrets = Arc::new(Secrets::new(&[entry], [7; 32]));
    let hidden = secrets.mask_text(secret).into_owned();
    assert_ne!(hidden, secret);
    for wire in all() {
        // The first delta of the arguments has 60 characters: the placeholder is split by the cut.
        for before in [0, 40, 44, 48] {
            let path = format!("{}{hidden}/x", "p".repeat(before));
            let turn = ScriptedTurn::text(format!("I use {hidden}.")).tool("read", json!({"path": path}));
            let server = ScriptedServer::start(Script::new([turn.with(|turn| turn.split = Some(3))]));
            let mut request = question();
            request.system = Some(format!("The word is {secret}."));
            request.messages = vec![Message::User(UserMessage::text(format!("say {secret}"), 0))];
            request.tools[0].description = format!("Reads with {secret}.");
            let options = StreamOptions { secrets: Some(secrets.clone()), ..options() };
            let mut stream =
                client().stream(&of_wire(&server, wire.id()), Auth::Key(KEY.into()), request, options);
            let mut ended = None;
            while let Some(step) = stream.next().await {
                if let StreamStep::Event(StreamEvent::ToolcallEnd { tool_call, .. }) = step {
                    ended = Some(tool_call);
                }
            }
            assert_eq!(stream.failure(), None);
            let shown = format!("{}{secret}/x", "p".repeat(before));
            assert_eq!(ended.unwrap().arguments["path"], json!(shown), "{}", wire.id());
            let message = stream.message().clone();
            assert_eq!(message.tool_calls().next().unwrap().arguments["path"], json!(shown), "{}", wire.id());
            let sent = server.turns()[0].body.to_string();
            assert!(
                !sent.contains(secret) && sent.matches(hidden.as_str()).count() == 3,
                "{}: {sent}",
                wire.id()
            );
            // What was unmasked goes back masked.
            let server = ScriptedServer::start(Script::new([three()]));
            let request = ChatRequest { messages: vec![Message::Assistant(message)], ..question() };
            let options = StreamOptions { secrets: Some(secrets.clone()), ..crate::test_wire::options() };
            let model = of_wire(&server, wire.id());
            client().stream(&model, Auth::Key(KEY.into()), request, options).finish().await;
            let sent = server.turns()[0].body.to_string();
            assert!(!sent.contains(secret) && sent.contains(&hidden), "{}: {sent}", wire.id());
        }
    }
}

/// Runs in its own process: see the next test.
#[tokio::test]
#[ignore = "asked by another test, without certificates"]
async fn child_without_certificates() {
    for wire in all() {
        let server = ScriptedServer::start(Script::new([three()]));
        assert_eq!(asked(&server, wire, once()).finish().await.text(), "one two three", "{}", wire.id());
        let mut model = of_wire(&server, wire.id());
        model.base_url = server.url().replace("http://", "https://");
        let mut stream = client().stream(&model, Auth::Key(KEY.into()), question(), once());
        stream.finish().await;
        println!("https: {}", stream.failure().unwrap());
    }
}

#[test]
fn a_system_without_certificates_still_reaches_this_machine_and_says_what_https_lacks() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "transport::child_without_certificates", "--ignored", "--nocapture"])
        .env("SSL_CERT_FILE", "/nowhere/certificates.pem")
        .env("SSL_CERT_DIR", "/nowhere/certificates")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        said.matches("https: scripted cannot be asked over https: this system has no certificates").count(),
        5,
        "{said}"
    );
    assert_eq!(said.matches("SSL_CERT_FILE").count(), 5, "{said}");
}
