//! Secrets known by their shape: a prefix that says whose key it is, followed by enough of the right
//! characters. The list is data; the prefix stays readable.
//!
//! Every lookahead is bounded or remembers how far it got, so a line costs time linear in its length.

use std::ops::Range;

use super::assignments::AssignmentScanner;
use super::structures::structured_secret;
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
    /// Digits in hex, in lower case.
    Hex,
    /// Letters, digits, `-`, `_`, `+`, `/`, `=`.
    Base64,
}

const fn shape(least: usize, kind: SecretAlphabet, starts: &'static [&'static str]) -> SecretShape {
    SecretShape { starts, least, kind, exact: false }
}

/// Where one prefix begins another, the longer one comes first. Prefixes and lengths are those that the services publish
/// and that secret scanners look for (gitleaks, trufflehog, GitHub's secret scanning).
#[rustfmt::skip]
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
    shape(10, SecretAlphabet::Word, &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-", "xwfp-"]),
    shape(10, SecretAlphabet::Dotted, &["xoxe."]),
    // addresses that let anybody write
    shape(20, SecretAlphabet::Path, &[
        "hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/",
        "hooks.zapier.com/hooks/catch/", "outlook.office.com/webhook/", "webhook.office.com/webhookb2/",
    ]),
    shape(40, SecretAlphabet::Path, &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"]),
    // Stripe and other ways to be paid
    shape(10, SecretAlphabet::Word, &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"]),
    shape(20, SecretAlphabet::Word, &["whsec_", "sq0atp-", "sq0csp-", "shippo_live_", "shippo_test_", "duffel_live_",
        "duffel_test_", "FLWSECK_TEST-", "FLWSECK-", "access-production-", "access-development-", "access-sandbox-"]),
    shape(40, SecretAlphabet::Random, &["EZAK", "EZTK", "EAAA"]),
    // package registries and forges
    shape(30, SecretAlphabet::Random, &["npm_", "oy2", "cio"]),
    shape(30, SecretAlphabet::Word, &["pypi-", "rubygems_", "CLOJARS_"]),
    shape(20, SecretAlphabet::Word, &["dckr_pat_", "dckr_oat_", "bkua_", "CCIPAT_", "CFPAT-", "sgp_"]),
    shape(16, SecretAlphabet::Word, &["glcbt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-",
        "GR1348941"]),
    shape(28, SecretAlphabet::Random, &["ATBB", "ATTA", "AKCp"]),
    shape(30, SecretAlphabet::Word, &["ATATT3", "ATCTT3", "ATSTT3"]),
    // exactly so many digits in hex
    SecretShape { exact: true, ..shape(32, SecretAlphabet::Hex, &["dapi", "key-", "pubkey-", "SK", "shpat_", "shpca_",
        "shppa_", "shpss_"]) },
    SecretShape { exact: true, ..shape(40, SecretAlphabet::Hex, &["pul-", "sbp_", "squ_", "sqp_", "sqa_"]) },
    SecretShape { exact: true, ..shape(64, SecretAlphabet::Hex, &["dop_v1_", "doo_v1_", "dor_v1_", "sntryu_", "xkeysib-",
        "xsmtpsib-"]) },
    // monitoring
    shape(30, SecretAlphabet::Base64, &["sntrys_eyJ"]),
    shape(20, SecretAlphabet::Word, &["NRAK-", "NRII-", "NRJS-", "NRAA-", "glsa_", "phx_", "lsv2_pt_", "lsv2_sk_"]),
    shape(30, SecretAlphabet::Base64, &["glc_eyJ", "eyJrIjoi", "ops_eyJ"]),
    shape(40, SecretAlphabet::Dotted, &["dt0c01.", "SG.", "sk.eyJ", "sl.u."]),
    // notes, design, mail, tickets
    shape(40, SecretAlphabet::Random, &["secret_", "ntn_"]),
    shape(20, SecretAlphabet::Word, &["figd_", "lin_api_", "PMAK-", "tfp_", "rdme_"]),
    // clouds
    shape(20, SecretAlphabet::Word, &["hvs.", "hvb.", "hvr.", "tskey-", "HRKU-", "nfp_", "pscale_pw_", "pscale_tkn_",
        "pscale_oauth_", "sb_secret_", "vercel_blob_rw_", "napi_", "sha256~", "nvapi-", "pplx-", "pcsk_"]),
    shape(20, SecretAlphabet::Word, &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."]),
    shape(30, SecretAlphabet::Random, &["AQVN", "fo1_", "pnu_", "r8_", "rnd_", "aio_"]),
    SecretShape { exact: true, ..shape(20, SecretAlphabet::Random, &["LTAI"]) },
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
        let structured = || structured_secret(text, at).filter(|_| begins(text, at));
        let found =
            shape_at(text, at).or_else(|| token_at(text, at, &mut no_token_before)).or_else(structured);
        if let Some(found) = found {
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
            SecretAlphabet::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            SecretAlphabet::Base64 => is_word(byte) || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
