//! What comes on stdin and goes with a request. Whoever starts relay may leave a pipe open that nobody writes to: that
//! relay waits for its end is said, a signal breaks it off, and it takes no longer than the request may.

use std::time::{Duration, Instant};

use relaycode_friend::limits;
use relaycode_project::config::LogLevel;
use relaycode_tui::outcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::world::Stop;
use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::providers;

/// So often it is looked at whether to go on.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long it is waited without a word.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it is waited for the first words on a socket.
const GREETING: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// All of it, or one byte more than goes with a request.
pub(super) fn read(total: Duration, stop: Stop<'_>, context: &mut Context<'_>) -> Result<Vec<u8>, Failure> {
    let (stdin, began) = (std::io::stdin(), Instant::now());
    let spinner = providers::spinner(context, "reading what goes with it from stdin");
    let mut told = spinner.is_some();
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE]);
    while bytes.len() <= limits::CONTEXT {
        if stop() {
            return Err(interrupted());
        }
        if began.elapsed() >= total {
            return Err(late(total));
        }
        if !told && began.elapsed() >= PATIENCE {
            told = true;
            let look = context.console.err_look();
            let said =
                "waiting for the end of stdin, which goes with the request; `</dev/null` sends nothing";
            context.beside(LogLevel::Warn, &outcome::remark(&look, said));
        }
        let ready = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&TICK)) {
            Ok(count) => count > 0,
            Err(Errno::INTR) => false,
            Err(error) => return Err(unreadable(error)),
        };
        if !ready {
            continue;
        }
        match rustix::io::read(&stdin, &mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    bytes.truncate(limits::CONTEXT + 1);
    Ok(bytes)
}

/// Whether anything comes on a socket: words, or its end. Programs give one to whom they start whether or not they ever
/// write to it, so it is not waited for like a pipe, which somebody put there.
pub(super) fn begins(stop: Stop<'_>, context: &mut Context<'_>) -> Result<bool, Failure> {
    let (stdin, began) = (std::io::stdin(), Instant::now());
    while began.elapsed() < GREETING {
        if stop() {
            return Err(interrupted());
        }
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&TICK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(unreadable(error)),
        }
    }
    let look = context.console.err_look();
    let said = format!(
        "stdin is a socket, and nothing came on it within {} s: nothing of it goes with the request; \
         `--context-file -` waits for it",
        GREETING.as_secs()
    );
    context.beside(LogLevel::Warn, &outcome::remark(&look, &said));
    Ok(false)
}

fn interrupted() -> Failure {
    providers::interrupted().left(State::Unchanged)
}

fn unreadable(error: Errno) -> Failure {
    Failure::unexpected(format!("stdin cannot be read: {error}"))
}

fn late(total: Duration) -> Failure {
    let message = format!("stdin did not end within {} s; nothing was sent to anybody", total.as_secs());
    Failure::new(Exit::OutOfTime, "timedOut", message)
        .left(State::Unchanged)
        .hint("what comes on stdin goes with the request; `</dev/null` sends nothing")
}
