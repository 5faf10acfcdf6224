//! The files of cases on disk: which there are, and their lines one at a time. Formats differ from set to
//! set: the meaning of a line is up to its reader.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::read::GzDecoder;

/// One file of cases.
pub struct Set {
    /// The file's name without its extensions.
    pub name: String,
    file: PathBuf,
}

/// `None`: the file does not exist.
pub type Files = BTreeMap<String, Option<String>>;

/// The sets in `dir`, by name; a plain file is preferred to its gzipped twin.
pub fn sets(dir: &Path) -> anyhow::Result<Vec<Set>> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    for entry in entries {
        let file = entry?.path();
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if let Some(name) = name.strip_suffix(".jsonl") {
            found.insert(name.to_owned(), file);
        } else if let Some(name) = name.strip_suffix(".jsonl.gz") {
            found.entry(name.to_owned()).or_insert(file);
        }
    }
    Ok(found.into_iter().map(|(name, file)| Set { name, file }).collect())
}

impl Set {
    /// Passes every non-empty line to `judge`.
    pub fn each_line(&self, mut judge: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let file = File::open(&self.file).with_context(|| format!("cannot open {}", self.file.display()))?;
        let plain: Box<dyn Read> = if self.file.extension().is_some_and(|e| e == "gz") {
            Box::new(GzDecoder::new(file))
        } else {
            Box::new(file)
        };
        for (number, line) in BufReader::new(plain).lines().enumerate() {
            let line = line?;
            if !line.trim().is_empty() {
                judge(&line).with_context(|| format!("line {}", number + 1))?;
            }
        }
        Ok(())
    }
}
