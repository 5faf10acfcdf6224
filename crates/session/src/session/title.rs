//! The title of a session.

use serde_json::Value;

use crate::file::{FileTarget, rewrite};
use crate::format::header::TitleSource;
use crate::{Session, SessionError};

/// Most characters of a title.
const TITLE_MOST: usize = 300;

impl Session {
    /// Only the user changes a title that the user gave: `false` means that nothing was done.
    ///
    /// The file is rewritten with the new header and replaced in one step.
    ///
    /// # Errors
    /// If it cannot be written; the session keeps its old title then.
    pub fn set_title(&mut self, title: &str, source: TitleSource) -> Result<bool, SessionError> {
        self.check_writable()?;
        let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = title.chars().take(TITLE_MOST).collect();
        let kept = self.header.title_source == Some(TitleSource::User) && source == TitleSource::Auto;
        let same = self.header.title.as_deref() == Some(&title) && self.header.title_source == Some(source);
        if title.is_empty() || kept || same {
            return Ok(false);
        }
        let mut fields = self.header_fields.clone();
        fields.insert("title".into(), Value::String(title.clone()));
        fields.insert("titleSource".into(), serde_json::to_value(source).unwrap_or(Value::Null));
        let mut rewritten = Ok(());
        if self.file.target == FileTarget::File {
            self.file.save()?;
            // What another program wrote meanwhile would be lost with the old file.
            self.file.prepare_write().map_err(|error| match error {
                SessionError::NotSaved { name, source, .. } => {
                    SessionError::Io { name, doing: "rewrite", source }
                }
                other => other,
            })?;
            let mut line = Value::Object(fields.clone()).to_string().into_bytes();
            line.push(b'\n');
            let (body, saved) = (self.body_offset, self.file.saved);
            let read = self.file.reader();
            let len = line.len() as u64;
            let outcome = rewrite::replace_file(&mut self.file, &mut |put| {
                put(&line)?;
                rewrite::copy_range(&mut |at, most| read(at, most), body, saved, put)
            });
            if !matches!(outcome, Ok(()) | Err(SessionError::NotDurable { .. })) {
                return outcome.map(|()| false);
            }
            self.table.shift_offsets(i64::try_from(len).unwrap_or(0) - i64::try_from(body).unwrap_or(0));
            self.body_offset = len;
            self.indexed_rows = None;
            rewritten = outcome;
        }
        self.header.title = Some(title);
        self.header.title_source = Some(source);
        self.header_fields = fields;
        rewritten.map(|()| true)
    }
}
