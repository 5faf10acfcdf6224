//! Blacking out secrets: every operation of an answer goes through it on its way into the record, so its time
//! must grow with the text and no faster, whatever the text says.

use std::time::Duration;

use relaycode_text::redact::redact;

use crate::measure::{Measured, plain_pass};
use crate::samples;
use relaycode_testkit::clock;

/// Sizes in MiB; the last is the longest answer that is read.
const SIZES: [usize; 3] = [1, 2, 4];
/// Milliseconds to stay below for the longest.
const BELOW: f64 = 50.0;
/// From 1 to 4 MiB the time may grow so many times; four is linear, the rest is noise.
const GROWTH_BELOW: f64 = 6.5;
/// Runs per size; the fastest counts for growth, the median for the bound.
const RUNS: usize = 9;

/// A text of so many bytes.
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

/// Measures every kind at every size.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) {
    for (kind, make) in KINDS {
        let name = format!("door, redaction, {kind}");
        if !wanted(&name) {
            continue;
        }
        let mut fastest = Vec::new();
        for size in SIZES {
            let text = make(size << 20);
            let mut taken: Vec<_> = (0..RUNS).map(|_| processor(&text)).collect();
            taken.sort_unstable();
            fastest.extend(taken.first().copied());
            if SIZES.last() == Some(&size) {
                let median = taken.get(RUNS / 2).copied().unwrap_or_default().as_secs_f64() * 1e3;
                let mut measured = Measured::single(format!("{name}, {size} MiB"), "ms", median, Some(BELOW));
                measured.plain = Some(plain_pass(text.as_bytes()));
                keep(measured);
            }
        }
        if let (Some(first), Some(last)) = (fastest.first(), fastest.last()) {
            let growth = last.as_secs_f64() / first.as_secs_f64().max(1e-4);
            keep(Measured::single(format!("{name}, growth 1 to 4 MiB"), "×", growth, Some(GROWTH_BELOW)));
        }
    }
}

/// The processor time of one pass.
fn processor(text: &str) -> Duration {
    let start = clock::processor_time();
    std::hint::black_box(redact(text));
    clock::processor_time().saturating_sub(start)
}
