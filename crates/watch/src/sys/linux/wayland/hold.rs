//! Holding on Wayland: each reader passes a pipe, into which the text is written as fast as it is read.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, ioctl_fionbio, write};

use super::super::text_format::{ClipboardFormat, OWN_COPY_MARK};
use super::super::{LINGER_TIME, MAX_READERS};
use super::connection::{NAME, WaylandConnection};
use crate::clipboard::ClipboardContent;
use crate::clipboard::poll::deadline_after;
use crate::hold::HoldError;

/// A reader, and how much of the text it has.
struct WaylandTextReader {
    pipe: OwnedFd,
    sent: usize,
}

pub(crate) fn serve(mut link: WaylandConnection, text: &str, ready: impl FnOnce()) -> Result<(), HoldError> {
    let mut forms = vec![OWN_COPY_MARK];
    forms.extend(ClipboardFormat::ALL.map(ClipboardFormat::name));
    link.set_selection(&forms);
    // If the compositor offers it to us as to everybody, we own it; otherwise somebody was faster.
    link.sync()?;
    let until = deadline_after(LINGER_TIME);
    while !is_own_copy(&link) {
        if link.state.cancelled || until.is_some_and(|until| Instant::now() >= until) {
            return Err(HoldError::Refused { name: NAME });
        }
        link.pump(&[], until)?;
    }
    ready();

    let mut readers: VecDeque<WaylandTextReader> = VecDeque::new();
    let mut end: Option<Instant> = None;
    loop {
        for (form, pipe) in std::mem::take(&mut link.state.wanted) {
            // The mark has no content: its pipe is closed at once.
            if form == OWN_COPY_MARK || ioctl_fionbio(&pipe, true).is_err() {
                continue;
            }
            if readers.len() == MAX_READERS {
                readers.pop_front();
            }
            readers.push_back(WaylandTextReader { pipe, sent: 0 });
        }
        readers.retain_mut(|reader| write_more(reader, text.as_bytes()));
        if link.state.cancelled && end.is_none() {
            end = deadline_after(LINGER_TIME);
        }
        if let Some(end) = end
            && (readers.is_empty() || Instant::now() >= end)
        {
            return Ok(());
        }
        let pipes: Vec<PollFd<'_>> = readers.iter().map(|r| PollFd::new(&r.pipe, PollFlags::OUT)).collect();
        link.pump(&pipes, end)?;
    }
}

fn is_own_copy(link: &WaylandConnection) -> bool {
    let known = link.state.selection.as_ref().and_then(|(_, offered)| offered.known_content());
    known == Some(ClipboardContent::OwnCopy)
}

/// Writes as much as the reader takes now; returns whether there is more.
fn write_more(reader: &mut WaylandTextReader, text: &[u8]) -> bool {
    while reader.sent < text.len() {
        match write(&reader.pipe, &text[reader.sent..]) {
            Ok(count) => reader.sent += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            // The reader is gone, or has enough.
            Err(_) => return false,
        }
    }
    false
}
