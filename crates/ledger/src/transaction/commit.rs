//! Committing: the record is the one thing that decides. Once it has its name, the transaction is
//! in the ledger, whatever happens afterwards.

use relaycode_durable::atomic;

use crate::disk::{FileProbe, state_dir};
use crate::record::{self, Record};
use crate::seal::SealPurpose;
use crate::transaction::{
    OpenTransaction, StateStamp, TransactionCleanup, TransactionStage, TransactionStep, mark_put_back,
    recover,
};
use crate::{IoContext, LedgerError, LedgerResult, io_error};

/// A transaction that is in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedTransaction {
    pub record: Record,
    /// The disk reported an error after the record had its name: it is committed, but a power cut
    /// now may take it back, or traces of it are left until the next command. The text is what the
    /// system said.
    pub durability_doubt: Option<String>,
}

/// Why a transaction is kept; goes into the record as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitVerdict {
    /// Which rule or who accepted it.
    pub decided_by: Option<String>,
    /// Which rules decided, one line each.
    pub rules: Vec<String>,
    /// What the project's commands said.
    pub gate: Option<String>,
}

impl OpenTransaction<'_> {
    /// Keeps the files as they are, for good.
    ///
    /// # Errors
    /// Everything was put back then: `Conflict` if an editor wrote into a file that had just been
    /// displaced, `Refused` if the project's commands left something that cannot be kept, `Io` if the
    /// record could not be written. Except for `PutBackIncomplete`: putting
    /// back failed, and the next recovery does it.
    pub fn commit(mut self, verdict: CommitVerdict) -> LedgerResult<CommittedTransaction> {
        let prepared = self.ledger.lock_project(&self.state).and_then(|lock| {
            // What the project's commands left must be known, or something untrue is recorded.
            if self.transaction.stage == TransactionStage::GateRunning {
                self.finish_gate()?;
            }
            if let Some(path) = self.find_late_write()? {
                return Err(LedgerError::Conflict { path, kept: None });
            }
            let known = self.ledger.take_stamp(&self.state).filter(|stamp| stamp.open == [self.id()]);
            if let Some(names) = known.as_ref().and_then(StateStamp::names) {
                self.ledger.know_fresh(names);
            }
            let number = self.ledger.next_number();
            if number.is_err() {
                self.ledger.forget_fresh();
            }
            Ok((lock, number?, known.is_some()))
        });
        let (_project, number, is_alone) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let written = self.put_back_applied()?;
                return Err(match error {
                    LedgerError::Conflict { path, .. } => {
                        LedgerError::Conflict { path, kept: written.map(|written| written.kept) }
                    }
                    error => mark_put_back(error),
                });
            }
        };
        self.record.approved = true;
        self.record.decided_by = verdict.decided_by;
        self.record.rules = verdict.rules;
        self.record.gate = verdict.gate;
        self.record.number = number;
        let name = state_dir::record_name(self.id());
        let seal = self.ledger.seal_hasher(SealPurpose::Record);
        let mut make = |put: &mut atomic::PieceSink<'_>| record::write_to(&self.record, seal.clone(), put);
        let target = (self.state.dir(), name.as_str());
        let written =
            atomic::write_pieces(self.state.fs(), (&self.directory.dir, "record"), target, &mut make);
        if let Err(error) = written {
            self.ledger.forget_fresh();
            // A rename that reports an error may have happened all the same.
            let committed = || {
                let committed = recover::is_committed(&self.state, self.id());
                committed.map_err(|why| LedgerError::put_back_incomplete(self.id(), why))
            };
            if !error.is_in_place && !committed()? {
                self.put_back_applied()?;
                return Err(mark_put_back(io_error("write", &state_dir::path_of(&name))(error.source)));
            }
            // The journal stays: if the record is gone after a power cut, it is what puts back.
            return Ok(CommittedTransaction {
                record: self.record,
                durability_doubt: Some(error.source.to_string()),
            });
        }
        // From here on nothing can fail any more: what is cut short, the next command catches up with.
        let cleanup = TransactionCleanup { state: &self.state, paths: &self.paths, own: &self.directory };
        let settled = cleanup.settle_commit(self.record.uuid, &self.transaction);
        let _ = self.ledger.settle(&self.record);
        if is_alone && settled.is_ok() {
            self.ledger.leave_stamp(&self.state, &[], self.ledger.fresh_names());
        }
        self.ledger.forget_fresh();
        Ok(CommittedTransaction {
            record: self.record,
            durability_doubt: settled.err().map(|error| error.to_string()),
        })
    }

    /// A file that an editor, which had it open, wrote into after it was displaced.
    fn find_late_write(&self) -> LedgerResult<Option<String>> {
        for step in &self.transaction.steps {
            let (TransactionStep::Replace { path, slot, before, .. }
            | TransactionStep::Remove { path, slot, before }) = step
            else {
                continue;
            };
            match self.paths.probe(slot, &[before]).context("read", slot)? {
                FileProbe::Nothing => {}
                seen if seen.matches_image(before) => {}
                _ => return Ok(Some(path.clone())),
            }
        }
        Ok(None)
    }
}
