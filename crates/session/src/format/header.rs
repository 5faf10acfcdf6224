//! The first line of a session file: id, directory, version, title.

use serde::{Deserialize, Serialize};

/// The version that is written.
pub const VERSION: u64 = 3;

/// The first line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", rename_all = "camelCase")]
pub struct SessionHeader {
    /// A file without it is of version 1.
    #[serde(default = "first")]
    pub version: u64,
    pub id: String,
    /// When it began, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// The directory it is about.
    #[serde(default)]
    pub cwd: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who gave the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_source: Option<TitleSource>,
    /// Where it was forked from: an id or a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// Another command asked, as it asks a friend: nobody goes on with it by accident.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_friend: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// relay or a model.
    Auto,
    /// Only the user changes it again.
    User,
}

impl SessionHeader {
    /// A session that begins now.
    pub fn new(cwd: impl Into<String>) -> SessionHeader {
        SessionHeader {
            version: VERSION,
            id: uuid::Uuid::now_v7().simple().to_string(),
            timestamp: format_timestamp(now_to_millis()),
            cwd: cwd.into(),
            ..SessionHeader::default()
        }
    }
}

fn first() -> u64 {
    1
}

/// The time now, to the millisecond.
pub(crate) fn now_to_millis() -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// RFC 3339 with milliseconds.
pub(crate) fn format_timestamp(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_header_sorts_behind_older_ones_and_has_milliseconds() {
        let (one, two) = (SessionHeader::new("/p"), SessionHeader::new("/p"));
        assert!(one.id < two.id && one.timestamp <= two.timestamp);
        assert_eq!(
            format_timestamp(jiff::Timestamp::from_millisecond(1_000).unwrap()),
            "1970-01-01T00:00:01.000Z"
        );
    }

    #[test]
    fn a_header_without_a_version_is_of_the_first() {
        let header: SessionHeader =
            serde_json::from_str(r#"{"type":"session","id":"a","cwd":"/p","titleSource":"auto"}"#).unwrap();
        assert_eq!((header.version, header.title_source), (1, Some(TitleSource::Auto)));
        let written = serde_json::to_string(&header).unwrap();
        assert!(written.starts_with(r#"{"type":"session","version":1,"id":"a""#), "{written}");
    }
}
