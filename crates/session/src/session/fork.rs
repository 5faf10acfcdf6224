//! New sessions made from this one: all of it, or one path.

use std::io;
use std::sync::Arc;

use relaycode_durable::atomic::{PieceSource, stage_pieces};
use relaycode_durable::fs::is_unsupported;
use relaycode_durable::{Fs, FsDir, FsKind as EntryKind, RenameMode};
use serde_json::{Map, Value};

use super::ReadWindow;
use super::open::{check_free, header_to_fields};
use crate::file::{copy_range, file_stem};
use crate::format::header::{VERSION, format_timestamp, now_to_millis};
use crate::home::layout::create_dir_in;
use crate::{EntryBody, EntryType, OpenMode, Session, SessionEntry, SessionError, SessionHeader};

/// Most files and bytes beside a session that are copied with it.
const ARTIFACTS_MOST: usize = 10_000;
const ARTIFACT_BYTES_MOST: u64 = 1 << 30;
/// Deepest directory beside a session.
const ARTIFACT_DEPTH_MOST: usize = 8;

impl Session {
    /// Copies this session with every branch. Entries are copied byte by byte, unread; the files beside it
    /// as far as possible. The header's `parentSession` becomes this session's id.
    ///
    /// # Errors
    /// If a file of that name exists, or the disk fails; nothing is left behind then.
    pub fn fork(&self, to: &FsDir, name: &str, mut header: SessionHeader) -> Result<Session, SessionError> {
        self.check_known_format()?;
        header.parent_session = Some(self.header.id.clone());
        // The copy has this format; opening it migrates it.
        header.version = self.version;
        let tape = &self.file;
        self.write_new(to, name, &header, &mut |put| {
            if self.body_offset < tape.saved {
                copy_range(&mut |at, most| tape.read(at, most), self.body_offset, tape.saved, put)?;
            }
            let done = usize::try_from(self.body_offset.saturating_sub(tape.saved)).unwrap_or(usize::MAX);
            put(tape.unsaved.get(done..).unwrap_or_default())
        })?;
        if has_artifacts(&tape.name) {
            copy_artifacts(&*tape.fs, (&tape.dir, file_stem(&tape.name)), (to, file_stem(name)));
        }
        self.open_fork(to, name)
    }

    /// Copies only the path from the root to `leaf`. Labels are written again after it.
    ///
    /// # Errors
    /// If there is no such entry, a file of that name exists, or the disk fails.
    pub fn fork_branch(
        &self,
        leaf: &str,
        to: &FsDir,
        name: &str,
        mut header: SessionHeader,
    ) -> Result<Session, SessionError> {
        self.check_known_format()?;
        header.parent_session = Some(self.header.id.clone());
        header.version = VERSION;
        let path = self.table.path(Some(self.row_number(leaf)?));
        let mut window = ReadWindow::default();
        self.write_new(to, name, &header, &mut |put| {
            let mut last: Option<&str> = None;
            let rows = path.iter().filter_map(|number| self.table.row(*number));
            let rows: Vec<_> = rows.filter(|row| row.kind != EntryType::Label).collect();
            for row in &rows {
                let mut fields = self.read_fields(row, &self.file, &mut window).map_err(io::Error::other)?;
                fields.insert("parentId".into(), last.map_or(Value::Null, Value::from));
                if row.kind == EntryType::Compaction {
                    self.retarget_first_kept(&mut fields, &path);
                }
                put(Value::Object(fields).to_string().as_bytes())?;
                put(b"\n")?;
                last = Some(&row.id);
            }
            let mut parent = last.map(str::to_string);
            for row in rows {
                let Some(label) = self.label_of(&row.id) else { continue };
                let entry = SessionEntry {
                    id: self.new_id(),
                    parent_id: parent,
                    timestamp: format_timestamp(now_to_millis()),
                    body: EntryBody::Label { target_id: row.id.to_string(), label: Some(label.to_string()) },
                };
                put(entry.to_object().to_string().as_bytes())?;
                put(b"\n")?;
                parent = Some(entry.id);
            }
            Ok(())
        })?;
        self.open_fork(to, name)
    }

