//! D-Bus messages, encoded and parsed: the few types that a notification needs.
//!
//! Little-endian only. Every value is aligned to its own size, counted from the beginning of the message;
//! the body begins at a multiple of eight, so it is written as if it began at zero. Incoming messages are
//! foreign: nothing is trusted, and what does not fit is `None`.

/// Bytes that tell how long the rest is.
pub(super) const PREFIX: usize = 16;
/// Longest message that is read, in bytes.
pub(super) const MAX_MESSAGE: usize = 64 * 1024;

const CALL: u8 = 1;
/// Message type: answer to a call.
pub(super) const RETURN: u8 = 2;
/// Message type: error answer to a call.
pub(super) const ERROR: u8 = 3;

/// A method call.
pub(super) struct BusCall<'a> {
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'a str,
    pub member: &'a str,
    /// The types of the values in the body.
    pub signature: &'a str,
    pub body: BusWriter,
}

impl BusCall<'_> {
    /// The whole message.
    pub(super) fn encode(&self, serial: u32) -> Vec<u8> {
        let mut out = BusWriter::default();
        out.bytes.extend([b'l', CALL, 0, 1]);
        out.u32(length(self.body.bytes.len()));
        out.u32(serial);
        out.array(8, |out| {
            for (code, kind, value) in [
                (1, "o", self.path),
                (2, "s", self.interface),
                (3, "s", self.member),
                (6, "s", self.destination),
                (8, "g", self.signature),
            ] {
                out.align(8);
                out.byte(code);
                out.signature(kind);
                if kind == "g" { out.signature(value) } else { out.string(value) }
            }
        });
        out.align(8);
        out.bytes.extend(&self.body.bytes);
        out.bytes
    }
}

/// Writes aligned values.
#[derive(Debug, Default)]
pub(super) struct BusWriter {
    bytes: Vec<u8>,
}

impl BusWriter {
    pub(super) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.align(4);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.align(4);
        self.bytes.extend(value.to_le_bytes());
    }

    /// A string or an object path: length, bytes, a zero.
    pub(super) fn string(&mut self, value: &str) {
        self.u32(length(value.len()));
        self.bytes.extend(value.as_bytes());
        self.byte(0);
    }

    /// A type signature: a string with a length of one byte. Ours are all short.
    pub(super) fn signature(&mut self, value: &str) {
        self.byte(u8::try_from(value.len()).unwrap_or(u8::MAX));
        self.bytes.extend(value.as_bytes());
        self.byte(0);
    }

    /// Its length counts neither itself nor the padding before the first element.
    pub(super) fn array(&mut self, element: usize, fill: impl FnOnce(&mut BusWriter)) {
        self.u32(0);
        let at = self.bytes.len() - 4;
        self.align(element);
        let start = self.bytes.len();
        fill(self);
        let filled = length(self.bytes.len() - start);
        self.bytes[at..at + 4].copy_from_slice(&filled.to_le_bytes());
    }

    pub(super) fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }
}

/// Our texts are far shorter; the bus would refuse a wrong length.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Bytes of a message after its first [`PREFIX`] bytes.
pub(super) fn remaining_length(prefix: &[u8; PREFIX]) -> Option<usize> {
    let mut read = BusReader { bytes: prefix, at: 4 };
    let (body, _serial, fields) = (read.u32()?, read.u32()?, read.u32()?);
    let (fields, body) = (usize::try_from(fields).ok()?, usize::try_from(body).ok()?);
    let rest = fields.checked_next_multiple_of(8)?.checked_add(body)?;
    (prefix[0] == b'l' && prefix[3] == 1 && PREFIX + rest <= MAX_MESSAGE).then_some(rest)
}

#[derive(Debug, Default)]
pub(super) struct BusMessage {
    pub kind: u8,
    /// The serial of the call that this answers.
    pub reply_serial: Option<u32>,
    pub sender: Option<String>,
    pub error: Option<String>,
    pub signature: String,
    bytes: Vec<u8>,
    body: usize,
}

impl BusMessage {
    /// `None` if it is malformed.
    pub(super) fn parse(bytes: Vec<u8>) -> Option<BusMessage> {
        let mut message = BusMessage { kind: *bytes.get(1)?, ..BusMessage::default() };
        let mut read = BusReader { bytes: &bytes, at: 12 };
        let end = usize::try_from(read.u32()?).ok()?.checked_add(PREFIX)?;
        while read.at < end {
            read.align(8)?;
            match (read.byte()?, read.signature()?.as_str()) {
                (4, "s") => message.error = Some(read.string()?),
                (5, "u") => message.reply_serial = Some(read.u32()?),
                (7, "s") => message.sender = Some(read.string()?),
                (8, "g") => message.signature = read.signature()?,
                (_, "s" | "o") => drop(read.string()?),
                (_, "g") => drop(read.signature()?),
                (_, "u") => drop(read.u32()?),
                _ => return None,
            }
        }
        read.align(8)?;
        message.body = read.at;
        message.bytes = bytes;
        Some(message)
    }

    /// The values of the body, if they are of the types `signature`.
    pub(super) fn body(&self, signature: &str) -> Option<BusReader<'_>> {
        (self.signature == signature).then_some(BusReader { bytes: &self.bytes, at: self.body })
    }
}

/// Reads the values of a message one by one.
pub(super) struct BusReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BusReader<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.align(4)?;
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(super) fn string(&mut self) -> Option<String> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.text(length)
    }

    fn signature(&mut self) -> Option<String> {
        let length = usize::from(self.byte()?);
        self.text(length)
    }

    /// An array of strings.
    pub(super) fn strings(&mut self) -> Option<Vec<String>> {
        let length = usize::try_from(self.u32()?).ok()?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let mut strings = Vec::new();
        while self.at < end {
            strings.push(self.string()?);
        }
        Some(strings)
    }

    fn text(&mut self, length: usize) -> Option<String> {
        let text = std::str::from_utf8(self.take(length)?).ok()?.to_owned();
        (self.byte()? == 0).then_some(text)
    }

    fn align(&mut self, to: usize) -> Option<()> {
        self.at = self.at.checked_next_multiple_of(to).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
