//! The ledger: the only crate that writes project files.
//!
//! A change comes in as the bytes before and after of every file ([`change::FileChange`]), is
//! journaled, put on disk whole or not at all ([`Ledger::begin`]), kept or put back
//! ([`transaction::Open`]), recorded ([`record::Record`]) and can be undone (`revert`). What a
//! crash leaves is put back by the next command ([`Ledger::recover`]). Bytes that relay did not
//! write are never destroyed: a file that is neither as before nor as after is somebody's work, is
//! left alone and named.
//!
//! The ledger does not know where a change came from, and asks nobody.

pub mod about;
pub mod blame;
pub mod blobs;
pub mod change;
pub mod collect;
pub mod copy;
pub mod digest;
pub mod error;
pub mod group;
pub mod id;
mod index;
pub mod journal;
pub mod ledger;
pub mod log;
mod moves;
pub mod only;
pub mod paths;
mod putback;
pub mod record;
pub mod recording;
pub mod recover;
pub mod revert;
mod seen;
pub mod shown;
pub mod state;
mod traces;
pub mod transaction;
pub mod tree;

pub use about::About;
pub use blame::{Blame, BlameLine};
pub use digest::Digest;
pub use error::LedgerError;
pub use id::TxId;
pub use ledger::{Ledger, Settings};
pub use log::search::Filter;
pub use log::{Entry, Item, Page, Target};
pub use only::{Only, Part};
pub use recording::{Adopted, Ended, History, Recording, Secured};
pub use recover::{Outcome, Recovered, Recovery};
pub use revert::{KeptEdits, Reversal, RevertOptions};
pub use shown::Shown;
pub use transaction::{Committed, Open, Verdict};
