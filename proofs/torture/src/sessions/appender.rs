//! The process that is killed: it appends, and acknowledges every successful append on its output.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use relaycode_testkit::random::Random;

use super::Place;
use super::talk::{Done, Talk};

/// From ten bytes to 320 kB.
const DOUBLINGS: usize = 15;
/// Its killer may be gone: it does not run forever.
const STEPS_MOST: usize = 3_000;

/// Appends in `room` until it is killed.
pub(crate) fn append(room: &Path, seed: u64) -> anyhow::Result<()> {
    let fs = Arc::new(RealFs::default());
    let dir = fs.open_root(room)?;
    let place = Place::new(fs, dir)?;
    let mut talk = Talk { random: Random::new(seed), doublings: DOUBLINGS };
    let mut session = place.open_or_begin()?;
    let mut out = std::io::stdout();
    for _ in 0..STEPS_MOST {
        let line = match talk.step(&mut session)? {
            Done::Entry(said) => format!("entry {} {}\n", said.id, said.print),
            Done::Title(entries) => format!("title {entries}\n"),
            Done::Flushed | Done::Moved => continue,
            Done::Close => {
                // Closing writes the index.
                drop(session);
                session = place.open_or_begin()?;
                continue;
            }
        };
        // One write: the reader sees a whole line or the beginning of one.
        out.write_all(line.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
