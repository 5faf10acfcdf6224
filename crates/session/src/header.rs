//! The first line of a session file: which session it is, whose, and of which version.

use serde::{Deserialize, Serialize};

/// The version that is written.
pub const VERSION: u64 = 3;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", rename_all = "camelCase")]
pub struct Header {
    /// The format; a file without it is of version 1.
    #[serde(default = "first")]
    pub version: u64,
    /// The session's own name.
    pub id: String,
    /// When it began, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// The directory it is about.
    #[serde(default)]
    pub cwd: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who gave it that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_source: Option<TitleSource>,
    /// Where it comes from: an id or a path, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

/// Who named a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// relay or a model did.
    Auto,
    /// The user did; nobody else changes it.
    User,
}

fn first() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_without_a_version_is_of_the_first() {
        let header: Header =
            serde_json::from_str(r#"{"type":"session","id":"a","cwd":"/p","titleSource":"auto"}"#).unwrap();
        assert_eq!((header.version, header.title_source), (1, Some(TitleSource::Auto)));
        let written = serde_json::to_string(&header).unwrap();
        assert!(written.starts_with(r#"{"type":"session","version":1,"id":"a""#), "{written}");
    }
}
