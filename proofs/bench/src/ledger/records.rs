//! What a long history costs: the first page of the log, and one more change.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use relaycode_ledger::TxId;
use relaycode_ledger::disk::state_dir;
use relaycode_ledger::record::{
    self, FORMAT, FileImage, FileRecord, Record, RecordContent, RecordedOperation,
};

use super::project::{Answer, Kind, make};
use crate::child::{Cost, relay, repeated, run, scratch};
use crate::measure::{BenchReport, Measured, milliseconds};
use crate::startup::peak;

/// Records per history.
const HISTORIES: [u32; 3] = [100, 1_000, 10_000];
/// Milliseconds for a page of the log of the longest one.
const PAGE_BELOW: f64 = 20.0;
/// Allowed growth of the memory for that page: none, except for noise.
const GROWTH_BELOW: f64 = 1.1;
/// The median counts.
const RUNS: usize = 21;
/// Changes made on top.
const CHANGES: usize = 9;

/// A history of each length.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("ledger, log") {
        return Ok(());
    }
    let mut peaks = Vec::new();
    for count in HISTORIES {
        let scratch = scratch()?;
        let root = scratch.path().join("project");
        make(&root, Kind::Text, 1)?;
        write_history(&root, count)?;
        let log = || -> anyhow::Result<Command> {
            let mut log = relay(None)?;
            log.args(["log", "-C"]).arg(&root);
            Ok(log)
        };
        let rebuild = run(&mut log()?)?;
        let page = repeated(RUNS, || run(&mut log()?))?;
        let longest = HISTORIES.last() == Some(&count);
        let name = |what: &str| format!("ledger, {count} records, {what}");
        let below = Some(PAGE_BELOW).filter(|_| longest);
        report.add(Measured::single(name("log"), "ms", milliseconds(page.wall)).below(below).note(format!(
            "wall, median; processor {:.1} ms; {:.0} ms when the index was built",
            milliseconds(page.processor),
            milliseconds(rebuild.wall)
        )));
        if let Some(megabytes) = peak(&log()?)? {
            peaks.push(megabytes);
            report.add(Measured::single(name("log, memory"), "MB", megabytes));
        }
        if longest {
            one_more(scratch.path(), &root, &name("apply 1 file"), report)?;
            write_displaced(&root, count)?;
            one_more(scratch.path(), &root, &name("and as many .done, apply"), report)?;
        }
    }
    if let (Some(least), Some(most)) =
        (peaks.iter().copied().reduce(f64::min), peaks.iter().copied().reduce(f64::max))
    {
        let name = "ledger, log, memory, growth".to_owned();
        report.add(Measured::single(name, "×", most / least).below(GROWTH_BELOW));
    }
    Ok(())
}

/// Changes one file on top of it, several times.
fn one_more(scratch: &Path, root: &Path, name: &str, report: &mut BenchReport) -> anyhow::Result<()> {
    make(root, Kind::Text, 1)?;
    let (file, mut version) = (scratch.join("answer.md"), 0);
    let Cost { wall, processor, .. } = repeated(CHANGES, || {
        version += 1;
        fs::write(&file, Answer::Whole.text(Kind::Text, 1, version))?;
        run(relay(None)?.arg("apply").arg(&file).arg("-y").arg("-C").arg(root))
    })?;
    let row = Measured::single(name, "ms", milliseconds(wall));
    report.add(row.note(format!("wall, median; processor {:.1} ms", milliseconds(processor))));
    Ok(())
}

fn id(number: u32) -> anyhow::Result<TxId> {
    Ok(format!("{number:08x}-0c4b-4c1d-9a53-0c2f5d1e7b66").parse()?)
}

/// As if this many changes had been applied.
fn write_history(root: &Path, count: u32) -> anyhow::Result<()> {
    let directory = root.join(state_dir::STATE_DIR_NAME);
    fs::create_dir_all(&directory)?;
    for number in 1..=count {
        let record = small(number)?;
        fs::write(directory.join(state_dir::record_name(record.uuid)), record::write(&record))?;
    }
    Ok(())
}

/// The record of a change of one line.
fn small(number: u32) -> anyhow::Result<Record> {
    let (before, after) = (format!("const a = {};\n", number - 1), format!("const a = {number};\n"));
    let path = "src/a.ts".to_owned();
    Ok(Record {
        uuid: id(number)?,
        project_id: "bench".to_owned(),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        git_commit_msg: Some(format!("feat: number {number}")),
        prompt_summary: Some("count on".to_owned()),
        reasoning: vec!["The next number.".to_owned()],
        operations: vec![RecordedOperation::Write {
            path: path.clone(),
            content: after.clone(),
            patch_strategy: "replace".to_owned(),
        }],
        snapshot: BTreeMap::from([(path.clone(), Some(RecordContent::Text(before.clone())))]),
        approved: true,
        version: FORMAT,
        number: number.into(),
        origin: "file".to_owned(),
        group: None,
        branch: Some("main".to_owned()),
        head: None,
        answer: None,
        result: vec![FileRecord {
            path,
            renamed_from: None,
            before: Some(FileImage::of(before.as_bytes(), 0o644)),
            after: Some(FileImage::of(after.as_bytes(), 0o644)),
            added: 1,
            removed: 1,
            content: Some(RecordContent::Text(after)),
            ..FileRecord::default()
        }],
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: Vec::new(),
        gate: None,
        decided_by: Some("-y".to_owned()),
        revert_of: Vec::new(),
        revert_paths: Vec::new(),
        title: None,
        notes: Vec::new(),
        plan: None,
        rules: Vec::new(),
        transaction: None,
    })
}

/// The directories in which those changes would have left the displaced files.
fn write_displaced(root: &Path, count: u32) -> anyhow::Result<()> {
    for number in 1..=count {
        let directory = root.join(format!("{}/tx/{}.done", state_dir::STATE_DIR_NAME, id(number)?));
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        fs::write(directory.join("lock"), "")?;
        fs::write(directory.join("0"), format!("const a = {};\n", number - 1))?;
    }
    Ok(())
}
