//! Harm to sessions: a process that appends is killed, a file is cut off at every byte, the power fails at
//! every operation of the model file system. Everything acknowledged must be there, whole and in order, and
//! the session must continue.

mod appender;
pub(super) mod cuts;
pub(super) mod kills;
pub(super) mod power;
mod talk;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::Arc;

use anyhow::{Context, ensure};
use relaycode_durable::{Fs, FsDir};
use relaycode_llm::Message;
use relaycode_llm::message::UserMessage;
use relaycode_session::{BlobStore, EntryBody, OpenMode, Session, SessionError, SessionHeader};
use serde_json::Value;

pub(super) use appender::append;

/// The session's file.
const NAME: &str = "2026-02-16T10-20-30-000Z_019c3a5f2b7e7c1d9a530c2f5d1e7b66.jsonl";

/// Where a session and its images are.
struct Place {
    fs: Arc<dyn Fs>,
    dir: FsDir,
    blobs: Arc<BlobStore>,
}

/// An entry: its id, and a hash of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    id: String,
    print: u64,
}

impl Place {
    fn new(fs: Arc<dyn Fs>, dir: FsDir) -> io::Result<Place> {
        let blobs = Arc::new(BlobStore::open(fs.clone(), &dir)?);
        Ok(Place { fs, dir, blobs })
    }

    /// `None` if there is no session.
    fn open(&self, mode: OpenMode) -> anyhow::Result<Option<Session>> {
        match Session::open(self.fs.clone(), self.dir.clone(), NAME, mode) {
            Ok(session) => Ok(Some(session.with_blobs(self.blobs.clone()))),
            Err(SessionError::Missing { .. }) => Ok(None),
            Err(error) => Err(error).context("the session does not open"),
        }
    }

    /// Opens the session for writing, or begins it.
    fn open_or_begin(&self) -> anyhow::Result<Session> {
        if let Some(session) = self.open(OpenMode::Write)? {
            return Ok(session);
        }
        let session = Session::create(self.fs.clone(), self.dir.clone(), NAME, SessionHeader::new("/p"))?;
        Ok(session.with_blobs(self.blobs.clone()))
    }

    /// The session continues: one more entry can be appended, and is there with all others. Returns it.
    fn goes_on(&self, before: &[Said]) -> anyhow::Result<Said> {
        let mut session = self.open_or_begin()?;
        let message = Message::User(UserMessage::text("and on it goes", 1));
        let body = EntryBody::Message { message: serde_json::to_value(message)? };
        let print = print(&body);
        let id = session.append(body).context("nothing can be appended")?;
        drop(session);
        let new = Said { id, print };
        let session = self.open(OpenMode::Read)?.context("the session is gone after an append")?;
        let have = said(&session)?;
        ensure!(
            have.split_last() == Some((&new, before)),
            "after an append there are {} entries instead of {}",
            have.len(),
            before.len() + 1
        );
        Ok(new)
    }
}

/// Everything in a session, read.
fn said(session: &Session) -> anyhow::Result<Vec<Said>> {
    let mut all = Vec::new();
    for entry in session.entries() {
        let entry = entry.context("an entry cannot be read")?;
        let mut body = serde_json::to_value(&entry.body)?;
        let mut missing = session.resolve_images(&mut body);
        if let Some(message) = body.get_mut("message") {
            missing += session.resolve_images(message);
        }
        ensure!(missing == 0, "{missing} images of {} are missing", entry.id);
        all.push(Said { id: entry.id, print: print_of(&body) });
    }
    Ok(all)
}

/// A hash of an entry's content.
fn print(body: &EntryBody) -> u64 {
    print_of(&serde_json::to_value(body).unwrap_or(Value::Null))
}

fn print_of(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}
