//! What is known of `.relaycode/` without looking through it: which transactions are open, and which records the index has.
//!
//! A project may have ten thousand records, and listing them for every change would cost more than the change. So whoever has
//! looked, or has just changed something, leaves a note in the user's own directory: the times of the directories as they were
//! then. As long as they have the same, nobody has made or removed anything in them. Relay removes the note before it changes
//! anything itself, and leaves a new one when it is done, all under the project's lock; whoever dies in between leaves none. A
//! note that is missing, damaged or of another time only means that everything is looked at.

use std::io;

use relaycode_durable::{FileMode, FsDir};
use serde::{Deserialize, Serialize};

use crate::disk::{STATE_DIR_NAME, StateDir, StateSubdir};
use crate::record::RecordNames;
use crate::{Ledger, TxId};

/// The file in the copy's directory.
const NAME: &str = "stamp";
/// Bytes of it.
const BYTES: u64 = 64 * 1024;

/// What was known when it was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateStamp {
    /// The times of the directories.
    times: String,
    /// The transactions that have a journal.
    pub(crate) open: Vec<TxId>,
    /// The records of which the index has all; `None` if nobody looked.
    pub(crate) names: Option<(u64, u64)>,
}

impl StateStamp {
    pub(crate) fn names(&self) -> Option<RecordNames> {
        self.names.map(|(count, sum)| RecordNames { count, sum })
    }
}

impl Ledger {
    /// Whether it is known, without looking, that no transaction is open.
    pub(super) fn is_known_idle(&self, state: &StateDir) -> bool {
        self.stamp_directory()
            .is_some_and(|dir| self.read_stamp(state, &dir).is_some_and(|stamp| stamp.open.is_empty()))
    }

    /// Takes the note away, before something is changed; `None` if there is none that still holds. Under the project's lock.
    pub(crate) fn take_stamp(&self, state: &StateDir) -> Option<StateStamp> {
        let dir = self.stamp_directory()?;
        let stamp = self.read_stamp(state, &dir);
        // One that cannot be removed must not be believed either.
        self.fs.remove_if_exists(&dir, NAME).ok()?;
        stamp
    }

    /// Leaves a note. Under the project's lock, when nothing more is changed.
    pub(crate) fn leave_stamp(&self, state: &StateDir, open: &[TxId], names: Option<RecordNames>) {
        let Some((dir, times)) = self.stamp_directory().zip(self.directory_times(state)) else { return };
        let names = names.map(|names| (names.count, names.sum));
        let stamp = StateStamp { times, open: open.to_vec(), names };
        let written = || -> io::Result<()> {
            let file = self.fs.create(&dir, NAME, FileMode::Private)?;
            self.fs.write(&file, &serde_json::to_vec(&stamp)?)
        };
        // Without one, everything is looked at.
        let _ = written();
    }

    fn read_stamp(&self, state: &StateDir, dir: &FsDir) -> Option<StateStamp> {
        let (bytes, _) = self.fs.read(dir, NAME, BYTES).ok()?;
        let stamp: StateStamp = serde_json::from_slice(&bytes).ok()?;
        (Some(&stamp.times) == self.directory_times(state).as_ref()).then_some(stamp)
    }

    /// Where the note is; nowhere without a secret, when the directory may itself have come with the project.
    fn stamp_directory(&self) -> Option<FsDir> {
        self.seal.as_ref()?;
        Some(self.copy_directory(false).ok()??.0)
    }

    /// When something was last made or removed in the directories; `None` where that is not known well enough.
    fn directory_times(&self, state: &StateDir) -> Option<String> {
        // Whatever the original tool has is always looked at.
        if self.fs.exists(self.root.dir(), ".relay").unwrap_or(true) {
            return None;
        }
        let places = [
            (self.root.dir(), STATE_DIR_NAME),
            (state.dir(), StateSubdir::Transactions.name()),
            (state.dir(), StateSubdir::Undone.name()),
        ];
        let mut times = String::new();
        for (dir, name) in places {
            let stamp = self.fs.stamp(dir, name.as_ref()).ok()?;
            let (seconds, nanoseconds) = stamp.changed;
            // Whole seconds would hide what happened in between.
            if nanoseconds == 0 {
                return None;
            }
            times += &format!(
                "{}:{}:{}:{seconds}.{nanoseconds} ",
                stamp.stat.ino, stamp.stat.len, stamp.stat.links
            );
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::log::tests::scratch_with_home;
    use crate::record::tests::plain;

    #[test]
    fn a_note_holds_until_somebody_makes_or_removes_a_file_and_is_taken_once() {
        let scratch = scratch_with_home();
        let ledger = &scratch.ledger;
        let state = ledger.make_state().unwrap();
        assert!(ledger.take_stamp(&state).is_none(), "nobody has looked yet");
        scratch.commit(&plain(1));
        let names = RecordNames { count: 1, sum: 7 };
        // Behind the tick of the clock in which the record was made.
        sleep(Duration::from_millis(20));
        ledger.leave_stamp(&state, &[], Some(names));
        assert!(ledger.is_known_idle(&state));
        assert_eq!(ledger.take_stamp(&state).and_then(|stamp| stamp.names()), Some(names));
        assert!(ledger.take_stamp(&state).is_none(), "whoever changes something takes it away");
        for change in ["x.yml", "undone/x.yml", "tx/x"] {
            ledger.leave_stamp(&state, &[], Some(names));
            sleep(Duration::from_millis(20));
            fs::write(scratch.path(".relaycode").join(change), "").unwrap();
            assert!(!ledger.is_known_idle(&state), "{change}");
            assert!(ledger.take_stamp(&state).is_none(), "{change}");
            ledger.leave_stamp(&state, &[], Some(names));
            sleep(Duration::from_millis(20));
            fs::remove_file(scratch.path(".relaycode").join(change)).unwrap();
            assert!(ledger.take_stamp(&state).is_none(), "{change} is gone");
        }
        ledger.leave_stamp(&state, &[TxId::random()], None);
        assert!(!ledger.is_known_idle(&state), "one is open");
    }
}
