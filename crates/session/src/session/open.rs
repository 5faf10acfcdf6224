//! Creating and opening sessions. Opening changes nothing but an older format, which is migrated, with the
//! original kept beside it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use relaycode_durable::{Fs, FsDir};
use serde_json::{Map, Value};

use super::ReadWindow;
use crate::file::rewrite::exists;
use crate::file::scan::{HeaderLine, SessionScanner, SessionTail};
use crate::file::{EntryTable, FileTarget, MAX_LINE_BYTES, SessionFile, file_stem, for_each_line, index};
use crate::format::header::{VERSION, format_timestamp};
use crate::{EntryBody, EntryType, LoadReport, OpenMode, Session, SessionError, SessionHeader, SessionStats};

impl Session {
    /// The file is created when the first prompt is appended.
    ///
    /// # Errors
    /// If there is a file of that name.
    pub fn create(
        fs: Arc<dyn Fs>,
        dir: FsDir,
        name: &str,
        header: SessionHeader,
    ) -> Result<Session, SessionError> {
        check_free(&*fs, &dir, name)?;
        Ok(Session::new_unsaved(SessionFile::new(fs, dir, name, FileTarget::Deferred), header))
    }

    /// Lives as long as the process; only a fork of it is written, to `fs`.
    pub fn in_memory(fs: Arc<dyn Fs>, dir: FsDir, header: SessionHeader) -> Session {
        let name = format!("{}.jsonl", header.id);
        Session::new_unsaved(SessionFile::new(fs, dir, &name, FileTarget::Memory), header)
    }

    fn new_unsaved(tape: SessionFile, mut header: SessionHeader) -> Session {
        header.version = VERSION;
        Session {
            file: tape,
            mode: OpenMode::Write,
            header_fields: header_to_fields(&header),
            header,
            body_offset: 0,
            version: VERSION,
            table: EntryTable::default(),
            labels: HashMap::new(),
            leaf: None,
            facts: SessionStats::default(),
            report: LoadReport::default(),
            blobs: None,
            indexed_rows: None,
        }
    }

    /// Whatever is in the file, everything readable is there; problems are in [`Session::report`].
    ///
    /// # Errors
    /// If there is no such file, somebody else writes it, it is of a newer format (for writing), or the
    /// disk fails.
    pub fn open(fs: Arc<dyn Fs>, dir: FsDir, name: &str, mode: OpenMode) -> Result<Session, SessionError> {
        let mut tape = SessionFile::new(fs, dir, name, FileTarget::File);
        // Locking it would create it.
        tape.fs.stat(&tape.dir, name).map_err(SessionError::io(name, "open"))?;
        if mode == OpenMode::Write {
            tape.lock()?;
            tape.name_unsynced = true;
        }
        let session = Session::load(tape, mode).map_err(SessionError::io(name, "read"))?;
        match (mode, session.version) {
            (OpenMode::Write, version) if version > VERSION => {
                Err(SessionError::Newer { name: name.to_string(), version })
            }
            (OpenMode::Write, version) if version < VERSION => session.migrate_format(),
            _ => Ok(session),
        }
    }

    /// Reads what the index does not know, and puts everything together.
    pub(super) fn load(mut tape: SessionFile, mode: OpenMode) -> io::Result<Session> {
        let source = tape.fs.open_file(&tape.dir, &tape.name)?;
        let len = tape.fs.stat_file(&source)?.len;
        (tape.source, tape.saved) = (Some(Arc::new(source)), len);
        let known = index::load_index(&tape, len);
        let indexed = known.as_ref().map(|known| known.scanner.table.len());
        let (mut scanner, from) =
            known.map_or_else(|| (SessionScanner::default(), 0), |known| (known.scanner, known.covered));
        for_each_line(&mut |at, most| tape.read(at, most), from, len, MAX_LINE_BYTES, &mut |line| {
            scanner.scan_line(line, &mut |row| tape.read(row.offset, row.len as usize))
        })?;
        scanner.finish();
        match scanner.tail {
            SessionTail::Whole => {}
            SessionTail::NoLineEnd => tape.unsaved.push(b'\n'),
            SessionTail::Torn { from } => (tape.saved, tape.has_excess, tape.torn) = (from, true, true),
        }
        if scanner.header.is_none() && scanner.table.len() == 0 && scanner.report.is_empty() {
            // Nothing but blank lines: the session starts from the beginning, with a header.
            (tape.saved, tape.has_excess) = (0, len > 0);
            tape.unsaved.clear();
        }
        let version = scanner.version();
        let (header, fields, body) = match &scanner.header {
            Some(HeaderLine { header, offset, len, end }) => {
                let most = usize::try_from(*len).unwrap_or(usize::MAX);
                let fields = serde_json::from_slice(&tape.read(*offset, most)?).ok();
                let fields = fields.unwrap_or_else(|| header_to_fields(header));
                // A header that is not on the first line stays where it is, and another one is put before
                // everything.
                let body = if is_first_line(*offset) { *end } else { 0 };
                (header.clone(), fields, body)
            }
            None => {
                let first = scanner.table.rows().first().map(|row| row.timestamp);
                let header = generated_header(&tape.name, version, first);
                (header.clone(), header_to_fields(&header), 0)
            }
        };
        let SessionScanner { table, facts, report, .. } = scanner;
        if tape.saved == 0 {
            tape.target = FileTarget::Deferred;
        }
        let leaf = table.last();
        let mut session = Session {
            file: tape,
            mode,
            header,
            header_fields: fields,
            body_offset: body,
            version,
            table,
            labels: HashMap::new(),
            leaf,
            facts,
            report,
            blobs: None,
            indexed_rows: indexed,
        };
        session.labels = session.read_labels();
        Ok(session)
    }

    fn read_labels(&self) -> HashMap<String, String> {
        let mut labels = HashMap::new();
        let mut window = ReadWindow::default();
        for row in self.table.rows().iter().filter(|row| row.kind == EntryType::Label) {
            let Ok(entry) = self.read_row(row, &mut window) else { continue };
            let EntryBody::Label { target_id, label } = entry.body else { continue };
            set_label(&mut labels, target_id, label);
        }
        labels
    }
}

/// An empty label removes what there is.
pub(super) fn set_label(labels: &mut HashMap<String, String>, target: String, label: Option<String>) {
    match label.filter(|label| !label.is_empty()) {
        Some(label) => drop(labels.insert(target, label)),
        None => drop(labels.remove(&target)),
    }
}

/// Nothing may be overwritten.
pub(super) fn check_free(fs: &dyn Fs, dir: &FsDir, name: &str) -> Result<(), SessionError> {
    match exists(fs, dir, name).map_err(SessionError::io(name, "look at"))? {
        true => Err(SessionError::Exists { name: name.to_string() }),
        false => Ok(()),
    }
}

/// Also after a byte order mark.
fn is_first_line(offset: u64) -> bool {
    offset == 0 || offset == 3
}

/// In the order of the file format.
pub(super) fn header_to_fields(header: &SessionHeader) -> Map<String, Value> {
    match serde_json::to_value(header) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// For a file without a header: `<time>_<id>.jsonl`.
fn generated_header(name: &str, version: u64, first: Option<i64>) -> SessionHeader {
    let stem = file_stem(name);
    let id = stem.rsplit_once('_').map_or(stem, |(_, id)| id);
    let first = first.filter(|first| *first > 0).and_then(|first| Timestamp::from_millisecond(first).ok());
    let timestamp = first.map_or_else(String::new, format_timestamp);
    SessionHeader { version, id: id.to_string(), timestamp, ..SessionHeader::default() }
}
