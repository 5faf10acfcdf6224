//! What relay and the keeper say to each other on their socket: one order there, a few reports back.
//!
//! A message is four bytes of length (little-endian) and that many bytes of JSON. Names that need not be
//! text travel as bytes. The descriptors for the job's standard streams travel beside the order's first
//! bytes. Nothing longer than [`MAX_MESSAGE_BYTES`] is sent or believed.

use std::ffi::OsString;
use std::io;

use serde::{Deserialize, Serialize};

use crate::JobFence;

/// Bytes of one message at most. An argument list that long is refused by every kernel.
pub(crate) const MAX_MESSAGE_BYTES: usize = 32 << 20;

/// Bytes of the length before a message.
const LENGTH_BYTES: usize = 4;

/// Descriptors beside an order: standard input, output and error.
pub(crate) const STDIO_FDS: usize = 3;

/// Descriptors behind them at most: what the keeper is to hold open.
pub(crate) const KEEP_OPEN_FDS: usize = 1;

/// What the keeper is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeeperRequest {
    /// The program and its arguments.
    pub(crate) words: Vec<Vec<u8>>,
    /// The directory it runs in.
    pub(crate) directory: Vec<u8>,
    /// Variables that go, by exact name.
    pub(crate) remove: Vec<Vec<u8>>,
    /// Variables that go, by how their name begins.
    pub(crate) remove_prefixes: Vec<String>,
    /// Variables that are set.
    pub(crate) set: Vec<(Vec<u8>, Vec<u8>)>,
    /// Where it stands to a terminal.
    pub(crate) place: JobTerminal,
    /// Milliseconds it may take.
    pub(crate) total: Option<u64>,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub(crate) grace: u64,
    /// What it may touch.
    pub(crate) fence: Option<Box<JobFence>>,
}

/// Where a job stands to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JobTerminal {
    /// It has none: a session of the keeper's, a process group of its own.
    Apart,
    /// Standard input is a new one, for the keeper's session.
    Own,
    /// It has the user's, in relay's session and process group.
    Users,
}

/// What the keeper has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeeperReport {
    /// The program is started now: whatever is heard next, something of it may have run.
    Starting,
    /// The program runs.
    Started {
        /// Its process.
        pid: i32,
        /// When that process began, as the system counts: tells it from a later one of the same number.
        since: u64,
    },
    /// It could not be started. Nothing follows.
    Failed {
        /// What was in the way.
        part: StartErrorKind,
        /// The system's number for it, if it has one.
        errno: Option<i32>,
        /// What it says, for when there is no number.
        said: String,
    },
    /// It is over, with all its descendants. Nothing follows.
    Ended {
        how: KeeperExitReason,
        /// Processes that the program left behind and that were ended.
        left_behind: usize,
        /// Processes that could not be ended.
        escaped: usize,
        /// What its fence could not protect.
        unprotected: Vec<OsString>,
    },
    /// Its fence could not be built, and nothing of it ran. Nothing follows.
    FenceFailed {
        /// What was being done.
        step: String,
        /// What the system said.
        said: String,
    },
}

/// What stood in the way of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StartErrorKind {
    /// The directory cannot be entered.
    Directory,
    /// There is no such program.
    Missing,
    /// There is one, and it cannot be run.
    Program,
    /// The terminal made for it cannot be taken.
    Terminal,
}

/// How a job ended, as the keeper saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeeperExitReason {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that the keeper did not send.
    Signalled(i32),
    /// The deadline passed.
    Deadline,
    /// relay closed its end of the socket.
    Asked,
    /// Somebody asked the keeper to end (SIGTERM, SIGHUP).
    Terminated,
}

/// A message as it goes over the socket.
pub(crate) fn encode_message<T: Serialize>(what: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, what)?;
    let length = bytes.len() - LENGTH_BYTES;
    match u32::try_from(length) {
        Ok(fits) if length <= MAX_MESSAGE_BYTES => bytes[..LENGTH_BYTES].copy_from_slice(&fits.to_le_bytes()),
        _ => return Err(io::ErrorKind::ArgumentListTooLong.into()),
    }
    Ok(bytes)
}

/// Puts messages together from the pieces in which they arrive.
#[derive(Debug, Default)]
pub(crate) struct KeeperMessageDecoder {
    bytes: Vec<u8>,
}

impl KeeperMessageDecoder {
    /// More bytes have arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if all of it is there.
    pub(crate) fn next_message<T: for<'a> Deserialize<'a>>(&mut self) -> io::Result<Option<T>> {
        let Some(length) = self.bytes.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_MESSAGE_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(body) = self.bytes.get(LENGTH_BYTES..LENGTH_BYTES + length) else { return Ok(None) };
        let message = serde_json::from_slice(body)?;
        self.bytes.drain(..LENGTH_BYTES + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_any_cutting() {
        let report = KeeperReport::Ended {
            how: KeeperExitReason::Signalled(9),
            left_behind: 3,
            escaped: 0,
            unprotected: vec!["/p/.envrc".into()],
        };
        let started = KeeperReport::Started { pid: 7, since: u64::MAX };
        let mut bytes = encode_message(&report).unwrap();
        bytes.extend(encode_message(&started).unwrap());
        for size in 1..=bytes.len() {
            let mut messages = KeeperMessageDecoder::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                messages.push(piece);
                while let Some(message) = messages.next_message::<KeeperReport>().unwrap() {
                    seen.push(message);
                }
            }
            assert_eq!(seen, [report.clone(), started.clone()]);
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_not_believed() {
        let mut messages = KeeperMessageDecoder::default();
        messages.push(&u32::MAX.to_le_bytes());
        assert!(messages.next_message::<KeeperReport>().is_err());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let mut messages = KeeperMessageDecoder::default();
        messages.push(&[2, 0, 0, 0, b'n', b'o']);
        assert!(messages.next_message::<KeeperReport>().is_err());
    }
}
