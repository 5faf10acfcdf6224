//! What an open transaction writes down before it touches anything: the steps, where the files they
//! need are, and how far it is. Whoever finds it later can put everything back.

use relaycode_change::proposal::path::RelPath;
use serde::{Deserialize, Serialize};

use crate::TxId;
use crate::disk::{PROJECT, split_parent};
use crate::record::{DirectoryModeChange, FileImage, RemovedDirectory};
use crate::transaction::SLOTS_PATH;

/// The part of a journal that a record does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionJournal {
    /// How far it is.
    pub stage: TransactionStage,
    /// The process that runs it, for messages.
    pub pid: u32,
    /// The directory beneath `.relaycode/tx/` with its lock and its slots.
    pub directory: String,
    /// What is done: removals first, then, once the directories below are made, the others in this order.
    pub steps: Vec<TransactionStep>,
    /// Directories that it makes after the removals and before the other steps, outermost first.
    #[serde(default)]
    pub make_directories: Vec<String>,
    /// Directories that it removes if they are empty, innermost first: after the removals where a file takes the name,
    /// else after all steps.
    #[serde(default)]
    pub remove_directories: Vec<RemovedDirectory>,
    /// Directories that get other permission bits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directory_modes: Vec<DirectoryModeChange>,
}

/// How far an open transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TransactionStage {
    /// Its files are being put in place, or are.
    Applying,
    /// The project's commands run: what they change in its files is theirs to be put back.
    GateRunning,
    /// They are done, and what they changed was taken over.
    GateFinished,
    /// A put-back left files alone, and a person decides.
    NeedsYou,
}

/// One thing that is done to the tree.
///
/// A *slot* is a path beneath the root where a staged file waits, and where the file that it
/// displaces goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TransactionStep {
    /// The file at `path` and the one in the slot change places.
    Replace {
        path: String,
        /// Where the new one waits.
        slot: String,
        /// What must stand there.
        before: FileImage,
        /// What shall.
        after: FileImage,
    },
    /// The file in the slot moves to `path`, where nothing is.
    Create {
        path: String,
        /// Where it waits.
        slot: String,
        after: FileImage,
    },
    /// The file at `path` moves into the slot.
    Remove {
        path: String,
        /// Where it goes.
        slot: String,
        /// What must stand there.
        before: FileImage,
    },
    /// The file at `path` gets the name `to`, where nothing is.
    Move {
        /// Its name now.
        path: String,
        /// Its new name.
        to: String,
        /// Where it, or its bytes, can wait on the same device if it has to be put back.
        slot: String,
        /// What must stand there.
        image: FileImage,
    },
}

impl TransactionStep {
    pub fn slot(&self) -> &str {
        match self {
            TransactionStep::Replace { slot, .. }
            | TransactionStep::Create { slot, .. }
            | TransactionStep::Remove { slot, .. }
            | TransactionStep::Move { slot, .. } => slot,
        }
    }

    /// The name and the file that must stand there first.
    pub(crate) fn before(&self) -> Option<(&str, &FileImage)> {
        match self {
            TransactionStep::Replace { path, before: image, .. }
            | TransactionStep::Remove { path, before: image, .. }
            | TransactionStep::Move { path, image, .. } => Some((path, image)),
            TransactionStep::Create { .. } => None,
        }
    }

    /// The name and the file that stands there then.
    pub(crate) fn after(&self) -> Option<(&str, &FileImage)> {
        match self {
            TransactionStep::Replace { path, after: image, .. }
            | TransactionStep::Create { path, after: image, .. }
            | TransactionStep::Move { to: path, image, .. } => Some((path, image)),
            TransactionStep::Remove { .. } => None,
        }
    }

    /// Both of them.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (&str, &FileImage)> {
        self.before().into_iter().chain(self.after())
    }
}

/// A file of more bytes takes part in no transaction.
const FILE_BYTES: u64 = crate::record::blobs::BLOB_BYTES;

