//! Secrets are blacked out before text is kept, logged or sent.
//!
//! What is known by its shape ([`shapes`]: keys of well-known services, tokens, web hooks), what stands
//! where secrets stand ([`settings`]: `password = …`, `Authorization: …`, `scheme://user:…@host`), private
//! keys in armour, also when their lines come one at a time ([`armour`]), and values that the caller
//! knows ([`Redactor::with_values`]).
//!
//! Holds: one pass, time linear in the text whatever it says; twice is once; bytes that are no secret come
//! out as they went in, so UTF-8 stays UTF-8. It errs on the side of leaving code readable: a secret
//! without shape, name or value known is not found.

mod assignments;
mod known_values;
mod private_keys;
mod shapes;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use known_values::SecretValues;
use private_keys::PrivateKeyScanner;

/// What stands in the place of a secret.
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

/// Blacks out the secrets of one line on its own. A private key that spans lines needs a [`Redactor`].
pub fn redact_line(bytes: &[u8]) -> Cow<'_, [u8]> {
    Redactor::default().redact_line(bytes)
}

/// Blacks out the secrets of a stream, line by line: it remembers being inside a private key.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    values: SecretValues,
    armour: PrivateKeyScanner,
}

impl Redactor {
    /// Also blacks out these very values (keys from the environment), wherever they stand. Values of fewer
    /// than 8 bytes are left: they are words, not secrets. Of a value of several lines
    /// each line counts.
    #[must_use]
    pub fn with_values(values: &[String]) -> Redactor {
        Redactor { values: SecretValues::new(values), armour: PrivateKeyScanner::default() }
    }

    /// One line of the stream, with or without its line ending.
    pub fn redact_line<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let known = self.values.redact(bytes);
        let keys = apply(known, |bytes| self.armour.redact_line(bytes));
        apply(keys, shapes::redact_shapes)
    }

    /// Several whole lines of the stream.
    pub fn redact_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let mut out: Option<Vec<u8>> = None;
        let mut done = 0;
        for piece in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
            match (self.redact_line(piece), &mut out) {
                (Cow::Borrowed(_), None) => {}
                (line, Some(out)) => out.extend_from_slice(&line),
                (line, None) => {
                    let mut start = text.as_bytes()[..done].to_vec();
                    start.extend_from_slice(&line);
                    out = Some(start);
                }
            }
            done += piece.len();
        }
        match out {
            None => Cow::Borrowed(text),
            // Only whole runs of ASCII or whole values go, so this is UTF-8 as before.
            Some(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }
}

/// Applies a step to what the step before made of the text.
fn apply<'a>(text: Cow<'a, [u8]>, step: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Cow<'a, [u8]> {
    match step(&text) {
        Some(changed) => Cow::Owned(changed),
        None => text,
    }
}

/// Text on its way out, with pieces of it replaced. Unchanged text is never copied.
struct RedactionBuffer<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    copied: usize,
}

impl<'a> RedactionBuffer<'a> {
    fn new(text: &'a [u8]) -> RedactionBuffer<'a> {
        RedactionBuffer { text, out: Vec::new(), copied: 0 }
    }

    /// Blacks out a range, which begins at or after the end of the one before.
    fn mark(&mut self, from: usize, to: usize) {
        self.out.extend_from_slice(&self.text[self.copied..from]);
        self.out.extend_from_slice(MARK.as_bytes());
        self.copied = to;
    }

    /// The text, if anything was blacked out.
    fn finish(mut self) -> Option<Vec<u8>> {
        if self.copied == 0 {
            return None;
        }
        self.out.extend_from_slice(&self.text[self.copied..]);
        Some(self.out)
    }
}

/// How long the run of bytes of a kind is, from `from` on.
fn run_length(text: &[u8], from: usize, kind: impl Fn(u8) -> bool) -> usize {
    text.get(from..).unwrap_or_default().iter().take_while(|byte| kind(**byte)).count()
}

fn contains_mark(text: &[u8]) -> bool {
    text.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}
