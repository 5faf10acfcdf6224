//! The thread that watches the clipboard: waits, reads, forgets at once what is no patch, and puts the rest into
//! the inbox.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use relaycode_change::limits::Limits;

use crate::clipboard::{self, Clipboard, ClipboardError, Content, Stop, Stopper, Woken};
use crate::inbox::{Arrival, How, Inbox, Passed};
use crate::rate::{PAUSE, Rate, Weather};
use crate::sieve;

/// How long an owner may take to hand its text over.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// The same text so soon again is the same copy: some programs announce one twice.
const ECHO: Duration = Duration::from_millis(500);

/// A clipboard that is watched, for as long as this lives.
#[derive(Debug)]
pub struct Feed {
    stopper: Option<Stopper>,
    thread: Option<JoinHandle<()>>,
}

impl Feed {
    /// Begins to watch. `interval`: milliseconds between two looks, where the clipboard does not tell itself; it
    /// may change meanwhile.
    ///
    /// # Errors
    /// If the system has no thread or pipe left.
    pub fn start(
        clipboard: Box<dyn Clipboard>,
        interval: Arc<AtomicU64>,
        limits: Limits,
        inbox: Inbox,
    ) -> io::Result<Feed> {
        let (stopper, stop) = clipboard::stop()?;
        let watcher = Watcher {
            clipboard,
            limits,
            inbox,
            rate: Rate::default(),
            untold: false,
            last: None,
            hash: RandomState::new(),
        };
        let thread = thread::Builder::new()
            .name("clipboard".to_string())
            .spawn(move || watcher.run(&interval, &stop))?;
        Ok(Feed { stopper: Some(stopper), thread: Some(thread) })
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        drop(self.stopper.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watcher {
    clipboard: Box<dyn Clipboard>,
    limits: Limits,
    inbox: Inbox,
    rate: Rate,
    /// There is a storm, and nobody was told yet: one of texts that nobody wants is nobody's business.
    untold: bool,
    /// What was read last, by a hash that means nothing elsewhere, and when.
    last: Option<(u64, Instant)>,
    hash: RandomState,
}

impl Watcher {
    fn run(mut self, interval: &AtomicU64, stop: &Stop) {
        loop {
            let interval = Duration::from_millis(interval.load(Ordering::Relaxed));
            match self.clipboard.wait(interval, stop).and_then(|woken| self.changed(woken, stop)) {
                Ok(Woken::Changed) => {}
                Ok(Woken::Stopped) => return,
                Err(gone) => return self.inbox.put(Arrival::Gone(gone), false),
            }
        }
    }

    fn changed(&mut self, woken: Woken, stop: &Stop) -> Result<Woken, ClipboardError> {
        if woken == Woken::Stopped {
            return Ok(woken);
        }
        let weather = self.rate.change(Instant::now());
        if weather != Weather::Calm {
            if weather == Weather::Begins {
                self.inbox.storm();
                self.untold = true;
            }
            // What it comes to rest with is what counts.
            if stop.within(PAUSE) {
                return Ok(Woken::Stopped);
            }
        }
        let storm = weather != Weather::Calm;
        match self.clipboard.read(self.limits.text_bytes, PATIENCE)? {
            Content::Text(text) => self.text(text, storm),
            Content::TooLarge => self.inbox.put(Arrival::Passed(Passed::TooLarge), storm),
            Content::NotUtf8 => self.inbox.put(Arrival::Passed(Passed::NotUtf8), storm),
            Content::Silent => self.inbox.put(Arrival::Passed(Passed::Silent), storm),
            Content::Empty | Content::NotText | Content::Ours | Content::Secret => {}
        }
        Ok(Woken::Changed)
    }

    fn text(&mut self, text: String, storm: bool) {
        let hash = self.hash.hash_one(&text);
        let now = Instant::now();
        let echo = self.last.is_some_and(|(last, then)| last == hash && now.duration_since(then) < ECHO);
        self.last = Some((hash, now));
        if !echo && sieve::may_be_a_patch(&text, &self.limits) {
            if storm && std::mem::take(&mut self.untold) {
                self.inbox.put(Arrival::Restless, false);
            }
            self.inbox.put(Arrival::Text { text, how: How::Copied }, storm);
        }
    }
}
