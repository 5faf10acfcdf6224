//! A part that somebody plays alone in a checkout, such as watching the clipboard: who has it, and that nobody
//! else takes it meanwhile. It ends with the process, however that ends.

use std::io;

use relaycode_durable::{FsLock, atomic};

use crate::disk::{STATE_DIR_NAME, StateSubdir};
use crate::{IoContext, Ledger, LedgerResult};

/// Bytes of what somebody says about themselves.
const HOLDER_BYTES: u64 = 256;

/// A part that this process plays alone, for as long as this lives.
#[derive(Debug)]
pub struct InstanceLock {
    #[expect(dead_code, reason = "it is held, never looked at")]
    lock: FsLock,
}

/// Whether a part could be had.
#[derive(Debug)]
pub enum InstanceClaim {
    /// It is ours.
    Acquired(InstanceLock),
    /// Somebody else plays it, who said this about themselves.
    HeldBy(String),
}

impl Ledger {
    /// Takes the part `name`, unless somebody else has it. `said` is what others hear then.
    pub fn claim_instance(&self, name: &str, said: &str) -> LedgerResult<InstanceClaim> {
        let state = self.make_state()?;
        let fs = state.fs();
        let by = format!("{name}.by");
        let taken = || -> io::Result<InstanceClaim> {
            let Some(lock) = fs.try_lock(state.dir(), &format!("{name}.lock"))? else {
                let said =
                    fs.read(state.dir(), &by, HOLDER_BYTES).map(|(bytes, _)| bytes).unwrap_or_default();
                return Ok(InstanceClaim::HeldBy(String::from_utf8_lossy(&said).trim().to_string()));
            };
            let scratch = state.require_subdir(StateSubdir::Transactions)?;
            atomic::write(fs, (&scratch, &by), (state.dir(), &by), said.as_bytes())
                .map_err(|error| error.source)?;
            Ok(InstanceClaim::Acquired(InstanceLock { lock }))
        };
        taken().context("write", STATE_DIR_NAME)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use relaycode_durable::RealFs;

    use super::*;
    use crate::ledger::LedgerSettings;

    #[test]
    fn a_part_is_played_by_one_and_free_when_they_are_gone() {
        let directory = tempfile::tempdir().unwrap();
        let open = || {
            Ledger::open(Arc::new(RealFs::default()), directory.path(), LedgerSettings::default()).unwrap()
        };
        let (one, other) = (open(), open());
        let InstanceClaim::Acquired(first) = one.claim_instance("watch", "process 7").unwrap() else {
            panic!()
        };
        assert!(
            matches!(other.claim_instance("watch", "process 8").unwrap(), InstanceClaim::HeldBy(said) if said == "process 7")
        );
        assert!(matches!(other.claim_instance("other", "process 8").unwrap(), InstanceClaim::Acquired(_)));
        drop(first);
        assert!(matches!(other.claim_instance("watch", "process 8").unwrap(), InstanceClaim::Acquired(_)));
    }
}
