//! What a recording writes down before its command begins: the tree as it was, and where the bytes of its files are.
//!
//! It gets its name last. A recording without one never began, and nothing can have been changed by it.

use std::collections::HashMap;

use relaycode_durable::{Fs, FsDir, atomic};
use relaycode_snapshot::{EntryId, ImageLocation, Snapshot};
use serde::{Deserialize, Serialize};

use crate::recording::LedgerInventory;
use crate::transaction::TransactionHeader;
use crate::{IoContext, LedgerError, LedgerResult, TxId, io_error};

/// Its name in the recording's directory.
pub(super) const NAME: &str = "manifest";
/// The version that this relay writes and reads.
const VERSION: u32 = 2;
/// Bytes that are read of one.
const BYTES: u64 = 512 * 1024 * 1024;

/// The tree as it was.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordingManifest {
    version: u32,
    /// What the record is going to say, should nobody be there any more to say it.
    pub(super) told: TransactionHeader,
    /// The process that records.
    pub(super) pid: u32,
    /// The number that the next transaction had then.
    pub(super) number: u64,
    /// The tree, with the time of the file system itself when it began.
    pub(super) tree: Snapshot,
    /// Where the bytes of files are.
    pub(super) images: HashMap<EntryId, ImageLocation>,
    /// The targets of symbolic links.
    pub(super) links: HashMap<EntryId, Vec<u8>>,
    /// Directories and files of which nothing was secured.
    pub(super) blind: Vec<String>,
    /// What the ledger had, should it be lost.
    #[serde(default)]
    pub(super) before: LedgerInventory,
}

impl RecordingManifest {
    pub(super) fn new(told: TransactionHeader, number: u64, tree: Snapshot) -> RecordingManifest {
        RecordingManifest {
            version: VERSION,
            told,
            pid: std::process::id(),
            number,
            tree,
            images: HashMap::new(),
            links: HashMap::new(),
            blind: Vec::new(),
            before: LedgerInventory::default(),
        }
    }

    /// Writes it; when this returns the command may begin.
    pub(super) fn write(&self, fs: &dyn Fs, dir: &FsDir) -> LedgerResult<()> {
        let bytes = serde_json::to_vec(self).map_err(|error| io_error("write", NAME)(error.into()))?;
        atomic::write(fs, (dir, "manifest.new"), (dir, NAME), &bytes)
            .map_err(|error| io_error("write", NAME)(error.source))
    }

    /// Reads the one of the recording `id`, whose directory is called `path` for messages.
    pub(super) fn read(fs: &dyn Fs, dir: &FsDir, id: TxId, path: &str) -> LedgerResult<RecordingManifest> {
        let name = format!("{path}/{NAME}");
        let (bytes, _) = fs.read(dir, NAME, BYTES).context("read", &name)?;
        let damaged = |reason: String| LedgerError::Damaged { path: name.clone(), reason };
        let manifest: RecordingManifest =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if manifest.version != VERSION || manifest.told.uuid != id || !manifest.tree.is_sound() {
            return Err(damaged("it is not one of this recording".to_string()));
        }
        Ok(manifest)
    }
}
