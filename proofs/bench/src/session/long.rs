//! A session of a hundred megabytes: opened and its context rebuilt, each time in a separate process, with
//! and without the index; the cost if it was never compacted; and the commands that show all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use relaycode_durable::{Fs, FsDir, RealFs};
#[cfg(target_os = "linux")]
use relaycode_session::HomeLayout;
use relaycode_session::file::index;
use relaycode_session::{OpenMode, Session};

use super::made::{CWD, Shape, write};
use crate::child::{part, relay, repeated, run, scratch, told};
use crate::measure::{BenchReport, Measured, milliseconds, once};
use crate::startup::peak;

const BYTES: u64 = 100 << 20;
const COMPACTION: u64 = 8_000_000;
const ID: &str = "019c3a5f2b7e7c1d9a530c2f5d1e7b66";
const FILE: &str = "2026-02-01T00-00-00-000Z_019c3a5f2b7e7c1d9a530c2f5d1e7b66.jsonl";
/// Milliseconds, and peak megabytes.
const WITH_BELOW: f64 = 300.0;
const MEMORY_BELOW: f64 = 60.0;
const WITHOUT_BELOW: f64 = 2_000.0;
/// Runs with the index, and of what takes longer.
const RUNS: usize = 11;
const FEW: usize = 5;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("session, 100 MB") {
        return Ok(());
    }
    let scratch = scratch()?;
    let home = scratch.path().join("home");
    let path = home.join("sessions").join("--home-someone-shop--").join(FILE);
    let shape = Shape { seed: 1, bytes: BYTES, compaction: Some(COMPACTION) };
    let entries = write(&path, ID, CWD, &shape)?;
    let plain = plain_read(&path)?;
    make_index(&path)?;
    let name = |what: &str| format!("session, 100 MB, {what}");
    opened(report, &path, &name("open, index"), RUNS, plain, (Some(WITH_BELOW), Some(MEMORY_BELOW)))?;
    fs::remove_file(index_of(&path))?;
    opened(report, &path, &name("open, no index"), FEW, plain, (Some(WITHOUT_BELOW), None))?;
    make_index(&path)?;
    for (what, words) in [
        ("sessions show", vec!["sessions", "show", ID]),
        ("sessions show --full", vec!["sessions", "show", ID, "--full"]),
        ("sessions tree", vec!["sessions", "tree", ID]),
        ("sessions export --html", vec!["sessions", "export", "--html", "--force", ID]),
    ] {
        let command = || -> anyhow::Result<Command> {
            let mut command = relay(Some(&home))?;
            command.args(&words).arg("-C").arg(scratch.path());
            if words.contains(&"export") {
                command.arg("-o").arg(scratch.path().join("page.html"));
            }
            Ok(command)
        };
        shown(report, &name(what), &command)?;
    }
    let page = fs::metadata(scratch.path().join("page.html"))?.len();
    let row = Measured::single(name("the page"), "MB", page as f64 / 1e6);
    report.add(row.note(format!("of {entries} entries, {:.1} MB", fs::metadata(&path)?.len() as f64 / 1e6)));

    let shape = Shape { seed: 2, bytes: BYTES, compaction: None };
    write(&path, ID, CWD, &shape)?;
    let plain = plain_read(&path)?;
    make_index(&path)?;
    opened(report, &path, &name("uncompacted, index"), FEW, plain, (None, None))
}

/// Writes it into a home, with its index; returns its id.
#[cfg(target_os = "linux")]
pub(super) fn write_in(home: &Path, cwd: &Path) -> anyhow::Result<&'static str> {
    let path = HomeLayout::new(home).project_dir(cwd).join(FILE);
    let shape = Shape { seed: 1, bytes: BYTES, compaction: Some(COMPACTION) };
    write(&path, ID, cwd.to_str().context("no text")?, &shape)?;
    make_index(&path)?;
    Ok(ID)
}

fn opened(
    report: &mut BenchReport,
    path: &Path,
    name: &str,
    runs: usize,
    plain: f64,
    (time_below, memory_below): (Option<f64>, Option<f64>),
) -> anyhow::Result<()> {
    let path = path.to_str().context("no text")?;
    let mut child = part(&["session", "open", path])?;
    let (times, told) = told(runs, &mut child)?;
    let row = Measured::from_times(name, times).below(time_below).plain(plain);
    report.add(row.note(format!("{runs} runs; {told}")));
    if let Some(megabytes) = peak(&child)? {
        report.add(Measured::single(format!("{name}, memory"), "MB", megabytes).below(memory_below));
    }
    Ok(())
}

fn shown(
    report: &mut BenchReport,
    name: &str,
    command: &dyn Fn() -> anyhow::Result<Command>,
) -> anyhow::Result<()> {
    let cost = repeated(FEW, || run(&mut command()?))?;
    let peak = peak(&command()?)?;
    let note = peak.map(|megabytes| format!("wall, median; {megabytes:.0} MB at the peak"));
    report.add(Measured::single(name, "ms", milliseconds(cost.wall)).note(note.unwrap_or_default()));
    Ok(())
}

/// Opens a session and rebuilds its context; prints the microseconds, and its size.
pub(super) fn open(path: &Path) -> anyhow::Result<()> {
    let start = Instant::now();
    let (dir, name) = place(path)?;
    let session = Session::open(Arc::new(RealFs::default()), dir, &name, OpenMode::Read)?;
    let opened = start.elapsed();
    let context = session.context()?;
    let whole = start.elapsed();
    let entries = session.len();
    println!(
        "{} {entries} entries, {} messages in the context, {:.1} ms of it opening",
        whole.as_micros(),
        context.messages.len(),
        milliseconds(opened)
    );
    Ok(())
}

/// Opening a session for writing leaves an index.
pub(super) fn make_index(path: &Path) -> anyhow::Result<()> {
    let (dir, name) = place(path)?;
    drop(Session::open(Arc::new(RealFs::default()), dir, &name, OpenMode::Write)?);
    if !index_of(path).is_file() {
        bail!("{} got no index", path.display());
    }
    Ok(())
}

/// Where the index of a session is.
pub(super) fn index_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(index::index_file_name(&name))
}

fn place(path: &Path) -> anyhow::Result<(FsDir, String)> {
    let name = path.file_name().and_then(|name| name.to_str()).context("no file")?;
    let dir = RealFs::default().open_root(path.parent().context("no directory")?)?;
    Ok((dir, name.to_owned()))
}

/// Milliseconds to read the file once and count its lines.
fn plain_read(path: &Path) -> anyhow::Result<f64> {
    let mut lines = Ok(0);
    let taken = once(&mut || {
        lines = fs::read(path).map(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
    });
    lines?;
    Ok(milliseconds(taken))
}
