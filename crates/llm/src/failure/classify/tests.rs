use std::time::Duration;

use reqwest::header::HeaderValue;
use serde_json::json;

use super::*;

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn classified(status: u16, body: &str) -> ModelFailure {
    from_response("example", status, &HeaderMap::new(), body.as_bytes(), now())
}

#[test]
fn every_status_has_its_class_without_a_body() {
    let cases = [
        (400, FailureClass::BadRequest),
        (401, FailureClass::Auth),
        (402, FailureClass::Quota),
        (403, FailureClass::Forbidden),
        (404, FailureClass::NotFound),
        (408, FailureClass::Timeout),
        (413, FailureClass::ContextOverflow),
        (422, FailureClass::BadRequest),
        (429, FailureClass::RateLimit),
        (500, FailureClass::Server),
        (502, FailureClass::Server),
        (503, FailureClass::Overloaded),
        (504, FailureClass::Timeout),
        (520, FailureClass::Server),
        (524, FailureClass::Timeout),
        (529, FailureClass::Overloaded),
        (307, FailureClass::Config),
    ];
    for (status, class) in cases {
        let failure = classified(status, "");
        assert_eq!((failure.class, failure.status), (class, Some(status)));
    }
}

#[test]
fn the_bodies_of_every_wire_are_understood() {
    let anthropic = |kind: &str, message: &str| {
        json!({"type":"error","error":{"type":kind,"message":message}}).to_string()
    };
    let openai = |code: &str, kind: &str, message: &str| {
        json!({"error":{"message":message,"type":kind,"param":null,"code":code}}).to_string()
    };
    let google = |code: u16, status: &str, message: &str| {
        json!({"error":{"code":code,"message":message,"status":status}}).to_string()
    };
    let cases = [
        (401, anthropic("authentication_error", "invalid x-api-key"), FailureClass::Auth),
        (403, anthropic("permission_error", "not for you"), FailureClass::Forbidden),
        (404, anthropic("not_found_error", "model: x"), FailureClass::NotFound),
        (400, anthropic("invalid_request_error", "max_tokens: required"), FailureClass::BadRequest),
        (400, anthropic("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"), FailureClass::ContextOverflow),
        (400, anthropic("invalid_request_error", "Your credit balance is too low to use it"), FailureClass::Quota),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), FailureClass::ContextOverflow),
        (429, anthropic("rate_limit_error", "so many input tokens per minute"), FailureClass::RateLimit),
        (529, anthropic("overloaded_error", "Overloaded"), FailureClass::Overloaded),
        (500, anthropic("api_error", "Internal server error"), FailureClass::Server),
        (401, openai("invalid_api_key", "invalid_request_error", "Incorrect API key provided"), FailureClass::Auth),
        (404, openai("model_not_found", "invalid_request_error", "no model"), FailureClass::NotFound),
        (400, openai("context_length_exceeded", "invalid_request_error", "too long"), FailureClass::ContextOverflow),
        (400, openai("", "invalid_request_error", "This model's maximum context length is 8192 tokens."), FailureClass::ContextOverflow),
        (429, openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota"), FailureClass::Quota),
        (400, openai("billing_hard_limit_reached", "", "Billing hard limit"), FailureClass::Quota),
        (429, openai("rate_limit_exceeded", "tokens", "Rate limit reached"), FailureClass::RateLimit),
        (429, openai("rate_limit_exceeded", "tokens", "Request too large for m on tokens per min"), FailureClass::ContextOverflow),
        (400, openai("content_policy_violation", "", "no"), FailureClass::Refused),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), FailureClass::Auth),
        (400, google(400, "INVALID_ARGUMENT", "The input token count (3) exceeds the maximum number of tokens allowed (2)."), FailureClass::ContextOverflow),
        (403, google(403, "PERMISSION_DENIED", "no"), FailureClass::Forbidden),
        (429, google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"), FailureClass::RateLimit),
        (429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded, limit: 0, model: m"), FailureClass::Quota),
        (503, google(503, "UNAVAILABLE", "The model is overloaded."), FailureClass::Overloaded),
        (429, format!("[{}]", google(429, "RESOURCE_EXHAUSTED", "slow")), FailureClass::RateLimit),
        (404, r#"{"error":"model \"m\" not found, try pulling it first"}"#.to_owned(), FailureClass::NotFound),
        (500, r#"{"error":"llama runner process has terminated"}"#.to_owned(), FailureClass::Server),
        (400, r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#.to_owned(), FailureClass::ContextOverflow),
        (400, openai("", "", "Input length (265330) exceeds model's maximum context length (262144)."), FailureClass::ContextOverflow),
        (400, openai("", "", "Your request exceeded model token limit: 262144 (requested: 566084)"), FailureClass::ContextOverflow),
        (429, "Too many tokens, please wait before trying again.".to_owned(), FailureClass::RateLimit),
        (402, openai("402", "", "Insufficient credits"), FailureClass::Quota),
    ];
    for (status, body, class) in cases {
        assert_eq!(classified(status, &body).class, class, "{status} {body}");
    }
}

#[test]
fn a_quota_by_the_day_is_no_limit_that_waiting_mends() {
    // https://ai.google.dev/gemini-api/docs/rate-limits
    let body = |quota: &str| {
        json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}]}})
        .to_string()
    };
    let minute = classified(429, &body("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"));
    assert_eq!((minute.class, minute.retry_after), (FailureClass::RateLimit, Some(Duration::from_secs(17))));
    let day = classified(429, &body("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
    assert_eq!(day.class, FailureClass::Quota);
}

#[test]
fn a_message_says_what_to_do_and_holds_nothing_dangerous() {
    let body = json!({"error": {"message": "bad\u{1b}[31m key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n\nthere.", "type": "authentication_error"}});
    let failure = classified(401, &body.to_string());
    assert!(failure.message.contains("`relay keys set example`"), "{failure}");
    assert!(
        !failure.message.contains('\u{1b}') && !failure.message.contains("abcdefghijklmnop"),
        "{failure}"
    );
    let long = classified(400, &format!("{{\"error\":{{\"message\":\"{}\"}}}}", "é".repeat(20_000)));
    assert!(long.message.chars().count() < MAX_ERROR_CHARS + 200);
}

#[test]
fn pages_half_bodies_and_huge_bodies_are_no_trouble() {
    let page = classified(502, "<!DOCTYPE html><html><script>alert(1)</script></html>");
    assert!(page.message.contains("web page") && !page.message.contains("script"), "{page}");
    assert_eq!(
        classified(500, "upstream connect error").message,
        "example failed (status 500): upstream connect error"
    );
    classified(500, "{\"error\":{\"message\":\"half");
    classified(500, &"[".repeat(1 << 20));
    let huge = vec![b'x'; 10 << 20];
    let failure = from_response("example", 500, &HeaderMap::new(), &huge, now());
    assert!(failure.message.len() < 1000);
    from_response("example", 500, &HeaderMap::new(), &[0xff; 100], now());
}

#[test]
fn the_name_of_the_request_and_the_wait_are_kept() {
    let mut headers = HeaderMap::new();
    headers.insert("request-id", HeaderValue::from_static("req_1"));
    headers.insert("retry-after", HeaderValue::from_static("7"));
    let failure = from_response("example", 503, &headers, b"", now());
    assert_eq!(failure.request_id.as_deref(), Some("req_1"));
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
}

#[test]
fn an_error_in_the_middle_of_a_stream_has_a_class_too() {
    let cases = [
        (from_stream_error("p", "overloaded_error", "", "Overloaded"), FailureClass::Overloaded),
        (from_stream_error("p", "server_error", "", "Try again"), FailureClass::Server),
        (
            from_stream_error("p", "", "rate_limit_exceeded", "Please try again in 1.2s."),
            FailureClass::RateLimit,
        ),
        (from_stream_error("p", "", "context_length_exceeded", "long"), FailureClass::ContextOverflow),
        (from_stream_error("p", "", "502", "Bad gateway"), FailureClass::Server),
        (from_stream_error("p", "", "", "what"), FailureClass::Server),
        (from_stream_json("p", &json!({"error": "model is overloaded"})), FailureClass::Overloaded),
        (
            from_stream_json(
                "p",
                &json!({"type":"error","error":{"type":"invalid_request_error","message":"x"}}),
            ),
            FailureClass::BadRequest,
        ),
        (
            from_stream_json(
                "p",
                &json!({"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}),
            ),
            FailureClass::ContextOverflow,
        ),
    ];
    for (failure, class) in cases {
        assert_eq!(failure.class, class, "{failure}");
    }
    let limited = from_stream_error("p", "", "rate_limit_exceeded", "Please try again in 1.2s.");
    assert_eq!(limited.retry_after, Some(Duration::from_millis(1200)));
}
