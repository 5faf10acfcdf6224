//! Reads HTTP/1.1 requests: as little of it as clients of models need, bounded in every direction.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use flate2::read::{GzDecoder, ZlibDecoder};

/// The request line and the headers together.
const MAX_HEAD: usize = 64 * 1024;

/// Also after inflating.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// How much is read, and for how long, of a refused request.
const MAX_DRAIN: usize = 8 * 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// Bytes per read.
const READ: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct IncomingRequest {
    pub(super) method: String,
    /// With its query.
    pub(super) target: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The connection stays open afterwards.
    pub(super) keep_alive: bool,
    /// The client understands a chunked body.
    pub(super) chunked: bool,
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The connection is closed.
    Closed,
    /// It cannot be read; the status, and the message.
    Refused(u16, &'static str),
}

impl From<io::Error> for RequestError {
    fn from(_: io::Error) -> RequestError {
        RequestError::Closed
    }
}

impl IncomingRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        find(&self.headers, name)
    }

    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Empty if there is none.
    pub(super) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }
}

/// The bytes of a connection, and those read too far.
pub(super) struct RequestReader<'a> {
    stream: &'a TcpStream,
    held: Vec<u8>,
    at: usize,
}

impl<'a> RequestReader<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> RequestReader<'a> {
        RequestReader { stream, held: Vec::new(), at: 0 }
    }

    pub(super) fn next(&mut self) -> Result<IncomingRequest, RequestError> {
        let mut room = MAX_HEAD;
        let mut first = self.line(&mut room)?;
        if first.is_empty() {
            // A stray line end after a body is allowed.
            first = self.line(&mut room)?;
        }
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(RequestError::Refused(400, "the request line is not HTTP"));
        };
        let chunked = match version {
            "HTTP/1.1" => true,
            "HTTP/1.0" => false,
            _ => return Err(RequestError::Refused(505, "only HTTP/1.1 is spoken here")),
        };
        let (method, target) = (method.to_owned(), target.to_owned());
        let mut headers = Vec::new();
        loop {
            let line = self.line(&mut room)?;
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(RequestError::Refused(400, "a header has no colon"));
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let connection = find(&headers, "connection").to_ascii_lowercase();
        let keep = if chunked { !connection.contains("close") } else { connection.contains("keep-alive") };
        if find(&headers, "expect").eq_ignore_ascii_case("100-continue") {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = self.body(&headers)?;
        let body = inflate(body, find(&headers, "content-encoding"))?;
        Ok(IncomingRequest { method, target, headers, body, keep_alive: keep, chunked })
    }

    /// Reads unwanted bytes for a moment: closing a connection with unread bytes resets it, and the client
    /// would not see why it was refused.
    pub(super) fn drain(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let _ = self.stream.set_read_timeout(Some(DRAIN_TIME));
        for _ in 0..MAX_DRAIN / READ {
            if self.fill().is_err() {
                return;
            }
        }
    }

    fn body(&mut self, headers: &[(String, String)]) -> Result<Vec<u8>, RequestError> {
        if find(headers, "transfer-encoding").to_ascii_lowercase().contains("chunked") {
            return self.chunks();
        }
        let length = match find(headers, "content-length") {
            "" => 0,
            text => {
                text.parse().map_err(|_| RequestError::Refused(400, "the content length is no number"))?
            }
        };
        let mut body = Vec::new();
        self.exactly(length, &mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> Result<Vec<u8>, RequestError> {
        let mut body = Vec::new();
        loop {
            let line = self.line(&mut MAX_HEAD.clone())?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16)
                .map_err(|_| RequestError::Refused(400, "a chunk's size is no number"))?;
            if size == 0 {
                let mut room = MAX_HEAD;
                while !self.line(&mut room)?.is_empty() {}
                return Ok(body);
            }
            self.exactly(size, &mut body)?;
            self.line(&mut MAX_HEAD.clone())?;
        }
    }

    /// Reads `count` more bytes.
    fn exactly(&mut self, count: usize, into: &mut Vec<u8>) -> Result<(), RequestError> {
        if into.len().saturating_add(count) > MAX_BODY {
            return Err(RequestError::Refused(413, "the body is too large"));
        }
        let mut left = count;
        while left > 0 {
            if self.at == self.held.len() {
                self.fill()?;
            }
            let take = left.min(self.held.len() - self.at);
            into.extend_from_slice(&self.held[self.at..self.at + take]);
            self.at += take;
            left -= take;
        }
        Ok(())
    }

    /// The next line without its end; `room` shrinks by its length.
    fn line(&mut self, room: &mut usize) -> Result<String, RequestError> {
        let mut line = Vec::new();
        loop {
            if self.at == self.held.len() {
                self.fill()?;
            }
            let rest = &self.held[self.at..];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let take = end.map_or(rest.len(), |end| end + 1);
            line.extend_from_slice(&rest[..take]);
            self.at += take;
            *room = room.checked_sub(take).ok_or(RequestError::Refused(431, "the headers are too long"))?;
            if end.is_some() {
                let text = String::from_utf8_lossy(&line);
                return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
            }
        }
    }

    fn fill(&mut self) -> Result<(), RequestError> {
        self.held.resize(READ, 0);
        self.at = 0;
        let count = loop {
            match self.stream.read(&mut self.held) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.held.truncate(*count.as_ref().unwrap_or(&0));
        if count? == 0 { Err(RequestError::Closed) } else { Ok(()) }
    }
}

fn find<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
}

/// The decoded body.
fn inflate(body: Vec<u8>, encoding: &str) -> Result<Vec<u8>, RequestError> {
    let mut plain = Vec::new();
    let limit = MAX_BODY as u64 + 1;
    let read = match encoding.to_ascii_lowercase().as_str() {
        "" | "identity" => return Ok(body),
        "gzip" | "x-gzip" => GzDecoder::new(body.as_slice()).take(limit).read_to_end(&mut plain),
        "deflate" => ZlibDecoder::new(body.as_slice()).take(limit).read_to_end(&mut plain),
        _ => {
            return Err(RequestError::Refused(
                415,
                "this content encoding is not understood; gzip and deflate are",
            ));
        }
    };
    match read {
        Err(_) => Err(RequestError::Refused(400, "the body is not what its encoding says")),
        Ok(count) if count > MAX_BODY => Err(RequestError::Refused(413, "the body is too large")),
        Ok(_) => Ok(plain),
    }
}
