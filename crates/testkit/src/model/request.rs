//! What the server remembers of a request.
//!
//! Keys are clipped before anything is kept: a log may be shown to anybody.

use std::time::Duration;

use serde_json::{Value, json};

/// A secret up to this length is a test's own, and kept whole.
const SHORT_SECRET: usize = 16;

/// Characters kept of a longer one.
const KEPT_OF_SECRET: usize = 8;

/// Headers that carry keys.
const SECRET_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// From 0.
    pub id: u64,
    /// The number of its connection.
    pub connection: u64,
    /// Since the server's start.
    pub at: Duration,
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case, keys clipped.
    pub headers: Vec<(String, String)>,
    /// JSON, or a string if it is not JSON, or null.
    pub body: Value,
    /// By its id; `None` for lists and the like.
    pub wire: Option<&'static str>,
    pub served: ServedBy,
    /// 0 before the answer.
    pub status: u16,
    pub end: RequestEnd,
    /// Until it ended.
    pub took: Duration,
}

/// What a request was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedBy {
    /// By its index.
    Turn(usize),
    /// By its index; it expected something else.
    Miss(usize),
    /// The turn for requests without tools.
    Aux,
    /// The answer when no turn is left.
    Default,
    /// It is longer than the script's window.
    TooLong,
    /// A list of models, a token count: what needs no turn.
    Plain,
    /// There is no such path.
    Unrouted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd {
    /// Not yet.
    Running,
    /// Everything in the script was sent: bytes of the body.
    Complete(u64),
    /// The client closed the connection after this many bytes of the body.
    ClientClosed(u64),
    /// The server cut the connection after this many bytes of the body, as the script says.
    Cut(u64),
    /// The server ended first.
    Stopped(u64),
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether it was for a wire, not for a list.
    pub fn is_turn(&self) -> bool {
        self.wire.is_some()
    }

    /// As a line of the log.
    pub fn to_json(&self) -> Value {
        let headers: serde_json::Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let turn = match self.served {
            ServedBy::Turn(number) => json!(number),
            ServedBy::Miss(number) => json!(format!("{number}:MISS")),
            ServedBy::Aux => json!("aux"),
            ServedBy::Default => json!("default"),
            ServedBy::TooLong => json!("too long"),
            ServedBy::Plain | ServedBy::Unrouted => Value::Null,
        };
        let (ended, sent) = match self.end {
            RequestEnd::Running => ("running", 0),
            RequestEnd::Complete(sent) => ("complete", sent),
            RequestEnd::ClientClosed(sent) => ("client closed", sent),
            RequestEnd::Cut(sent) => ("cut", sent),
            RequestEnd::Stopped(sent) => ("stopped", sent),
        };
        json!({
            "id": self.id, "connection": self.connection, "t": seconds(self.at), "method": self.method, "path": self.path,
            "headers": headers, "body": self.body, "wire": self.wire, "turn": turn, "status": self.status,
            "ended": ended, "sent": sent, "ms": seconds(self.took) * 1000.0, "unrouted": self.served == ServedBy::Unrouted,
        })
    }
}

fn seconds(time: Duration) -> f64 {
    // To the microsecond.
    (time.as_secs_f64() * 1e6).round() / 1e6
}

pub(super) fn clip_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    let clip = |(name, value): &(String, String)| {
        let value = if SECRET_HEADERS.contains(&name.as_str()) { clip_secret(value) } else { value.clone() };
        (name.clone(), value)
    };
    headers.iter().map(clip).collect()
}

/// With the key in its query clipped.
pub(super) fn clip_path(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let parts: Vec<String> = query
        .split('&')
        .map(|part| match part.split_once('=') {
            Some((name @ ("key" | "api_key" | "api-key" | "access_token"), value)) => {
                format!("{name}={}", clip_secret(value))
            }
            _ => part.to_owned(),
        })
        .collect();
    format!("{path}?{}", parts.join("&"))
}

/// The scheme and the beginning of a secret.
fn clip_secret(value: &str) -> String {
    let (scheme, secret) = value.split_once(' ').map_or(("", value), |(scheme, secret)| (scheme, secret));
    let blank = if scheme.is_empty() { "" } else { " " };
    if secret.chars().count() <= SHORT_SECRET {
        return value.to_owned();
    }
    let kept: String = secret.chars().take(KEPT_OF_SECRET).collect();
    format!("{scheme}{blank}{kept}…")
}
