//! What the index knows of one record.

use serde::{Deserialize, Serialize};

use crate::TxId;
use crate::disk::Digest;
use crate::record::{FileRecord, Record, RecordContent, RecordNames, title};

/// Characters of a summary.
const SUMMARY: usize = 200;
/// So many blobs of a record are named; for more, the record itself is asked.
const BLOBS: usize = 16;

/// The version of the lines that this relay writes; an index with others is built anew.
const VERSION: u32 = 3;
/// So many files of a record are named; for more, the record itself is asked.
const PATHS: usize = 32;
/// Bytes that the names of files have in a line.
const PATH_BYTES: usize = 2 * 1024;

/// The name of a file that a transaction changed, and the one before if it was renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum IndexedPath {
    /// It kept its name.
    Same(String),
    /// Its name after and before.
    Moved(String, String),
}

impl IndexedPath {
    pub(crate) fn from_record(file: &FileRecord) -> IndexedPath {
        match &file.renamed_from {
            Some(old) => IndexedPath::Moved(file.path.clone(), old.clone()),
            None => IndexedPath::Same(file.path.clone()),
        }
    }

    /// Its name after, and before if that is another.
    pub(crate) fn new_and_old(&self) -> (&str, Option<&str>) {
        match self {
            IndexedPath::Same(name) => (name, None),
            IndexedPath::Moved(new, old) => (new, Some(old)),
        }
    }

    fn len(&self) -> usize {
        let (new, old) = self.new_and_old();
        new.len() + old.map_or(0, str::len)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct IndexLine {
    /// The version of the line.
    pub(super) version: u32,
    /// How many lines there are with this one.
    pub(crate) at: u64,
    /// What the names of the records come to with this one.
    pub(crate) sum: u64,
    /// How many entries the log has with this one; a group is one.
    pub(crate) entries: u64,
    /// The transaction's place among all.
    pub(crate) number: u64,
    /// The transaction; `None` if not even that could be read.
    pub(crate) uuid: Option<TxId>,
    /// When it began.
    pub(crate) created_at: String,
    /// Where it came from.
    pub(crate) origin: String,
    /// Its title.
    pub(crate) summary: String,
    /// How many files it changed.
    pub(crate) files: usize,
    /// Lines that came in.
    pub(crate) added: usize,
    /// Lines that went.
    pub(crate) removed: usize,
    /// What it takes back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) revert_of: Vec<TxId>,
    /// The only files that it takes back of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) revert_paths: Vec<String>,
    /// The group it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// The line of the group's first member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group_from: Option<u64>,
    /// Its file in `.relay/transactions/`, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) foreign: Option<String>,
    /// This user's relay did not write it in this checkout.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) unsealed: bool,
    /// The original tool took it back.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) undone: bool,
    /// It is a transaction of the original tool that was never decided on, and is not shown.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) pending: bool,
    /// The blobs that reverting it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) blobs: Vec<Digest>,
    /// It needs more of them.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) more_blobs: bool,
    /// The names of its files, the first ones at least.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<IndexedPath>,
    /// It has more of them.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) more_paths: bool,
    /// Why it cannot be reverted although it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) final_because: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damage: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_false(value: &bool) -> bool {
    !value
}

impl IndexLine {
    /// The line of a record, which does not know its place yet.
    pub(crate) fn from_record(record: &Record, undone: bool, foreign: Option<String>) -> IndexLine {
        let mut blobs = needed_blobs(record);
        let more_blobs = blobs.len() > BLOBS;
        blobs.truncate(BLOBS);
        let mut bytes = 0;
        let fits = |name: &IndexedPath| {
            bytes += name.len();
            bytes <= PATH_BYTES
        };
        let paths: Vec<IndexedPath> =
            record.result.iter().take(PATHS).map(IndexedPath::from_record).take_while(fits).collect();
        IndexLine {
            number: record.number,
            uuid: Some(record.uuid),
            created_at: clipped(&record.created_at),
            origin: clipped(&record.origin),
            summary: clipped(&title::title(record)),
            files: record.result.len(),
            added: sum_lines(record, |file| file.added),
            removed: sum_lines(record, |file| file.removed),
            revert_of: record.revert_of.clone(),
            revert_paths: record.revert_paths.clone(),
            group: record.group.clone(),
            foreign,
            undone,
            blobs,
            more_blobs,
            more_paths: paths.len() < record.result.len(),
            paths,
            final_because: (record.version == 0).then(|| record.notes.first().cloned()).flatten(),
            ..IndexLine::default()
        }
    }

    /// The names of the records up to this one.
    pub(crate) fn names(&self) -> RecordNames {
        RecordNames { count: self.at, sum: self.sum }
    }

    /// The line as JSON.
    pub(super) fn to_json(&self) -> String {
        // Numbers, texts and lists of them are always JSON.
        serde_json::to_string(&IndexLine { version: VERSION, ..self.clone() }).unwrap_or_default()
    }

    /// Reads a line; `None` if it is none, or one of another relay.
    pub(super) fn from_json(json: &[u8]) -> Option<IndexLine> {
        serde_json::from_slice(json).ok().filter(|line: &IndexLine| line.version == VERSION)
    }
}

/// The blobs that a record names, each once.
pub(crate) fn needed_blobs(record: &Record) -> Vec<Digest> {
    let before = record.snapshot.values().flatten();
    let after = record.result.iter().filter_map(|file| file.content.as_ref());
    let mut blobs: Vec<Digest> = before
        .chain(after)
        .filter_map(|content| match content {
            RecordContent::Blob { blob, .. } => Some(*blob),
            RecordContent::Text(_) => None,
        })
        .collect();
    blobs.sort_unstable();
    blobs.dedup();
    blobs
}

/// The lines of all files together. What a record says may be any number.
fn sum_lines(record: &Record, lines: fn(&FileRecord) -> usize) -> usize {
    record.result.iter().map(lines).fold(0, usize::saturating_add)
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
