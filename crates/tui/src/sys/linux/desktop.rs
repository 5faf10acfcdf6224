//! The desktop's part: a short-lived thread that talks to the notification server.
//!
//! At most one is on its way; while it hangs, later ones are not sent. The caller waits for a moment
//! at most, the thread ends by its deadline, and nothing that goes wrong there comes back as an error.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use super::address::{self, BusAddress};
use super::server;
use crate::notify::sanitize::sanitize_line;
use crate::notify::{
    BODY_CELLS, DEADLINE, DesktopProbe, Notification, SHOWN_WAIT, SUMMARY_CELLS, TerminalEnv,
};

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
pub(crate) struct DesktopNotifier {
    places: Arc<[BusAddress]>,
    busy: Arc<AtomicBool>,
    last: Arc<Mutex<Option<ShownNotification>>>,
}

impl DesktopNotifier {
    pub(crate) fn find(around: &TerminalEnv) -> Option<DesktopNotifier> {
        let places = bus_addresses(around)?.into();
        Some(DesktopNotifier { places, busy: Arc::default(), last: Arc::default() })
    }

    /// Sends `notice` on its way. Whether it is known to be shown, after a moment at most.
    pub(crate) fn show(&self, notice: &Notification) -> bool {
        let note = to_desktop(notice);
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
    pub(crate) fn probe(&self) -> DesktopProbe {
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

/// Where the bus listens of the desktop that this person looks at. Over SSH there may well be a
/// bus, but it belongs to a desktop that nobody sits at.
fn bus_addresses(around: &TerminalEnv) -> Option<Vec<BusAddress>> {
    if around.ssh.is_some() {
        return None;
    }
    if let Some(address) = &around.bus_address {
        return Some(address::parse(address));
    }
    let socket = Path::new(around.runtime_dir.as_deref()?).join("bus");
    socket.exists().then(|| vec![BusAddress::Path(socket)])
}

/// The notice as the desktop gets it. Servers read the body as markup, the summary as it is.
pub(super) fn to_desktop(notice: &Notification) -> DesktopNotification {
    let body = sanitize_line(&notice.body, BODY_CELLS, true)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    DesktopNotification {
        summary: sanitize_line(&notice.summary, SUMMARY_CELLS, true),
        body,
        urgent: notice.urgent,
    }
}
