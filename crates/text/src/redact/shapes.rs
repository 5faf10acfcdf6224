//! Secrets known by their shape: a prefix that says whose key it is, followed by enough of the right
//! characters. The list is data; the prefix stays readable.
//!
//! Every lookahead is bounded or remembers how far it got, so a line costs time linear in its length.

use super::assignments::{self, SecretRange};
use super::{RedactionBuffer, run_length};

struct SecretShape {
    /// The prefix, which stays readable.
    start: &'static str,
    /// How many characters must follow at least.
    least: usize,
    kind: SecretAlphabet,
    /// Exactly `least` characters must follow, no more.
    exact: bool,
}

#[derive(Clone, Copy)]
enum SecretAlphabet {
    /// Letters, digits, `-` and `_`.
    Word,
    /// Letters and digits, with a digit among the first [`SecretShape::least`], then as
    /// [`SecretAlphabet::Word`].
    Random,
    /// Capital letters and digits.
    Capitals,
    /// Letters, digits, `-`, `_` and `.`.
    Dotted,
    /// Letters, digits, `-`, `_` and `/`.
    Path,
}

const fn shape(start: &'static str, least: usize, kind: SecretAlphabet) -> SecretShape {
    SecretShape { start, least, kind, exact: false }
}

const fn exactly(start: &'static str, least: usize, kind: SecretAlphabet) -> SecretShape {
    SecretShape { exact: true, ..shape(start, least, kind) }
}

/// Where one prefix begins another, the longer one comes first.
#[rustfmt::skip]
const SHAPES: &[SecretShape] = &[
    // Anthropic, OpenAI, OpenRouter and others with keys like theirs
    shape("sk-ant-", 16, SecretAlphabet::Word),
    shape("sk-proj-", 16, SecretAlphabet::Word),
    shape("sk-svcacct-", 16, SecretAlphabet::Word),
    shape("sk-admin-", 16, SecretAlphabet::Word),
    shape("sk-or-", 16, SecretAlphabet::Word),
    shape("sk-", 20, SecretAlphabet::Random),
    shape("gsk_", 20, SecretAlphabet::Random),
    shape("xai-", 20, SecretAlphabet::Random),
    shape("hf_", 30, SecretAlphabet::Random),
    // GitHub
    shape("github_pat_", 20, SecretAlphabet::Word),
    shape("ghp_", 20, SecretAlphabet::Word),
    shape("gho_", 20, SecretAlphabet::Word),
    shape("ghu_", 20, SecretAlphabet::Word),
    shape("ghs_", 20, SecretAlphabet::Dotted),
    shape("ghr_", 20, SecretAlphabet::Word),
    // GitLab
    shape("glpat-", 16, SecretAlphabet::Dotted),
    shape("gldt-", 16, SecretAlphabet::Word),
    shape("glrt-", 16, SecretAlphabet::Word),
    shape("glptt-", 16, SecretAlphabet::Word),
    // AWS
    exactly("AKIA", 16, SecretAlphabet::Capitals),
    exactly("ASIA", 16, SecretAlphabet::Capitals),
    // Google
    shape("AIza", 30, SecretAlphabet::Word),
    shape("ya29.", 20, SecretAlphabet::Dotted),
    shape("GOCSPX-", 20, SecretAlphabet::Word),
    // Slack
    shape("xoxb-", 10, SecretAlphabet::Word),
    shape("xoxp-", 10, SecretAlphabet::Word),
    shape("xoxa-", 10, SecretAlphabet::Word),
    shape("xoxr-", 10, SecretAlphabet::Word),
    shape("xoxs-", 10, SecretAlphabet::Word),
    shape("xoxe-", 10, SecretAlphabet::Word),
    shape("xoxe.", 10, SecretAlphabet::Dotted),
    shape("xapp-", 10, SecretAlphabet::Word),
    shape("hooks.slack.com/services/", 20, SecretAlphabet::Path),
    shape("hooks.slack.com/workflows/", 20, SecretAlphabet::Path),
    shape("discord.com/api/webhooks/", 40, SecretAlphabet::Path),
    // Stripe
    shape("sk_live_", 10, SecretAlphabet::Word),
    shape("rk_live_", 10, SecretAlphabet::Word),
    shape("sk_test_", 10, SecretAlphabet::Word),
    shape("rk_test_", 10, SecretAlphabet::Word),
    shape("whsec_", 20, SecretAlphabet::Word),
    // package registries
    shape("npm_", 30, SecretAlphabet::Random),
    shape("pypi-", 30, SecretAlphabet::Word),
    shape("dckr_pat_", 20, SecretAlphabet::Word),
    // others
    shape("SG.", 40, SecretAlphabet::Dotted),
    shape("shpat_", 20, SecretAlphabet::Word),
    shape("dop_v1_", 30, SecretAlphabet::Word),
    shape("hvs.", 20, SecretAlphabet::Word),
    shape("ATATT3", 30, SecretAlphabet::Word),
    shape("lin_api_", 20, SecretAlphabet::Word),
    shape("AGE-SECRET-KEY-1", 40, SecretAlphabet::Capitals),
];

