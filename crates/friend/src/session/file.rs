//! A session as it stands in its file: JSON, with a version. What is read is checked; anything else is no session.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{FriendSession, FriendSessionState, is_session_name};
use crate::PromptExchange;

pub(super) const SUFFIX: &str = ".json";
/// How those end that cannot be read.
pub(super) const BROKEN: &str = ".broken";
/// Bytes of a file. In JSON a byte of text can become six.
pub(super) const FILE_BYTES: u64 = 6 * super::TRANSCRIPT_BYTES as u64 + (1 << 20);
const VERSION: u32 = 1;

/// The file of a session by the first project that uses the name. Names that differ in capitals alone have one file.
pub(super) fn file_name(name: &str) -> String {
    format!("{}{SUFFIX}", name.to_ascii_lowercase())
}

/// What stands between a name and the mark of a project; no name has it.
const PROJECT_SIGN: char = '@';

/// The file of a session of the same name in another project.
pub(super) fn project_file_name(name: &str, project: &Path) -> String {
    let digest = Sha256::digest(project.as_os_str().as_bytes());
    let mark: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}{PROJECT_SIGN}{mark}{SUFFIX}", name.to_ascii_lowercase())
}

/// The name of a session, by that of its file.
pub(super) fn name_in_file(file: &str) -> &str {
    let name = file.trim_end_matches(SUFFIX);
    name.split_once(PROJECT_SIGN).map_or(name, |(name, _)| name)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FriendSessionJson {
    version: u32,
    name: String,
    friend: String,
    project: ProjectPathJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    created: String,
    used: String,
    turns: u64,
    /// The friend's own id, or what was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exchanges: Vec<PromptExchange>,
}

/// A path; as bytes if it is no text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ProjectPathJson {
    Text(String),
    Bytes(Vec<u8>),
}

/// The bytes of its file.
pub(super) fn to_json(session: &FriendSession) -> Vec<u8> {
    let (id, exchanges) = match &session.state {
        FriendSessionState::FriendId(id) => (Some(id.clone()), Vec::new()),
        FriendSessionState::Transcript(exchanges) => (None, exchanges.clone()),
    };
    let project = match session.project.to_str() {
        Some(text) => ProjectPathJson::Text(text.to_string()),
        None => ProjectPathJson::Bytes(session.project.as_os_str().as_bytes().to_vec()),
    };
    let written = FriendSessionJson {
        version: VERSION,
        name: session.name.clone(),
        friend: session.friend.clone(),
        project,
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
pub(super) fn from_json(file: &str, bytes: &[u8]) -> Option<FriendSession> {
    let read: FriendSessionJson = serde_json::from_slice(bytes).ok()?;
    let project: PathBuf = match read.project {
        ProjectPathJson::Text(text) => text.into(),
        ProjectPathJson::Bytes(bytes) => OsString::from_vec(bytes).into(),
    };
    let right = read.version == VERSION
        && is_session_name(&read.name)
        && [file_name(&read.name), project_file_name(&read.name, &project)].iter().any(|name| name == file)
        && !read.friend.is_empty()
        && read.id.as_ref().is_none_or(|id| !id.is_empty());
    let time = |text: &str| text.parse::<Timestamp>().ok();
    right.then_some(())?;
    Some(FriendSession {
        created: time(&read.created)?,
        used: time(&read.used)?,
        name: read.name,
        friend: read.friend,
        project,
        model: read.model,
        turns: read.turns,
        state: match read.id {
            Some(id) => FriendSessionState::FriendId(id),
            None => FriendSessionState::Transcript(read.exchanges),
        },
    })
}
