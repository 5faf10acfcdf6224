use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

/// 2026-01-02T03:04:05Z
fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn headers(list: &[(&str, &str)]) -> HeaderMap {
    list.iter()
        .map(|(name, value)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        })
        .collect()
}

fn hint(list: &[(&str, &str)]) -> Option<f64> {
    from_headers(&headers(list), now(), true).map(|wait| wait.as_secs_f64())
}

#[test]
fn every_spelling_of_a_wait_in_headers_is_understood() {
    let epoch = now().as_second();
    let cases: &[(&str, &str, Option<f64>)] = &[
        ("retry-after-ms", "1500", Some(1.5)),
        ("retry-after", "20", Some(20.0)),
        ("retry-after", "0.25", Some(0.25)),
        ("retry-after", "Fri, 02 Jan 2026 03:04:35 GMT", Some(30.0)),
        ("retry-after", "Fri, 02 Jan 2026 03:00:00 GMT", Some(0.0)),
        ("retry-after", "2m", Some(120.0)),
        ("x-ratelimit-reset-ms", "700", Some(0.7)),
        ("x-ratelimit-reset", "12", Some(12.0)),
        ("x-ratelimit-reset", &(epoch + 40).to_string(), Some(40.0)),
        ("x-ratelimit-reset", &((epoch + 40) * 1000).to_string(), Some(40.0)),
        ("x-ratelimit-reset-ms", &((epoch + 3) * 1000).to_string(), Some(3.0)),
        ("x-ratelimit-reset-requests", "6m0s", Some(360.0)),
        ("x-ratelimit-reset-tokens", "20ms", Some(0.02)),
        ("x-ratelimit-reset-tokens", "1h2m3.5s", Some(3723.5)),
        ("anthropic-ratelimit-tokens-reset", "2026-01-02T03:05:05Z", Some(60.0)),
        ("retry-after", "soon", None),
        ("retry-after", "-5", None),
        ("retry-after", "", None),
        ("retry-after", "1e9", None),
        ("retry-after", "NaN", None),
        ("retry-after", "99999999999999999999999", Some(MAX_RETRY_HINT.as_secs_f64())),
        ("x-ratelimit-reset-tokens", "6x", None),
    ];
    for (name, value, wait) in cases {
        assert_eq!(hint(&[(name, value)]), *wait, "{name}: {value}");
    }
}

#[test]
fn the_plainest_hint_wins_and_limits_with_something_left_do_not_count() {
    assert_eq!(hint(&[("retry-after", "9"), ("retry-after-ms", "100")]), Some(0.1));
    assert_eq!(hint(&[("retry-after", "9"), ("x-ratelimit-reset", "100")]), Some(9.0));
    assert_eq!(hint(&[("retry-after", "nonsense"), ("x-ratelimit-reset", "100")]), Some(100.0));
    let limits = [
        ("x-ratelimit-reset-requests", "6m0s"),
        ("x-ratelimit-remaining-requests", "59"),
        ("x-ratelimit-reset-tokens", "2s"),
        ("x-ratelimit-remaining-tokens", "0"),
    ];
    assert_eq!(hint(&limits), Some(2.0));
    assert_eq!(from_headers(&headers(&limits), now(), false), None);
}

#[test]
fn waits_in_words_and_bodies_are_understood() {
    let cases = [
        ("Rate limit reached. Please try again in 1.2s. Visit …", Some(1.2)),
        ("Please try again in 6m0s.", Some(360.0)),
        ("Please try again in 20ms.", Some(0.02)),
        ("Retry after 20 seconds", Some(20.0)),
        ("please retry in 34.074824224s.", Some(34.074_824_224)),
        ("Please retry after 5.", Some(5.0)),
        ("try again in 2 minutes or so", Some(120.0)),
        ("try again in a while", None),
        ("try again", None),
    ];
    for (text, wait) in cases {
        assert_eq!(from_text(text).map(|wait| wait.as_secs_f64()), wait, "{text}");
    }
    let error = json!({"details": [{"links": []}, {"retryDelay": "17s"}]});
    assert_eq!(from_error(&error), Some(Duration::from_secs(17)));
    assert_eq!(from_error(&json!({"resets_in_seconds": 90})), Some(Duration::from_secs(90)));
    assert_eq!(from_error(&json!({"details": "x", "retry_after": -1})), None);
}
