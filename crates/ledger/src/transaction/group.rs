//! A group: transactions that belong together, such as an agent's turn. Each is whole by itself; the log
//! shows the group as one, and a revert takes it back as one.
//!
//! While a group is open it holds a lock. If that lock is free and its file still there, whoever
//! worked on the group died: it is interrupted.

use std::io;

use relaycode_durable::FsLock;

use crate::disk::{Digest, StateDir, StateSubdir};
use crate::transaction::SLOTS_PATH;
use crate::{IoContext, Ledger, LedgerError, LedgerResult};

/// A group that is open. Its members say so in [`crate::TransactionHeader::group`].
pub struct Group<'l> {
    ledger: &'l Ledger,
    id: String,
    #[expect(dead_code, reason = "it is held, never looked at")]
    lock: FsLock,
}

impl Ledger {
    /// Opens a group, or an interrupted one again.
    ///
    /// # Errors
    /// `Busy` if it is open in another process; the system's.
    pub fn open_group(&self, id: &str) -> LedgerResult<Group<'_>> {
        let state = self.make_state()?;
        let taken = || state.fs().try_lock(&state.require_subdir(StateSubdir::Transactions)?, &file_name(id));
        let lock = taken().context("lock", SLOTS_PATH)?.ok_or(LedgerError::Busy)?;
        Ok(Group { ledger: self, id: id.to_string(), lock })
    }

    /// Whether a group was left open by somebody who died.
    pub(crate) fn is_interrupted(&self, id: &str) -> LedgerResult<bool> {
        let Some(state) = self.state()? else { return Ok(false) };
        let interrupted = || -> io::Result<bool> {
            let Some(all) = state.open_subdir(StateSubdir::Transactions)? else { return Ok(false) };
            match state.fs().stat(&all, &file_name(id)) {
                Ok(_) => Ok(state.fs().try_lock(&all, &file_name(id))?.is_some()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        interrupted().context("look at", SLOTS_PATH)
    }
}

impl Group<'_> {
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Closes it: it is complete.
    ///
    /// # Errors
    /// The system's; it counts as interrupted then.
    pub fn finish(self) -> LedgerResult<()> {
        let Some(state) = self.ledger.state()? else { return Ok(()) };
        let removed = || {
            state.fs().remove_file(&state.require_subdir(StateSubdir::Transactions)?, &file_name(&self.id))
        };
        removed().context("close", "the group")
    }
}

/// Marks a group as one that nobody finished.
pub(crate) fn mark_interrupted(state: &StateDir, id: &str) -> LedgerResult<()> {
    let marked =
        || state.fs().try_lock(&state.require_subdir(StateSubdir::Transactions)?, &file_name(id)).map(drop);
    marked().context("mark", SLOTS_PATH)
}

/// Takes that mark away.
pub(crate) fn unmark_interrupted(state: &StateDir, id: &str) -> LedgerResult<()> {
    let unmarked =
        || state.fs().remove_file(&state.require_subdir(StateSubdir::Transactions)?, &file_name(id));
    unmarked().context("mark", SLOTS_PATH)
}

/// The name of a group's lock: ids are anybody's text.
fn file_name(id: &str) -> String {
    format!("group-{:.32}", Digest::of(id.as_bytes()).to_string())
}
