//! An editor that saves while relay works, in both ways that editors save, and the search for what it
//! saved.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use relaycode_testkit::random::Random;

/// How an editor saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A new file beside the old one, then a rename over it.
    Rename,
    /// The old file is opened, truncated and written.
    InPlace,
}

impl Style {
    pub(super) const ALL: [Style; 2] = [Style::Rename, Style::InPlace];

    /// In specs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Style::Rename => "rename",
            Style::InPlace => "inplace",
        }
    }
}

/// Something that the editor saved.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// A word in it that nothing else has.
    pub(super) token: String,
}

/// Text for the editor to save.
pub(super) fn text(random: &mut Random, path: &Path, name: &str) -> Saved {
    let token = format!("{name}x{:016x}", random.number());
    let filler = "somebody's work\n".repeat(random.below(20));
    Saved { path: path.to_path_buf(), bytes: format!("{token}\n{filler}").into_bytes(), token }
}

pub(super) fn save(saved: &Saved, style: Style) -> io::Result<()> {
    match style {
        Style::Rename => {
            let name = saved.path.file_name().unwrap_or_default().to_string_lossy();
            let new = saved.path.with_file_name(format!(".{name}.editor~"));
            fs::write(&new, &saved.bytes)?;
            fs::rename(&new, &saved.path)
        }
        Style::InPlace => {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&saved.path)?;
            file.write_all(&saved.bytes)
        }
    }
}

/// Every file beneath a directory with its bytes; links are not followed.
pub(super) fn files(root: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push((entry.path(), fs::read(entry.path())?));
            }
        }
    }
    Ok(found)
}

/// Whether a save is still there: as a file anywhere beneath the project, relay's directory included, or
/// within a record.
pub(super) fn is_kept(files: &[(PathBuf, Vec<u8>)], saved: &Saved) -> bool {
    let token = saved.token.as_bytes();
    files.iter().any(|(path, bytes)| {
        let record = path.extension().is_some_and(|extension| extension == "yml");
        *bytes == saved.bytes || (record && bytes.windows(token.len()).any(|window| window == token))
    })
}
