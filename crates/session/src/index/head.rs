//! What stands in front of an index: enough for a list of sessions, in one short read.

use relaycode_durable::{Dir, Fs, Stat};
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{format, name_of};
use crate::header::Header;

/// What a list of sessions says about one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The first line of the session.
    pub header: Header,
    /// What is known of it as a whole.
    pub facts: Facts,
    /// The length of the first line, without its end.
    pub(crate) header_len: u64,
    /// When the file was last written by then, in seconds since 1970.
    pub(crate) modified: i64,
    /// So many bytes of the file are covered.
    pub(crate) covered: u64,
}

impl Head {
    /// Reads the head of a session's index; `None` where there is none that can be believed. It may be about an older
    /// state of the file: [`Head::fits`] tells.
    pub fn read(fs: &dyn Fs, dir: &Dir, session: &str) -> Option<Head> {
        let name = name_of(session);
        let mut bytes = fs.read_range(dir, &name, 0, format::HEAD_USUAL).ok()?;
        let len = format::head_len(&bytes)?;
        if len > bytes.len() {
            bytes = fs.read_range(dir, &name, 0, len).ok()?;
        }
        format::read_head(&bytes).map(|(head, _)| head)
    }

    /// It is about the session file as it is now.
    pub fn fits(&self, file: &Stat) -> bool {
        file.len == self.covered && file.modified == self.modified
    }
}
