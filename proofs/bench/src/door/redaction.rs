//! Redaction: every operation of an answer goes through it on its way into the record, so its time must
//! grow with the text and no faster, whatever the text says.

use std::time::Duration;

use relaycode_text::redact::redact;

use crate::measure::{BenchReport, Measured, milliseconds, plain_pass};
use crate::samples;
use relaycode_testkit::clock;

/// In MiB; the last is the longest answer that is read.
const SIZES: [usize; 3] = [1, 2, 4];
/// Limit in milliseconds for the longest.
const BELOW: f64 = 50.0;
/// Allowed growth from 1 to 4 MiB; four is linear, the rest is noise.
const GROWTH_BELOW: f64 = 6.5;
/// Runs per size; the fastest counts for growth, the median for the limit.
const RUNS: usize = 9;

/// A text of this many bytes.
type Make = fn(usize) -> String;

const KINDS: &[(&str, Make)] = &[
    ("code", |bytes| samples::code(bytes)),
    ("one long line of words", |bytes| "word ".repeat(bytes / 5)),
    ("one long name", |bytes| "a".repeat(bytes)),
    ("settings", |bytes| "token = \"aB3dE5fG7hJ9kL1m\"\n".repeat(bytes / 27)),
    ("settings in one line", |bytes| "token=\"a password='b api_key=`c ".repeat(bytes / 32)),
    ("unclosed quotes", |bytes| "token=\"a".repeat(bytes / 8)),
    ("addresses", |bytes| "a://b:c".repeat(bytes / 7)),
    ("beginnings of keys", |bytes| " sk-proj- ghp_ AKIA".repeat(bytes / 19)),
    ("beginnings of tokens", |bytes| "eyJa-eyJ.".repeat(bytes / 9)),
    ("armour", |bytes| "-----BEGIN PRIVATE KEY-----".repeat(bytes / 27)),
    ("armour, many ends", |bytes| "-----BEGIN PRIVATE KEY----------END ".repeat(bytes / 36)),
];

/// Every kind at every size.
pub(super) fn measure(report: &mut BenchReport) {
    for (kind, make) in KINDS {
        let name = format!("door, redaction, {kind}");
        if !report.wants(&name) {
            continue;
        }
        let mut fastest = Vec::new();
        for size in SIZES {
            let text = make(size << 20);
            let mut taken: Vec<_> = (0..RUNS).map(|_| processor(&text)).collect();
            taken.sort_unstable();
            fastest.extend(taken.first().copied());
            if SIZES.last() == Some(&size) {
                let median = milliseconds(taken.get(RUNS / 2).copied().unwrap_or_default());
                report.add(
                    Measured::single(format!("{name}, {size} MiB"), "ms", median)
                        .below(BELOW)
                        .plain(plain_pass(text.as_bytes())),
                );
            }
        }
        report.add_growth(format!("{name}, growth 1 to 4 MiB"), &fastest, GROWTH_BELOW);
    }
}

/// The processor time of one pass.
fn processor(text: &str) -> Duration {
    let start = clock::processor_time();
    std::hint::black_box(redact(text));
    clock::processor_time().saturating_sub(start)
}
