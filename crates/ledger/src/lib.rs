//! The ledger: the only crate that writes project files.
//!
//! A change comes in as the bytes before and after of every file ([`change::FileChange`]), is
//! journaled, put on disk whole or not at all ([`Ledger::begin`]), kept or put back
//! ([`transaction::OpenTransaction`]), recorded ([`record::Record`]) and can be undone (`revert`). What a
//! crash leaves is put back by the next command ([`Ledger::recover`]). Bytes that relay did not
//! write are never destroyed: a file that is neither as before nor as after is somebody's work, is
//! left alone and named.
//!
//! The ledger does not know where a change came from, and asks nobody.

pub mod blame;
pub mod blobs;
pub mod change;
mod cleanup;
pub mod collect;
pub mod digest;
pub mod error;
pub mod group;
pub mod header;
pub mod home_copy;
pub mod id;
mod index;
pub mod instance_lock;
pub mod journal;
pub mod ledger;
pub mod log;
mod moves;
pub mod paths;
mod probe;
mod putback;
pub mod record;
pub mod recording;
pub mod recover;
pub mod revert;
pub mod shown_texts;
pub mod state_dir;
pub mod transaction;
pub mod tree;

pub use blame::{Blame, BlameLine};
pub use digest::Digest;
pub use error::LedgerError;
pub use header::TransactionHeader;
pub use id::TxId;
pub use instance_lock::{InstanceClaim, InstanceLock};
pub use ledger::{Ledger, LedgerSettings};
pub use log::search::LogFilter;
pub use log::{LogEntry, LogPage, LogTarget, LogTransaction};
pub use recording::{LedgerRestoreOutcome, Recording, RecordingEnd, RecordingOutcome, SecureReport};
pub use recover::{RecoveredTransaction, RecoveryMode, RecoveryOutcome};
pub use revert::{KeptEdits, RevertOptions, RevertPlan};
pub use shown_texts::ShownTexts;
pub use transaction::{CommitVerdict, CommittedTransaction, OpenTransaction};
