//! Blacks out secrets before text is kept, logged or sent.
//!
//! Found are: secrets known by their shape (`shapes`: keys of well-known services, tokens, web hooks; `structures`: those
//! without a prefix), by where they stand (`assignments`: `password = …`, `Authorization: …`, `scheme://user:…@host`), private
//! keys in PEM armour, also when their lines come one at a time (`private_keys`), and values that the
//! caller knows ([`Redactor::with_values`]).
//!
//! Invariants: one pass, in time linear in the text whatever it says; redacting twice is redacting once;
//! bytes that are not part of a secret come out unchanged, so UTF-8 stays UTF-8. When in doubt code stays
//! readable: a secret without a known shape, name or value is not found.

mod assignments;
mod known_values;
mod private_keys;
mod shapes;
mod structures;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use known_values::SecretValues;
use private_keys::PrivateKeyScanner;

/// Replaces a secret.
pub const MARK: &str = "[redacted]";

/// Blacks out the secrets of a text.
///
/// ```
/// use relaycode_text::redact::redact;
///
/// assert_eq!(redact("key AKIAIOSFODNN7EXAMPLE"), "key AKIA[redacted]");
/// assert_eq!(redact("token = parse(input)"), "token = parse(input)");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    Redactor::default().redact_text(text)
}

/// Blacks out the secrets of a single line. A private key that spans lines needs a [`Redactor`].
pub fn redact_line(bytes: &[u8]) -> Cow<'_, [u8]> {
    Redactor::default().redact_line(bytes)
}

/// Looks at a line with secrets.
const MAX_PASSES: usize = 4;

/// Blacks out the secrets of a stream, line by line; remembers whether it is inside a private key.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    values: SecretValues,
    armour: PrivateKeyScanner,
}

impl Redactor {
    /// Also blacks out these exact values (keys from the environment) anywhere. Values of fewer than 8
    /// bytes are ignored: they are words, not secrets. In a value of several lines each line counts.
    #[must_use]
    pub fn with_values(values: &[String]) -> Redactor {
        Redactor { values: SecretValues::new(values), ..Redactor::default() }
    }

    /// One line of the stream, with or without its line ending.
    pub fn redact_line<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let before = self.armour;
        let mut text = Cow::Borrowed(bytes);
        // What was blacked out may be all that kept its neighbour from being known, or it belongs to a key by what it is now.
        for _ in 0..MAX_PASSES {
            self.armour = before;
            let Some(changed) = self.redact_once(&text) else { break };
            text = Cow::Owned(changed);
        }
        text
    }

    /// `None`: there is nothing to black out.
    fn redact_once(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let known = self.values.redact(text);
        let keys = apply(known, |bytes| self.armour.redact_line(bytes));
        match apply(keys, redact_parts) {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => (changed != text).then_some(changed),
        }
    }

    pub fn redact_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let pieces = text.as_bytes().split_inclusive(|byte| *byte == b'\n');
        let lines: Vec<Cow<'_, [u8]>> = pieces.map(|piece| self.redact_line(piece)).collect();
        if lines.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
            return Cow::Borrowed(text);
        }
        // Only whole runs of ASCII or whole values are replaced, so this is still UTF-8.
        Cow::Owned(match String::from_utf8(lines.concat()) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }
}

/// Blacks out what has a shape, or stands where secrets stand; `None`: nothing is.
fn redact_parts(text: &[u8]) -> Option<Vec<u8>> {
    let Some(parts) = private_keys::split_at_marks(text) else { return shapes::redact_shapes(text) };
    let changed: Vec<_> = parts.iter().map(|part| shapes::redact_shapes(part)).collect();
    changed.iter().any(Option::is_some).then(|| {
        let all = parts.iter().zip(&changed);
        all.flat_map(|(part, changed)| changed.as_deref().unwrap_or(part)).copied().collect()
    })
}

/// Applies `step` to the result of the step before.
fn apply<'a>(text: Cow<'a, [u8]>, step: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Cow<'a, [u8]> {
    match step(&text) {
        Some(changed) => Cow::Owned(changed),
        None => text,
    }
}

/// A text with some ranges replaced. Unchanged text is never copied.
struct RedactionBuffer<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    copied: usize,
}

impl<'a> RedactionBuffer<'a> {
    fn new(text: &'a [u8]) -> RedactionBuffer<'a> {
        RedactionBuffer { text, out: Vec::new(), copied: 0 }
    }

    /// Blacks out a range, which must begin at or after the end of the previous one.
    fn mark(&mut self, range: Range<usize>) {
        self.out.extend_from_slice(&self.text[self.copied..range.start]);
        self.out.extend_from_slice(MARK.as_bytes());
        self.copied = range.end;
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.copied == 0 {
            return None;
        }
        self.out.extend_from_slice(&self.text[self.copied..]);
        Some(self.out)
    }
}

/// Length of the run of bytes that `kind` accepts, starting at `from`.
fn run_length(text: &[u8], from: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(from..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

fn contains_mark(text: &[u8]) -> bool {
    text.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}
