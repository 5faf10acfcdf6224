//! The checkouts that the copy in the user's own directory was made of. A project may be removed and cloned again at the same
//! path: what comes back from the copy was this user's own then, and still is.

use std::ops::ControlFlow;

use relaycode_durable::append_log::AppendLog;

use crate::seal::CheckoutSeal;
use crate::{Ledger, LedgerResult};

/// The file in the copy's directory.
const NAME: &str = "checkouts";
/// Checkouts at one path that are remembered, the newest ones.
const MOST: usize = 64;

impl Ledger {
    /// Notes that the copy is one of this checkout, too.
    pub(crate) fn note_checkout(&self) -> LedgerResult<()> {
        let Some(seal) = &self.seal else { return Ok(()) };
        let Some((dir, _)) = self.copy_directory(true)? else { return Ok(()) };
        let line = seal.checkout_line();
        let log = AppendLog::new(&*self.fs, &dir, NAME);
        let mut known = false;
        // What cannot be read is written again.
        let _ = log.read_backwards(&mut |newest| {
            known = newest == line.as_bytes();
            ControlFlow::Break(())
        });
        if !known {
            // Without it, what comes back is asked about.
            let _ = log.append(line.as_bytes(), false);
        }
        Ok(())
    }

    /// The seals of this checkout and of those that were at its path before, this one first.
    pub(crate) fn seals_of_all_checkouts(&self) -> LedgerResult<Vec<CheckoutSeal>> {
        let Some(seal) = &self.seal else { return Ok(Vec::new()) };
        let mut seals: Vec<CheckoutSeal> =
            seal.of_line(seal.checkout_line().as_bytes()).into_iter().collect();
        let Some((dir, _)) = self.copy_directory(false)? else { return Ok(seals) };
        let _ = AppendLog::new(&*self.fs, &dir, NAME).read_backwards(&mut |line| {
            seals.extend(seal.of_line(line));
            if seals.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Ok(seals)
    }
}
