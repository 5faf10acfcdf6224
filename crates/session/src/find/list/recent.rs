//! A session by a short name and a time, for a welcome screen.

use std::path::PathBuf;

use relaycode_text::hidden::is_hidden;
use relaycode_text::width::{Ellipsis, clip};
use serde::Serialize;

use crate::SessionSummary;

/// Most cells of a name.
const MAX_NAME: usize = 40;

/// A session as offered to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentSession {
    pub path: PathBuf,
    /// Its title, else the first prompt, else its id, else the file's name; at most 40 cells on one line.
    pub name: String,
    /// RFC 3339.
    pub modified: String,
}

impl RecentSession {
    pub(super) fn from_summary(info: &SessionSummary) -> RecentSession {
        let file = info.path.file_name().map(|name| name.to_string_lossy().into_owned());
        // A summary says where a conversation is now; people know it by its name, or by how it began.
        let title = info.title.as_deref().filter(|_| info.has_title);
        let names = [title, info.first_message.as_deref(), Some(&info.id), file.as_deref()];
        let name =
            names.into_iter().flatten().map(plain_line).find(|name| !name.is_empty()).unwrap_or_default();
        RecentSession { path: info.path.clone(), name, modified: info.modified.clone() }
    }
}

/// One line without control and hidden characters.
fn plain_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let seen: String = spaced.chars().filter(|c| !c.is_control() && !is_hidden(*c)).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    clip(&words.join(" "), MAX_NAME, Ellipsis::Unicode).into_owned()
}
