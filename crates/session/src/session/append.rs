//! Appending: one entry, one line, one write.

use relaycode_llm::Message;
use serde_json::Value;

use super::open::set_label;
use crate::file::{EntryProbe, FileTarget, MAX_LINE_BYTES, index, parse_millis};
use crate::format::header::{format_timestamp, now_to_millis};
use crate::format::shrink;
use crate::{EntryBody, EntryRole, EntryRow, EntryType, OpenMode, Session, SessionEntry, SessionError};

/// Entries that are not on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsavedEntries {
    pub entries: usize,
    pub bytes: usize,
}

impl Session {
    /// Appends an entry after the leaf and makes it the leaf. Returns its id.
    ///
    /// The first prompt creates the file; earlier entries wait for it.
    ///
    /// # Errors
    /// If [`SessionError::is_entry_kept`], the entry is part of the session and is written with the next
    /// one: do not append it again. After any other error there is no entry.
    pub fn append(&mut self, body: EntryBody) -> Result<String, SessionError> {
        self.check_writable()?;
        let entry = SessionEntry {
            id: self.new_id(),
            parent_id: self.leaf().map(str::to_string),
            timestamp: format_timestamp(now_to_millis()),
            body,
        };
        self.append_entry(&entry)
    }

    /// Fails as [`Session::append`] does.
    pub fn append_message(&mut self, message: &Message) -> Result<String, SessionError> {
        // A message consists of strings, numbers and JSON, so this cannot fail.
        self.append(EntryBody::Message { message: serde_json::to_value(message).unwrap_or(Value::Null) })
    }

    /// Labels an entry, or removes its label (`None`, or an empty one).
    ///
    /// # Errors
    /// If there is no such entry; else as for [`Session::append`].
    pub fn set_label(&mut self, target: &str, label: Option<&str>) -> Result<String, SessionError> {
        self.row_number(target)?;
        let label = label.map(str::trim).filter(|label| !label.is_empty()).map(str::to_string);
        self.append(EntryBody::Label { target_id: target.to_string(), label })
    }

    /// Entries that are not on disk: before the first prompt, and while the disk is full.
    pub fn unsaved(&self) -> Option<UnsavedEntries> {
        let entries = self.file.unsaved_entries;
        (entries > 0 && self.file.target != FileTarget::Memory)
            .then_some(UnsavedEntries { entries, bytes: self.file.unsaved.len() })
    }

    /// Writes what waits, and makes everything durable. A session without a file yet stays without.
    ///
    /// # Errors
    /// If something could not be written, or is in doubt.
    pub fn flush(&mut self) -> Result<(), SessionError> {
        if self.mode == OpenMode::Read {
            return Ok(());
        }
        self.file.sync()?;
        self.write_index_if_due();
        Ok(())
    }

    fn write_index_if_due(&mut self) {
        if index::is_due(self.indexed_rows.unwrap_or(0), self.table.len()) {
            self.write_index();
        }
    }

    fn append_entry(&mut self, entry: &SessionEntry) -> Result<String, SessionError> {
        let mut value = entry.to_object();
        shrink::shrink_entry(&mut value, self.blobs.as_deref());
        let line = value.to_string();
        if line.len() > MAX_LINE_BYTES {
            return Err(SessionError::TooLong { name: self.file.name.clone(), bytes: line.len() });
        }
        let row = self.make_row(entry, &line);
        let offset = self.file.push_line(line.as_bytes())?;
        let is_prompt = row.kind == EntryType::Message && row.role == EntryRole::User;
        self.add_row(EntryRow { offset, ..row }, line.as_bytes(), &entry.body);
        if is_prompt && self.file.target == FileTarget::Deferred {
            self.put_header();
        }
        match self.file.save() {
            Ok(()) => {
                self.write_index_if_due();
                Ok(entry.id.clone())
            }
            Err(SessionError::NotSaved { name, entries, source, .. }) => {
                Err(SessionError::NotSaved { name, id: entry.id.clone(), entries, source })
            }
            Err(error) => Err(error),
        }
    }

    fn make_row(&self, entry: &SessionEntry, line: &str) -> EntryRow {
        let probe = EntryProbe::parse(line).unwrap_or_default();
        let kind = probe.kind.as_deref().map_or(EntryType::Other, EntryType::from_name);
        let role = match (kind, probe.message.role.as_deref()) {
            (EntryType::Message, Some(role)) => EntryRole::from_name(role),
            _ => EntryRole::None,
        };
        EntryRow {
            offset: 0,
            len: u32::try_from(line.len()).unwrap_or(u32::MAX),
            parent: self.leaf,
            id: entry.id.as_str().into(),
            timestamp: parse_millis(&entry.timestamp),
            kind,
            role,
            has_text: probe.message.has_text,
            failed: probe.message.failed,
        }
    }

    fn add_row(&mut self, row: EntryRow, line: &[u8], body: &EntryBody) {
        self.facts.count_entry(&row, line);
        self.leaf = Some(self.table.push(row));
        if let EntryBody::Label { target_id, label } = body {
            set_label(&mut self.labels, target_id.clone(), label.clone());
        }
    }

    /// On the first prompt: puts the header before what waits, and all of it into the file.
    fn put_header(&mut self) {
        let mut line = Value::Object(self.header_fields.clone()).to_string().into_bytes();
        line.push(b'\n');
        let len = line.len();
        self.file.unsaved.splice(0..0, line);
        self.table.shift_offsets(i64::try_from(len).unwrap_or(0));
        self.body_offset = len as u64;
        self.file.target = FileTarget::File;
    }

    /// An id that no entry has.
    pub(super) fn new_id(&self) -> String {
        loop {
            let id = crate::format::entry::random_entry_id();
            if self.table.find(&id).is_none() {
                return id;
            }
        }
    }
}
