//! What comes on stdin and goes with a request. Whoever starts relay may leave a pipe open that nobody writes to: that
//! relay waits for its end is said, a signal breaks it off, and it takes no longer than the request may.

use std::time::{Duration, Instant};

use relaycode_friend::prompt::limits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::friend_context::StopCheck;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, providers};

/// So often it is looked at whether to go on.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long it is waited without a word.
const NOTICE_DELAY: Duration = Duration::from_secs(2);
/// How long it is waited for the first words on a socket.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// All of it, or one byte more than goes with a request.
pub(super) fn read_stdin(
    total: Duration,
    stop: StopCheck<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Vec<u8>> {
    let (stdin, began) = (std::io::stdin(), Instant::now());
    let spinner = providers::start_spinner(ctx, "reading what goes with it from stdin");
    let mut told = spinner.is_some();
    let (mut bytes, mut piece) = (Vec::new(), vec![0; CHUNK_BYTES]);
    while bytes.len() <= limits::CONTEXT_BYTES {
        if stop() {
            return Err(CommandFailure::interrupted().unchanged());
        }
        if began.elapsed() >= total {
            return Err(timeout_failure(total));
        }
        if !told && began.elapsed() >= NOTICE_DELAY {
            told = true;
            let said =
                "waiting for the end of stdin, which goes with the request; `</dev/null` sends nothing";
            ctx.eprint_remark(LogLevel::Warn, said);
        }
        if !stdin_is_ready()? {
            continue;
        }
        match rustix::io::read(&stdin, &mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(read_failure(error)),
        }
    }
    bytes.truncate(limits::CONTEXT_BYTES + 1);
    Ok(bytes)
}

/// Whether anything comes on a socket: words, or its end. Programs give one to whom they start whether or not they ever
/// write to it, so it is not waited for like a pipe, which somebody put there.
pub(super) fn wait_for_input(stop: StopCheck<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<bool> {
    let began = Instant::now();
    while began.elapsed() < SOCKET_TIMEOUT {
        if stop() {
            return Err(CommandFailure::interrupted().unchanged());
        }
        if stdin_is_ready()? {
            return Ok(true);
        }
    }
    let said = format!(
        "stdin is a socket, and nothing came on it within {} s: nothing of it goes with the request; \
         `--context-file -` waits for it",
        SOCKET_TIMEOUT.as_secs()
    );
    ctx.eprint_remark(LogLevel::Warn, &said);
    Ok(false)
}

/// Whether something can be read, after a moment at most.
fn stdin_is_ready() -> CommandResult<bool> {
    match poll(&mut [PollFd::new(&std::io::stdin(), PollFlags::IN)], Some(&POLL_INTERVAL)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(read_failure(error)),
    }
}

fn read_failure(error: Errno) -> CommandFailure {
    CommandFailure::unexpected(format!("stdin cannot be read: {error}"))
}

fn timeout_failure(total: Duration) -> CommandFailure {
    let message = format!("stdin did not end within {} s; nothing was sent", total.as_secs());
    CommandFailure::new(Exit::TimedOut, "timedOut", message)
        .unchanged()
        .hint("what comes on stdin goes with the request; `</dev/null` sends nothing")
}
