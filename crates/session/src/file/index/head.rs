//! The front of an index: enough for a list of sessions, in one short read.

use relaycode_durable::{Fs, FsDir, FsStat};
use serde::{Deserialize, Serialize};

use super::{format, index_file_name};
use crate::{SessionHeader, SessionStats};

/// What a list of sessions shows of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexHead {
    /// The first line of the session file.
    pub header: SessionHeader,
    pub facts: SessionStats,
    /// Length of the first line, without its line end.
    pub(crate) header_len: u64,
    /// The file's modification time back then, in seconds since 1970.
    pub(crate) modified: i64,
    /// How many bytes of the file are covered.
    pub(crate) covered: u64,
}

impl IndexHead {
    /// Reads the head of a session's index; `None` if there is no valid one. It may describe an older state
    /// of the file: see [`IndexHead::matches_file`].
    pub fn read(fs: &dyn Fs, dir: &FsDir, session: &str) -> Option<IndexHead> {
        let name = index_file_name(session);
        let mut bytes = fs.read_range(dir, &name, 0, format::USUAL_HEAD_BYTES).ok()?;
        let len = format::head_len(&bytes)?;
        if len > bytes.len() {
            bytes = fs.read_range(dir, &name, 0, len).ok()?;
        }
        format::parse_head(&bytes).map(|(head, _)| head)
    }

    /// Whether it describes the session file as it is now.
    pub fn matches_file(&self, file: &FsStat) -> bool {
        file.len == self.covered && file.modified == self.modified
    }
}
