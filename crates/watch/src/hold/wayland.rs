//! Holding on Wayland: each who asks gives a pipe, into which the text is written as fast as it is read.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, ioctl_fionbio, write};

use super::{HoldError, LINGER, READERS};
use crate::clipboard::Content;
use crate::clipboard::target::{Form, OURS};
use crate::clipboard::waiting::after;
use crate::clipboard::wayland::{Link, NAME};

/// One who asked, and how much it has.
struct Reader {
    pipe: OwnedFd,
    given: usize,
}

pub(super) fn serve(mut link: Link, text: &str, ready: impl FnOnce()) -> Result<(), HoldError> {
    let mut forms = vec![OURS];
    forms.extend(Form::ALL.map(Form::name));
    link.put(&forms);
    // The compositor shows it to us as to everybody, or somebody was faster.
    link.sync()?;
    let until = after(LINGER);
    while !is_ours(&link) {
        if link.state.cancelled || until.is_some_and(|until| Instant::now() >= until) {
            return Err(HoldError::Refused { name: NAME });
        }
        link.pump(&[], until)?;
    }
    ready();

    let mut readers: VecDeque<Reader> = VecDeque::new();
    let mut end: Option<Instant> = None;
    loop {
        for (form, pipe) in std::mem::take(&mut link.state.wanted) {
            // The mark itself says nothing: its pipe is closed at once.
            if form == OURS || ioctl_fionbio(&pipe, true).is_err() {
                continue;
            }
            if readers.len() == READERS {
                readers.pop_front();
            }
            readers.push_back(Reader { pipe, given: 0 });
        }
        readers.retain_mut(|reader| wants_more(reader, text.as_bytes()));
        if link.state.cancelled && end.is_none() {
            end = after(LINGER);
        }
        if let Some(end) = end
            && (readers.is_empty() || Instant::now() >= end)
        {
            return Ok(());
        }
        let pipes: Vec<PollFd<'_>> =
            readers.iter().map(|reader| PollFd::new(&reader.pipe, PollFlags::OUT)).collect();
        link.pump(&pipes, end)?;
    }
}

fn is_ours(link: &Link) -> bool {
    let known = link.state.selection.as_ref().and_then(|(_, offered)| offered.known());
    known == Some(Content::Ours)
}

/// Gives it as much as it takes now; whether it wants more.
fn wants_more(reader: &mut Reader, text: &[u8]) -> bool {
    while reader.given < text.len() {
        match write(&reader.pipe, &text[reader.given..]) {
            Ok(count) => reader.given += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            // It is gone, or has enough.
            Err(_) => return false,
        }
    }
    false
}