    /// A session of a newer format can be read, and not gone on with: a copy of it would be of no use.
    fn check_known_format(&self) -> Result<(), SessionError> {
        if self.version > VERSION {
            return Err(SessionError::Newer { name: self.file.name.clone(), version: self.version });
        }
        Ok(())
    }

    /// A compaction may keep everything from a label on, and old labels are not copied: then from what
    /// follows the label.
    fn retarget_first_kept(&self, fields: &mut Map<String, Value>, path: &[u32]) {
        let Some(Value::String(kept)) = fields.get_mut("firstKeptEntryId") else { return };
        let on_path = path.iter().filter_map(|number| self.table.row(*number));
        let from = on_path.skip_while(|row| *row.id != **kept).find(|row| row.kind != EntryType::Label);
        if let Some(row) = from {
            *kept = row.id.to_string();
        }
    }

    fn open_fork(&self, to: &FsDir, name: &str) -> Result<Session, SessionError> {
        let fs = &self.file.fs;
        let opened = Session::open(Arc::clone(fs), to.clone(), name, OpenMode::Write);
        let mut session = opened.inspect_err(|_| {
            // A copy that nobody can go on with would be listed like any other.
            let _ = fs.remove_file(to, name);
        })?;
        session.blobs.clone_from(&self.blobs);
        Ok(session)
    }

    /// Whole or not at all, and never over another file.
    fn write_new(
        &self,
        to: &FsDir,
        name: &str,
        header: &SessionHeader,
        make: &mut PieceSource<'_>,
    ) -> Result<(), SessionError> {
        let fs = &*self.file.fs;
        check_free(fs, to, name)?;
        let scratch = format!("{}.new", file_stem(name));
        let made = stage_pieces(fs, (to, &scratch), &mut |put| {
            put(Value::Object(header_to_fields(header)).to_string().as_bytes())?;
            put(b"\n")?;
            make(put)
        });
        let moved = made.and_then(|()| match fs.rename(to, &scratch, to, name, RenameMode::NoReplace) {
            Err(error) if is_unsupported(&error) => fs.rename(to, &scratch, to, name, RenameMode::Replace),
            other => other,
        });
        if let Err(error) = moved {
            let _ = fs.remove_file(to, &scratch);
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => SessionError::Exists { name: name.to_string() },
                _ => SessionError::Io { name: name.to_string(), doing: "write", source: error },
            });
        }
        fs.sync_dir(to).map_err(|source| SessionError::NotDurable { name: name.to_string(), source })
    }
}

/// Whether the directory beside a session belongs to it. Beside a file that a person named, it may be
/// anything.
pub(crate) fn has_artifacts(name: &str) -> bool {
    crate::home::layout::id_in_name(name).is_some()
}

/// As far as possible.
fn copy_artifacts(fs: &dyn Fs, from: (&FsDir, &str), to: (&FsDir, &str)) {
    let (mut files, mut bytes) = (0, 0);
    let Ok(source) = fs.open_dir(from.0, from.1) else { return };
    let Ok(target) = create_dir_in(fs, to.0, to.1) else { return };
    let mut waiting = vec![(source, target, 0)];
    while let Some((source, target, depth)) = waiting.pop() {
        for (name, kind) in fs.list(&source).unwrap_or_default() {
            files += 1;
            if files > ARTIFACTS_MOST {
                return;
            }
            match kind {
                EntryKind::Dir if depth < ARTIFACT_DEPTH_MOST => {
                    let Ok(inner) = fs.open_dir(&source, &name) else { continue };
                    let Ok(made) = create_dir_in(fs, &target, &name) else { continue };
                    waiting.push((inner, made, depth + 1));
                }
                EntryKind::File => {
                    let Ok(file) = fs.open_file(&source, &name) else { continue };
                    let Ok(stat) = fs.stat_file(&file) else { continue };
                    bytes += stat.len;
                    if bytes > ARTIFACT_BYTES_MOST {
                        return;
                    }
                    let copied = stage_pieces(fs, (&target, &name), &mut |put| {
                        copy_range(&mut |at, most| fs.read_at(&file, at, most), 0, stat.len, put)
                    });
                    if copied.is_err() {
                        // Half a file is worse than none.
                        let _ = fs.remove_file(&target, &name);
                    }
                }
                _ => {}
            }
        }
    }
}