/// For each byte, as bits, which shapes have it first, and which second: two lookups rule out nearly every
/// word.
const FIRST: [u64; 256] = with_byte(0);
const SECOND: [u64; 256] = with_byte(1);

const fn with_byte(place: usize) -> [u64; 256] {
    assert!(SHAPES.len() <= 64, "a bit for each");
    let mut shapes = [0; 256];
    let mut at = 0;
    while at < SHAPES.len() {
        shapes[SHAPES[at].start.as_bytes()[place] as usize] |= 1 << at;
        at += 1;
    }
    shapes
}

/// Shortest part of a JSON web token, in characters.
const TOKEN_PART: usize = 8;

/// The line without its secrets; `None` if it has none.
pub(super) fn redact_shapes(text: &[u8]) -> Option<Vec<u8>> {
    let mut rewrite = RedactionBuffer::new(text);
    let mut settings = assignments::AssignmentScanner::default();
    let mut no_token_before = 0;
    let mut at = 0;
    // An assignment is seen at its name; its value comes later, and may have a shape that says more.
    let mut value: Option<SecretRange> = None;
    while at < text.len() {
        if let Some(found) = value.take_if(|found| found.from <= at) {
            match shape_at(text, at).or_else(|| token_at(text, at, &mut no_token_before)) {
                Some(secret) if secret.from < found.to => {
                    at = secret.to.max(found.to);
                    rewrite.mark(secret.from, at);
                }
                _ if found.to > at => {
                    rewrite.mark(at, found.to);
                    at = found.to;
                }
                _ => {}
            }
            continue;
        }
        if let Some(found) = shape_at(text, at).or_else(|| token_at(text, at, &mut no_token_before)) {
            rewrite.mark(found.from, found.to);
            at = found.to;
            continue;
        }
        if value.is_none() {
            value = settings.secret_at(text, at);
        }
        at += 1;
        if value.is_none() {
            at = past_word(text, at, settings.name_end());
        }
    }
    rewrite.finish()
}

/// Where the next secret can begin: not inside a word, which ends at `name_end` at the latest.
fn past_word(text: &[u8], at: usize, name_end: usize) -> usize {
    if at >= name_end || begins(text, at) {
        return at;
    }
    at + run_length(&text[..name_end], at, |byte| byte.is_ascii_alphanumeric())
}

/// Whether a key may begin here: not inside a word. `n` after a backslash is a line end.
fn begins(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    !before.is_ascii_alphanumeric()
        || (matches!(before, b'n' | b'r' | b't') && at >= 2 && text[at - 2] == b'\\')
}

fn shape_at(text: &[u8], at: usize) -> Option<SecretRange> {
    let rest = &text[at..];
    let mut left = FIRST[usize::from(*rest.first()?)] & SECOND[usize::from(*rest.get(1)?)];
    if left == 0 || !begins(text, at) {
        return None;
    }
    let mut alike = std::iter::from_fn(|| {
        let next = SHAPES.get(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(next)
    });
    alike.find_map(|shape| {
        if !rest.starts_with(shape.start.as_bytes()) {
            return None;
        }
        let from = at + shape.start.len();
        let start = text.get(from..from + shape.least)?;
        if !start.iter().all(|byte| shape.kind.begins_with(*byte)) {
            return None;
        }
        if matches!(shape.kind, SecretAlphabet::Random) && !start.iter().any(u8::is_ascii_digit) {
            return None;
        }
        if shape.exact {
            let goes_on = text.get(from + shape.least).is_some_and(u8::is_ascii_alphanumeric);
            return (!goes_on).then_some(SecretRange { from, to: from + shape.least });
        }
        let length = run_length(text, from, |byte| shape.kind.goes_on_with(byte));
        Some(SecretRange { from, to: from + length })
    })
}

/// `eyJ….….…`. A run that turned out not to be a token is not read again.
fn token_at(text: &[u8], at: usize, none_before: &mut usize) -> Option<SecretRange> {
    if at < *none_before || !text[at..].starts_with(b"eyJ") || !begins(text, at) {
        return None;
    }
    let mut end = at + run_length(text, at, is_word);
    let first = end - at;
    *none_before = end;
    for part in 0..2 {
        if text.get(end) != Some(&b'.') {
            return None;
        }
        let length = run_length(text, end + 1, is_word);
        if part == 0 && length < TOKEN_PART {
            return None;
        }
        end += 1 + length;
    }
    (first >= TOKEN_PART).then_some(SecretRange { from: at + 3, to: end })
}

impl SecretAlphabet {
    fn begins_with(self, byte: u8) -> bool {
        match self {
            SecretAlphabet::Random => byte.is_ascii_alphanumeric(),
            _ => self.goes_on_with(byte),
        }
    }

    fn goes_on_with(self, byte: u8) -> bool {
        match self {
            SecretAlphabet::Word | SecretAlphabet::Random => is_word(byte),
            SecretAlphabet::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            SecretAlphabet::Dotted => is_word(byte) || byte == b'.',
            SecretAlphabet::Path => is_word(byte) || byte == b'/',
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
