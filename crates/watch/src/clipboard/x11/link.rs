//! A connection to an X11 server that cannot hang: a server that does not answer within [`SERVER_PATIENCE`] is gone.
//!
//! Events are waited for without limit and without running; only answers to our own requests have that limit.

use std::fmt::Display;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{Atom, ConnectionExt, CreateWindowAux, EventMask, Window, WindowClass};
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::reexports::x11rb_protocol::xauth::get_auth;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

use crate::clipboard::target::{Form, OURS, SECRET};
use crate::clipboard::waiting::{after, poll_until, readable};
use crate::clipboard::{ClipboardError, NoClipboard, Stop};

/// How long the server may take to answer; it does no work of others meanwhile, so it takes microseconds.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);

pub(crate) const NAME: &str = "X11";

/// A connection, and the names that both reading and holding need.
pub(crate) struct Link {
    pub(crate) server: RustConnection<Patient>,
    pub(crate) atoms: Atoms,
    root: Window,
}

/// Names as the server numbers them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Atoms {
    pub(crate) clipboard: Atom,
    pub(crate) targets: Atom,
    pub(crate) timestamp: Atom,
    pub(crate) incr: Atom,
    /// The property through which it is handed over.
    pub(crate) transfer: Atom,
    pub(crate) ours: Atom,
    pub(crate) secret: Atom,
    forms: [Atom; Form::ALL.len()],
}

/// What came while waiting.
pub(crate) enum Next {
    Event(Event),
    Late,
    Stopped,
}

impl Link {
    pub(crate) fn open(display: &str) -> Result<Link, NoClipboard> {
        let no = |why: String| NoClipboard::Unreachable { name: NAME, why };
        let (server, screen) = connect(display).map_err(no)?;
        let root = server.setup().roots.get(screen).map(|screen| screen.root);
        let root = root.ok_or_else(|| no(format!("{display} has no such screen")))?;
        let atoms = Atoms::of(&server).map_err(|error| no(error.why))?;
        Ok(Link { server, atoms, root })
    }

    /// A window that nobody sees, to be asked through and answered at.
    pub(crate) fn window(&self) -> Result<Window, ClipboardError> {
        let window = self.server.generate_id().map_err(gone)?;
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_ONLY;
        self.server
            .create_window(COPY_DEPTH_FROM_PARENT, window, self.root, 0, 0, 1, 1, 0, class, 0, &look)
            .map_err(gone)?;
        Ok(window)
    }

    pub(crate) fn destroy(&self, window: Window) -> Result<(), ClipboardError> {
        self.server.destroy_window(window).map(drop).map_err(gone)
    }

    /// Who owns the clipboard; none if nobody does.
    pub(crate) fn owner(&self) -> Result<Option<Window>, ClipboardError> {
        let asked = self.server.get_selection_owner(self.atoms.clipboard).map_err(gone)?;
        Ok(Some(asked.reply().map_err(gone)?.owner).filter(|&owner| owner != x11rb::NONE))
    }

    /// What has come already.
    pub(crate) fn pending(&self) -> Result<Option<Event>, ClipboardError> {
        self.server.poll_for_event().map_err(gone)
    }

    /// The next event, waited for until that moment or until it is time to end.
    pub(crate) fn next(&self, until: Option<Instant>, stop: Option<&Stop>) -> Result<Next, ClipboardError> {
        self.server.flush().map_err(gone)?;
        loop {
            // Before what has come: anybody can send us events without end.
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(Next::Late);
            }
            if stop.is_some_and(|stop| stop.within(Duration::ZERO)) {
                return Ok(Next::Stopped);
            }
            if let Some(event) = self.pending()? {
                return Ok(Next::Event(event));
            }
            let mut fds = vec![readable(&self.server.stream().0)];
            fds.extend(stop.map(readable));
            poll_until(&mut fds, until).map_err(gone)?;
        }
    }
}

impl Atoms {
    fn of(server: &RustConnection<Patient>) -> Result<Atoms, ClipboardError> {
        let named = |name: &str| -> Result<Atom, ClipboardError> {
            let asked = server.intern_atom(false, name.as_bytes()).map_err(gone)?;
            Ok(asked.reply().map_err(gone)?.atom)
        };
        let mut forms = [x11rb::NONE; Form::ALL.len()];
        for (atom, form) in forms.iter_mut().zip(Form::ALL) {
            *atom = named(form.name())?;
        }
        Ok(Atoms {
            clipboard: named("CLIPBOARD")?,
            targets: named("TARGETS")?,
            timestamp: named("TIMESTAMP")?,
            incr: named("INCR")?,
            transfer: named("RELAYCODE_TRANSFER")?,
            ours: named(OURS)?,
            secret: named(SECRET)?,
            forms,
        })
    }

    /// The target by which text of that form is asked for.
    pub(crate) fn of_form(&self, form: Form) -> Atom {
        self.forms[form as usize]
    }

    /// The form of text that it stands for.
    pub(crate) fn form(&self, atom: Atom) -> Option<Form> {
        Form::ALL.into_iter().find(|&form| self.of_form(form) == atom)
    }

    /// What that target is called, if it matters here.
    pub(crate) fn name(&self, atom: Atom) -> Option<&'static str> {
        let marks = [(self.ours, OURS), (self.secret, SECRET)];
        self.form(atom)
            .map(Form::name)
            .or_else(|| marks.into_iter().find(|mark| mark.0 == atom).map(|mark| mark.1))
    }
}

/// The connection to the server failed: it ended, or it does not answer.
pub(crate) fn gone(why: impl Display) -> ClipboardError {
    ClipboardError { name: NAME, why: why.to_string() }
}

/// The port of display 0; the others follow.
const FIRST_PORT: u16 = 6_000;

fn connect(display: &str) -> Result<(RustConnection<Patient>, usize), String> {
    let parsed = parse_display(Some(display)).map_err(|error| error.to_string())?;
    // The library adds the number to a port without looking whether that is still one.
    if parsed.display > u16::MAX - FIRST_PORT {
        return Err(format!("display {display}: no display has such a number"));
    }
    let screen = usize::from(parsed.screen);
    let mut why = format!("{display} is no display");
    for address in parsed.connect_instruction() {
        let (stream, (family, peer)) = match DefaultStream::connect(&address) {
            Ok(connected) => connected,
            Err(error) => {
                why = format!("display {display}: {error}");
                continue;
            }
        };
        // Without a cookie it is tried all the same: the server may let this user in by name.
        let cookie = get_auth(family, &peer, parsed.display).ok().flatten().unwrap_or_default();
        return RustConnection::connect_to_stream_with_auth_info(Patient(stream), screen, cookie.0, cookie.1)
            .map(|server| (server, screen))
            .map_err(|error| format!("display {display}: {error}"));
    }
    Err(why)
}

/// A stream that does not wait for ever.
#[derive(Debug)]
pub(crate) struct Patient(DefaultStream);

impl Stream for Patient {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let mut fds = [PollFd::new(&self.0, flags)];
        poll_until(&mut fds, after(SERVER_PATIENCE))?;
        if fds[0].revents().is_empty() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer"));
        }
        Ok(())
    }

    fn read(&self, into: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.read(into, fds)
    }

    fn write(&self, bytes: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write(bytes, fds)
    }

    fn write_vectored(&self, parts: &[io::IoSlice<'_>], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write_vectored(parts, fds)
    }
}
