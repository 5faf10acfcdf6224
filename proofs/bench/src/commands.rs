//! What undo costs around a command: securing a project before it and looking at it afterwards, in a recording that goes on
//! from command to command. In processor time, against `find` over the same tree; a large tree that is secured for the first time
//! in time that passes.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use nix::sys::resource::UsageWho;
use relaycode_durable::RealFs;
use relaycode_ledger::{
    CommandScope, Ledger, LedgerSettings, Recording, RecordingEnd, RecordingOutcome, SecureProgress,
    SecureReport, TransactionHeader, TxId,
};

use super::child;
use super::measure::{BenchReport, Measured, milliseconds};
use super::snapshot::{find, make_tree, median, processor_time};

/// Files in the trees that do not change.
const FILES: [usize; 2] = [2_000, 20_000];
/// How often each is measured.
const ROUNDS: usize = 15;
/// So much of `find`'s time a command may take.
const BELOW: f64 = 1.3;
/// Commands of a turn, each of which changes a file.
const TURN: usize = 50;
/// Milliseconds that they may take together.
const TURN_BELOW: f64 = 1_000.0;
/// A tree that nobody has secured yet: so many files of so many bytes.
const DIRTY: (usize, usize) = (1_000, 100_000);
/// Milliseconds in which it is secured.
const DIRTY_BELOW: f64 = 1_000.0;

/// Commands with and without a fence.
const FENCED: usize = 41;
/// Milliseconds of the processor that a fence may take.
const FENCE_BELOW: f64 = 6.0;

/// Measures all of it.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for files in FILES {
        let name = format!("command: {files} files, nothing changed");
        if report.wants(&name) {
            report.add(unchanged(name, files)?);
        }
    }
    let name = format!("command: {TURN} that change a file, in {} files", FILES[0]);
    if report.wants(&name) {
        report.add(turn(name)?);
    }
    let name = "command: what a fence adds".to_string();
    if report.wants(&name) {
        report.add(fenced(name)?);
    }
    let name = "command: 100 MB secured for the first time".to_string();
    if report.wants(&name) {
        report.add(dirty(name)?);
    }
    Ok(())
}