impl TransactionJournal {
    /// Whether a transaction `id` of relay's could have written this down. A journal is found in the
    /// project, and whoever made the project may have put it there: what recovery does at its word
    /// must be nothing that a change may not do.
    ///
    /// # Errors
    /// What is wrong with it, as a clause.
    pub(crate) fn validate(&self, id: TxId) -> Result<(), String> {
        if !is_directory_of(&self.directory, id) {
            return Err(format!("it names the directory `{}`", self.directory.escape_debug()));
        }
        let directories = self.remove_directories.iter().map(|directory| &directory.path);
        for path in self.make_directories.iter().chain(directories) {
            check_path(path)?;
        }
        for change in self.directory_modes.iter().filter(|change| change.path != PROJECT) {
            check_path(&change.path)?;
        }
        for step in &self.steps {
            step.sides().try_for_each(|(path, _)| check_path(path))?;
            if !is_slot(step.slot(), &self.directory) {
                return Err(format!("it names the slot `{}`", step.slot().escape_debug()));
            }
            if step.sides().any(|(_, image)| image.size > FILE_BYTES) {
                return Err(format!("it speaks of a file of more than {FILE_BYTES} bytes"));
            }
        }
        Ok(())
    }
}

fn check_path(path: &str) -> Result<(), String> {
    RelPath::of_existing(path).map(drop).map_err(|error| error.to_string())
}

/// Whether a directory beneath `.relaycode/tx/` has a name that transaction `id` gives one: the id,
/// and the number of the attempt if that is not the first.
pub(crate) fn is_directory_of(name: &str, id: TxId) -> bool {
    let attempt = name.strip_prefix(id.to_string().as_str());
    attempt.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
}

/// Whether `path` is a slot of the transaction with this directory: in it, or beside a file on
/// another device.
pub(crate) fn is_slot(path: &str, directory: &str) -> bool {
    let (at, name) = split_parent(path);
    if at.strip_prefix(SLOTS_PATH).and_then(|rest| rest.strip_prefix('/')) == Some(directory) {
        return is_number(name);
    }
    let number = name.strip_prefix(".relaycode-").and_then(|rest| rest.strip_prefix(directory));
    let ours = number.and_then(|rest| rest.strip_prefix('-')).is_some_and(is_number);
    ours && (at.is_empty() || check_path(at).is_ok())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_names_only_what_relay_would() {
        let id: TxId = "0f8fad5b-d9cb-469f-a165-70867728950e".parse().unwrap();
        let image = FileImage::of(b"x", 0o644);
        let with = |path: &str, slot: &str| TransactionJournal {
            stage: TransactionStage::Applying,
            pid: 1,
            directory: id.to_string(),
            steps: vec![TransactionStep::Remove { path: path.into(), slot: slot.into(), before: image }],
            make_directories: Vec::new(),
            remove_directories: Vec::new(),
            directory_modes: Vec::new(),
        };
        let slot = format!("{SLOTS_PATH}/{id}/0");
        assert_eq!(with("src/a.rs", &slot).validate(id), Ok(()));
        assert_eq!(with("mnt/a", &format!("mnt/.relaycode-{id}-3")).validate(id), Ok(()));
        assert_eq!(with("a", &format!(".relaycode-{id}-3")).validate(id), Ok(()));
        for path in
            ["../x", "/etc/x", ".git/hooks/x", "sub/.GIT/config", ".relaycode/x.yml", "./a", "", "a/../b"]
        {
            assert!(with(path, &slot).validate(id).is_err(), "{path}");
            let made = TransactionJournal { make_directories: vec![path.into()], ..with("a", &slot) };
            assert!(made.validate(id).is_err(), "{path}");
            let removed = RemovedDirectory { path: path.into(), mode: 0o755 };
            let removed = TransactionJournal { remove_directories: vec![removed], ..with("a", &slot) };
            assert!(removed.validate(id).is_err(), "{path}");
        }
        let elsewhere = format!("{SLOTS_PATH}/{}/0", TxId::random());
        for slot in [
            "../x",
            "a.txt",
            ".git/config",
            &elsewhere,
            &format!("{slot}x"),
            &format!(".git/.relaycode-{id}-1"),
        ] {
            assert!(with("a", slot).validate(id).is_err(), "{slot}");
        }
        let mut long = with("a", &slot);
        long.steps = vec![TransactionStep::Create {
            path: "a".into(),
            slot,
            after: FileImage { size: u64::MAX, ..image },
        }];
        assert!(long.validate(id).is_err());
    }

    #[test]
    fn directories_are_called_like_their_transaction() {
        let id: TxId = "0f8fad5b-d9cb-469f-a165-70867728950e".parse().unwrap();
        assert!(is_directory_of(&id.to_string(), id));
        assert!(is_directory_of(&format!("{id}-2"), id));
        for name in ["", "../../x", &format!("{id}-"), &format!("{id}.kept"), &TxId::random().to_string()] {
            assert!(!is_directory_of(name, id), "{name}");
        }
    }
}
