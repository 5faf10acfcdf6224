//! What a recording writes down before a command begins: the tree as it was and where the bytes of its files are, in a file
//! that is written anew only when the tree changed, and the manifest, which says what runs and names that tree.
//!
//! The manifest gets its name last, and loses it when what the command did is recorded. A recording without one runs no
//! command, and nothing is to be recorded. It ends with a line `seal: …` over everything before: what one says that
//! somebody else wrote is never recorded as if it had been so.

use std::collections::HashMap;

use relaycode_durable::{FsDir, atomic, is_link, is_not_regular, is_too_long};
use relaycode_snapshot::{EntryId, ImageLocation, PackedReader, PackedWriter, Snapshot};
use serde::{Deserialize, Serialize};

use crate::disk::Digest;
use crate::recording::LedgerInventory;
use crate::recording::walk::IgnoredPaths;
use crate::seal::SealPurpose;
use crate::transaction::TransactionHeader;
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId, io_error};

/// Its name in the recording's directory.
pub(super) const NAME: &str = "manifest";
/// The name of the file with the tree.
const TREE: &str = "tree";
/// The version that this relay writes and reads.
const VERSION: u32 = 4;
/// Bytes that are read of one.
const BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that are read of a tree.
const TREE_BYTES: u64 = 512 * 1024 * 1024;
/// What the last line begins with, behind the end of the line before it.
const SEAL: &str = "\nseal: ";
const SEAL_DIGITS: usize = 64;

/// The tree as it was, and what was secured of it.
#[derive(Debug)]
pub(super) struct SecuredTree {
    /// The tree, with the time of the file system itself when it began.
    pub(super) tree: Snapshot,
    /// Where the bytes of files are.
    pub(super) images: HashMap<EntryId, ImageLocation>,
    /// The targets of symbolic links.
    pub(super) links: HashMap<EntryId, Vec<u8>>,
    /// Directories and files of which nothing was secured.
    pub(super) blind: Vec<String>,
    /// What git ignored then.
    pub(super) ignored: IgnoredPaths,
    /// What the ledger had, should it be lost.
    pub(super) before: LedgerInventory,
}

/// What of a tree is little, in its file behind the entries and the places of their bytes.
#[derive(Serialize, Deserialize)]
struct TreeRest<L, B, I, H> {
    links: L,
    blind: B,
    ignored: I,
    before: H,
}

/// What runs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordingManifest {
    version: u32,
    /// The recording that it belongs to.
    recording: TxId,
    /// What the record is going to say, should nobody be there any more to say it.
    pub(super) told: TransactionHeader,
    /// The process that records.
    pub(super) pid: u32,
    /// The number that the next transaction had then.
    pub(super) number: u64,
    /// When the tree was last looked at.
    began: (i64, u32),
    /// The digest of the tree's file.
    tree: Digest,
    /// What the command made at protected names is to be set aside before this goes.
    #[serde(default)]
    pub(super) sets_aside: bool,
}

impl SecuredTree {
    pub(super) fn new(tree: Snapshot) -> SecuredTree {
        SecuredTree {
            tree,
            images: HashMap::new(),
            links: HashMap::new(),
            blind: Vec::new(),
            ignored: IgnoredPaths::default(),
            before: LedgerInventory::default(),
        }
    }

    /// Writes it, while no manifest names one, and gives the digest of its file.
    pub(super) fn write(&self, ledger: &Ledger, dir: &FsDir) -> LedgerResult<Digest> {
        let bytes = self.to_bytes().map_err(|error| io_error("write", TREE)(error.into()))?;
        atomic::write(&*ledger.fs, (dir, "tree.new"), (dir, TREE), &bytes)
            .map_err(|error| io_error("write", TREE)(error.source))?;
        Ok(Digest::of(&bytes))
    }

