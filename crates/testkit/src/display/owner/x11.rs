//! On X11: a window that owns the selection, and a thread that answers requests.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::{ClipboardBackend, ClipboardOwner};
use crate::expect::expect_ok;

struct X11Selection {
    server: RustConnection,
    window: Window,
    clipboard: Atom,
    targets: Atom,
    utf8: Atom,
    text: Mutex<String>,
}

/// Connects, and serves readers.
pub(super) fn start(display: &str) -> Result<ClipboardOwner, Box<dyn Error>> {
    let (server, screen) = RustConnection::connect(Some(display))?;
    let window = server.generate_id()?;
    let root = server.setup().roots[screen].root;
    let look = CreateWindowAux::new();
    server.create_window(0, window, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &look)?;
    let atom = |name: &str| -> Result<Atom, Box<dyn Error>> {
        Ok(server.intern_atom(false, name.as_bytes())?.reply()?.atom)
    };
    let (clipboard, targets, utf8) = (atom("CLIPBOARD")?, atom("TARGETS")?, atom("UTF8_STRING")?);
    let held = Arc::new(X11Selection { server, window, clipboard, targets, utf8, text: Mutex::default() });
    let served = Arc::clone(&held);
    // A server that is gone has no requests.
    let serves = thread::Builder::new().name("owner".to_owned()).spawn(move || drop(served.serve()))?;
    Ok(ClipboardOwner { holds: Box::new(held), serves: Some(serves) })
}

impl ClipboardBackend for Arc<X11Selection> {
    fn take(&self, text: &str) {
        text.clone_into(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner));
        let taken = self.server.set_selection_owner(self.window, self.clipboard, x11rb::CURRENT_TIME);
        expect_ok(taken, "could not take the clipboard");
        expect_ok(self.server.flush(), "could not take the clipboard");
    }

    fn end(&self) {
        let word = ClientMessageEvent::new(32, self.window, self.utf8, [0; 5]);
        let _ = self.server.send_event(false, self.window, EventMask::NO_EVENT, word);
        let _ = self.server.flush();
    }
}

impl X11Selection {
    fn serve(&self) -> Result<(), Box<dyn Error>> {
        loop {
            match self.server.wait_for_event()? {
                Event::SelectionRequest(asked) => self.answer(&asked)?,
                Event::ClientMessage(_) => return Ok(()),
                _ => {}
            }
        }
    }

    fn answer(&self, asked: &SelectionRequestEvent) -> Result<(), Box<dyn Error>> {
        let SelectionRequestEvent { time, requestor, selection, target, mut property, .. } = *asked;
        let replace = PropMode::REPLACE;
        if target == self.targets {
            let list = [self.targets, self.utf8];
            self.server.change_property32(replace, requestor, property, AtomEnum::ATOM, &list)?;
        } else if target == self.utf8 {
            let text = self.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.server.change_property8(replace, requestor, property, target, text.as_bytes())?;
        } else {
            property = x11rb::NONE;
        }
        let response_type = SELECTION_NOTIFY_EVENT;
        let answer =
            SelectionNotifyEvent { response_type, sequence: 0, time, requestor, selection, target, property };
        self.server.send_event(false, requestor, EventMask::NO_EVENT, answer)?;
        Ok(self.server.flush()?)
    }
}
