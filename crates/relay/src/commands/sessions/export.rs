//! `relay sessions export`: a conversation as one HTML page, or as Markdown.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use relaycode_durable::atomic::{Put, stage_pieces};
use relaycode_durable::fs::is_unsupported;
use relaycode_durable::{Fs, Rename};
use relaycode_session::export::{self, Conversation, Entries, ExportError, Exported, Options, See};
use relaycode_session::{Body, Session};
use relaycode_tui::outcome;
use serde_json::json;

use super::place::{Place, short};
use crate::context::Context;
use crate::failure::{Exit, Failure, State};

/// Write a conversation to one HTML page, or to Markdown
///
/// The page needs nothing else and asks nobody for anything. The file is for you alone; one that is there already
/// is not overwritten without --force.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ExportArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
    #[arg(value_name = "SESSION")]
    session: Option<String>,

    /// As one HTML page; this is what happens where nothing says otherwise
    #[arg(long, conflicts_with = "markdown")]
    html: bool,

    /// As Markdown; also where the file ends in .md
    #[arg(long)]
    markdown: bool,

    /// Where to; `-` is stdout. Without it a file in this directory, named after the session
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Only the way to where the conversation goes on, without other branches
    #[arg(long)]
    path_only: bool,

    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

impl ExportArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.with_blobs(place.read(&info)?);
        let odd: Vec<String> = session.report().oddities.iter().map(ToString::to_string).collect();
        let entries = InOrder(&session);
        let conversation =
            Conversation { header: session.header(), entries: &entries, leaf: session.leaf(), odd: &odd };
        let options = Options { all_branches: !self.path_only, ..Options::default() };
        let markdown = self.is_markdown();
        let write = |out: &mut dyn Write| match markdown {
            true => export::markdown(&conversation, &options, out),
            false => export::html(&conversation, &options, out),
        };
        if self.output.as_deref() == Some(Path::new("-")) {
            if context.json() {
                return Err(Failure::usage("stdout cannot take both the export and an object")
                    .hint("give a file with -o"));
            }
            let mut bytes = Vec::new();
            write(&mut bytes).map_err(Failure::unexpected)?;
            let text = String::from_utf8_lossy(&bytes);
            let look = context.console.out_look();
            // A file is as it is; a terminal obeys what it is given.
            let safe = if look.width.is_some() { look.block(&text) } else { text };
            context.console.out(&safe);
            return Ok(Exit::Done);
        }
        let path = self.path(&place, session.id(), markdown);
        let exported = self.put(&place, &path, &write)?;
        let look = context.look();
        context
            .say(&outcome::done(&look, &format!("exported to {}", look.safe(&path.display().to_string()))));
        if exported.images_left_out > 0 {
            let said = format!("images that are missing or too large: {}", exported.images_left_out);
            context.say(&outcome::remark(&look, &said));
        }
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "sessions", "id": session.id(), "file": path.to_string_lossy(),
            "format": if markdown { "markdown" } else { "html" }, "entries": exported.entries,
            "entriesLeftOut": exported.entries_left_out, "images": exported.images, "imagesLeftOut": exported.images_left_out,
        }));
        Ok(Exit::Done)
    }

    fn is_markdown(&self) -> bool {
        let named = |output: &PathBuf| output.extension().is_some_and(|end| end == "md" || end == "markdown");
        self.markdown || (!self.html && self.output.as_ref().is_some_and(named))
    }

    fn path(&self, place: &Place, id: &str, markdown: bool) -> PathBuf {
        match &self.output {
            Some(output) => place.cwd.join(output),
            None => {
                let plain: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
                let end = if markdown { "md" } else { "html" };
                place.cwd.join(format!("session-{}.{end}", short(&plain, 12)))
            }
        }
    }

    /// Writes a private file, whole or not at all.
    fn put(
        &self,
        place: &Place,
        path: &Path,
        write: &dyn Fn(&mut dyn Write) -> Result<Exported, ExportError>,
    ) -> Result<Exported, Failure> {
        let fs = &place.fs;
        let cannot = |error: io::Error| {
            Failure::unexpected(format!("the export cannot be written: {error}"))
                .at(path.display())
                .left(State::Unchanged)
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Failure::usage(format!("{} is no name for a file", path.display())))?;
        let dir = fs.open_root(path.parent().unwrap_or(Path::new("/"))).map_err(cannot)?;
        let exists = || {
            Failure::usage(format!("{} is there already", path.display()))
                .hint("--force overwrites it")
                .left(State::Unchanged)
        };
        if !self.force && fs.stat(&dir, name).is_ok() {
            return Err(exists());
        }
        let scratch = format!(".relay-export-{}.tmp", std::process::id());
        let mut exported = Exported::default();
        let staged = stage_pieces(fs, (&dir, &scratch), &mut |put| {
            exported = write(&mut Putting(put)).map_err(|error| match error {
                ExportError::Write(error) => error,
                ExportError::Read(error) => io::Error::other(error),
            })?;
            Ok(())
        });
        let moved = staged.and_then(|()| {
            let how = if self.force { Rename::Replace } else { Rename::NoReplace };
            match fs.rename(&dir, &scratch, &dir, name, how) {
                Err(error) if is_unsupported(&error) && fs.stat(&dir, name).is_err() => {
                    fs.rename(&dir, &scratch, &dir, name, Rename::Replace)
                }
                other => other,
            }
        });
        if let Err(error) = moved {
            // What is left of it is nobody's.
            let _ = fs.remove_file(&dir, &scratch);
            return Err(if error.kind() == io::ErrorKind::AlreadyExists { exists() } else { cannot(error) });
        }
        fs.sync_dir(&dir).map_err(cannot)?;
        Ok(exported)
    }
}

/// Hands bytes on, piece by piece.
struct Putting<'a, 'p>(&'a mut Put<'p>);

impl Write for Putting<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The entries of a session, one in memory at a time, images where they stand.
struct InOrder<'s>(&'s Session);

impl Entries for InOrder<'_> {
    fn each(&self, see: &mut See<'_>) -> Result<(), ExportError> {
        for entry in self.0.entries() {
            let mut entry = entry.map_err(|error| ExportError::Read(error.into()))?;
            if let Body::Message { message: value } | Body::CustomMessage { content: value, .. } =
                &mut entry.body
            {
                self.0.resolve_images(value);
            }
            see(&entry)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_the_option_then_the_name() {
        let args = |html, markdown, output: Option<&str>| ExportArgs {
            session: None,
            html,
            markdown,
            output: output.map(PathBuf::from),
            path_only: false,
            force: false,
        };
        assert!(!args(false, false, None).is_markdown());
        assert!(args(false, true, Some("a.html")).is_markdown());
        assert!(args(false, false, Some("a.md")).is_markdown());
        assert!(!args(true, false, Some("a.md")).is_markdown());
    }
}
