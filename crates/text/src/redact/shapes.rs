//! Secrets known by their shape: a prefix that says whose key it is, followed by enough of the right
//! characters. The list is data; the prefix stays readable.
//!
//! Every lookahead is bounded or remembers how far it got, so a line costs time linear in its length.

use std::ops::Range;

use super::assignments::AssignmentScanner;
use super::{RedactionBuffer, run_length};

struct SecretShape {
    /// The prefixes, which stay readable.
    starts: &'static [&'static str],
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

const fn shape(least: usize, kind: SecretAlphabet, starts: &'static [&'static str]) -> SecretShape {
    SecretShape { starts, least, kind, exact: false }
}

/// Where one prefix begins another, the longer one comes first.
const SHAPES: &[SecretShape] = &[
    // Anthropic, OpenAI, OpenRouter and others with keys like theirs
    shape(16, SecretAlphabet::Word, &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"]),
    shape(20, SecretAlphabet::Random, &["sk-", "gsk_", "xai-"]),
    shape(30, SecretAlphabet::Random, &["hf_"]),
    // GitHub
    shape(20, SecretAlphabet::Word, &["github_pat_", "ghp_", "gho_", "ghu_", "ghr_"]),
    shape(20, SecretAlphabet::Dotted, &["ghs_"]),
    // GitLab
    shape(16, SecretAlphabet::Dotted, &["glpat-"]),
    shape(16, SecretAlphabet::Word, &["gldt-", "glrt-", "glptt-"]),
    // AWS
    SecretShape { exact: true, ..shape(16, SecretAlphabet::Capitals, &["AKIA", "ASIA"]) },
    // Google
    shape(30, SecretAlphabet::Word, &["AIza"]),
    shape(20, SecretAlphabet::Dotted, &["ya29."]),
    shape(20, SecretAlphabet::Word, &["GOCSPX-"]),
    // Slack and Discord
    shape(10, SecretAlphabet::Word, &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"]),
    shape(10, SecretAlphabet::Dotted, &["xoxe."]),
    shape(20, SecretAlphabet::Path, &["hooks.slack.com/services/", "hooks.slack.com/workflows/"]),
    shape(40, SecretAlphabet::Path, &["discord.com/api/webhooks/"]),
    // Stripe
    shape(10, SecretAlphabet::Word, &["sk_live_", "rk_live_", "sk_test_", "rk_test_"]),
    shape(20, SecretAlphabet::Word, &["whsec_"]),
    // package registries
    shape(30, SecretAlphabet::Random, &["npm_"]),
    shape(30, SecretAlphabet::Word, &["pypi-"]),
    shape(20, SecretAlphabet::Word, &["dckr_pat_"]),
    // others
    shape(40, SecretAlphabet::Dotted, &["SG."]),
    shape(20, SecretAlphabet::Word, &["shpat_", "hvs.", "lin_api_"]),
    shape(30, SecretAlphabet::Word, &["dop_v1_", "ATATT3"]),
    shape(40, SecretAlphabet::Capitals, &["AGE-SECRET-KEY-1"]),
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
        let mut start = 0;
        while start < SHAPES[at].starts.len() {
            shapes[SHAPES[at].starts[start].as_bytes()[place] as usize] |= 1 << at;
            start += 1;
        }
        at += 1;
    }
    shapes
}

/// Shortest part of a JSON web token, in characters.
const TOKEN_PART: usize = 8;

/// The line without its secrets; `None` if it has none.
pub(super) fn redact_shapes(text: &[u8]) -> Option<Vec<u8>> {
    let mut rewrite = RedactionBuffer::new(text);
    let mut settings = AssignmentScanner::default();
    let mut no_token_before = 0;
    let mut at = 0;
    // An assignment is seen at its name; its value comes later, and may have a shape that says more.
    let mut value: Option<Range<usize>> = None;
    while at < text.len() {
        if let Some(found) = value.take_if(|found| found.start <= at) {
            match shape_at(text, at).or_else(|| token_at(text, at, &mut no_token_before)) {
                Some(secret) if secret.start < found.end => {
                    at = secret.end.max(found.end);
                    rewrite.mark(secret.start..at);
                }
                _ if found.end > at => {
                    rewrite.mark(at..found.end);
                    at = found.end;
                }
                _ => {}
            }
            continue;
        }
        if let Some(found) = shape_at(text, at).or_else(|| token_at(text, at, &mut no_token_before)) {
            at = found.end;
            rewrite.mark(found);
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

fn shape_at(text: &[u8], at: usize) -> Option<Range<usize>> {
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
        let prefix = shape.starts.iter().find(|start| rest.starts_with(start.as_bytes()))?;
        let from = at + prefix.len();
        let start = text.get(from..from + shape.least)?;
        let fits = match shape.kind {
            SecretAlphabet::Random => {
                start.iter().all(u8::is_ascii_alphanumeric) && start.iter().any(u8::is_ascii_digit)
            }
            kind => start.iter().all(|byte| kind.accepts(*byte)),
        };
        if !fits {
            return None;
        }
        if shape.exact {
            let goes_on = text.get(from + shape.least).is_some_and(u8::is_ascii_alphanumeric);
            return (!goes_on).then_some(from..from + shape.least);
        }
        Some(from..from + run_length(text, from, |byte| shape.kind.accepts(byte)))
    })
}

/// `eyJ….….…`. A run that turned out not to be a token is not read again.
fn token_at(text: &[u8], at: usize, none_before: &mut usize) -> Option<Range<usize>> {
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
    (first >= TOKEN_PART).then_some(at + 3..end)
}

impl SecretAlphabet {
    fn accepts(self, byte: u8) -> bool {
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
