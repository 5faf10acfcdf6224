//! A file as a model reads it: its lines with anchors, bounded, and on record as shown.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use relaycode_change::hashline::{LineAnchor, format_line};
use relaycode_change::lines::text_file::TextFile;
use rustix::fs::OFlags;

use crate::workspace::ToolWorkspace;

/// Bytes of one result.
pub(crate) const MAX_OUTPUT_BYTES: usize = 50 * 1024;
/// Lines of one result.
pub(crate) const MAX_OUTPUT_LINES: usize = 3_000;
/// Bytes of a file that is read at once.
pub(crate) const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A regular file with its size, or why it is none.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    // A pipe would wait for its writer, and a terminal would become relay's.
    let flags = OFlags::NONBLOCK.union(OFlags::NOCTTY);
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((file, found.len()))
}

/// What a regular file holds.
pub(crate) fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The content of a file as text.
pub(crate) struct FileText {
    pub bytes: Vec<u8>,
    pub source: TextFile,
}

impl FileText {
    /// `None` if it is no text.
    pub(crate) fn new(bytes: Vec<u8>) -> Option<FileText> {
        let source = TextFile::decode_candidates(&bytes).ok()?.into_iter().next()?;
        Some(FileText { bytes, source })
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.source.lines().collect()
    }

    /// Whether its lines can be named in an edit.
    pub(crate) fn is_editable(&self, workspace: &ToolWorkspace, path: &Path) -> bool {
        workspace.settings.anchors
            && path.starts_with(workspace.root())
            && self.bytes.len() <= workspace.door.limits().file_bytes
    }
}

/// How lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// As they are.
    Raw,
    /// With anchors.
    Anchored,
    /// With numbers only: nothing could be edited by them.
    Numbered,
}

impl LineForm {
    pub(crate) fn print(self, line: usize, text: &str) -> String {
        match self {
            LineForm::Raw => text.to_string(),
            LineForm::Anchored => format_line(line, text),
            LineForm::Numbered => format!("{line}|{text}"),
        }
    }

    /// The same, at most `most` bytes of the text.
    pub(crate) fn print_clipped(self, line: usize, text: &str, most: usize) -> String {
        if text.len() <= most {
            return self.print(line, text);
        }
        let end = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        let clipped = format!("{}…", &text[..end]);
        match self {
            // The anchor is the whole line's.
            LineForm::Anchored => format!("{}|{clipped}", LineAnchor::of(line, text)),
            form => form.print(line, &clipped),
        }
    }
}

/// Lines that were printed.
pub(crate) struct PrintedLines {
    pub text: String,
    /// From 0.
    pub range: Range<usize>,
    /// A line that is too long was cut.
    pub clipped: bool,
}

/// Prints lines (from 0) as far as there is room.
pub(crate) fn print_lines(lines: &[&str], range: Range<usize>, form: LineForm) -> PrintedLines {
    let mut text = String::new();
    let mut end = range.start;
    let mut clipped = false;
    for at in range.clone().take(MAX_OUTPUT_LINES) {
        let mut line = form.print(at + 1, lines[at]);
        if text.len() + line.len() + 1 > MAX_OUTPUT_BYTES {
            if end > range.start {
                break;
            }
            line = form.print_clipped(at + 1, lines[at], MAX_OUTPUT_BYTES - 64);
            clipped = true;
        }
        text.push_str(&line);
        text.push('\n');
        end = at + 1;
    }
    PrintedLines { text, range: range.start..end, clipped }
}

/// `12.3 KiB`.
pub(crate) fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Whether a directory is there.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_dir())
}
