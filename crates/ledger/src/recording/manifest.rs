//! What a recording writes down before its command begins: the tree as it was, and where the bytes of its files are.
//!
//! It gets its name last. A recording without one never began, and nothing can have been changed by it. It ends with a line
//! `seal: …` over everything before: what one says that somebody else wrote is never recorded as if it had been so.

use std::collections::HashMap;

use relaycode_durable::{FsDir, atomic, is_link, is_not_regular, is_too_long};
use relaycode_snapshot::{EntryId, ImageLocation, Snapshot};
use serde::{Deserialize, Serialize};

use crate::disk::Digest;
use crate::recording::LedgerInventory;
use crate::seal::SealPurpose;
use crate::transaction::TransactionHeader;
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId, io_error};

/// Its name in the recording's directory.
pub(super) const NAME: &str = "manifest";
/// The version that this relay writes and reads.
const VERSION: u32 = 2;
/// Bytes that are read of one.
const BYTES: u64 = 512 * 1024 * 1024;
/// What the last line begins with, behind the end of the line before it.
const SEAL: &str = "\nseal: ";
const SEAL_DIGITS: usize = 64;

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
    pub(super) fn write(&self, ledger: &Ledger, dir: &FsDir) -> LedgerResult<()> {
        let fs = &*ledger.fs;
        let mut bytes = serde_json::to_vec(self).map_err(|error| io_error("write", NAME)(error.into()))?;
        if let Some(mut hasher) = ledger.seal_hasher(SealPurpose::Manifest) {
            hasher.update(&bytes);
            bytes.extend(format!("{SEAL}{}\n", hasher.finish()).into_bytes());
        }
        atomic::write(fs, (dir, "manifest.new"), (dir, NAME), &bytes)
            .map_err(|error| io_error("write", NAME)(error.source))
    }

    /// Reads the one of the recording `id`, whose directory is called `path` for messages; with it, whether this user's relay
    /// wrote it in this checkout.
    pub(super) fn read(
        ledger: &Ledger,
        dir: &FsDir,
        id: TxId,
        path: &str,
    ) -> LedgerResult<(RecordingManifest, bool)> {
        let name = format!("{path}/{NAME}");
        let damaged = |reason: String| LedgerError::Damaged { path: name.clone(), reason };
        let (bytes, _) = match ledger.fs.read(dir, NAME, BYTES) {
            Err(error) if is_too_long(&error) => {
                return Err(damaged(format!("it has more than {BYTES} bytes")));
            }
            Err(error) if is_not_regular(&error) || is_link(&error) => {
                return Err(damaged("it is no ordinary file".to_string()));
            }
            read => read.context("read", &name)?,
        };
        let (json, seal) = split_seal(&bytes);
        let manifest: RecordingManifest =
            serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
        if manifest.version != VERSION || manifest.told.uuid != id || !manifest.tree.is_sound() {
            return Err(damaged("it is not one of this recording".to_string()));
        }
        // The command may have replaced the project's directory.
        let seals = if seal.is_some() { ledger.seals_of_all_checkouts()? } else { Vec::new() };
        let own = seals.iter().zip(seal.iter().cycle()).any(|(checkout, seal)| {
            let mut hasher = checkout.hasher(SealPurpose::Manifest);
            hasher.update(json);
            hasher.matches(seal)
        });
        Ok((manifest, own))
    }
}

/// What stands before the seal, and the seal.
fn split_seal(bytes: &[u8]) -> (&[u8], Option<Digest>) {
    let at = bytes.len().saturating_sub(SEAL.len() + SEAL_DIGITS + 1);
    let (json, last) = bytes.split_at(at);
    let seal = std::str::from_utf8(last).ok().and_then(|last| last.strip_prefix(SEAL)?.strip_suffix('\n'));
    seal.and_then(Digest::parse).map_or((bytes, None), |seal| (json, Some(seal)))
}
