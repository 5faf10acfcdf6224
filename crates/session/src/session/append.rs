//! Appending: one entry, one line, one write.

use relaycode_llm::Message;
use serde_json::Value;

use super::{Mode, Session};
use crate::entry::{Body, Entry};
use crate::error::SessionError;
use crate::file::lines::LINE_MOST;
use crate::file::probe::Probe;
use crate::file::row::{Kind, Role, Row, milliseconds};
use crate::file::tape::Place;
use crate::header::{now, written};
use crate::{index, shrink};

/// What is part of the session but not on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsaved {
    /// Entries.
    pub entries: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Session {
    /// Appends an entry behind the leaf, which it becomes. Returns its name.
    ///
    /// The first prompt makes the file; entries before it wait for it.
    ///
    /// # Errors
    /// Where [`SessionError::is_entry_kept`] says so, the entry is part of the session and is written with the next one that
    /// can be: it is not to be appended again. With any other error there is no entry.
    pub fn append(&mut self, body: Body) -> Result<String, SessionError> {
        self.check_writable()?;
        let entry = Entry {
            id: self.new_id(),
            parent_id: self.leaf().map(str::to_string),
            timestamp: written(now()),
            body,
        };
        self.append_entry(&entry)
    }

    /// Appends a message.
    ///
    /// # Errors
    /// As for [`Session::append`].
    pub fn append_message(&mut self, message: &Message) -> Result<String, SessionError> {
        // A message is made of strings, numbers and JSON: there is nothing in it that has no JSON.
        self.append(Body::Message { message: serde_json::to_value(message).unwrap_or(Value::Null) })
    }

    /// Names an entry, or takes its name away (`None`, or an empty one).
    ///
    /// # Errors
    /// There is no such entry; else as for [`Session::append`].
    pub fn label(&mut self, target: &str, label: Option<&str>) -> Result<String, SessionError> {
        self.number(target)?;
        let label = label.map(str::trim).filter(|label| !label.is_empty()).map(str::to_string);
        self.append(Body::Label { target_id: target.to_string(), label })
    }

    /// What is part of the session but not on disk: before the first prompt, and while the disk takes nothing.
    pub fn unsaved(&self) -> Option<Unsaved> {
        let entries = self.tape.unsaved_entries;
        (entries > 0 && self.tape.place != Place::Memory)
            .then_some(Unsaved { entries, bytes: self.tape.unsaved.len() })
    }

    /// Writes what waits, and makes everything durable. A session that has no file yet stays without.
    ///
    /// # Errors
    /// What could not be written, or is in doubt.
    pub fn flush(&mut self) -> Result<(), SessionError> {
        if self.mode == Mode::Read {
            return Ok(());
        }
        self.tape.sync()?;
        if index::is_due(self.indexed.unwrap_or(0), self.table.len()) {
            self.write_index();
        }
        Ok(())
    }

    fn append_entry(&mut self, entry: &Entry) -> Result<String, SessionError> {
        let mut value = entry.to_object();
        shrink::shrink(&mut value, self.blobs.as_deref());
        let line = value.to_string();
        if line.len() > LINE_MOST {
            return Err(SessionError::TooLong { name: self.tape.name.clone(), bytes: line.len() });
        }
        let row = self.row_of(entry, &line);
        let offset = self.tape.put(line.as_bytes())?;
        let is_prompt = row.kind == Kind::Message && row.role == Role::User;
        self.take_in(Row { offset, ..row }, line.as_bytes(), &entry.body);
        if is_prompt && self.tape.place == Place::Later {
            self.put_header();
        }
        match self.tape.save() {
            Ok(()) => {
                if index::is_due(self.indexed.unwrap_or(0), self.table.len()) {
                    self.write_index();
                }
                Ok(entry.id.clone())
            }
            Err(SessionError::NotSaved { name, entries, source, .. }) => {
                Err(SessionError::NotSaved { name, id: entry.id.clone(), entries, source })
            }
            Err(error) => Err(error),
        }
    }

    fn row_of(&self, entry: &Entry, line: &str) -> Row {
        let probe = Probe::of(line).unwrap_or_default();
        let kind = probe.kind.as_deref().map_or(Kind::Other, Kind::named);
        let role = match (kind, probe.message.role.as_deref()) {
            (Kind::Message, Some(role)) => Role::named(role),
            _ => Role::None,
        };
        Row {
            offset: 0,
            len: u32::try_from(line.len()).unwrap_or(u32::MAX),
            parent: self.leaf,
            id: entry.id.as_str().into(),
            timestamp: milliseconds(&entry.timestamp),
            kind,
            role,
            has_text: probe.message.has_text,
            failed: probe.message.failed,
        }
    }

    fn take_in(&mut self, row: Row, line: &[u8], body: &Body) {
        self.facts.note(&row, line);
        self.leaf = Some(self.table.push(row));
        if let Body::Label { target_id, label } = body {
            match label.as_deref().filter(|label| !label.is_empty()) {
                Some(label) => drop(self.labels.insert(target_id.clone(), label.to_string())),
                None => drop(self.labels.remove(target_id)),
            }
        }
    }

    /// The first prompt is there: the header goes before what waits, and all of it into the file.
    fn put_header(&mut self) {
        let mut line = Value::Object(self.fields.clone()).to_string().into_bytes();
        line.push(b'\n');
        let len = line.len();
        self.tape.unsaved.splice(0..0, line);
        self.table.shift(i64::try_from(len).unwrap_or(0));
        self.body = len as u64;
        self.tape.place = Place::File;
    }

    /// A name that no entry has.
    pub(super) fn new_id(&self) -> String {
        loop {
            let id = crate::entry::new_id();
            if self.table.find(&id).is_none() {
                return id;
            }
        }
    }
}
