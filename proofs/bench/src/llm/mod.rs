//! Models: what a hundred thousand streamed deltas cost on a processor, over every wire, from memory and
//! over a real socket. Each delta is a few letters in its own frame, which is the most work for the fewest
//! letters.

mod decoding;
mod socket;
mod streams;

use std::collections::BTreeMap;

use anyhow::bail;
use relaycode_llm::Model;
use relaycode_llm::models::model::{ModelPrice, ServerCompat};

use super::measure::BenchReport;

/// Deltas of an answer.
const DELTAS: usize = 100_000;
/// Milliseconds of processor time for them.
const BELOW: f64 = 1_000.0;
const RUNS: usize = 5;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    decoding::measure(report)?;
    socket::measure(report)
}

/// The part that runs in a separate process.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["stream", wire, url, interval] => socket::stream(wire, url, interval.parse()?),
        _ => bail!("`llm stream WIRE URL MILLISECONDS` is what a child can do"),
    }
}

/// A model that speaks this wire at `url`.
fn model(wire: &str, url: &str) -> Model {
    Model {
        id: "m1".into(),
        provider: "bench".into(),
        name: "Bench".into(),
        api: wire.into(),
        base_url: url.into(),
        headers: BTreeMap::new(),
        reasoning: false,
        images: false,
        price: ModelPrice::default(),
        context_window: 1_000_000,
        context_promotion_target: None,
        max_tokens: 1_000_000,
        compat: ServerCompat::default(),
    }
}
