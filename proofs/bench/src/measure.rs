//! One measurement: a distribution of times, the plain pass over the same bytes that it is compared
//! with, and the target; and the report that all of them go into.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;

/// Least runs per measurement.
pub(super) const RUNS: usize = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measured {
    pub name: String,
    /// `ms`, `MB`, `×`.
    pub unit: &'static str,
    pub median: f64,
    /// Exceeded by one run in a hundred, or the only value there is.
    pub p99: f64,
    /// A plain pass over the same data in the same run, in the same unit.
    pub plain: Option<f64>,
    /// The limit; `None`: only shown.
    pub below: Option<f64>,
    /// For a person.
    pub note: String,
}

impl Measured {
    /// One time per run.
    pub(super) fn from_times(name: impl Into<String>, mut times: Vec<Duration>) -> Measured {
        times.sort_unstable();
        let at = |share: usize| {
            let index = (times.len() * share).div_ceil(100).saturating_sub(1);
            times.get(index).copied().map_or(0.0, milliseconds)
        };
        Measured { p99: at(99), ..Measured::single(name, "ms", at(50)) }
    }

    pub(super) fn single(name: impl Into<String>, unit: &'static str, value: f64) -> Measured {
        let (name, note) = (name.into(), String::new());
        Measured { name, unit, median: value, p99: value, plain: None, below: None, note }
    }

    /// What cannot be measured here is shown as such.
    #[cfg(target_os = "linux")]
    pub(super) fn missing(name: impl Into<String>, why: impl fmt::Display) -> Measured {
        Measured::single(name, "", 0.0).note(format!("not measured: {why}"))
    }

    /// With a target.
    pub(super) fn below(self, below: impl Into<Option<f64>>) -> Measured {
        Measured { below: below.into(), ..self }
    }

    /// With a plain pass to compare it with.
    pub(super) fn plain(self, plain: f64) -> Measured {
        Measured { plain: Some(plain), ..self }
    }

    /// With more to say.
    pub(super) fn note(mut self, more: impl AsRef<str>) -> Measured {
        self.note += more.as_ref();
        self
    }

    fn is_met(&self) -> bool {
        self.below.is_none_or(|below| self.p99 < below)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.plain.map_or(String::new(), |plain| format!("{plain:.3}"));
        write!(f, "{:<44} {:>9.3} {:>9.3} {plain:>9}  {:<4} ", self.name, self.median, self.p99, self.unit)?;
        if let Some(below) = self.below {
            write!(f, "< {below} {}", if self.is_met() { "ok" } else { "MISS" })?;
        }
        write!(f, "  {}", self.note)
    }
}

/// The run: what is asked for, and what was measured so far.
pub(super) struct BenchReport {
    only: Option<String>,
    json: bool,
    /// Agents of other projects are measured, too.
    pub(super) peers: bool,
    measured: Vec<Measured>,
}

impl BenchReport {
    /// Begins the table: of measurements whose name contains `only`, as text or as JSON.
    pub(super) fn new(only: Option<String>, json: bool, peers: bool) -> BenchReport {
        if !json {
            println!(
                "{:<44} {:>9} {:>9} {:>9}  {:<4} target",
                "measurement", "median", "p99", "plain", "unit"
            );
        }
        BenchReport { only, json, peers, measured: Vec::new() }
    }

    /// Whether this measurement is asked for.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }

    /// Prints a measurement, and counts it.
    pub(super) fn add(&mut self, measured: Measured) {
        if self.json {
            // Plain numbers and texts always serialise; an empty line would be visible anyway.
            println!("{}", serde_json::to_string(&measured).unwrap_or_default());
        } else {
            println!("{measured}");
        }
        self.measured.push(measured);
    }

    /// How much the time grew from the least size to the largest.
    pub(super) fn add_growth(&mut self, name: String, fastest: &[Duration], below: f64) {
        if let [first, .., last] = fastest {
            let growth = last.as_secs_f64() / first.as_secs_f64().max(1e-4);
            self.add(Measured::single(name, "×", growth).below(below));
        }
    }

    /// An error if a target is missed.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        let missed = self.measured.iter().filter(|one| !one.is_met()).count();
        ensure!(missed == 0, "{missed} of {} targets missed", self.measured.len());
        Ok(())
    }
}

/// The median.
#[cfg(target_os = "linux")]
pub(super) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The median, held to a target; minimum and maximum in the note.
#[cfg(target_os = "linux")]
pub(super) fn median_row(name: &str, unit: &'static str, values: &[f64], below: Option<f64>) -> Measured {
    let (least, most) = (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    let measured = Measured::single(name, unit, middle(values.to_vec())).below(below);
    measured.note(format!("median of {}, {least:.1} to {most:.1}", values.len()))
}

/// A time in the unit of the table.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Work that is too slow for its target anyway is not run [`RUNS`] times.
const PATIENCE: Duration = Duration::from_secs(10);
const RUNS_AT_LEAST: usize = 20;

/// Times `work` [`RUNS`] times after a warm-up.
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
    Measured::from_times("", times(pass)).median
}
