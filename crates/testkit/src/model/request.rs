//! What the server remembers of a request.
//!
//! Keys are clipped before anything is kept: a log may be shown to anybody.

use std::time::Duration;

use serde_json::{Value, json};

/// A secret that is no longer than this is a test's own, and kept whole.
const SHORT_SECRET: usize = 16;

/// So much is kept of a longer one.
const KEPT_OF_SECRET: usize = 8;

/// Headers that carry keys.
const SECRET_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/// A request that came.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// Its number, from 0.
    pub id: u64,
    /// The number of the connection that it came by.
    pub connection: u64,
    /// When it came, counted from the server's start.
    pub at: Duration,
    /// `POST` and the like.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Its headers, names in lower case, keys clipped.
    pub headers: Vec<(String, String)>,
    /// The body: JSON, or a string if it is none, or null.
    pub body: Value,
    /// The wire it was for, by its id; `None` for lists and the like.
    pub wire: Option<&'static str>,
    /// What it was answered with.
    pub served: ServedBy,
    /// The status that it was answered with; 0 before it was.
    pub status: u16,
    /// How it ended.
    pub end: RequestEnd,
    /// How long it took to end.
    pub took: Duration,
}

/// What a request was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedBy {
    /// The turn of that number.
    Turn(usize),
    /// The turn of that number, which expected something else.
    Miss(usize),
    /// The turn for requests without tools.
    Aux,
    /// What is said when no turn is left.
    Default,
    /// A list of models, a count of tokens: what needs no turn.
    Plain,
    /// There is no such path.
    Unrouted,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd {
    /// Not yet.
    Running,
    /// All that the script says was sent: so many bytes of body.
    Complete(u64),
    /// The client closed the connection when so many bytes of body were sent.
    ClientClosed(u64),
    /// The server cut the connection after so many bytes of body, as the script says.
    Cut(u64),
    /// The server ended first.
    Stopped(u64),
}

impl RecordedRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether it was for a wire, rather than for a list.
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

/// Headers with the keys clipped.
pub(super) fn clip_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    let clip = |(name, value): &(String, String)| {
        let value = if SECRET_HEADERS.contains(&name.as_str()) { clip_secret(value) } else { value.clone() };
        (name.clone(), value)
    };
    headers.iter().map(clip).collect()
}

/// A path with the key of its query clipped.
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
