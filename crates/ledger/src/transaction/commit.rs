//! Committing: the record is the one thing that decides. Once it has its name, the transaction is
//! in the ledger, whatever happens afterwards.

use relaycode_durable::atomic;

use super::{Open, after_put_back};
use crate::error::{LedgerError, cannot};
use crate::journal::{Stage, Step};
use crate::record::{self, Record};
use crate::recover;
use crate::seen::{self, Seen};
use crate::state;
use crate::traces;

/// A transaction that is in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Its record.
    pub record: Record,
    /// The disk reported an error after the record had its name: it is committed, but a power cut
    /// now may take it back, or traces of it are left until the next command. The text is what the
    /// system said.
    pub doubt: Option<String>,
}

/// Why a transaction is kept; goes into the record as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Which rule or who accepted it.
    pub decided_by: Option<String>,
    /// Which rules decided, one line each.
    pub rules: Vec<String>,
    /// What the project's commands said.
    pub gate: Option<String>,
}

impl Open<'_> {
    /// Keeps the files as they are, for good.
    ///
    /// # Errors
    /// Everything was put back then: `Conflict` if an editor wrote into a file that had just been
    /// displaced, `Refused` if the project's commands left something that cannot be kept, `Io` if the
    /// record could not be written. Except for `HalfWay`: putting
    /// back failed, and the next recovery does it.
    pub fn commit(mut self, verdict: Verdict) -> Result<Committed, LedgerError> {
        let prepared = self.ledger.lock(&self.state).and_then(|lock| {
            // What the project's commands left must be known, or something untrue is recorded.
            if self.transaction.stage == Stage::GateRunning {
                self.gate_done()?;
            }
            if let Some(path) = self.written_into()? {
                return Err(LedgerError::Conflict { path });
            }
            Ok((lock, self.ledger.next_number()?))
        });
        let (_project, number) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                self.back()?;
                return Err(after_put_back(error));
            }
        };
        self.record.approved = true;
        self.record.decided_by = verdict.decided_by;
        self.record.rules = verdict.rules;
        self.record.gate = verdict.gate;
        self.record.number = number;
        let name = state::record_name(self.id());
        let mut make = |put: &mut atomic::Put<'_>| record::write_to(&self.record, put);
        let target = (self.state.dir(), name.as_str());
        let written = atomic::write_pieces(self.state.fs(), (&self.own.dir, "record"), target, &mut make);
        if let Err(error) = written {
            // A rename that reports an error may have happened all the same.
            let committed = || {
                let committed = recover::committed(&self.state, self.id());
                committed.map_err(|why| LedgerError::half_way(self.id(), why))
            };
            if !error.moved && !committed()? {
                self.back()?;
                return Err(after_put_back(cannot("write", &format!("{}/{name}", state::NAME))(
                    error.source,
                )));
            }
            // The journal stays: if the record is gone after a power cut, it is what puts back.
            return Ok(Committed { record: self.record, doubt: Some(error.source.to_string()) });
        }
        // From here on nothing can fail any more: what is cut short, the next command catches up with.
        let settled =
            traces::settle(&self.state, &self.places, &self.own, self.record.uuid, &self.transaction);
        let _ = self.ledger.settle(&self.record);
        Ok(Committed { record: self.record, doubt: settled.err().map(|error| error.to_string()) })
    }

    /// A file that an editor, which had it open, wrote into after it was displaced.
    fn written_into(&self) -> Result<Option<String>, LedgerError> {
        for step in &self.transaction.steps {
            let (Step::Replace { path, slot, before, .. } | Step::Remove { path, slot, before }) = step
            else {
                continue;
            };
            match seen::look(&self.places, slot, &[before]).map_err(cannot("read", slot))? {
                Seen::Nothing => {}
                seen if seen.is(before) => {}
                _ => return Ok(Some(path.clone())),
            }
        }
        Ok(None)
    }
}
