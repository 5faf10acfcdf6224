//! The ledger: the only crate that writes project files.
//!
//! A change comes in as the bytes before and after of every file ([`transaction::change::FileChange`]), is
//! journaled, put on disk whole or not at all ([`Ledger::begin`]), kept or put back
//! ([`transaction::OpenTransaction`]), recorded ([`record::Record`]) and can be undone (`revert`). What a
//! crash leaves is put back by the next command ([`Ledger::recover`]). Bytes that relay did not
//! write are never destroyed: a file that is neither as before nor as after is somebody's work, is
//! left alone and named.
//!
//! The ledger does not know where a change came from, and asks nobody.

pub mod disk;
pub mod error;
pub mod id;
pub mod ledger;
pub mod log;
pub mod record;
pub mod recording;
pub mod revert;
pub mod transaction;

pub use disk::digest::Digest;
pub use disk::instance_lock::{InstanceClaim, InstanceLock};
pub use error::LedgerError;
pub use id::TxId;
pub use ledger::{Ledger, LedgerSettings};
pub use log::blame::{Blame, BlameLine};
pub use log::search::LogFilter;
pub use log::{LogEntry, LogPage, LogTarget, LogTransaction};
pub use record::shown_texts::ShownTexts;
pub use recording::{LedgerRestoreOutcome, Recording, RecordingEnd, RecordingOutcome, SecureReport};
pub use revert::{KeptEdits, RevertOptions, RevertPlan};
pub use transaction::header::TransactionHeader;
pub use transaction::recover::{RecoveredTransaction, RecoveryMode, RecoveryOutcome};
pub use transaction::{CommitVerdict, CommittedTransaction, OpenTransaction};
