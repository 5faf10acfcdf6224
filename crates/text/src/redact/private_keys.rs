//! Private keys in PEM armour: `-----BEGIN … PRIVATE KEY-----`, lines of base64, `-----END …-----`.
//!
//! The marks stay, the lines between them go. A line that cannot belong to a key ends the search, so that
//! program text that only mentions the first mark stays readable.

use super::{MARK, RedactionBuffer, run_length};

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const KEY: &[u8] = b"PRIVATE KEY";
/// A run of base64 at least this long, in bytes, counts as a line of a key.
const LINE: usize = 16;
/// The longest name between `BEGIN` and the closing dashes.
const NAME: usize = 64;
/// No key has more lines; what follows is something else.
const LINES: usize = 1_000;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PrivateKeyScanner {
    /// Lines of a key seen since its first mark; `None` outside a key.
    inside: Option<usize>,
    /// A line of base64 has been seen: short lines may follow.
    body: bool,
}

impl PrivateKeyScanner {
    /// The line with its part of a key blacked out; `None` if it has none.
    pub(super) fn redact_line(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if self.inside.is_none() && (!text.contains(&b'-') || find(text, 0, BEGIN).is_none()) {
            return None;
        }
        let mut rewrite = RedactionBuffer::new(text);
        let mut at = 0;
        loop {
            if self.inside.is_some() {
                let end = find(text, at, END).unwrap_or(text.len());
                self.redact_part(text, at, end, &mut rewrite);
                if end < text.len() {
                    *self = PrivateKeyScanner::default();
                    at = end + END.len();
                } else if self.inside.is_some() {
                    break;
                }
            }
            let Some(begin) = find(text, at, BEGIN) else { break };
            at = begin + BEGIN.len();
            let name =
                run_length(&text[..text.len().min(at + NAME)], at, |byte| byte != b'-' && byte != b'\n');
            let named = &text[at..at + name];
            if text[at + name..].starts_with(b"-----") && named.windows(KEY.len()).any(|window| window == KEY)
            {
                at += name + 5;
                *self = PrivateKeyScanner { inside: Some(0), body: false };
            }
        }
        rewrite.finish()
    }

    /// Blacks out what lies between the marks.
    fn redact_part(&mut self, text: &[u8], from: usize, to: usize, rewrite: &mut RedactionBuffer<'_>) {
        let part = &text[from..to];
        let start = from + run_length(part, 0, |byte| byte.is_ascii_whitespace());
        let length = text[start..to].trim_ascii_end().len();
        let trimmed = &text[start..start + length];
        let lines = self.inside.unwrap_or(0);
        self.inside = (lines < LINES).then_some(lines + 1);
        if trimmed.is_empty() || trimmed == MARK.as_bytes() || is_header(trimmed) {
            self.body |= !trimmed.is_empty() && trimmed == MARK.as_bytes();
            return;
        }
        let long = trimmed.iter().all(|byte| is_base64(*byte) || *byte == b'\\');
        if long && (self.body || trimmed.len() >= LINE) {
            self.body = true;
            rewrite.mark(start..start + length);
            return;
        }
        let mut at = start;
        let mut found = super::contains_mark(trimmed);
        while at < start + length {
            let length = run_length(&text[..to], at, is_base64);
            if length >= LINE {
                found = true;
                rewrite.mark(at..at + length);
            }
            at += length.max(1);
        }
        self.body |= found;
        // The rest of the first mark's line is often a quote or an escape; a later line without base64 ends
        // the key.
        if !found && lines > 0 {
            *self = PrivateKeyScanner::default();
        }
    }
}

/// The parts of a line, each mark at the beginning of one: a secret never reaches into a mark. `None`: it has none behind its
/// beginning.
pub(super) fn split_at_marks(text: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut parts, mut from) = (Vec::new(), 0);
    while let Some(at) = find_mark(text, from + 1) {
        parts.push(&text[from..at]);
        from = at;
    }
    if parts.is_empty() {
        return None;
    }
    parts.push(&text[from..]);
    Some(parts)
}

fn find_mark(text: &[u8], from: usize) -> Option<usize> {
    let mut places = (from..text.len()).filter(|at| text[*at] == b'-');
    places.find(|at| text[*at..].starts_with(BEGIN) || text[*at..].starts_with(END))
}

/// `Proc-Type: 4,ENCRYPTED`, `DEK-Info: …`
fn is_header(line: &[u8]) -> bool {
    [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:", b"Hash:"]
        .iter()
        .any(|header| line.starts_with(header))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text[from..].windows(what.len()).position(|window| window == what).map(|at| from + at)
}
