//! Desktop notifications, sent by a short-lived thread.
//!
//! At most one is on its way; while it hangs, later ones are not sent. The caller waits only for a moment,
//! the thread ends by its deadline, and no failure comes back as an error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::address::BusAddress;
use super::error::BusError;
#[cfg(target_os = "linux")]
use super::server;

/// For the whole exchange with the notification server.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to learn whether it was shown.
pub const SHOWN_WAIT: Duration = Duration::from_millis(100);

/// What the desktop offers.
#[derive(Debug)]
pub enum DesktopProbe {
    /// No bus, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// A bus without a notification server.
    NoServer,
    /// No server runs yet; the first notification starts one.
    Startable,
    ServerRunning,
}

/// Its texts are plain already.
#[derive(Debug)]
pub(super) struct DesktopNotification {
    pub summary: String,
    pub body: String,
    pub urgent: bool,
}

/// The last notification, so that the next can replace it.
#[derive(Debug)]
pub(super) struct ShownNotification {
    /// The connection that showed it.
    pub server: String,
    pub id: u32,
}

#[derive(Debug)]
pub(super) struct DesktopNotifier {
    places: Arc<[BusAddress]>,
    busy: Arc<AtomicBool>,
    last: Arc<Mutex<Option<ShownNotification>>>,
}

impl DesktopNotifier {
    pub(super) fn new(places: Vec<BusAddress>) -> DesktopNotifier {
        DesktopNotifier { places: places.into(), busy: Arc::default(), last: Arc::default() }
    }

    /// Sends `note`; returns whether it is known to be shown, after a moment at most.
    pub(super) fn show(&self, note: DesktopNotification) -> bool {
        let Some(turn) = SendGuard::take(&self.busy) else { return false };
        let (places, last) = (Arc::clone(&self.places), Arc::clone(&self.last));
        let (tell, told) = mpsc::sync_channel(1);
        let talk = move || {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let shown = server::notify(&places, Instant::now() + DEADLINE, &note, last.as_ref());
            let is_shown = shown.is_ok();
            *last = shown.ok().or_else(|| last.take());
            drop(last);
            // Before the caller gets its answer, so that its next notification can be sent.
            drop(turn);
            let _nobody_waits_any_more = tell.send(is_shown);
        };
        // Without a thread, the guard and the sender go with the closure.
        thread::Builder::new().name("notify".to_owned()).spawn(talk).is_ok()
            && told.recv_timeout(SHOWN_WAIT) == Ok(true)
    }

    /// Asks who shows notifications. Takes up to the deadline.
    pub(super) fn probe(&self) -> DesktopProbe {
        server::probe(&self.places, Instant::now() + DEADLINE).unwrap_or_else(DesktopProbe::Failed)
    }
}

/// Held while a notification is on its way, released however the thread ends.
struct SendGuard(Arc<AtomicBool>);

impl SendGuard {
    fn take(busy: &Arc<AtomicBool>) -> Option<SendGuard> {
        (!busy.swap(true, Ordering::AcqRel)).then(|| SendGuard(Arc::clone(busy)))
    }
}

impl Drop for SendGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Other systems have no bus, and [`TerminalEnv`](super::TerminalEnv) never names one.
#[cfg(not(target_os = "linux"))]
mod server {
    use super::*;

    pub(super) fn notify(
        _: &[BusAddress],
        _: Instant,
        _: &DesktopNotification,
        _: Option<&ShownNotification>,
    ) -> Result<ShownNotification, BusError> {
        Err(BusError::NoAddress)
    }

    pub(super) fn look(_: &[BusAddress], _: Instant) -> Result<DesktopProbe, BusError> {
        Err(BusError::NoAddress)
    }
}
