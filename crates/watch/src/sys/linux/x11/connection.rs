//! A connection to an X11 server that cannot hang: a server that does not answer within [`SERVER_TIMEOUT`]
//! counts as gone.
//!
//! Events are waited for without limit and without polling; only answers to our own requests have that
//! limit.

use std::fmt::Display;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{Atom, ConnectionExt, CreateWindowAux, EventMask, Window, WindowClass};
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::reexports::x11rb_protocol::xauth::get_auth;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

use super::super::text_format::{ClipboardFormat, OWN_COPY_MARK, SECRET_MARK};
use crate::clipboard::poll::{deadline_after, poll_readable, poll_until};
use crate::clipboard::{ClipboardError, ClipboardResult, ClipboardUnavailable, WatchStopSignal};

/// A healthy server answers within microseconds.
const SERVER_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const NAME: &str = "X11";

/// A connection, and the atoms that both reading and holding need.
pub(crate) struct X11Connection {
    pub(crate) server: RustConnection<TimeoutStream>,
    pub(crate) atoms: X11Atoms,
    root: Window,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct X11Atoms {
    pub(crate) clipboard: Atom,
    pub(crate) targets: Atom,
    pub(crate) timestamp: Atom,
    pub(crate) incr: Atom,
    /// The property through which content is transferred.
    pub(crate) transfer: Atom,
    pub(crate) ours: Atom,
    pub(crate) secret: Atom,
    forms: [Atom; ClipboardFormat::ALL.len()],
}

pub(crate) enum X11WaitResult {
    Event(Event),
    TimedOut,
    Stopped,
}

impl X11Connection {
    pub(crate) fn open(display: &str) -> Result<X11Connection, ClipboardUnavailable> {
        let no = |why: String| ClipboardUnavailable::Unreachable { name: NAME, why };
        let (server, screen) = connect(display).map_err(no)?;
        let root = server.setup().roots.get(screen).map(|screen| screen.root);
        let root = root.ok_or_else(|| no(format!("{display} has no such screen")))?;
        let atoms = X11Atoms::intern(&server).map_err(|error| no(error.why))?;
        Ok(X11Connection { server, atoms, root })
    }

    /// An invisible window that requests are made from and answered to.
    pub(crate) fn create_hidden_window(&self) -> ClipboardResult<Window> {
        let window = self.server.generate_id().map_err(connection_error)?;
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_ONLY;
        self.server.create_window(
            COPY_DEPTH_FROM_PARENT,
            window,
            self.root,
            0,
            0,
            1,
            1,
            0,
            class,
            0,
            &look,
        )?;
        Ok(window)
    }

    pub(crate) fn destroy_hidden_window(&self, window: Window) -> ClipboardResult<()> {
        self.server.destroy_window(window).map(drop).map_err(connection_error)
    }

    /// `None` if nobody owns the clipboard.
    pub(crate) fn owner(&self) -> ClipboardResult<Option<Window>> {
        let asked = self.server.get_selection_owner(self.atoms.clipboard)?;
        Ok(Some(asked.reply()?.owner).filter(|&owner| owner != x11rb::NONE))
    }

    /// An event that has arrived already.
    pub(crate) fn poll_event(&self) -> ClipboardResult<Option<Event>> {
        self.server.poll_for_event().map_err(connection_error)
    }

    /// The next event, until that moment or the stop signal.
    pub(crate) fn next_event(
        &self,
        until: Option<Instant>,
        stop: Option<&WatchStopSignal>,
    ) -> ClipboardResult<X11WaitResult> {
        self.server.flush()?;
        loop {
            // Checked before the queue: anybody can send us events without end.
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(X11WaitResult::TimedOut);
            }
            if stop.is_some_and(|stop| stop.wait_timeout(Duration::ZERO)) {
                return Ok(X11WaitResult::Stopped);
            }
            if let Some(event) = self.poll_event()? {
                return Ok(X11WaitResult::Event(event));
            }
            let mut fds = vec![poll_readable(&self.server.stream().0)];
            fds.extend(stop.map(poll_readable));
            poll_until(&mut fds, until).map_err(connection_error)?;
        }
    }
}

impl X11Atoms {
    fn intern(server: &RustConnection<TimeoutStream>) -> ClipboardResult<X11Atoms> {
        let named = |name: &str| -> ClipboardResult<Atom> {
            let asked = server.intern_atom(false, name.as_bytes())?;
            Ok(asked.reply()?.atom)
        };
        let mut forms = [x11rb::NONE; ClipboardFormat::ALL.len()];
        for (atom, form) in forms.iter_mut().zip(ClipboardFormat::ALL) {
            *atom = named(form.name())?;
        }
        Ok(X11Atoms {
            clipboard: named("CLIPBOARD")?,
            targets: named("TARGETS")?,
            timestamp: named("TIMESTAMP")?,
            incr: named("INCR")?,
            transfer: named("RELAYCODE_TRANSFER")?,
            ours: named(OWN_COPY_MARK)?,
            secret: named(SECRET_MARK)?,
            forms,
        })
    }

    /// The target that requests text in this form.
    pub(crate) fn atom_of_format(&self, form: ClipboardFormat) -> Atom {
        self.forms[form as usize]
    }

    pub(crate) fn format_of_atom(&self, atom: Atom) -> Option<ClipboardFormat> {
        ClipboardFormat::ALL.into_iter().find(|&form| self.atom_of_format(form) == atom)
    }

    /// The name of the target, if it matters here.
    pub(crate) fn mark_name(&self, atom: Atom) -> Option<&'static str> {
        let marks = [(self.ours, OWN_COPY_MARK), (self.secret, SECRET_MARK)];
        self.format_of_atom(atom)
            .map(ClipboardFormat::name)
            .or_else(|| marks.into_iter().find(|mark| mark.0 == atom).map(|mark| mark.1))
    }
}

/// The connection ended, or the server does not answer.
pub(crate) fn connection_error(why: impl Display) -> ClipboardError {
    ClipboardError { name: NAME, why: why.to_string() }
}

impl From<ConnectionError> for ClipboardError {
    fn from(error: ConnectionError) -> ClipboardError {
        connection_error(error)
    }
}

impl From<ReplyError> for ClipboardError {
    fn from(error: ReplyError) -> ClipboardError {
        connection_error(error)
    }
}

/// Display 0; the others follow.
const FIRST_PORT: u16 = 6_000;

fn connect(display: &str) -> Result<(RustConnection<TimeoutStream>, usize), String> {
    let parsed = parse_display(Some(display)).map_err(|error| error.to_string())?;
    // The library adds the number to a port without checking for overflow.
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
        // Tried without a cookie as well: the server may let this user in by name.
        let cookie = get_auth(family, &peer, parsed.display).ok().flatten().unwrap_or_default();
        return RustConnection::connect_to_stream_with_auth_info(
            TimeoutStream(stream),
            screen,
            cookie.0,
            cookie.1,
        )
        .map(|server| (server, screen))
        .map_err(|error| format!("display {display}: {error}"));
    }
    Err(why)
}

/// A stream whose reads time out.
#[derive(Debug)]
pub(crate) struct TimeoutStream(DefaultStream);

impl Stream for TimeoutStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let mut fds = [PollFd::new(&self.0, flags)];
        poll_until(&mut fds, deadline_after(SERVER_TIMEOUT))?;
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
