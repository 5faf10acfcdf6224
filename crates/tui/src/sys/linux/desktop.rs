//! Desktop notifications, sent by a short-lived thread.
//!
//! At most one is on its way; while it hangs, later ones are not sent. The caller waits only for a moment,
//! the thread ends by its deadline, and no failure comes back as an error.

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

    /// Sends `notice`; returns whether it is known to be shown, after a moment at most.
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
            // Before the caller gets its answer, so that its next notification can be sent.
            drop(turn);
            let _nobody_waits_any_more = tell.send(is_shown);
        };
        // Without a thread, the guard and the sender go with the closure.
        thread::Builder::new().name("notify".to_owned()).spawn(talk).is_ok()
            && told.recv_timeout(SHOWN_WAIT) == Ok(true)
    }

    /// Asks who shows notifications. Takes up to the deadline.
    pub(crate) fn probe(&self) -> DesktopProbe {
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

/// Where the bus of this person's desktop listens. Over SSH there may be a bus, but it belongs to a
/// desktop that nobody sits at.
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

/// Servers read the body as markup, the summary as plain text.
pub(super) fn to_desktop(notice: &Notification) -> DesktopNotification {
    let summary = sanitize_line(&notice.summary, SUMMARY_CELLS, true);
    let body = sanitize_line(&notice.body, BODY_CELLS, true);
    let body = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    DesktopNotification { summary, body, urgent: notice.urgent }
}