    /// As bytes: a tree has very many entries, and is written before each command that comes after a change.
    fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let SecuredTree { tree, images, links, blind, ignored, before } = self;
        let mut packed = PackedWriter::default();
        tree.pack(&mut packed);
        packed.number(images.len() as u64);
        for (id, location) in images {
            packed.number(id.number().into());
            let (kind, at) = match location {
                ImageLocation::Packed(at) => (0, *at),
                ImageLocation::Shared(at) => (1, *at),
            };
            packed.number(kind);
            packed.number(at);
        }
        let mut bytes = packed.0;
        serde_json::to_writer(&mut bytes, &TreeRest { links, blind, ignored, before })?;
        Ok(bytes)
    }

    /// An error says what is wrong.
    fn from_bytes(bytes: &[u8]) -> Result<SecuredTree, String> {
        let mut packed = PackedReader(bytes);
        let mut read = || {
            let tree = Snapshot::unpack(&mut packed)?;
            let mut images = HashMap::new();
            for _ in 0..packed.count()? {
                let id = tree.entry(u32::try_from(packed.number()?).ok()?)?;
                let location = match packed.number()? {
                    0 => ImageLocation::Packed(packed.number()?),
                    1 => ImageLocation::Shared(packed.number()?),
                    _ => return None,
                };
                images.insert(id, location);
            }
            Some((tree, images))
        };
        let (tree, images) = read().ok_or("its entries do not fit")?;
        let rest = serde_json::from_slice(packed.0).map_err(|error| error.to_string())?;
        let TreeRest { links, blind, ignored, before } = rest;
        Ok(SecuredTree { tree, images, links, blind, ignored, before })
    }
}

impl RecordingManifest {
    pub(super) fn new(
        recording: TxId,
        told: TransactionHeader,
        number: u64,
        began: (i64, u32),
        tree: Digest,
        sets_aside: bool,
    ) -> RecordingManifest {
        let pid = std::process::id();
        RecordingManifest { version: VERSION, recording, told, pid, number, began, tree, sets_aside }
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
        let bytes = read_file(ledger, dir, NAME, &name, BYTES)?;
        let (json, seal) = split_seal(&bytes);
        let manifest: RecordingManifest =
            serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
        if manifest.version != VERSION || manifest.recording != id {
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

    /// Reads the tree that it names.
    pub(super) fn read_tree(&self, ledger: &Ledger, dir: &FsDir, path: &str) -> LedgerResult<SecuredTree> {
        let name = format!("{path}/{TREE}");
        let damaged = |reason: String| LedgerError::Damaged { path: name.clone(), reason };
        let bytes = read_file(ledger, dir, TREE, &name, TREE_BYTES)?;
        if Digest::of(&bytes) != self.tree {
            return Err(damaged("it is not the one that the manifest names".to_string()));
        }
        let mut secured = SecuredTree::from_bytes(&bytes).map_err(damaged)?;
        secured.tree.set_began(self.began);
        Ok(secured)
    }
}

fn read_file(ledger: &Ledger, dir: &FsDir, file: &str, name: &str, most: u64) -> LedgerResult<Vec<u8>> {
    let damaged = |reason: String| LedgerError::Damaged { path: name.to_string(), reason };
    match ledger.fs.read(dir, file, most) {
        Err(error) if is_too_long(&error) => Err(damaged(format!("it has more than {most} bytes"))),
        Err(error) if is_not_regular(&error) || is_link(&error) => {
            Err(damaged("it is no ordinary file".to_string()))
        }
        read => Ok(read.context("read", name)?.0),
    }
}

/// What stands before the seal, and the seal.
fn split_seal(bytes: &[u8]) -> (&[u8], Option<Digest>) {
    let at = bytes.len().saturating_sub(SEAL.len() + SEAL_DIGITS + 1);
    let (json, last) = bytes.split_at(at);
    let seal = std::str::from_utf8(last).ok().and_then(|last| last.strip_prefix(SEAL)?.strip_suffix('\n'));
    seal.and_then(Digest::parse).map_or((bytes, None), |seal| (json, Some(seal)))
}
