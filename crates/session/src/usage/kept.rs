//! What was counted, in one file in relay's home: a line that says how, then a line per session. Whatever does not fit is left
//! out, and counted again.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use relaycode_durable::{Fs, atomic};
use serde::{Deserialize, Serialize};

use super::count::CountedFile;
use crate::HomeLayout;

/// Its name in relay's home.
const FILE: &str = "usage.index";
const SCRATCH: &str = "usage.index-new";
/// Bytes of it that are read.
const MAX_BYTES: u64 = 256 << 20;
/// Of what is counted, and how.
const VERSION: u64 = 1;

#[derive(Debug, Default)]
pub(super) struct KeptUsage {
    zone: String,
    /// By directory and name.
    pub(super) files: BTreeMap<String, CountedFile>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct KeptHead {
    version: u64,
    /// Days are as in this time zone.
    zone: String,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    file: String,
    #[serde(flatten)]
    counted: CountedFile,
}

impl KeptUsage {
    pub(super) fn load(fs: &dyn Fs, layout: &HomeLayout, zone: &str) -> KeptUsage {
        let mut kept = KeptUsage { zone: zone.to_string(), files: BTreeMap::new() };
        let read = fs.open_root(layout.home()).and_then(|home| fs.read(&home, FILE, MAX_BYTES));
        let Ok((bytes, _)) = read else { return kept };
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let head = lines.next().and_then(|line| serde_json::from_slice::<KeptHead>(line).ok());
        if head.is_none_or(|head| head != kept.head()) {
            return kept;
        }
        let files = lines.filter_map(|line| serde_json::from_slice::<KeptFile>(line).ok());
        kept.files = files.map(|kept| (kept.file, kept.counted)).collect();
        kept
    }

    pub(super) fn write(&self, fs: &dyn Fs, layout: &HomeLayout) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&self.head())?;
        for (file, counted) in &self.files {
            bytes.push(b'\n');
            serde_json::to_writer(&mut bytes, &KeptFile { file: file.clone(), counted: counted.clone() })?;
        }
        let home = fs.open_root(layout.home())?;
        atomic::write(fs, (&home, SCRATCH), (&home, FILE), &bytes).map_err(|error| error.source)
    }

    fn head(&self) -> KeptHead {
        KeptHead { version: VERSION, zone: self.zone.clone() }
    }
}

/// A session's directory and name.
pub(super) fn file_key(path: &Path) -> String {
    let name = |path: Option<&std::ffi::OsStr>| {
        path.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{}/{}", name(path.parent().and_then(Path::file_name)), name(path.file_name()))
}
