//! A session as it stands in its file: JSON, with a version. What is read is checked; anything else is no session.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Kept, Session, is_name};
use crate::turn::Exchange;

/// How such files end.
pub(super) const SUFFIX: &str = ".json";
/// How those end that cannot be read.
pub(super) const BROKEN: &str = ".broken";
/// Bytes of a file. In JSON a byte of text can become six.
pub(super) const FILE_BYTES: u64 = 6 * super::TRANSCRIPT_BYTES as u64 + (1 << 20);
/// The form that is written.
const VERSION: u32 = 1;

/// The file of a session. Names that differ in capitals alone have one file.
pub(super) fn of(name: &str) -> String {
    format!("{}{SUFFIX}", name.to_ascii_lowercase())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    version: u32,
    name: String,
    friend: String,
    project: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    created: String,
    used: String,
    turns: u64,
    /// The friend's own id, or what was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exchanges: Vec<Exchange>,
}

/// A path; as bytes if it is no text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Place {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Place {
        match path.to_str() {
            Some(text) => Place::Text(text.to_string()),
            None => Place::Bytes(OsStr::as_bytes(path.as_os_str()).to_vec()),
        }
    }
}

impl From<Place> for PathBuf {
    fn from(place: Place) -> PathBuf {
        match place {
            Place::Text(text) => text.into(),
            Place::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// The bytes of its file.
pub(super) fn written(session: &Session) -> Vec<u8> {
    let (id, exchanges) = match &session.kept {
        Kept::Own(id) => (Some(id.clone()), Vec::new()),
        Kept::Replayed(exchanges) => (None, exchanges.clone()),
    };
    let written = Written {
        version: VERSION,
        name: session.name.clone(),
        friend: session.friend.clone(),
        project: session.project.as_path().into(),
        model: session.model.clone(),
        created: session.created.to_string(),
        used: session.used.to_string(),
        turns: session.turns,
        id,
        exchanges,
    };
    // Nothing in it can fail to be JSON.
    let mut bytes = serde_json::to_vec(&written).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The session that a file holds; `None` if it holds none.
pub(super) fn read(file: &str, bytes: &[u8]) -> Option<Session> {
    let read: Written = serde_json::from_slice(bytes).ok()?;
    let right = read.version == VERSION
        && is_name(&read.name)
        && of(&read.name) == file
        && !read.friend.is_empty()
        && read.id.as_ref().is_none_or(|id| !id.is_empty());
    let time = |text: &str| text.parse::<Timestamp>().ok();
    right.then_some(())?;
    Some(Session {
        created: time(&read.created)?,
        used: time(&read.used)?,
        name: read.name,
        friend: read.friend,
        project: read.project.into(),
        model: read.model,
        turns: read.turns,
        kept: match read.id {
            Some(id) => Kept::Own(id),
            None => Kept::Replayed(read.exchanges),
        },
    })
}
