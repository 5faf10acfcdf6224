//! Reading one small text file that anybody may have put there.
//!
//! Never hangs, never reads more than it was told to, never leaves the project through a link.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TextFileError {
    /// The system says no.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is a link, and its target is elsewhere or nowhere.
    #[error("it is a link that does not lead to a file of this project")]
    OutsideLink,
    /// It is a directory, a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// It is too large.
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
    /// It is no text in UTF-8.
    #[error("it is not UTF-8 text")]
    Encoding { line: usize },
    /// It is UTF-16.
    #[error("it is UTF-16 text, not UTF-8")]
    Utf16,
    /// It holds a NUL.
    #[error("it contains a NUL byte, so it is not text")]
    Nul { line: usize },
}

/// Whether links may lead out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    /// No: the file is a project's.
    Inside,
    /// Yes: the file is the user's own.
    Anywhere,
}

/// The text of `directory/name`, without a byte order mark; `None` if there is no such file.
pub(crate) fn read_text(
    directory: &Path,
    name: &str,
    most: u64,
    links: LinkPolicy,
) -> Result<Option<String>, TextFileError> {
    let path = directory.join(name);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if missing(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let path = if metadata.is_symlink() { resolve_link(directory, &path, links)? } else { path };
    // A pipe must not be waited for, and a link that was put there meanwhile not be followed.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let kind = |metadata: &Metadata| if metadata.is_file() { Ok(()) } else { Err(TextFileError::NotAFile) };
    kind(&path.symlink_metadata()?)?;
    let file = File::from(rustix::fs::open(&path, flags, Mode::empty()).map_err(io::Error::from)?);
    kind(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(TextFileError::TooLarge(most));
    }
    decode_text(bytes).map(Some)
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn resolve_link(directory: &Path, link: &Path, links: LinkPolicy) -> Result<PathBuf, TextFileError> {
    let target = link.canonicalize().map_err(|_| TextFileError::OutsideLink)?;
    let inside = directory.canonicalize().is_ok_and(|directory| target.starts_with(directory));
    if inside || links == LinkPolicy::Anywhere { Ok(target) } else { Err(TextFileError::OutsideLink) }
}

fn decode_text(bytes: Vec<u8>) -> Result<String, TextFileError> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(TextFileError::Utf16);
    }
    let line = |bytes: &[u8]| 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(TextFileError::Nul { line: line(&bytes[..at]) });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        TextFileError::Encoding { line: line(&error.as_bytes()[..good]) }
    })?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(text)
}
