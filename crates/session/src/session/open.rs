//! Making and opening sessions. Opening changes nothing but an older format, which is rewritten, with the original kept beside it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Dir, Fs, Model};
use serde_json::{Map, Value};

use super::{Mode, Session, Window};
use crate::entry::Body;
use crate::error::SessionError;
use crate::file::lines::{LINE_MOST, each_line};
use crate::file::row::Kind;
use crate::file::scan::{Found, Scanner, Tail};
use crate::file::tape::{Place, Tape, stem};
use crate::header::{Header, VERSION};
use crate::index;

impl Session {
    /// Begins a session. Its file is made when the first prompt is appended.
    ///
    /// # Errors
    /// There is a file of that name.
    pub fn create(fs: Arc<dyn Fs>, dir: Dir, name: &str, header: Header) -> Result<Session, SessionError> {
        match fs.stat(&dir, name) {
            Ok(_) => return Err(SessionError::Exists { name: name.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(SessionError::io(name, "look at")(error)),
        }
        Ok(Session::fresh(Tape::new(fs, dir, name, Place::Later), header))
    }

    /// Begins a session that lives as long as the process.
    ///
    /// # Errors
    /// None in practice.
    pub fn in_memory(header: Header) -> Result<Session, SessionError> {
        let name = format!("{}.jsonl", header.id);
        let fs = Arc::new(Model::new());
        let dir = fs.open_root(Path::new("/")).map_err(SessionError::io(&name, "open"))?;
        Ok(Session::fresh(Tape::new(fs, dir, &name, Place::Memory), header))
    }

    fn fresh(tape: Tape, mut header: Header) -> Session {
        header.version = VERSION;
        Session {
            tape,
            mode: Mode::Write,
            fields: fields_of(&header),
            header,
            body: 0,
            version: VERSION,
            table: crate::file::table::Table::default(),
            labels: HashMap::new(),
            leaf: None,
            facts: index::facts::Facts::default(),
            report: crate::file::report::Report::default(),
            blobs: None,
            indexed: None,
        }
    }

    /// Opens a session. Whatever is in the file, what can be read of it is there; what was odd is in [`Session::report`].
    ///
    /// # Errors
    /// There is no such file, somebody else writes it, it is of a newer format (to write), or the disk fails.
    pub fn open(fs: Arc<dyn Fs>, dir: Dir, name: &str, mode: Mode) -> Result<Session, SessionError> {
        let mut tape = Tape::new(fs, dir, name, Place::File);
        // Not made by taking its lock.
        tape.fs.stat(&tape.dir, name).map_err(SessionError::io(name, "open"))?;
        if mode == Mode::Write {
            tape.lock()?;
            tape.new_name = true;
        }
        let session = Session::load(tape, mode).map_err(SessionError::io(name, "read"))?;
        match (mode, session.version) {
            (Mode::Write, version) if version > VERSION => {
                Err(SessionError::Newer { name: name.to_string(), version })
            }
            (Mode::Write, version) if version < VERSION => session.migrated(),
            _ => Ok(session),
        }
    }

    /// Reads what the index does not know, and puts everything together.
    pub(super) fn load(mut tape: Tape, mode: Mode) -> io::Result<Session> {
        let source = tape.fs.open(&tape.dir, &tape.name)?;
        let len = tape.fs.stat_file(&source)?.len;
        (tape.source, tape.saved) = (Some(Arc::new(source)), len);
        let known = index::load(&tape, len);
        let indexed = known.as_ref().map(|known| known.scanner.table.len());
        let (mut scanner, from) =
            known.map_or_else(|| (Scanner::default(), 0), |known| (known.scanner, known.covered));
        each_line(&mut |at, most| tape.read(at, most), from, len, LINE_MOST, &mut |line| {
            scanner.take(line, &mut |row| tape.read(row.offset, row.len as usize))
        })?;
        scanner.finish();
        match scanner.tail {
            Tail::Whole => {}
            Tail::NoLineEnd => tape.unsaved.push(b'\n'),
            Tail::Torn { from } => (tape.saved, tape.longer, tape.torn) = (from, true, true),
        }
        if scanner.header.is_none() && scanner.table.len() == 0 && scanner.report.is_empty() {
            // Nothing but blank lines: the session begins at the beginning, with a header.
            (tape.saved, tape.longer) = (0, len > 0);
            tape.unsaved.clear();
        }
        let version = scanner.version();
        let (header, fields, body) = match &scanner.header {
            Some(Found { header, offset, len, end }) => {
                let most = usize::try_from(*len).unwrap_or(usize::MAX);
                let fields = serde_json::from_slice(&tape.read(*offset, most)?).ok();
                let fields = fields.unwrap_or_else(|| fields_of(header));
                // A header elsewhere than on the first line stays where it is, and another one is put before everything.
                let body = if first_line(*offset) { *end } else { 0 };
                (header.clone(), fields, body)
            }
            None => {
                let header =
                    made_up(&tape.name, version, scanner.table.rows().first().map(|row| row.timestamp));
                (header.clone(), fields_of(&header), 0)
            }
        };
        let Scanner { table, facts, report, .. } = scanner;
        if tape.saved == 0 {
            tape.place = Place::Later;
        }
        let leaf = table.last();
        let mut session = Session {
            tape,
            mode,
            header,
            fields,
            body,
            version,
            table,
            labels: HashMap::new(),
            leaf,
            facts,
            report,
            blobs: None,
            indexed,
        };
        session.labels = session.read_labels();
        Ok(session)
    }

    fn read_labels(&self) -> HashMap<String, String> {
        let mut labels = HashMap::new();
        let mut window = Window::default();
        for row in self.table.rows().iter().filter(|row| row.kind == Kind::Label) {
            let Ok(entry) = self.read_row(row, &mut window) else { continue };
            let Body::Label { target_id, label } = entry.body else { continue };
            match label.filter(|label| !label.is_empty()) {
                Some(label) => drop(labels.insert(target_id, label)),
                None => drop(labels.remove(&target_id)),
            }
        }
        labels
    }
}

/// A header is on the first line also behind a byte order mark.
fn first_line(offset: u64) -> bool {
    offset == 0 || offset == 3
}

/// A header's fields, in the order in which they are written.
pub(super) fn fields_of(header: &Header) -> Map<String, Value> {
    match serde_json::to_value(header) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// A header for a file that has none: `<time>_<id>.jsonl`.
fn made_up(name: &str, version: u64, first: Option<i64>) -> Header {
    let stem = stem(name);
    let id = stem.rsplit_once('_').map_or(stem, |(_, id)| id);
    let first =
        first.filter(|first| *first > 0).and_then(|first| jiff::Timestamp::from_millisecond(first).ok());
    Header {
        version,
        id: id.to_string(),
        timestamp: first.map_or_else(String::new, crate::header::written),
        cwd: String::new(),
        title: None,
        title_source: None,
        parent_session: None,
    }
}
