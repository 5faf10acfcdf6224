//! A part that somebody plays alone in a checkout, such as watching the clipboard: who has it, and that nobody
//! else takes it meanwhile. It ends with the process, however that ends.

use std::io;

use relaycode_durable::{Lock, atomic};

use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::state::{self, State, Sub};

/// Bytes of what somebody says about themselves.
const SAID_BYTES: u64 = 256;

/// A part that this process plays alone, for as long as this lives.
#[derive(Debug)]
pub struct Only {
    #[expect(dead_code, reason = "it is held, never looked at")]
    lock: Lock,
}

/// Whether a part could be had.
#[derive(Debug)]
pub enum Part {
    /// It is ours.
    Ours(Only),
    /// Somebody else plays it, who said this about themselves.
    Taken(String),
}

impl Ledger {
    /// Takes the part `name`, unless somebody else has it. `said` is what others hear then.
    ///
    /// # Errors
    /// The system's.
    pub fn alone(&self, name: &str, said: &str) -> Result<Part, LedgerError> {
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let fs = state.fs();
        let by = format!("{name}.by");
        let taken = || -> io::Result<Part> {
            let Some(lock) = fs.lock(state.dir(), &format!("{name}.lock"))? else {
                let said = fs.read(state.dir(), &by, SAID_BYTES).map(|(bytes, _)| bytes).unwrap_or_default();
                return Ok(Part::Taken(String::from_utf8_lossy(&said).trim().to_string()));
            };
            let scratch = state.need(Sub::Transactions)?;
            atomic::write(fs, (&scratch, &by), (state.dir(), &by), said.as_bytes())
                .map_err(|error| error.source)?;
            Ok(Part::Ours(Only { lock }))
        };
        taken().map_err(cannot("write", state::NAME))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use relaycode_durable::Real;

    use super::*;
    use crate::ledger::Settings;

    #[test]
    fn a_part_is_played_by_one_and_free_when_they_are_gone() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Ledger::open(Arc::new(Real::default()), directory.path(), Settings::default()).unwrap();
        let (one, other) = (open(), open());
        let Part::Ours(first) = one.alone("watch", "process 7").unwrap() else { panic!() };
        assert!(
            matches!(other.alone("watch", "process 8").unwrap(), Part::Taken(said) if said == "process 7")
        );
        assert!(matches!(other.alone("other", "process 8").unwrap(), Part::Ours(_)));
        drop(first);
        assert!(matches!(other.alone("watch", "process 8").unwrap(), Part::Ours(_)));
    }
}
