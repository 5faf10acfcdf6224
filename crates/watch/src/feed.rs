//! The thread that watches the clipboard: waits, reads, forgets at once what is not a patch, and puts the
//! rest into the inbox.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use relaycode_change::proposal::limits::PlanLimits;

use crate::clipboard::{
    Clipboard, ClipboardContent, ClipboardResult, ClipboardWake, WatchStopSignal, WatchThread,
};
use crate::filter;
use crate::inbox::{ClipboardSkipReason, Inbox, InboxEvent, InboxSource};
use crate::storm::{ClipboardRate, STORM_PAUSE, StormState};

/// How long an owner may take to deliver its text.
pub const OWNER_TIMEOUT: Duration = Duration::from_secs(2);
/// The same text again within this time is the same copy: some programs announce one twice.
const ECHO_WINDOW: Duration = Duration::from_millis(500);

/// Watches the clipboard until dropped.
#[derive(Debug)]
pub struct ClipboardFeed {
    _thread: WatchThread,
}

impl ClipboardFeed {
    /// `interval`: milliseconds between two polls, if the clipboard does not report changes itself; may
    /// change at any time.
    ///
    /// # Errors
    /// If the system has no thread or pipe left.
    pub fn start(
        clipboard: Box<dyn Clipboard>,
        interval: Arc<AtomicU64>,
        limits: PlanLimits,
        inbox: Inbox,
    ) -> io::Result<ClipboardFeed> {
        let (rate, hash) = (ClipboardRate::default(), RandomState::new());
        let watcher =
            FeedWorker { clipboard, limits, inbox, rate, storm_unreported: false, last: None, hash };
        let thread = WatchThread::spawn("clipboard", move |stop| watcher.run(&interval, stop))?;
        Ok(ClipboardFeed { _thread: thread })
    }
}

struct FeedWorker {
    clipboard: Box<dyn Clipboard>,
    limits: PlanLimits,
    inbox: Inbox,
    rate: ClipboardRate,
    /// A storm that was not reported yet: nobody cares about one of unwanted texts.
    storm_unreported: bool,
    /// Process-private hash of the last text, and when it was read.
    last: Option<(u64, Instant)>,
    hash: RandomState,
}

impl FeedWorker {
    fn run(mut self, interval: &AtomicU64, stop: &WatchStopSignal) {
        loop {
            let interval = Duration::from_millis(interval.load(Ordering::Relaxed));
            match self.clipboard.wait(interval, stop).and_then(|woken| self.on_change(woken, stop)) {
                Ok(ClipboardWake::Changed) => {}
                Ok(ClipboardWake::Stopped) => return,
                Err(gone) => return self.inbox.put(InboxEvent::ClipboardLost(gone), false),
            }
        }
    }

    fn on_change(&mut self, woken: ClipboardWake, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake> {
        if woken == ClipboardWake::Stopped {
            return Ok(woken);
        }
        let weather = self.rate.record_change(Instant::now());
        if weather != StormState::Calm {
            if weather == StormState::Started {
                self.inbox.collapse_storm();
                self.storm_unreported = true;
            }
            // What counts is the content after the storm.
            if stop.wait_timeout(STORM_PAUSE) {
                return Ok(ClipboardWake::Stopped);
            }
        }
        let storm = weather != StormState::Calm;
        let skipped = match self.clipboard.read(self.limits.text_bytes, OWNER_TIMEOUT)? {
            ClipboardContent::Text(text) => {
                self.on_text(text, storm);
                None
            }
            ClipboardContent::TooLarge => Some(ClipboardSkipReason::TooLarge),
            ClipboardContent::NotUtf8 => Some(ClipboardSkipReason::NotUtf8),
            ClipboardContent::Silent => Some(ClipboardSkipReason::Silent),
            ClipboardContent::Empty
            | ClipboardContent::NotText
            | ClipboardContent::OwnCopy
            | ClipboardContent::Secret => None,
        };
        if let Some(reason) = skipped {
            self.inbox.put(InboxEvent::Skipped(reason), storm);
        }
        Ok(ClipboardWake::Changed)
    }

    fn on_text(&mut self, text: String, storm: bool) {
        let hash = self.hash.hash_one(&text);
        let now = Instant::now();
        let echo =
            self.last.is_some_and(|(last, then)| last == hash && now.duration_since(then) < ECHO_WINDOW);
        self.last = Some((hash, now));
        if echo {
            return;
        }
        let Some(text) = filter::read_text(text, InboxSource::Copied, &self.limits) else { return };
        if storm && std::mem::take(&mut self.storm_unreported) {
            self.inbox.put(InboxEvent::Storm, false);
        }
        self.inbox.put(InboxEvent::Text(text), storm);
    }
}
