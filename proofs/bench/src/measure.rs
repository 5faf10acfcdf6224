//! One measurement: a distribution of times, the plain pass over the same bytes that it is compared
//! with, and the target.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Runs per measurement at least.
pub(super) const RUNS: usize = 200;

/// A measured thing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measured {
    /// What was measured.
    pub name: String,
    /// What the values are, `ms`, `MB`, `×`.
    pub unit: &'static str,
    /// The middle value.
    pub median: f64,
    /// The value that one run in a hundred exceeds, or the only value there is.
    pub p99: f64,
    /// A plain pass over the same data in the same run, in the same unit.
    pub plain: Option<f64>,
    /// The value to stay below; `None`: only shown.
    pub below: Option<f64>,
    /// What came of it, for a person.
    pub note: String,
}

impl Measured {
    /// From times, one per run.
    pub(super) fn from_times(name: String, mut times: Vec<Duration>, below: Option<f64>) -> Measured {
        times.sort_unstable();
        let at = |share: usize| {
            let index = (times.len() * share).div_ceil(100).saturating_sub(1);
            times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Measured { name, unit: "ms", median: at(50), p99: at(99), plain: None, below, note: String::new() }
    }

    /// A single value.
    pub(super) fn single(name: String, unit: &'static str, value: f64, below: Option<f64>) -> Measured {
        Measured { name, unit, median: value, p99: value, plain: None, below, note: String::new() }
    }

    /// Whether the target is met.
    pub(super) fn met(&self) -> bool {
        self.below.is_none_or(|below| self.p99 < below)
    }

    pub(super) fn json(&self) -> String {
        // Plain numbers and texts always serialise; an empty line would be visible anyway.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn heading() -> String {
        format!("{:<44} {:>9} {:>9} {:>9}  {:<4} target", "measurement", "median", "p99", "plain", "unit")
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.plain.map_or(String::new(), |plain| format!("{plain:.3}"));
        write!(f, "{:<44} {:>9.3} {:>9.3} {plain:>9}  {:<4} ", self.name, self.median, self.p99, self.unit)?;
        if let Some(below) = self.below {
            write!(f, "< {below} {}", if self.met() { "ok" } else { "MISS" })?;
        }
        write!(f, "  {}", self.note)
    }
}

/// What is so slow that it misses its target anyway is not run [`RUNS`] times.
const PATIENCE: Duration = Duration::from_secs(10);
const RUNS_AT_LEAST: usize = 20;

/// Times `work` [`RUNS`] times after a few runs that warm it up.
pub(super) fn times<T>(mut work: impl FnMut() -> T) -> Vec<Duration> {
    let start = Instant::now();
    for _ in 0..RUNS / 50 {
        std::hint::black_box(work());
    }
    let mut times = Vec::with_capacity(RUNS);
    while times.len() < RUNS && (times.len() < RUNS_AT_LEAST || start.elapsed() < PATIENCE) {
        times.push(once(&mut work));
    }
    times
}

/// Times `work` once.
pub(super) fn once<T>(work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

/// The median of a plain pass over `bytes`: copy them and count their lines.
pub(super) fn plain_pass(bytes: &[u8]) -> f64 {
    let pass = || {
        let copy = bytes.to_vec();
        copy.iter().filter(|byte| **byte == b'\n').count()
    };
    Measured::from_times(String::new(), times(pass), None).median
}
