//! How long a provider asks to wait, in all forms: headers, error bodies, plain words.
//!
//! Nothing here fails: nonsense is no hint. A hint is never longer than [`MAX_RETRY_HINT`]. The caller
//! passes the time.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};
use reqwest::header::HeaderMap;
use serde_json::Value;

#[cfg(test)]
mod tests;

/// Longer waits are ignored.
pub const MAX_RETRY_HINT: Duration = Duration::from_secs(31 * 24 * 3600);

/// From here on a number is a time since 1970 and not a wait: in seconds, in milliseconds.
const EPOCH_SECONDS: f64 = 1e9;
const EPOCH_MILLIS: f64 = 1e12;

/// `retry-after` counts for every failure; the other headers are the state of rate limits, which some
/// providers send with every answer, so they count only if `limited`.
pub fn from_headers(headers: &HeaderMap, now: Timestamp, limited: bool) -> Option<Duration> {
    let get = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = get("retry-after-ms")
        .and_then(|value| millis(number(value)?))
        .or_else(|| get("retry-after").and_then(|value| parse_retry_after(value, now)));
    if asked.is_some() || !limited {
        return asked;
    }
    get("x-ratelimit-reset-ms")
        .and_then(|value| millis_or_epoch(value, now))
        .or_else(|| get("x-ratelimit-reset").and_then(|value| parse_reset(value, now)))
        .or_else(|| from_buckets(headers, now))
}

/// The limits of OpenAI (`x-ratelimit-reset-tokens: 6m0s`) and Anthropic
/// (`anthropic-ratelimit-tokens-reset`, a time). The longest wait among exhausted limits; if none is known
/// to be exhausted, the shortest of all.
fn from_buckets(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let mut exhausted: Option<Duration> = None;
    let mut unknown: Option<Duration> = None;
    for (name, value) in headers {
        let name = name.as_str();
        let remaining = if let Some(bucket) = name.strip_prefix("x-ratelimit-reset-") {
            format!("x-ratelimit-remaining-{bucket}")
        } else if let Some(bucket) =
            name.strip_prefix("anthropic-ratelimit-").and_then(|rest| rest.strip_suffix("-reset"))
        {
            format!("anthropic-ratelimit-{bucket}-remaining")
        } else {
            continue;
        };
        let wait = value.to_str().ok().and_then(|value| parse_reset(value.trim(), now));
        let Some(wait) = wait else { continue };
        let left = headers.get(remaining).and_then(|value| value.to_str().ok()).and_then(number);
        match left {
            Some(left) if left > 0.0 => {}
            Some(_) => exhausted = exhausted.max(Some(wait)),
            None => unknown = Some(unknown.map_or(wait, |least| least.min(wait))),
        }
    }
    exhausted.or(unknown)
}

/// Google's `RetryInfo`, `resets_in_seconds` and the like.
pub fn from_error(error: &Value) -> Option<Duration> {
    let details = error.get("details").and_then(Value::as_array);
    let delay = details.into_iter().flatten().find_map(|detail| detail.get("retryDelay"));
    if let Some(wait) = delay.and_then(Value::as_str).and_then(parse_span) {
        return Some(wait);
    }
    ["resets_in_seconds", "retry_after", "retryAfter"]
        .iter()
        .find_map(|name| seconds(error.get(*name)?.as_f64()?))
}

/// "try again in 1.2s", "retry after 20 seconds".
pub fn from_text(text: &str) -> Option<Duration> {
    const LEADS: [&str; 5] =
        ["try again in ", "try again after ", "retry in ", "retry after ", "retry again in "];
    let text = text.to_ascii_lowercase();
    LEADS.iter().find_map(|lead| Some(split_span(&text[text.find(lead)? + lead.len()..])?.0))
}

/// `retry-after`: seconds, or an HTTP date; some servers send a span.
fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    match number(value) {
        Some(wait) => seconds(wait),
        None => parse_date(value, now).or_else(|| parse_span(value)),
    }
}

/// A reset: seconds to wait, a time since 1970 in seconds or milliseconds, a span, a date.
fn parse_reset(value: &str, now: Timestamp) -> Option<Duration> {
    match number(value) {
        Some(at) if at >= EPOCH_MILLIS => since_epoch(at / 1000.0, now),
        Some(at) if at >= EPOCH_SECONDS => since_epoch(at, now),
        Some(wait) => seconds(wait),
        None => parse_span(value).or_else(|| parse_date(value, now)),
    }
}

fn millis_or_epoch(value: &str, now: Timestamp) -> Option<Duration> {
    match number(value)? {
        at if at >= EPOCH_MILLIS => since_epoch(at / 1000.0, now),
        wait => millis(wait),
    }
}

fn since_epoch(at: f64, now: Timestamp) -> Option<Duration> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
    let now = now.as_millisecond() as f64 / 1000.0;
    seconds((at - now).max(0.0))
}

/// RFC 3339, or HTTP's format. A date in the past is no wait at all.
fn parse_date(value: &str, now: Timestamp) -> Option<Duration> {
    let at = value.parse().or_else(|_| rfc2822::DateTimeParser::new().parse_timestamp(value)).ok()?;
    let wait = now.duration_until(at);
    seconds(wait.as_secs_f64().max(0.0))
}

/// `6m0s`, `1.5s`, `20ms`, `2 minutes`: nothing may follow.
fn parse_span(value: &str) -> Option<Duration> {
    let (wait, rest) = split_span(value)?;
    if rest.trim().is_empty() { Some(wait) } else { None }
}

/// One or more of a number and its unit; a number alone is seconds.
fn split_span(text: &str) -> Option<(Duration, &str)> {
    let mut sum = 0.0;
    let mut rest = text.trim_start();
    let mut any = false;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        // A full stop after the number ends the sentence.
        let Some(count) = number(rest[..digits].trim_end_matches('.')) else { break };
        let behind = rest[digits..].trim_start();
        let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let factor = match &behind[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            _ if any => break,
            _ => return seconds(count).map(|wait| (wait, &rest[digits..])),
        };
        sum += count * factor;
        any = true;
        rest = behind[letters..].trim_start();
    }
    if any { seconds(sum).map(|wait| (wait, rest)) } else { None }
}

/// Digits with at most one point; no sign, no exponent.
fn number(value: &str) -> Option<f64> {
    let value = value.trim();
    let plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain && value.len() <= 32 { value.parse().ok() } else { None }
}

fn millis(count: f64) -> Option<Duration> {
    seconds(count / 1000.0)
}

fn seconds(count: f64) -> Option<Duration> {
    let valid = count.is_finite() && count >= 0.0;
    valid.then(|| Duration::from_secs_f64(count.min(MAX_RETRY_HINT.as_secs_f64())))
}
