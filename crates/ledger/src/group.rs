//! A group: transactions that belong together, such as an agent's turn. Each is whole by itself; the log
//! shows the group as one, and a revert takes it back as one.
//!
//! While a group is open it holds a lock. If that lock is free and its file still there, whoever
//! worked on the group died: it is interrupted.

use std::io;

use relaycode_durable::Lock;

use crate::digest::Digest;
use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::state::{self, State, Sub};
use crate::transaction::SLOTS;

/// A group that is open. Its members say so in [`crate::About::group`].
pub struct Group<'l> {
    ledger: &'l Ledger,
    id: String,
    #[expect(dead_code, reason = "it is held, never looked at")]
    lock: Lock,
}

impl Ledger {
    /// Opens a group, or an interrupted one again.
    ///
    /// # Errors
    /// `Busy` if it is open in another process; the system's.
    pub fn open_group(&self, id: &str) -> Result<Group<'_>, LedgerError> {
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let taken = || state.fs().lock(&state.need(Sub::Transactions)?, &file_name(id));
        let lock = taken().map_err(cannot("lock", SLOTS))?.ok_or(LedgerError::Busy)?;
        Ok(Group { ledger: self, id: id.to_string(), lock })
    }

    /// Whether a group was left open by somebody who died.
    pub(crate) fn is_interrupted(&self, id: &str) -> Result<bool, LedgerError> {
        let Some(state) = self.state()? else { return Ok(false) };
        let interrupted = || -> io::Result<bool> {
            let Some(all) = state.sub(Sub::Transactions)? else { return Ok(false) };
            match state.fs().stat(&all, &file_name(id)) {
                Ok(_) => Ok(state.fs().lock(&all, &file_name(id))?.is_some()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        interrupted().map_err(cannot("look at", SLOTS))
    }
}

impl Group<'_> {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Closes it: it is complete.
    ///
    /// # Errors
    /// The system's; it counts as interrupted then.
    pub fn finish(self) -> Result<(), LedgerError> {
        let Some(state) = self.ledger.state()? else { return Ok(()) };
        let removed = || state.fs().remove_file(&state.need(Sub::Transactions)?, &file_name(&self.id));
        removed().map_err(cannot("close", "the group"))
    }
}

/// Marks a group as one that nobody finished.
pub(crate) fn mark_interrupted(state: &State, id: &str) -> Result<(), LedgerError> {
    let marked = || state.fs().lock(&state.need(Sub::Transactions)?, &file_name(id)).map(drop);
    marked().map_err(cannot("mark", SLOTS))
}

/// Takes that mark away.
pub(crate) fn unmark(state: &State, id: &str) -> Result<(), LedgerError> {
    let unmarked = || state.fs().remove_file(&state.need(Sub::Transactions)?, &file_name(id));
    unmarked().map_err(cannot("mark", SLOTS))
}

/// The name of a group's lock: ids are anybody's text.
fn file_name(id: &str) -> String {
    format!("group-{:.32}", Digest::of(id.as_bytes()).to_string())
}
