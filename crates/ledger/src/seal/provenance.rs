//! Whose word a record is: this checkout's own, somebody else's that a person accepted, or nobody's yet.
//!
//! What a person accepted is written down in the user's own directory, beside the copy of the ledger: a line for each, with
//! the record's id and a seal over that and the digest of its file. A record that changes is not the one that was accepted.

use std::collections::HashSet;
use std::io;
use std::sync::PoisonError;

use relaycode_durable::append_log::{self, AppendLog, LogError};
use relaycode_durable::atomic;

use crate::disk::Digest;
use crate::record::{RecordLocation, RecordStore, file};
use crate::seal::SealPurpose;
use crate::{Ledger, LedgerError, LedgerResult, TxId, io_error};

/// The file in the copy's directory.
const ACCEPTED: &str = "accepted";
/// Lines that are read of it.
const ACCEPTED_LINES: usize = 1_000_000;

/// Whose word a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordProvenance {
    /// This user's relay wrote it in this checkout.
    Own,
    /// Somebody else did, and a person accepted exactly it.
    Accepted,
    /// Nobody knows: it may be of an older relay, of the original tool or of another checkout, or have come with the
    /// repository.
    Foreign,
}

/// The records that a person accepted, each as the line says it.
#[derive(Debug, Default)]
pub(crate) struct AcceptedRecords(HashSet<String>);

impl Ledger {
    /// Whose word the record of a transaction is. One that cannot be read is nobody's.
    ///
    /// # Errors
    /// `UnknownTransaction` if there is none; the system's.
    pub fn provenance(&self, id: TxId) -> LedgerResult<RecordProvenance> {
        let shelf = RecordStore::open(self)?;
        let place = self.require_location(&shelf, id)?;
        let unknown = || LedgerError::UnknownTransaction { name: id.to_string() };
        let bytes = shelf.read_bytes(&place)?.ok_or_else(unknown)?;
        self.provenance_of(&place, id, &bytes)
    }

    /// The digest of the file of a transaction's record: what [`Ledger::accept_record`] is about.
    ///
    /// # Errors
    /// `UnknownTransaction` if there is none; the system's.
    pub fn record_digest(&self, id: TxId) -> LedgerResult<Digest> {
        let shelf = RecordStore::open(self)?;
        let place = self.require_location(&shelf, id)?;
        let bytes = shelf.read_bytes(&place)?;
        bytes
            .map(|bytes| Digest::of(&bytes))
            .ok_or_else(|| LedgerError::UnknownTransaction { name: id.to_string() })
    }

    /// A person looked at the record whose file has this digest: from now on it counts like one of this checkout's own. Where
    /// the user has no directory to write that down in, it does so for as long as this ledger is open.
    ///
    /// # Errors
    /// If it cannot be written down.
    pub fn accept_record(&self, id: TxId, digest: Digest) -> LedgerResult<()> {
        self.just_accepted.lock().unwrap_or_else(PoisonError::into_inner).insert((id, digest));
        let Some(line) = self.acceptance_line(id, digest) else { return Ok(()) };
        let Some((dir, path)) = self.copy_directory(true)? else { return Ok(()) };
        let log = AppendLog::new(&*self.fs, &dir, ACCEPTED);
        let failed = |source: io::Error| io_error("write", &format!("{path}/{ACCEPTED}"))(source);
        match log.append(line.as_bytes(), true) {
            Ok(()) => Ok(()),
            Err(LogError::Io(source)) => Err(failed(source)),
            // What is no log says nothing about what was accepted: a new one takes its place.
            Err(LogError::Damaged { .. } | LogError::InvalidPayload) => {
                let bytes = append_log::encode_entry(line.as_bytes());
                let scratch = format!("scratch-{}", TxId::random());
                atomic::write(&*self.fs, (&dir, &scratch), (&dir, ACCEPTED), &bytes)
                    .map_err(|error| failed(error.source))
            }
        }
    }

    /// Whose word the bytes of a record's file are.
    pub(crate) fn provenance_of(
        &self,
        place: &RecordLocation,
        id: TxId,
        bytes: &[u8],
    ) -> LedgerResult<RecordProvenance> {
        if self.is_own_record(place, bytes) {
            return Ok(RecordProvenance::Own);
        }
        let digest = Digest::of(bytes);
        let just_accepted = self.just_accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted =
            just_accepted.contains(&(id, digest)) || self.accepted_records()?.contains(self, id, digest);
        Ok(if accepted { RecordProvenance::Accepted } else { RecordProvenance::Foreign })
    }

    /// Whether the bytes of a record's file were sealed in this checkout.
    pub(crate) fn is_own_record(&self, place: &RecordLocation, bytes: &[u8]) -> bool {
        // What the original tool has in its own directory is none of ours, whatever it says.
        let ours = !matches!(place, RecordLocation::Foreign(_));
        let hasher = self.seal.as_ref().filter(|_| ours).map(|seal| seal.hasher(SealPurpose::Record));
        hasher.is_some_and(|hasher| file::has_seal(bytes, hasher))
    }

    /// Everything that a person accepted here.
    pub(crate) fn accepted_records(&self) -> LedgerResult<AcceptedRecords> {
        let mut accepted = AcceptedRecords::default();
        let Some((dir, _)) = self.copy_directory(false)? else { return Ok(accepted) };
        let log = AppendLog::new(&*self.fs, &dir, ACCEPTED);
        // What is not whole there was accepted by nobody: it is asked about again.
        let _ = log.read_backwards(&mut |line| {
            accepted.0.extend(String::from_utf8(line.to_vec()));
            match accepted.0.len() < ACCEPTED_LINES {
                true => std::ops::ControlFlow::Continue(()),
                false => std::ops::ControlFlow::Break(()),
            }
        });
        Ok(accepted)
    }

    fn acceptance_line(&self, id: TxId, digest: Digest) -> Option<String> {
        let mut hasher = self.seal.as_ref()?.hasher(SealPurpose::Acceptance);
        hasher.update(format!("{id} {digest}").as_bytes());
        Some(format!("{id} {}", hasher.finish()))
    }
}

impl AcceptedRecords {
    /// Whether a person accepted the record with this file.
    pub(crate) fn contains(&self, ledger: &Ledger, id: TxId, digest: Digest) -> bool {
        !self.0.is_empty() && ledger.acceptance_line(id, digest).is_some_and(|line| self.0.contains(&line))
    }

    /// Whether a person accepted anything under this id.
    pub(crate) fn names(&self, id: TxId) -> bool {
        let id = id.to_string();
        self.0.iter().any(|line| line.starts_with(&id))
    }
}
