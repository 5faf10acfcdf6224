//! X11's clipboard: the selection CLIPBOARD. XFIXES tells when it gets a new owner; a server without it is asked every so
//! often for the time at which the selection was taken.
//!
//! Its content is not the server's but its owner's, a program like any other: it is asked in a form it says it has, and
//! may answer late, in part, or never.

mod link;
mod transfer;

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use x11rb::protocol::xfixes::{ConnectionExt, SelectionEventMask};
use x11rb::protocol::xproto::Window;

use self::transfer::{Asker, Handed};
use super::target::{Form, Offered};
use super::waiting::end_of;
use super::{Clipboard, ClipboardError, Content, NoClipboard, Stop, Woken};

pub(crate) use self::link::{Link, NAME, Next, gone};

/// Bytes of a list of targets: four each.
const TARGETS_MOST: usize = 16 * 1024;
/// How much is read, and how long its owner is waited for, only to see whether it is something new.
const LOOK_MOST: usize = 4 * 1024 * 1024;
const LOOK_PATIENCE: Duration = Duration::from_secs(1);

/// X11's clipboard.
pub(super) struct X11 {
    asker: Asker,
    tells: bool,
    /// By what a new content is known, if the server does not tell.
    last: Option<Mark>,
    keys: RandomState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Nobody,
    /// Who owns it, and since when by the server's clock.
    Taken(Window, [u8; 4]),
    /// Who owns it, and a hash of what it says.
    Says(Window, u64),
}

impl X11 {
    pub(super) fn open(display: &str) -> Result<X11, NoClipboard> {
        let link = Link::open(display)?;
        let no = |error: ClipboardError| NoClipboard::Unreachable { name: NAME, why: error.why };
        let tells = tell(&link).map_err(no)?;
        Ok(X11 { asker: Asker::new(link), tells, last: None, keys: RandomState::new() })
    }

    /// What its owner says; none if there is a new one.
    fn ask(&mut self, most: usize, until: Instant) -> Result<Option<Content>, ClipboardError> {
        let atoms = self.asker.link.atoms;
        let forms = match self.asker.ask(atoms.targets, TARGETS_MOST, until)? {
            Handed::Bytes(_, list) => {
                let mut offered = Offered::default();
                let names = list.as_chunks::<4>().0.iter().map(|atom| u32::from_ne_bytes(*atom));
                names.filter_map(|atom| atoms.name(atom)).for_each(|name| offered.add(name));
                if let Some(known) = offered.known() {
                    return Ok(Some(known));
                }
                offered.text.into_iter().collect()
            }
            // Whoever does not list what it has may still have what nearly everybody has.
            Handed::Refused | Handed::TooLarge => vec![Form::Utf8String, Form::Latin1],
            Handed::Silent => return Ok(Some(Content::Silent)),
            Handed::Replaced => return Ok(None),
        };
        for form in forms {
            match self.asker.ask(atoms.of_form(form), most, until)? {
                Handed::Bytes(kind, bytes) => {
                    // Simple owners answer with what they have, whatever they were asked for.
                    let form = atoms.form(kind);
                    return Ok(Some(form.map_or(Content::NotText, |form| form.content(bytes, most))));
                }
                Handed::TooLarge => return Ok(Some(Content::TooLarge)),
                Handed::Silent => return Ok(Some(Content::Silent)),
                Handed::Replaced => return Ok(None),
                Handed::Refused => {}
            }
        }
        // An owner that has just gone is refused by the server itself.
        Ok((!self.asker.changed).then_some(Content::NotText))
    }

    /// By what the present content is known; none if its owner does not say.
    fn mark(&mut self) -> Result<Option<Mark>, ClipboardError> {
        let Some(owner) = self.asker.link.owner()? else { return Ok(Some(Mark::Nobody)) };
        let timestamp = self.asker.link.atoms.timestamp;
        let until = Instant::now() + LOOK_PATIENCE;
        if let Handed::Bytes(_, time) = self.asker.ask(timestamp, size_of::<u32>(), until)?
            && let Ok(time) = time.try_into()
        {
            return Ok(Some(Mark::Taken(owner, time)));
        }
        Ok(match self.read(LOOK_MOST, LOOK_PATIENCE)? {
            Content::Silent => None,
            Content::Text(text) => Some(Mark::Says(owner, self.keys.hash_one(text))),
            other => Some(Mark::Says(owner, self.keys.hash_one(std::mem::discriminant(&other)))),
        })
    }

    fn wait_to_be_told(&mut self, stop: &Stop) -> Result<Woken, ClipboardError> {
        loop {
            if std::mem::take(&mut self.asker.changed) {
                return Ok(Woken::Changed);
            }
            match self.asker.link.next(None, Some(stop))? {
                Next::Event(event) => self.asker.note(&event)?,
                Next::Late | Next::Stopped => return Ok(Woken::Stopped),
            }
        }
    }
}

impl Clipboard for X11 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tells(&self) -> bool {
        self.tells
    }

    fn wait(&mut self, interval: Duration, stop: &Stop) -> Result<Woken, ClipboardError> {
        if stop.within(Duration::ZERO) {
            return Ok(Woken::Stopped);
        }
        if self.tells {
            return self.wait_to_be_told(stop);
        }
        loop {
            if let Some(now) = self.mark()?
                && let Some(before) = self.last.replace(now)
                && before != now
            {
                return Ok(Woken::Changed);
            }
            if stop.within(interval) {
                return Ok(Woken::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, patience: Duration) -> Result<Content, ClipboardError> {
        let until = end_of(patience);
        loop {
            // Its answer comes after every event up to now: they are about what is going to be read.
            self.asker.link.owner()?;
            self.asker.catch_up()?;
            self.asker.changed = false;
            if self.asker.link.owner()?.is_none() {
                return Ok(Content::Empty);
            }
            if let Some(content) = self.ask(most, until)? {
                return Ok(content);
            }
            if Instant::now() >= until {
                return Ok(Content::Silent);
            }
        }
    }
}

/// Has the server tell of changes; whether it can.
fn tell(link: &Link) -> Result<bool, ClipboardError> {
    use x11rb::connection::RequestConnection;
    let extension = link.server.extension_information(x11rb::protocol::xfixes::X11_EXTENSION_NAME);
    if extension.map_err(gone)?.is_none() {
        return Ok(false);
    }
    link.server.xfixes_query_version(1, 0).map_err(gone)?.reply().map_err(gone)?;
    let all = SelectionEventMask::SET_SELECTION_OWNER
        | SelectionEventMask::SELECTION_WINDOW_DESTROY
        | SelectionEventMask::SELECTION_CLIENT_CLOSE;
    let window = link.window()?;
    let told = link.server.xfixes_select_selection_input(window, link.atoms.clipboard, all).map_err(gone)?;
    told.check().map_err(gone)?;
    Ok(true)
}
