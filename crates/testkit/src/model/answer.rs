//! Writes an answer to a connection: the head, the body in pieces, silence, and the ways to break off.
//!
//! Between two pieces a disconnected client is noticed at once, so that a test of cancelling does not have
//! to wait for the next write.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use super::http::IncomingRequest;
use super::server::ServerShared;
use crate::random::Random;

/// The longest piece that a stream is cut into; longer streams are cut into longer pieces, so that their
/// number stays bounded.
const MAX_PIECE: usize = 24;

/// About this many pieces at most.
const MAX_PIECES: usize = 4000;

/// Time between two checks for a stop, while the client has sent more than it should.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Why an answer breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerAbort {
    /// The client closed the connection.
    ClientClosed,
    /// The script says so.
    Cut,
    /// The server ends.
    Stopped,
}

pub(super) struct HttpAnswer<'a> {
    stream: &'a TcpStream,
    shared: &'a ServerShared,
    /// The client understands a chunked body.
    may_chunk: bool,
    /// The body is chunked; otherwise it has a length, or ends with the connection.
    chunked: bool,
    head_only: bool,
    /// The connection ends with this answer.
    pub(super) last: bool,
    random: Option<Random>,
    /// Bytes of the body sent so far.
    pub(super) sent: u64,
    /// As sent in the head; 0 before.
    pub(super) status: u16,
}

impl<'a> HttpAnswer<'a> {
    pub(super) fn new(stream: &'a TcpStream, shared: &'a ServerShared) -> HttpAnswer<'a> {
        let (may_chunk, chunked, head_only, last) = (true, false, false, false);
        HttpAnswer { stream, shared, may_chunk, chunked, head_only, last, random: None, sent: 0, status: 0 }
    }

    pub(super) fn to(
        stream: &'a TcpStream,
        shared: &'a ServerShared,
        asked: &IncomingRequest,
    ) -> HttpAnswer<'a> {
        let (may_chunk, head_only) = (asked.chunked, asked.method == "HEAD");
        HttpAnswer { may_chunk, head_only, last: !asked.keep_alive, ..HttpAnswer::new(stream, shared) }
    }

    /// Cuts everything that follows into random pieces.
    pub(super) fn split(&mut self, seed: u64) {
        self.random = Some(Random::new(seed));
    }

    pub(super) fn send_whole(
        &mut self,
        status: u16,
        kind: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<(), AnswerAbort> {
        self.send_head(status, kind, headers, Some(body.len()))?;
        self.send_piece(body)
    }

    /// Without a length the body follows in chunks and ends with [`HttpAnswer::finish`].
    pub(super) fn send_head(
        &mut self,
        status: u16,
        kind: &str,
        headers: &[(String, String)],
        length: Option<usize>,
    ) -> Result<(), AnswerAbort> {
        let mut head = format!("HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\n", reason(status));
        for (name, value) in headers {
            // A header that breaks the head would be a different fault from the requested one.
            let clean = |text: &str| text.replace(['\r', '\n'], " ");
            head.push_str(&format!("{}: {}\r\n", clean(name), clean(value)));
        }
        self.chunked = length.is_none() && self.may_chunk;
        self.last |= length.is_none() && !self.may_chunk;
        if let Some(length) = length {
            head.push_str(&format!("content-length: {length}\r\n"));
        } else {
            head.push_str("cache-control: no-cache\r\n");
        }
        if self.chunked {
            head.push_str("transfer-encoding: chunked\r\n");
        }
        head.push_str(if self.last { "connection: close\r\n\r\n" } else { "\r\n" });
        self.status = status;
        self.write(head.as_bytes())
    }

    pub(super) fn send_piece(&mut self, bytes: &[u8]) -> Result<(), AnswerAbort> {
        if self.head_only || bytes.is_empty() {
            return Ok(());
        }
        let longest = MAX_PIECE.max(bytes.len() / MAX_PIECES);
        let mut rest = bytes;
        while !rest.is_empty() {
            let take =
                self.random.as_mut().map_or(rest.len(), |random| 1 + random.below(longest.min(rest.len())));
            let (now, later) = rest.split_at(take);
            if self.chunked {
                let mut chunk = format!("{:x}\r\n", now.len()).into_bytes();
                chunk.extend_from_slice(now);
                chunk.extend_from_slice(b"\r\n");
                self.write_split(&chunk)?;
            } else {
                self.write_split(now)?;
            }
            self.sent += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The end of a chunked body.
    pub(super) fn finish(&mut self) -> Result<(), AnswerAbort> {
        if self.chunked && !self.head_only { self.write(b"0\r\n\r\n") } else { Ok(()) }
    }

    /// Until the time is over or the client disconnects.
    pub(super) fn pause(&mut self, time: Duration) -> Result<(), AnswerAbort> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            // Anything readable wakes us: also the end of the connection, caused by the server's own end.
            let _ = self.stream.set_read_timeout(Some(left));
            let looked = self.stream.peek(&mut [0]);
            let _ = self.stream.set_read_timeout(None);
            match looked {
                Ok(0) => return Err(self.gone()),
                // The next request already: only the time is left to wait for.
                Ok(_) => self.shared.sleep(left.min(LOOK_AGAIN))?,
                Err(error) if is_quiet(&error) => {}
                Err(_) => return Err(self.gone()),
            }
        }
    }

    /// Resets the connection: nothing more arrives, and what was not read yet is lost.
    pub(super) fn cut(&self) -> AnswerAbort {
        let _ = set_socket_linger(self.stream, Some(Duration::ZERO));
        AnswerAbort::Cut
    }

    /// Whether the client is still connected.
    fn check(&self) -> Result<(), AnswerAbort> {
        let _ = self.stream.set_nonblocking(true);
        let looked = self.stream.peek(&mut [0]);
        let _ = self.stream.set_nonblocking(false);
        match looked {
            Ok(0) => Err(self.gone()),
            Err(error) if !is_quiet(&error) => Err(self.gone()),
            _ => Ok(()),
        }
    }

    fn gone(&self) -> AnswerAbort {
        if self.shared.is_stopping() { AnswerAbort::Stopped } else { AnswerAbort::ClientClosed }
    }

    /// In random pieces if it is to be split.
    fn write_split(&mut self, bytes: &[u8]) -> Result<(), AnswerAbort> {
        if self.random.is_none() {
            return self.write(bytes);
        }
        let longest = MAX_PIECE.max(bytes.len() / MAX_PIECES);
        let mut rest = bytes;
        while !rest.is_empty() {
            let take =
                self.random.as_mut().map_or(rest.len(), |random| 1 + random.below(longest.min(rest.len())));
            let (now, later) = rest.split_at(take);
            self.write(now)?;
            rest = later;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), AnswerAbort> {
        self.check()?;
        let mut stream = self.stream;
        stream.write_all(bytes).map_err(|_| self.gone())
    }
}

fn is_quiet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// The reason phrase of a status.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Scripted",
    }
}
