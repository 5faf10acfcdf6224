//! A conversation: a file of entries, the tree they form, and the leaf that the next one follows.
//!
//! Memory holds one small row per entry; entries themselves are read on demand. A session without a prompt
//! leaves no file: it is created with the first prompt, together with what came before. Invariant: a
//! successfully appended entry is in the file; what is not is reported by [`Session::unsaved`] and written
//! first when that is possible again.

mod append;
mod fork;
mod navigate;
mod open;
mod repair;
#[cfg(test)]
mod tests;
mod title;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::file::{EntryProbe, EntryTable, FileTarget, SessionFile, index, remove_if_exists};
use crate::format::header::VERSION;
use crate::home::blobs::resolve_image_refs;
use crate::{
    BlobStore, EntryRow, LoadReport, SessionContext, SessionEntry, SessionError, SessionHeader, SessionStats,
    SessionTree,
};

pub use append::UnsavedEntries;
pub(crate) use fork::has_artifacts;
pub use navigate::TreeNavigation;
pub use repair::RepairOutcome;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// To continue it. Only one process can.
    Write,
    /// To look at it, even while somebody writes it.
    Read,
}

pub struct Session {
    file: SessionFile,
    mode: OpenMode,
    header: SessionHeader,
    /// As read, with fields that are not ours.
    header_fields: Map<String, Value>,
    /// Where the entries begin: after the header, if the file has one.
    body_offset: u64,
    /// The format of the entries that the rows point to.
    version: u64,
    table: EntryTable,
    labels: HashMap<String, String>,
    leaf: Option<u32>,
    facts: SessionStats,
    report: LoadReport,
    blobs: Option<Arc<BlobStore>>,
    /// How many rows the index on disk has, if there is one.
    indexed_rows: Option<usize>,
}

impl Session {
    /// Where images are stored. Without a store they stay in the file, and references cannot be resolved.
    #[must_use]
    pub fn with_blobs(mut self, blobs: Arc<BlobStore>) -> Session {
        self.blobs = Some(blobs);
        self
    }

