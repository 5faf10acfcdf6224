//! What the user gives a friend beside the prompt: a file or a text, and not both.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::prompt::limits::{PromptSizeError, PromptSizeLimit};

#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error("give the context as a file or as text, not both")]
    Both,
    #[error("there is no file {}", path.display())]
    Missing { path: PathBuf },
    /// A directory, a pipe, a device.
    #[error("{} is no file", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{from} is not text: it is not UTF-8 from byte {at} on")]
    NoText {
        from: String,
        /// The first byte that is wrong.
        at: usize,
    },
    /// It is too large.
    #[error(transparent)]
    TooLarge(#[from] PromptSizeError),
}

/// The context, from the file or the text that the user named; `None` if there is neither, or nothing in it.
///
/// # Errors
/// If there are both, or it cannot be used.
pub fn resolve_context(file: Option<&Path>, text: Option<&str>) -> Result<Option<String>, ContextError> {
    let text = match (file, text) {
        (Some(_), Some(_)) => return Err(ContextError::Both),
        (None, None) => return Ok(None),
        (None, Some(text)) => text.to_string(),
        (Some(path), None) => read(path)?,
    };
    PromptSizeLimit::Context.check(text.len() as u64, Vec::new)?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Bytes as context; `from` says where they came from ("standard input").
///
/// # Errors
/// If they are too many, or no text.
pub fn context_from_bytes(bytes: Vec<u8>, from: &str) -> Result<String, ContextError> {
    PromptSizeLimit::Context.check(bytes.len() as u64, Vec::new)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        ContextError::NoText { from: from.to_string(), at }
    })
}

fn read(path: &Path) -> Result<String, ContextError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => ContextError::Missing { path: path.to_path_buf() },
        _ => ContextError::Unreadable { path: path.to_path_buf(), source },
    };
    // Looked at before it is opened, and opened so that it cannot wait: a pipe would wait for its writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(ContextError::NotAFile { path: path.to_path_buf() });
    }
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(path).map_err(unreadable)?;
    let stat = file.metadata().map_err(unreadable)?;
    PromptSizeLimit::Context.check(stat.len(), Vec::new)?;
    let mut bytes = Vec::new();
    file.take(PromptSizeLimit::Context.max_bytes() as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    context_from_bytes(bytes, &path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_or_a_text_is_context_and_not_both() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        fs::write(&path, "from a file").unwrap();
        assert_eq!(resolve_context(Some(&path), None).unwrap().as_deref(), Some("from a file"));
        assert_eq!(resolve_context(None, Some("text")).unwrap().as_deref(), Some("text"));
        assert_eq!(resolve_context(None, None).unwrap(), None);
        assert_eq!(resolve_context(None, Some(" \n")).unwrap(), None);
        assert!(matches!(resolve_context(Some(&path), Some("text")), Err(ContextError::Both)));
        assert!(matches!(
            resolve_context(Some(&dir.path().join("none")), None),
            Err(ContextError::Missing { .. })
        ));
        assert!(matches!(resolve_context(Some(dir.path()), None), Err(ContextError::NotAFile { .. })));
        assert!(matches!(
            resolve_context(Some(Path::new("/dev/null")), None),
            Err(ContextError::NotAFile { .. })
        ));
        fs::write(&path, b"ok\xff").unwrap();
        assert!(matches!(resolve_context(Some(&path), None), Err(ContextError::NoText { at: 3, .. })));
    }

    #[test]
    fn the_limit_of_the_context_is_exact_and_counts_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        let fits = "é".repeat(100_000);
        fs::write(&path, &fits).unwrap();
        assert_eq!(resolve_context(Some(&path), None).unwrap(), Some(fits.clone()));
        assert!(resolve_context(None, Some(&fits)).is_ok());
        let over = format!("{fits}x");
        fs::write(&path, &over).unwrap();
        assert!(matches!(
            resolve_context(Some(&path), None),
            Err(ContextError::TooLarge(PromptSizeError { size: 200_001, .. }))
        ));
        assert!(matches!(resolve_context(None, Some(&over)), Err(ContextError::TooLarge(_))));
        assert!(context_from_bytes(vec![b'x'; 200_000], "standard input").is_ok());
        assert!(matches!(
            context_from_bytes(vec![b'x'; 200_001], "standard input"),
            Err(ContextError::TooLarge(_))
        ));
    }
}
