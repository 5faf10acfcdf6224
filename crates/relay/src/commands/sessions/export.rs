//! `relay sessions export`: a conversation as one HTML page, or as Markdown.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use relaycode_durable::atomic::{PieceSink, stage_pieces};
use relaycode_durable::fs::is_unsupported;
use relaycode_durable::{Fs, RenameMode};
use relaycode_session::export::{
    self, EntrySource, EntryVisitor, ExportError, ExportOptions, ExportSource, ExportSummary,
};
use relaycode_session::{EntryBody, Session};
use relaycode_tui::outcome;
use serde_json::json;

use super::locator::{SessionLocator, short_id};
use crate::{CommandContext, CommandFailure, CommandResult, Exit};

/// Write a conversation to one HTML page, or to Markdown
///
/// The page needs nothing else and asks nobody for anything. The file is for you alone; one that is there already
/// is not overwritten without --force.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsExportArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
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

impl SessionsExportArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.with_blobs(place.open_session(&info)?);
        let odd: Vec<String> = session.report().issues.iter().map(ToString::to_string).collect();
        let entries = SessionEntries(&session);
        let conversation = ExportSource {
            header: session.header(),
            entries: &entries,
            leaf: session.leaf(),
            load_issues: &odd,
        };
        let options = ExportOptions { all_branches: !self.path_only, ..ExportOptions::default() };
        let markdown = self.is_markdown();
        let write = |out: &mut dyn Write| match markdown {
            true => export::export_markdown(&conversation, &options, out),
            false => export::export_html(&conversation, &options, out),
        };
        if self.output.as_deref() == Some(Path::new("-")) {
            if ctx.is_json() {
                return Err(CommandFailure::usage("stdout cannot take both the export and an object")
                    .hint("give a file with -o"));
            }
            let mut bytes = Vec::new();
            write(&mut bytes).map_err(CommandFailure::unexpected)?;
            let text = String::from_utf8_lossy(&bytes);
            let look = ctx.console.out_style();
            // A file is as it is; a terminal obeys what it is given.
            ctx.console.print(&if look.width.is_some() { look.block(&text) } else { text });
            return Ok(Exit::Done);
        }
        let path = self.output_path(&place, session.id(), markdown);
        let exported = self.write_file(&place, &path, &write)?;
        ctx.print_success(&format!("exported to {}", path.display()));
        if exported.skipped_images > 0 {
            let said = format!("images that are missing or too large: {}", exported.skipped_images);
            ctx.print_info(&outcome::warning_line(&ctx.style(), &said));
        }
        Ok(ctx.print_result(Exit::Done, json!({
            "id": session.id(), "file": path.to_string_lossy(), "format": if markdown { "markdown" } else { "html" },
            "entries": exported.entries, "entriesLeftOut": exported.skipped_entries, "images": exported.images,
            "imagesLeftOut": exported.skipped_images,
        })))
    }

    fn is_markdown(&self) -> bool {
        let named = |output: &PathBuf| output.extension().is_some_and(|end| end == "md" || end == "markdown");
        self.markdown || (!self.html && self.output.as_ref().is_some_and(named))
    }

    fn output_path(&self, place: &SessionLocator, id: &str, markdown: bool) -> PathBuf {
        match &self.output {
            Some(output) => place.cwd.join(output),
            None => {
                let plain: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
                let end = if markdown { "md" } else { "html" };
                place.cwd.join(format!("session-{}.{end}", short_id(&plain, 12)))
            }
        }
    }

    /// Writes a private file, whole or not at all.
    fn write_file(
        &self,
        place: &SessionLocator,
        path: &Path,
        write: &dyn Fn(&mut dyn Write) -> Result<ExportSummary, ExportError>,
    ) -> CommandResult<ExportSummary> {
        let fs = &place.fs;
        let cannot = |error: io::Error| {
            CommandFailure::unexpected(format!("the export cannot be written: {error}"))
                .place(path.display())
                .unchanged()
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| CommandFailure::usage(format!("{} is not a file name", path.display())))?;
        let dir = fs.open_root(path.parent().unwrap_or(Path::new("/"))).map_err(cannot)?;
        let exists = || {
            CommandFailure::usage(format!("{} already exists", path.display()))
                .hint("--force overwrites it")
                .unchanged()
        };
        if !self.force && fs.stat(&dir, name).is_ok() {
            return Err(exists());
        }
        let scratch = format!(".relay-export-{}.tmp", std::process::id());
        let mut exported = ExportSummary::default();
        let staged = stage_pieces(fs, (&dir, &scratch), &mut |put| {
            exported = write(&mut PutWriter(put)).map_err(|error| match error {
                ExportError::Write(error) => error,
                ExportError::Read(error) => io::Error::other(error),
            })?;
            Ok(())
        });
        let moved = staged.and_then(|()| {
            let how = if self.force { RenameMode::Replace } else { RenameMode::NoReplace };
            match fs.rename(&dir, &scratch, &dir, name, how) {
                Err(error) if is_unsupported(&error) && fs.stat(&dir, name).is_err() => {
                    fs.rename(&dir, &scratch, &dir, name, RenameMode::Replace)
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

/// Writes one page of a session that is open; a file that is there already stays.
pub(crate) fn export_page(
    session: &Session,
    output: Option<PathBuf>,
    ctx: &CommandContext<'_>,
) -> CommandResult<(PathBuf, ExportSummary)> {
    let place = SessionLocator::open(ctx)?;
    let args = SessionsExportArgs {
        session: None,
        html: true,
        markdown: false,
        output,
        path_only: false,
        force: false,
    };
    let path = args.output_path(&place, session.id(), false);
    let source = ExportSource {
        header: session.header(),
        entries: &SessionEntries(session),
        leaf: session.leaf(),
        load_issues: &[],
    };
    let write = |out: &mut dyn Write| export::export_html(&source, &ExportOptions::default(), out);
    let exported = args.write_file(&place, &path, &write)?;
    Ok((path, exported))
}

/// Hands bytes on, piece by piece.
struct PutWriter<'a, 'p>(&'a mut PieceSink<'p>);

impl Write for PutWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The entries of a session, one in memory at a time, images where they stand.
struct SessionEntries<'s>(&'s Session);

impl EntrySource for SessionEntries<'_> {
    fn for_each_entry(&self, see: &mut EntryVisitor<'_>) -> Result<(), ExportError> {
        for entry in self.0.entries() {
            let mut entry = entry.map_err(|error| ExportError::Read(error.into()))?;
            if let EntryBody::Message { message: value } | EntryBody::CustomMessage { content: value, .. } =
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
        let args = |html, markdown, output: Option<&str>| SessionsExportArgs {
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