    pub fn blobs(&self) -> Option<&Arc<BlobStore>> {
        self.blobs.as_ref()
    }

    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The file's name in its directory.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    pub fn mode(&self) -> OpenMode {
        self.mode
    }

    /// False before the first prompt.
    pub fn is_on_disk(&self) -> bool {
        self.file.saved > 0
    }

    /// Problems found when the file was opened.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// What a list of sessions shows of it.
    pub fn facts(&self) -> &SessionStats {
        &self.facts
    }

    /// What is known of every entry without reading it, in the order of the file.
    pub fn rows(&self) -> &[EntryRow] {
        self.table.rows()
    }

    pub fn row(&self, id: &str) -> Option<&EntryRow> {
        self.table.row(self.table.find(id)?)
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// The parent of the next entry; `None` before the first and after [`Session::move_to_start`].
    pub fn leaf(&self) -> Option<&str> {
        self.id_of(self.leaf)
    }

    /// References to images are kept: [`Session::resolve_images`] resolves them.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be read.
    pub fn entry(&self, id: &str) -> Result<SessionEntry, SessionError> {
        self.read_entry(self.row_number(id)?, &mut ReadWindow::for_one_line())
    }

    /// In the order of the file, read one by one.
    pub fn entries(&self) -> impl Iterator<Item = Result<SessionEntry, SessionError>> + '_ {
        let mut window = ReadWindow::default();
        self.table.rows().iter().map(move |row| self.read_row(row, &mut window))
    }

    /// The direct children; with `None`, the roots. Oldest first.
    pub fn children(&self, id: Option<&str>) -> Vec<&str> {
        let parent = id.map(|id| self.table.find(id));
        if parent == Some(None) {
            return Vec::new();
        }
        let of_it = |row: &&EntryRow| row.parent == parent.flatten();
        let mut children: Vec<&EntryRow> = self.table.rows().iter().filter(of_it).collect();
        children.sort_by_key(|row| row.timestamp);
        children.into_iter().map(|row| &*row.id).collect()
    }

    /// The ids from the root to `from`, or to the leaf.
    pub fn path(&self, from: Option<&str>) -> Vec<&str> {
        let leaf = from.map_or(self.leaf, |id| self.table.find(id));
        self.table.path(leaf).into_iter().filter_map(|number| self.id_of(Some(number))).collect()
    }

    /// Oldest first, with labels.
    pub fn tree(&self) -> SessionTree<'_> {
        SessionTree::new(self.table.rows(), &self.labels, self.leaf)
    }

    pub fn label_of(&self, id: &str) -> Option<&str> {
        self.labels.get(id).map(String::as_str)
    }

    /// By entry id.
    pub fn labels(&self) -> &HashMap<String, String> {
        &self.labels
    }

    /// What a model gets when the conversation continues from the leaf.
    pub fn context(&self) -> Result<SessionContext, SessionError> {
        self.context_at(self.leaf())
    }

    /// The settings in force at the leaf, without a message: those of a long conversation need not be read for them.
    pub fn settings(&self) -> Result<SessionContext, SessionError> {
        let leaf = self.leaf().map(|id| self.row_number(id)).transpose()?;
        let mut window = ReadWindow::default();
        let read = &mut |number: u32| self.read_entry(number, &mut window);
        SessionContext::build_settings(self.table.rows(), &self.table.path(leaf), read)
    }

    /// What a model gets when the conversation continues from `leaf`; nothing for `None`.
    ///
    /// # Errors
    /// If there is no such entry, or the file cannot be read.
    pub fn context_at(&self, leaf: Option<&str>) -> Result<SessionContext, SessionError> {
        let leaf = leaf.map(|id| self.row_number(id)).transpose()?;
        let mut window = ReadWindow::default();
        let read = &mut |number: u32| self.read_entry(number, &mut window);
        let mut context = SessionContext::build(self.table.rows(), &self.table.path(leaf), read)?;
        for message in &mut context.messages {
            context.missing_images += self.resolve_images(message);
        }
        Ok(context)
    }

    /// Replaces references by the bytes of their images, anywhere in a message or an entry's content; a
    /// missing one becomes a text. Returns how many are missing.
    pub fn resolve_images(&self, value: &mut Value) -> usize {
        resolve_image_refs(value, self.blobs.as_deref(), 0)
    }

    fn id_of(&self, number: Option<u32>) -> Option<&str> {
        self.table.row(number?).map(|row| &*row.id)
    }

    fn row_number(&self, id: &str) -> Result<u32, SessionError> {
        self.table
            .find(id)
            .ok_or_else(|| SessionError::NoEntry { name: self.file.name.clone(), id: id.to_string() })
    }

    fn read_entry(&self, number: u32, window: &mut ReadWindow) -> Result<SessionEntry, SessionError> {
        let row = self.table.row(number);
        self.read_row(row.ok_or_else(|| SessionError::Changed { name: self.file.name.clone() })?, window)
    }

    /// Reads an entry through a window, reusing what was read before.
    fn read_row(&self, row: &EntryRow, window: &mut ReadWindow) -> Result<SessionEntry, SessionError> {
        let fields = self.read_fields(row, &self.file, window)?;
        SessionEntry::from_object(Value::Object(fields))
            .map_err(|_| SessionError::Changed { name: self.file.name.clone() })
    }

    /// The fields of an entry in the present format; id and parent come from the row.
    fn read_fields(
        &self,
        row: &EntryRow,
        tape: &SessionFile,
        window: &mut ReadWindow,
    ) -> Result<Map<String, Value>, SessionError> {
        let bytes = window.line(tape, row).map_err(SessionError::io(&self.file.name, "read"))?;
        let changed = || self.changed_error();
        if bytes.len() != row.len as usize || bytes.first() != Some(&b'{') {
            return Err(changed());
        }
        let mut read: Map<String, Value> = match serde_json::from_slice(bytes) {
            Ok(fields) => fields,
            // Nested too deeply to be read: it is there, but its content stays unknown.
            Err(_) if std::str::from_utf8(bytes).ok().and_then(EntryProbe::parse).is_some() => {
                Map::from_iter([("type".to_string(), Value::String("unreadable".into()))])
            }
            Err(_) => return Err(changed()),
        };
        let id = read.shift_remove("id");
        // The generated id of a second entry begins with its original id.
        let is_the_rows = |id: &str| row.id.starts_with(id);
        if self.version >= 2 && !id.as_ref().and_then(Value::as_str).is_none_or(is_the_rows) {
            return Err(changed());
        }
        crate::format::migrate::migrate_entry(&mut read, self.version, &self.table);
        let mut fields = Map::new();
        fields.insert("type".into(), read.shift_remove("type").unwrap_or(Value::Null));
        fields.insert("id".into(), Value::String(row.id.to_string()));
        let parent = self.table.parent_id(row).map_or(Value::Null, |id| Value::String(id.to_string()));
        fields.insert("parentId".into(), parent);
        read.shift_remove("parentId");
        fields.extend(read);
        Ok(fields)
    }

    /// A line does not match its row. If that row came from the index, the file was changed meanwhile: the
    /// index is dropped, so that the next one who opens the session sees the real content.
    fn changed_error(&self) -> SessionError {
        let SessionFile { fs, dir, name, .. } = &self.file;
        if self.indexed_rows.is_some() {
            let _ = remove_if_exists(&**fs, dir, &index::index_file_name(name));
        }
        SessionError::Changed { name: name.clone() }
    }

    /// Writes the index, if it would have anything new. Best effort: without one, the file is read.
    fn write_index(&mut self) {
        let SessionFile { target, locks, saved, unsaved, .. } = &self.file;
        let is_ours = self.mode == OpenMode::Write && *target == FileTarget::File && !locks.is_empty();
        let is_plain =
            self.report.is_empty() && self.version == VERSION && self.body_offset > 0 && *saved > 0;
        let is_indexed = self.indexed_rows == Some(self.table.len());
        if !is_ours || !is_plain || is_indexed || !unsaved.is_empty() {
            return;
        }
        let header = (&self.header, self.body_offset - 1);
        if index::write_index(&self.file, header, &self.facts, self.table.rows()).is_ok() {
            self.indexed_rows = Some(self.table.len());
        }
    }

    fn check_writable(&self) -> Result<(), SessionError> {
        match self.mode {
            OpenMode::Write => Ok(()),
            OpenMode::Read => Err(SessionError::ReadOnly { name: self.file.name.clone() }),
        }
    }
}

