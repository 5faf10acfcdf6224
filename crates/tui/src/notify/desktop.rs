//! The desktop's part: a short-lived thread that talks to the notification server.
//!
//! At most one is on its way; while it hangs, later ones are not sent. The caller waits for a moment
//! at most, the thread ends by its deadline, and nothing that goes wrong there comes back as an error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::address::Place;
use super::error::BusError;
#[cfg(target_os = "linux")]
use super::server;

/// How long the talk with the server may take in all.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to hear whether it was shown.
pub const MOMENT: Duration = Duration::from_millis(100);

/// What a look at the desktop found.
#[derive(Debug)]
pub enum Desk {
    /// There is no bus to ask, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// There is a bus, and nobody on it who shows notifications.
    Nobody,
    /// Nobody shows notifications yet; the first one starts a server.
    Startable,
    /// Somebody is there to show notifications.
    Shows,
}

/// What the server is given: texts that are plain already.
#[derive(Debug)]
pub(super) struct Note {
    pub summary: String,
    pub body: String,
    pub urgent: bool,
}

/// What was shown last, so that the next can take its place.
#[derive(Debug)]
pub(super) struct Shown {
    /// The connection that showed it.
    pub server: String,
    pub id: u32,
}

/// The way to the notification server.
#[derive(Debug)]
pub(super) struct Desktop {
    places: Arc<[Place]>,
    busy: Arc<AtomicBool>,
    last: Arc<Mutex<Option<Shown>>>,
}

impl Desktop {
    pub(super) fn new(places: Vec<Place>) -> Desktop {
        Desktop { places: places.into(), busy: Arc::default(), last: Arc::default() }
    }

    /// Sends `note` on its way. Whether it is known to be shown, after a moment at most.
    pub(super) fn show(&self, note: Note) -> bool {
        let Some(turn) = Turn::take(&self.busy) else { return false };
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
            && told.recv_timeout(MOMENT) == Ok(true)
    }

    /// Asks who shows notifications. Takes as long as the deadline allows.
    pub(super) fn look(&self) -> Desk {
        server::look(&self.places, Instant::now() + DEADLINE).unwrap_or_else(Desk::Failed)
    }
}

/// The right to be on the way, given back however the thread ends.
struct Turn(Arc<AtomicBool>);

impl Turn {
    fn take(busy: &Arc<AtomicBool>) -> Option<Turn> {
        (!busy.swap(true, Ordering::AcqRel)).then(|| Turn(Arc::clone(busy)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Elsewhere there is no bus, and [`Surroundings`](super::Surroundings) never names one.
#[cfg(not(target_os = "linux"))]
mod server {
    use super::*;

    pub(super) fn notify(_: &[Place], _: Instant, _: &Note, _: Option<&Shown>) -> Result<Shown, BusError> {
        Err(BusError::NoPlace)
    }

    pub(super) fn look(_: &[Place], _: Instant) -> Result<Desk, BusError> {
        Err(BusError::NoPlace)
    }
}
