//! What appending costs: one write per entry, and sometimes an index; with a sync after each, for
//! information.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use relaycode_durable::{Fs, RealFs};
use relaycode_llm::Message;
use relaycode_llm::message::UserMessage;
use relaycode_session::{Session, SessionHeader};
use relaycode_testkit::random::Random;

use super::made::{CWD, text};
use crate::child::scratch;
use crate::measure::{BenchReport, Measured, milliseconds};

const ENTRIES: usize = 20_000;
const SYNCED: usize = 300;
const NAME: &str = "2026-02-01T00-00-00-000Z_019c3a5f2b7e7c1d9a530c2f5d1e7b66.jsonl";
/// Milliseconds.
const APPEND_BELOW: f64 = 1.0;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("session, append") {
        return Ok(());
    }
    row(report, "session, append 20 000 × 2 kB", ENTRIES, false, Some(APPEND_BELOW))?;
    row(report, "session, append with sync", SYNCED, true, None)
}

fn row(
    report: &mut BenchReport,
    name: &str,
    entries: usize,
    sync: bool,
    below: Option<f64>,
) -> anyhow::Result<()> {
    let scratch = scratch()?;
    let fs = Arc::new(RealFs::default());
    let dir = fs.open_root(scratch.path())?;
    let mut session = Session::create(fs, dir, NAME, SessionHeader::new(CWD))?;
    let mut beside = OpenOptions::new().create(true).append(true).open(scratch.path().join("plain"))?;
    let mut random = Random::new(3);
    let (mut times, mut plain) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    for _ in 0..entries {
        let said = text(&mut random, 1_500, 2_500);
        let line = serde_json::to_vec(&said)?;
        let message = Message::User(UserMessage::text(said, 1));
        times.push(timed(|| {
            session.append_message(&message)?;
            if sync {
                session.flush()?;
            }
            Ok(())
        })?);
        plain.push(timed(|| {
            beside.write_all(&line)?;
            if sync {
                beside.sync_data()?;
            }
            Ok(())
        })?);
    }
    let most = milliseconds(times.iter().max().copied().unwrap_or_default());
    let slower = times.iter().filter(|time| **time >= Duration::from_millis(1)).count();
    let plain = Measured::from_times("", plain);
    let note = format!("max {most:.3}; {slower} of {entries} took 1 ms; plain p99 {:.3}", plain.p99);
    report.add(Measured::from_times(name, times).below(below).plain(plain.median).note(note));
    Ok(())
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
