//! Error statuses: their failure class, how often they are retried, how long the wait is, and the message,
//! for every wire and in every provider's own words.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::{FailureClass, StreamOptions, StreamStep};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::{Value, json};

use crate::all_wires::{KEY, all, asked};
use crate::test_wire::{options, steps};

fn twice() -> StreamOptions {
    StreamOptions { budget: RetryBudget { request_max_retries: 2, ..options().budget }, ..options() }
}

/// The message names the provider, ends properly, and contains neither the key nor control characters.
fn assert_readable(message: &str) {
    assert!(message.starts_with("scripted "), "{message}");
    assert!(!message.contains(KEY) && !message.contains(&KEY[8..24]), "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    assert!(message.len() < 1000 && !message.contains(".."), "{message}");
}

#[tokio::test]
async fn each_status_has_its_class_its_retries_and_a_message_that_helps() {
    let statuses = [
        (401, FailureClass::Auth, "`relay keys set scripted`"),
        (403, FailureClass::Forbidden, "`relay keys set scripted`"),
        (404, FailureClass::NotFound, "`relay models`"),
        (408, FailureClass::Timeout, "took too long"),
        (429, FailureClass::RateLimit, "takes no more requests for now"),
        (500, FailureClass::Server, "failed"),
        (502, FailureClass::Server, "failed"),
        (503, FailureClass::Overloaded, "has too much to do"),
        (529, FailureClass::Overloaded, "has too much to do"),
    ];
    let mut wrong = String::new();
    for wire in all() {
        for (status, class, words) in statuses {
            // In the wire's own form, in none, and as a web page of a gateway.
            let nasty = format!("<html><head><title>{status}</title></head>\u{1b}[31m{KEY}");
            let bodies = [None, Some(json!("")), Some(json!(nasty))];
            for body in bodies {
                let turn = ScriptedTurn::status(status).with(|turn| turn.body.clone_from(&body)).repeat(9);
                let server = ScriptedServer::start(Script::new([turn]));
                let mut stream = asked(&server, wire, twice());
                stream.finish().await;
                let failure = stream.failure().unwrap().clone();
                let requests = server.turns().len();
                let expected = if class.is_transient() { 3 } else { 1 };
                if failure.class != class || requests != expected || !failure.message.contains(words) {
                    let _ = writeln!(wrong, "{} {status} {body:?}: {requests} {failure:?}", wire.id());
                }
                assert_readable(&failure.message);
                assert_eq!(failure.status, Some(status));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// One form of a hint: headers, and a body.
type Spelling = (Vec<(&'static str, String)>, Option<Value>);

/// A hint of `milliseconds`, in the forms that the providers of a wire use.
fn hints(wire: &str, milliseconds: u64) -> Vec<Spelling> {
    let seconds = format!("{:.3}", Duration::from_millis(milliseconds).as_secs_f64());
    let at = Timestamp::now() + Duration::from_millis(milliseconds);
    let mut all = vec![
        (vec![("retry-after", seconds.clone())], None),
        (vec![("retry-after-ms", milliseconds.to_string())], None),
    ];
    match wire {
        "anthropic-messages" => all.push((
            vec![
                ("anthropic-ratelimit-requests-remaining", "0".into()),
                ("anthropic-ratelimit-requests-reset", at.to_string()),
                ("anthropic-ratelimit-tokens-remaining", "5000".into()),
                ("anthropic-ratelimit-tokens-reset", "2999-01-01T00:00:00Z".into()),
            ],
            None,
        )),
        "google-generative-ai" => all.push((
            Vec::new(),
            Some(json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slower", "details": [
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")}]}})),
        )),
        "ollama" => {}
        _ => {
            all.push((
                vec![
                    ("x-ratelimit-remaining-requests", "0".into()),
                    ("x-ratelimit-reset-requests", format!("{milliseconds}ms")),
                    ("x-ratelimit-remaining-tokens", "149984".into()),
                    ("x-ratelimit-reset-tokens", "6m0s".into()),
                ],
                None,
            ));
            all.push((vec![("x-ratelimit-reset", at.as_millisecond().to_string())], None));
            let message = format!("Rate limit reached for gpt-x in organization org-1. Please try again in {milliseconds}ms. Visit our page.");
            all.push((
                Vec::new(),
                Some(json!({"error": {"message": message, "type": "tokens", "param": null, "code": "rate_limit_exceeded"}})),
            ));
        }
    }
    all
}

#[tokio::test]
async fn a_wait_is_honoured_in_every_spelling_of_every_provider() {
    for wire in all() {
        let spellings = hints(wire.id(), 700).len();
        for spelling in 0..spellings {
            for (milliseconds, status) in [(40, 429), (700, 429)] {
                let (headers, body) = hints(wire.id(), milliseconds).swap_remove(spelling);
                let mut turn = ScriptedTurn::status(status).with(|turn| turn.body.clone_from(&body));
                for (name, value) in &headers {
                    turn = turn.header(name, value);
                }
                let server = ScriptedServer::start(Script::new([turn, ScriptedTurn::text("fine")]));
                let mut stream = asked(&server, wire, twice());
                let Some(StreamStep::Retrying { wait, failure, .. }) = stream.next().await else {
                    panic!("no retry")
                };
                let what = format!("{} {headers:?} {body:?}: {wait:?} {failure:?}", wire.id());
                assert_eq!(failure.class, FailureClass::RateLimit, "{what}");
                // A time of day is nearer by when it is read.
                let most = Duration::from_millis(milliseconds + 1);
                assert!(wait <= most, "{what}");
                if milliseconds == 700 {
                    assert!(wait >= Duration::from_millis(100), "{what}");
                    continue;
                }
                assert_eq!(stream.finish().await.text(), "fine", "{what}");
                let turns = server.turns();
                assert_eq!(turns.len(), 2, "{what}");
                assert!(turns[1].at - turns[0].at >= wait, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn a_date_of_http_is_a_hint_too() {
    for wire in all() {
        let at = Timestamp::now() + Duration::from_secs(30);
        let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).unwrap();
        let turn = ScriptedTurn::status(503).header("retry-after", &date);
        let server = ScriptedServer::start(Script::new([turn]));
        let mut stream = asked(&server, wire, twice());
        let Some(StreamStep::Retrying { wait, .. }) = stream.next().await else { panic!("no retry") };
        assert!((20..=30).contains(&wait.as_secs()), "{} {wait:?}", wire.id());
    }
}

/// Errors that waiting does not fix, as each provider reports them: status, body, class. The last ones come
/// in the stream.
fn lasting(wire: &str) -> Vec<(u16, Value, FailureClass)> {
    let openai = |message: &str, kind: &str, code: &str| json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
    match wire {
        "anthropic-messages" => {
            let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
            vec![
                (
                    400,
                    error(
                        "invalid_request_error",
                        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
                    ),
                    FailureClass::Quota,
                ),
                (402, error("billing_error", "There is an issue with your billing."), FailureClass::Quota),
                (
                    400,
                    error("invalid_request_error", "prompt is too long: 210231 tokens > 200000 maximum"),
                    FailureClass::ContextOverflow,
                ),
                (
                    400,
                    error(
                        "invalid_request_error",
                        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
                    ),
                    FailureClass::ContextOverflow,
                ),
                (
                    413,
                    error("request_too_large", "Request exceeds the maximum size"),
                    FailureClass::ContextOverflow,
                ),
            ]
        }
        "google-generative-ai" => {
            let error = |code: u16, status: &str, message: &str, details: Value| json!({"error": {"code": code, "message": message, "status": status, "details": details}});
            let by_day = json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
                {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                 "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50"}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}]);
            vec![
                (
                    429,
                    error(
                        429,
                        "RESOURCE_EXHAUSTED",
                        "You exceeded your current quota, please check your plan and billing details.",
                        by_day,
                    ),
                    FailureClass::Quota,
                ),
                (
                    400,
                    error(
                        400,
                        "INVALID_ARGUMENT",
                        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                        json!([]),
                    ),
                    FailureClass::ContextOverflow,
                ),
                (
                    400,
                    error(
                        400,
                        "INVALID_ARGUMENT",
                        "API key not valid. Please pass a valid API key.",
                        json!([{"reason": "API_KEY_INVALID"}]),
                    ),
                    FailureClass::Auth,
                ),
            ]
        }
        "ollama" => vec![
            (
                400,
                json!({"error": "prompt too long; exceeded max context length by 512 tokens"}),
                FailureClass::ContextOverflow,
            ),
            (402, json!({"error": "this needs a subscription"}), FailureClass::Quota),
            (404, json!({"error": "model \"tiny\" not found, try pulling it first"}), FailureClass::NotFound),
        ],
        _ => vec![
            (
                429,
                openai(
                    "You exceeded your current quota, please check your plan and billing details.",
                    "insufficient_quota",
                    "insufficient_quota",
                ),
                FailureClass::Quota,
            ),
            (
                400,
                openai(
                    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
                    "invalid_request_error",
                    "context_length_exceeded",
                ),
                FailureClass::ContextOverflow,
            ),
            (
                400,
                openai(
                    "Your input exceeds the context window of this model. Please adjust your input and try again.",
                    "invalid_request_error",
                    "context_length_exceeded",
                ),
                FailureClass::ContextOverflow,
            ),
            (
                401,
                openai(
                    "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.",
                    "invalid_request_error",
                    "invalid_api_key",
                ),
                FailureClass::Auth,
            ),
        ],
    }
}

#[tokio::test]
async fn what_waiting_does_not_mend_is_asked_once_whatever_it_is_called() {
    for wire in all() {
        for (status, body, class) in lasting(wire.id()) {
            // A hint beside it changes nothing.
            let turn = ScriptedTurn::status(status).body(body.clone()).header("retry-after", "0").repeat(9);
            let server = ScriptedServer::start(Script::new([turn]));
            let mut stream = asked(&server, wire, twice());
            assert_eq!(steps(&mut stream).await, ["error error"], "{} {body}", wire.id());
            let failure = stream.failure().unwrap();
            assert_eq!((failure.class, server.turns().len()), (class, 1), "{} {failure:?}", wire.id());
            assert_readable(&failure.message);
        }
    }
}

/// The same, as an event of a stream that began well.
#[tokio::test]
async fn what_waiting_does_not_mend_is_asked_once_in_a_stream_too() {
    let sse = |value: Value| format!("data: {value}\n\n");
    let cases: Vec<(&str, String, FailureClass)> = vec![
        ("anthropic-messages", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}\n\n".into(), FailureClass::ContextOverflow),
        ("openai-completions", sse(json!({"error": {"code": "insufficient_quota", "message": "used up"}})), FailureClass::Quota),
        ("openai-completions", sse(json!({"error": {"code": 402, "message": "This request requires more credits"}})), FailureClass::Quota),
        ("google-generative-ai", sse(json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}})), FailureClass::ContextOverflow),
        ("ollama", "{\"error\":\"prompt too long; exceeded max context length by 512 tokens\"}\n".into(), FailureClass::ContextOverflow),
        ("openai-responses", sse(json!({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}}})), FailureClass::ContextOverflow),
        ("openai-responses", sse(json!({"type": "error", "code": "insufficient_quota", "message": "used up"})), FailureClass::Quota),
    ];
    for (id, bytes, class) in cases {
        let wire = all().find(|wire| wire.id() == id).unwrap();
        let server = ScriptedServer::start(Script::new([ScriptedTurn::raw([bytes])]));
        let mut stream = asked(&server, wire, twice());
        stream.finish().await;
        let failure = stream.failure().unwrap();
        assert_eq!((failure.class, server.turns().len()), (class, 1), "{id} {failure:?}");
        assert_readable(&failure.message);
    }
}

#[tokio::test]
async fn what_a_provider_says_is_shown_without_its_control_characters_and_without_the_key() {
    for wire in all() {
        let words = format!("no\u{1b}]0;x\u{7} \u{202e}way {KEY} \u{200b}\r\nagain {}", "long ".repeat(500));
        let body = if wire.id() == "ollama" {
            json!({"error": words})
        } else {
            json!({"error": {"message": words, "type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT"}})
        };
        let server = ScriptedServer::start(Script::new([ScriptedTurn::status(400).body(body)]));
        let mut stream = asked(&server, wire, twice());
        stream.finish().await;
        let failure = stream.failure().unwrap();
        assert_eq!(failure.class, FailureClass::BadRequest, "{failure:?}");
        assert_readable(&failure.message);
        assert!(!failure.message.contains(['\u{202e}', '\u{200b}']), "{:?}", failure.message);
    }
}
