//! Rewrites what could be saved of a damaged file, or one of an older format. The original stays beside it.

use std::io;
use std::sync::Arc;

use relaycode_durable::{Fs, FsDir};
use serde_json::Value;

use super::ReadWindow;
use crate::file::{EntryProbe, FileTarget, SessionFile, file_stem, rewrite};
use crate::format::header::VERSION;
use crate::{EntryRow, LoadReport, OpenMode, Session, SessionError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairOutcome {
    /// What was wrong; if empty, nothing was done.
    pub report: LoadReport,
    /// The name of the original file, if it was replaced.
    pub original: Option<String>,
    /// How many entries there are now.
    pub entries: usize,
}

impl Session {
    /// Replaces a damaged file by what can be read of it; the original is kept beside it as
    /// `<stem>.jsonl.before-repair-<n>`. A healthy file is left alone.
    ///
    /// # Errors
    /// As for [`Session::open`] with writing; or if it cannot be written, and then the file is as it was.
    pub fn repair(fs: Arc<dyn Fs>, dir: FsDir, name: &str) -> Result<RepairOutcome, SessionError> {
        let mut tape = SessionFile::new(fs, dir, name, FileTarget::File);
        tape.fs.stat(&tape.dir, name).map_err(SessionError::io(name, "open"))?;
        tape.lock()?;
        let session = Session::load(tape, OpenMode::Write).map_err(SessionError::io(name, "read"))?;
        if session.version > VERSION {
            return Err(SessionError::Newer { name: name.to_string(), version: session.version });
        }
        let report = session.report.clone();
        if report.is_empty() && session.version == VERSION {
            return Ok(RepairOutcome { report, original: None, entries: session.len() });
        }
        let (session, original) = session.rewrite_file(&|number| format!("{name}.before-repair-{number}"))?;
        Ok(RepairOutcome { report, original: Some(original), entries: session.len() })
    }

    /// The original is kept as `<stem>.v<version>.bak`.
    pub(super) fn migrate_format(mut self) -> Result<Session, SessionError> {
        if self.file.target != FileTarget::File {
            self.header.version = VERSION;
            self.header_fields.insert("version".into(), VERSION.into());
            self.version = VERSION;
            return Ok(self);
        }
        let stem = format!("{}.v{}", file_stem(&self.file.name), self.version);
        let report = self.report.clone();
        let (mut session, _) = self.rewrite_file(&|number| match number {
            1 => format!("{stem}.bak"),
            _ => format!("{stem}.{number}.bak"),
        })?;
        session.report = report;
        Ok(session)
    }

    /// Rewrites the file and opens it again; returns where the original is.
    fn rewrite_file(mut self, as_name: &dyn Fn(u32) -> String) -> Result<(Session, String), SessionError> {
        let name = self.file.name.clone();
        let original = rewrite::keep_copy(&*self.file.fs, &self.file.dir, &name, as_name)?;
        let new_file = |target| SessionFile::new(self.file.fs.clone(), self.file.dir.clone(), &name, target);
        let (mut source, nowhere) = (new_file(FileTarget::File), new_file(FileTarget::Memory));
        source.saved = self.file.saved;
        source.source.clone_from(&self.file.source);
        let mut tape = std::mem::replace(&mut self.file, nowhere);
        self.header_fields.insert("version".into(), VERSION.into());
        let mut window = ReadWindow::default();
        let outcome = rewrite::replace_file(&mut tape, &mut |put| {
            put(Value::Object(self.header_fields.clone()).to_string().as_bytes())?;
            put(b"\n")?;
            for row in self.table.rows() {
                put(&self.fixed_line(row, &source, &mut window)?)?;
                put(b"\n")?;
            }
            Ok(())
        });
        outcome?;
        tape.unsaved.clear();
        let session = Session::load(tape, OpenMode::Write).map_err(SessionError::io(&name, "read"))?;
        Ok((session, original))
    }

    /// An entry's line: unchanged if it is right, else with its corrected id and parent.
    fn fixed_line(&self, row: &EntryRow, from: &SessionFile, window: &mut ReadWindow) -> io::Result<Vec<u8>> {
        let line = window.line(from, row)?.to_vec();
        let text = std::str::from_utf8(&line).map_err(io::Error::other)?;
        let Some(probe) = EntryProbe::parse(text) else { return Err(io::ErrorKind::InvalidData.into()) };
        let is_right = self.version == VERSION
            && probe.id.as_deref() == Some(&*row.id)
            && probe.parent.as_ref().and_then(|parent| parent.as_deref()) == self.table.parent_id(row);
        if is_right {
            return Ok(line);
        }
        let fields = self.read_fields(row, from, window).map_err(io::Error::other)?;
        Ok(Value::Object(fields).to_string().into_bytes())
    }
}
