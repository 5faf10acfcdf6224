//! A client that sees every byte: no library between the test and the socket.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use relaycode_testkit::model::ScriptedServer;
use serde_json::{Value, json};

/// Nothing here takes so long.
const LIMIT: Duration = Duration::from_secs(20);

pub(super) struct Client {
    stream: TcpStream,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Client {
    pub(super) fn to(server: &ScriptedServer) -> Client {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream }
    }

    pub(super) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n{more}\r\n");
        self.raw(head.as_bytes());
        self.raw(body);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a request and reads its answer.
    pub(super) fn ask(&mut self, method: &str, path: &str, body: &str) -> Answer {
        self.send(method, path, &[], body.as_bytes());
        self.answer()
    }

    /// Reads an answer to its end; the connection stays.
    pub(super) fn answer(&mut self) -> Answer {
        self.try_answer().unwrap()
    }

    pub(super) fn try_answer(&mut self) -> io::Result<Answer> {
        let head = self.head()?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        if let Some(length) = value(&answer.head, "content-length") {
            answer.body.resize(length.parse().unwrap(), 0);
            self.stream.read_exact(&mut answer.body)?;
        } else if value(&answer.head, "transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk()? {
                answer.body.extend(chunk);
            }
        } else {
            self.stream.read_to_end(&mut answer.body)?;
        }
        Ok(answer)
    }

    /// The head of an answer.
    pub(super) fn head(&mut self) -> io::Result<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        Ok(String::from_utf8(head).unwrap())
    }

    /// `None` at the end of the body.
    pub(super) fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut size = Vec::new();
        while !size.ends_with(b"\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            size.push(byte[0]);
        }
        let size = usize::from_str_radix(String::from_utf8(size).unwrap().trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk)?;
        chunk.truncate(size);
        Ok((size > 0).then_some(chunk))
    }

    /// How many bytes one read gives.
    pub(super) fn read_some(&mut self) -> io::Result<usize> {
        self.stream.read(&mut [0; 65536])
    }

    /// Everything until the connection ends.
    pub(super) fn read_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }

    /// Nothing comes within this time.
    pub(super) fn is_silent_for(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let looked = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(Some(LIMIT)).unwrap();
        looked.is_err_and(|error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
    }

    pub(super) fn close(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

pub(super) fn value<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A request of the chat wire.
pub(super) fn chat(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}]}).to_string()
}
