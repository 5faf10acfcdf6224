//! Reading one small text file that anybody may have put there.
//!
//! Never hangs, never reads more than it was told to, never leaves the project through a link.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The system says no.
    #[error("it cannot be read: {0}")]
    System(#[from] io::Error),
    /// It is a link, and its target is elsewhere or nowhere.
    #[error("it is a link that does not lead to a file of this project")]
    Link,
    /// It is a directory, a pipe, a socket or a device.
    #[error("it is no plain file")]
    Kind,
    /// It is too large.
    #[error("it has more than {0} bytes")]
    Large(u64),
    /// It is no text in UTF-8.
    #[error("it is not text in UTF-8")]
    Encoding {
        /// The line of the first bad byte.
        line: usize,
    },
    /// It is UTF-16.
    #[error("it is text in UTF-16")]
    Wide,
    /// It holds a NUL.
    #[error("it holds a zero byte, which no text has")]
    Zero {
        /// Its line.
        line: usize,
    },
}

/// Whether links may lead out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// No: the file is a project's.
    Inside,
    /// Yes: the file is the user's own.
    Anywhere,
}

/// The text of `directory/name`, without a byte order mark; `None` if there is no such file.
pub(crate) fn read(
    directory: &Path,
    name: &str,
    most: u64,
    links: Links,
) -> Result<Option<String>, FileError> {
    let path = directory.join(name);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if missing(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let path = if metadata.is_symlink() { target(directory, &path, links)? } else { path };
    // A pipe must not be waited for, and a link that was put there meanwhile not be followed.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let kind = |metadata: &Metadata| if metadata.is_file() { Ok(()) } else { Err(FileError::Kind) };
    kind(&path.symlink_metadata()?)?;
    let file = File::from(rustix::fs::open(&path, flags, Mode::empty()).map_err(io::Error::from)?);
    kind(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(FileError::Large(most));
    }
    text(bytes).map(Some)
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn target(directory: &Path, link: &Path, links: Links) -> Result<PathBuf, FileError> {
    let target = link.canonicalize().map_err(|_| FileError::Link)?;
    let inside = directory.canonicalize().is_ok_and(|directory| target.starts_with(directory));
    if inside || links == Links::Anywhere { Ok(target) } else { Err(FileError::Link) }
}

fn text(bytes: Vec<u8>) -> Result<String, FileError> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(FileError::Wide);
    }
    let line = |bytes: &[u8]| 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(FileError::Zero { line: line(&bytes[..at]) });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        FileError::Encoding { line: line(&error.as_bytes()[..good]) }
    })?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(text)
}
