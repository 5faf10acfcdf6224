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
//!
//! | module | what it is for |
//! |---|---|
//! | `ledger` | [`Ledger`], the one thing callers hold |
//! | `transaction` | one change on its way to disk. `steps` turns wanted changes into steps (pure), `check` is every rule on the disk, `stage` fills the slots, `journal` is written before anything is touched, `apply` carries the steps out, `gate` takes over what the project's commands change, `commit` writes the record, `putback` takes it all back, `recover` does so for the dead, `cleanup` clears up, `group` ties transactions together |
//! | `record` | what a transaction leaves behind: `file` its bytes and checksum, `yaml` the writer and the reader, `title` what a change is called, `store` where records lie, `blobs` what does not fit, `settle` what follows a commit, `home_copy` the copy in the user's directory, `collect` what may go by age and size, `shown_texts` what a model was shown, `original` the records of the original tool |
//! | `log` | a page of the log, and finding a change by the name a person gives it; `index` one line per record, `undo_state` what is still in, `names`, `search`, `blame` |
//! | `revert` | planning a revert: `history` what undo and redo mean in this log, `overlay` the project as it will be, `builder` one record taken back, `merge` by lines |
//! | `recording` | changes somebody else makes: `session` one command after the other, `secure` before each, `compare` and `adopt` afterwards, `recovery` for whoever died |
//! | `control_files` | putting back what steers git, which no record speaks of |
//! | `seal` | how relay knows again what it wrote itself: `mac` the arithmetic, `provenance` whose word a record is |
//! | `disk` | the project and `.relaycode/` as files: `paths` resolved once to handles, `tree` for the planner, `moves` the few ways files change places, `probe`, `digest`, `state_dir`, `instance_lock` |
//! | `id` | a UUID and nothing else |
//! | `error` | what can go wrong, and what can stand against a change |

mod control_files;
pub mod disk;
pub mod error;
pub mod id;
pub mod ledger;
pub mod log;
pub mod record;
pub mod recording;
pub mod revert;
pub mod seal;
pub mod transaction;

pub use control_files::{ControlBefore, ControlFiles};
pub use disk::digest::Digest;
pub use disk::instance_lock::{InstanceClaim, InstanceLock};
pub(crate) use error::{
    ConflictRegion, FileConflict, IoContext, LedgerRefusal, LedgerRule, UnfinishedPutBack, UnrestoredFile,
    io_error,
};
pub use error::{LedgerError, LedgerResult};
pub use id::TxId;
pub use ledger::{Ledger, LedgerSettings};
pub use log::blame::{Blame, BlameLine};
pub use log::search::LogFilter;
pub use log::{LogEntry, LogPage, LogTarget, LogTransaction, UndoState};
pub use record::shown_texts::ShownTexts;
pub use recording::{
    CommandScope, LedgerRestoreOutcome, MovedFile, Recording, RecordingEnd, RecordingOutcome, SecureProgress,
    SecureReport,
};
pub use revert::history::{HistoryKind, RedoTarget, RevertStep, SET_ASIDE_ORIGIN};
pub use revert::{KeptEdits, RevertOptions, RevertPlan};
pub use seal::{RecordProvenance, SealKey};
pub use transaction::header::TransactionHeader;
pub use transaction::recover::{
    ForeignJournal, JournalAuthor, RecoveredTransaction, RecoveryMode, RecoveryOutcome,
};
pub use transaction::{CommitVerdict, CommittedTransaction, OpenTransaction};
