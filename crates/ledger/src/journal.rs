//! What an open transaction writes down before it touches anything: the steps, where the files they
//! need are, and how far it is. Whoever finds it later can put everything back.

use serde::{Deserialize, Serialize};

use crate::record::{Image, RemovedDirectory};

/// The part of a journal that a record does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transaction {
    /// How far it is.
    pub stage: Stage,
    /// The process that runs it, for messages.
    pub pid: u32,
    /// The directory beneath `.relaycode/tx/` with its lock and its slots.
    pub directory: String,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// Directories that it makes before the steps, outermost first.
    #[serde(default)]
    pub make_directories: Vec<String>,
    /// Directories that it removes after the steps if they are empty, innermost first.
    #[serde(default)]
    pub remove_directories: Vec<RemovedDirectory>,
}

/// How far an open transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Its files are being put in place, or are.
    Applying,
    /// The project's commands run: what they change in its files is theirs to be put back.
    GateRunning,
    /// A put-back left files alone, and a person decides.
    NeedsYou,
}

/// One thing that is done to the tree.
///
/// A *slot* is a path beneath the root where a staged file waits, and where the file that it
/// displaces goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Step {
    /// The file at `path` and the one in the slot change places.
    Replace {
        /// The file.
        path: String,
        /// Where the new one waits.
        slot: String,
        /// What must stand there.
        before: Image,
        /// What shall.
        after: Image,
    },
    /// The file in the slot moves to `path`, where nothing is.
    Create {
        /// The file.
        path: String,
        /// Where it waits.
        slot: String,
        /// What it is.
        after: Image,
    },
    /// The file at `path` moves into the slot.
    Remove {
        /// The file.
        path: String,
        /// Where it goes.
        slot: String,
        /// What must stand there.
        before: Image,
    },
    /// The file at `path` gets the name `to`, where nothing is.
    Move {
        /// Its name now.
        path: String,
        /// Its new name.
        to: String,
        /// What must stand there.
        image: Image,
    },
}