/// A range of the file, read at once for several lines.
#[derive(Default)]
pub(crate) struct ReadWindow {
    from: u64,
    bytes: Vec<u8>,
    /// Only one line is wanted.
    single_line: bool,
}

impl ReadWindow {
    /// Bytes per read.
    const SIZE: usize = 64 << 10;

    fn for_one_line() -> ReadWindow {
        ReadWindow { single_line: true, ..ReadWindow::default() }
    }

    pub(crate) fn line(&mut self, tape: &SessionFile, row: &EntryRow) -> std::io::Result<&[u8]> {
        let len = row.len as usize;
        let inside = |window: &ReadWindow| {
            let at = usize::try_from(row.offset.checked_sub(window.from)?).ok()?;
            (at.checked_add(len)? <= window.bytes.len()).then_some(at)
        };
        if inside(self).is_none() {
            let size = if self.single_line { len } else { len.max(ReadWindow::SIZE) };
            self.bytes = tape.read(row.offset, size)?;
            self.from = row.offset;
        }
        let at = inside(self).unwrap_or(0);
        Ok(self.bytes.get(at..at + len).unwrap_or_default())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Session");
        debug.field("name", &self.file.name).field("id", &self.header.id).field("entries", &self.table.len());
        debug.finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The last chance for what a full disk did not take.
        if self.mode == OpenMode::Write && self.file.unsaved_entries > 0 {
            let _ = self.file.save();
        }
        self.write_index();
    }
}