/// What a fence adds to a recorded command, with relay's own binary: the decision, the order, and the way in.
fn fenced(name: String) -> anyhow::Result<Measured> {
    let project = child::scratch()?;
    let record = |access: &str| -> anyhow::Result<f64> {
        let mut command = child::relay(Some(&project.path().join("home")))?;
        command.args(["record", "--quiet", "--access", access, "-C"]).arg(project.path().join("tree"));
        command.args(["--", "/bin/true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let from = processor_time(UsageWho::RUSAGE_CHILDREN)?;
        ensure!(
            command.status()?.success(),
            "`relay record --access {access}` fails: is there a fence here?"
        );
        Ok(processor_time(UsageWho::RUSAGE_CHILDREN)? - from)
    };
    fs::create_dir_all(project.path().join("tree/.git"))?;
    fs::create_dir_all(project.path().join("home"))?;
    let (mut bare, mut fenced) = (Vec::new(), Vec::new());
    for _ in 0..FENCED {
        bare.push(record("full")?);
        fenced.push(record("workspace")?);
    }
    let (bare, fenced) = (median(bare), median(fenced));
    let note = format!("{fenced:.1} ms, without {bare:.1} ms");
    Ok(Measured::single(name, "ms", fenced - bare).below(FENCE_BELOW).note(note))
}

struct BenchProject {
    dir: tempfile::TempDir,
    ledger: Ledger,
}

impl BenchProject {
    fn new(make: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<BenchProject> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().join("tree");
        fs::create_dir(&root)?;
        make(&root)?;
        let settings = LedgerSettings { home: Some(dir.path().join("home")), ..LedgerSettings::default() };
        let ledger = Ledger::open(std::sync::Arc::new(RealFs::default()), &root, settings)?;
        Ok(BenchProject { dir, ledger })
    }
}

fn begin(recording: &mut Recording<'_>) -> anyhow::Result<SecureReport> {
    let about = TransactionHeader::new(TxId::random(), "bench", "2026-11-18T12:00:00.000Z", "record");
    let scope = CommandScope {
        about: &about,
        ignored: &Vec::new,
        is_ignored_stale: false,
        doomed: &[],
        sets_aside: false,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    Ok(recording.begin(&scope, &mut progress)?.clone())
}

fn finish(recording: &mut Recording<'_>) -> anyhow::Result<RecordingOutcome> {
    Ok(recording.finish(RecordingEnd::default(), &Vec::new)?)
}

/// Lets the tree grow old: young files are compared by their bytes, which is not what is measured.
fn grow_old(recording: &mut Recording<'_>) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(4);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    begin(recording)?;
    finish(recording)?;
    Ok(())
}

fn unchanged(name: String, files: usize) -> anyhow::Result<Measured> {
    let project = BenchProject::new(|root| make_tree(root, files))?;
    let (root, empty) = (project.dir.path().join("tree"), project.dir.path().join("empty"));
    fs::create_dir(&empty)?;
    let mut recording = project.ledger.open_recording();
    begin(&mut recording)?;
    finish(&mut recording)?;
    grow_old(&mut recording)?;
    let (mut ours, mut theirs, mut start) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let from = processor_time(UsageWho::RUSAGE_SELF)?;
        let copied = begin(&mut recording)?.copied;
        let outcome = finish(&mut recording)?;
        ours.push(processor_time(UsageWho::RUSAGE_SELF)? - from);
        if copied > 0 || outcome.committed.is_some() {
            bail!("nothing changed, and yet it differs");
        }
        theirs.push(find(&root)?);
        start.push(find(&empty)?);
    }
    recording.close()?;
    let (ours, find) = (median(ours), median(theirs) - median(start));
    let note = format!("{ours:.1} ms, find {find:.1} ms");
    Ok(Measured::single(name, "×", ours / find).below(BELOW).note(note))
}

fn turn(name: String) -> anyhow::Result<Measured> {
    let project = BenchProject::new(|root| make_tree(root, FILES[0]))?;
    let root = project.dir.path().join("tree");
    let mut recording = project.ledger.open_recording();
    begin(&mut recording)?;
    finish(&mut recording)?;
    grow_old(&mut recording)?;
    let from = processor_time(UsageWho::RUSAGE_SELF)?;
    for number in 0..TURN {
        begin(&mut recording)?;
        fs::write(
            root.join(format!("part0/module0/file_{}.rs", number % 20)),
            format!("changed {number}\n"),
        )?;
        finish(&mut recording)?.committed.context("a change was not recorded")?;
    }
    let took = processor_time(UsageWho::RUSAGE_SELF)? - from;
    recording.close()?;
    let note = format!("{:.1} ms each", took / TURN as f64);
    Ok(Measured::single(name, "ms", took).below(TURN_BELOW).note(note))
}

fn dirty(name: String) -> anyhow::Result<Measured> {
    let (files, bytes) = DIRTY;
    let project = BenchProject::new(|root| {
        let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        for number in 0..files {
            fs::write(root.join(format!("{number}.bin")), &content)?;
        }
        Ok(())
    })?;
    let mut recording = project.ledger.open_recording();
    let began = Instant::now();
    let first = begin(&mut recording)?;
    let took = milliseconds(began.elapsed());
    ensure!(first.files == files && first.omissions.is_empty(), "not everything was secured");
    finish(&mut recording)?;
    let began = Instant::now();
    let second = begin(&mut recording)?;
    let again = milliseconds(began.elapsed());
    ensure!(second.copied == 0, "{} bytes were copied again", second.copied);
    finish(&mut recording)?;
    recording.close()?;
    let note = format!("{} MB copied, the next command {again:.0} ms", first.copied / 1_000_000);
    Ok(Measured::single(name, "ms", took).below(DIRTY_BELOW).note(note))
}
