//! The desktop's part: a short-lived thread that talks to the notification server.
//!
//! At most one is on its way; while it hangs, later ones are not sent. The caller waits for a moment
//! at most, the thread ends by its deadline, and nothing that goes wrong there comes back as an error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::address::BusAddress;
use super::error::BusError;
#[cfg(target_os = "linux")]
use super::server;

/// How long the talk with the server may take in all.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to hear whether it was shown.
pub const SHOWN_WAIT: Duration = Duration::from_millis(100);

/// What a look at the desktop found.
#[derive(Debug)]
pub enum DesktopProbe {
    /// There is no bus to ask, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// There is a bus, and nobody on it who shows notifications.
    NoServer,
    /// Nobody shows notifications yet; the first one starts a server.
    Startable,
    /// Somebody is there to show notifications.
    ServerRunning,
}

/// What the server is given: texts that are plain already.
#[derive(Debug)]
pub(super) struct DesktopNotification {
    pub summary: String,
    pub body: String,
    pub urgent: bool,
}

/// What was shown last, so that the next can take its place.
#[derive(Debug)]
pub(super) struct ShownNotification {
    /// The connection that showed it.
    pub server: String,
    pub id: u32,
}

/// The way to the notification server.
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

    /// Sends `note` on its way. Whether it is known to be shown, after a moment at most.
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
            // Before the caller hears of it, so that its next one finds the way free.
            drop(turn);
            let _nobody_waits_any_more = tell.send(is_shown);
        };
        // Where no thread can be had, the turn and the sender go with the closure.
        thread::Builder::new().name("notify".to_owned()).spawn(talk).is_ok()
            && told.recv_timeout(SHOWN_WAIT) == Ok(true)
    }

    /// Asks who shows notifications. Takes as long as the deadline allows.
    pub(super) fn probe(&self) -> DesktopProbe {
        server::probe(&self.places, Instant::now() + DEADLINE).unwrap_or_else(DesktopProbe::Failed)
    }
}

/// The right to be on the way, given back however the thread ends.
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

/// Elsewhere there is no bus, and [`Surroundings`](super::Surroundings) never names one.
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
