//! What a long history costs: the first page of the log, and one more change.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use relaycode_ledger::TxId;
use relaycode_ledger::disk::state_dir;
use relaycode_ledger::record::{
    self, FORMAT, FileImage, FileRecord, Record, RecordContent, RecordedOperation,
};

use super::project::{Answer, Kind, make};
use crate::child::{Cost, median, relay, run, scratch};
use crate::measure::Measured;
use crate::startup::peak;

/// Records of the histories, the longest last.
const HISTORIES: [u32; 3] = [100, 1_000, 10_000];
/// Milliseconds for a page of the log of the longest one.
const PAGE_BELOW: f64 = 20.0;
/// How the memory for that page may differ between them: not at all, but for what a process differs
/// from run to run.
const GROWTH_BELOW: f64 = 1.1;
/// Runs of which the median counts.
const RUNS: usize = 21;
/// Changes that are made on top.
const CHANGES: usize = 9;

/// Measures a history of each length.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    if !wanted("ledger, log") {
        return Ok(());
    }
    let mut peaks = Vec::new();
    for count in HISTORIES {
        let scratch = scratch()?;
        let root = scratch.path().join("project");
        make(&root, Kind::Text, 1)?;
        write_history(&root, count)?;
        let rebuild = run(relay(None)?.args(["log", "-C"]).arg(&root))?;
        let mut pages = Vec::new();
        for _ in 0..RUNS {
            pages.push(run(relay(None)?.args(["log", "-C"]).arg(&root))?);
        }
        let page = median(&pages);
        let longest = HISTORIES.last() == Some(&count);
        let name = |what: &str| format!("ledger, {count} records, {what}");
        let milliseconds = |cost: &Cost| cost.wall.as_secs_f64() * 1e3;
        let below = Some(PAGE_BELOW).filter(|_| longest);
        let mut shown = Measured::single(name("log"), "ms", milliseconds(&page), below);
        shown.note = format!(
            "wall, median; processor {:.1} ms; {:.0} ms when the index was built",
            page.processor.as_secs_f64() * 1e3,
            milliseconds(&rebuild)
        );
        keep(shown);
        if let Some(kilobytes) = peak(relay(None)?.args(["log", "-C"]).arg(&root))? {
            peaks.push(kilobytes);
            keep(Measured::single(name("log, memory"), "MB", kilobytes * 1024.0 / 1e6, None));
        }
        if longest {
            one_more(scratch.path(), &root, &name("apply 1 file"), keep)?;
            write_displaced(&root, count)?;
            one_more(scratch.path(), &root, &name("and as many .done, apply"), keep)?;
        }
    }
    if let (Some(least), Some(most)) =
        (peaks.iter().copied().reduce(f64::min), peaks.iter().copied().reduce(f64::max))
    {
        let name = "ledger, log, memory, growth".to_owned();
        keep(Measured::single(name, "×", most / least, Some(GROWTH_BELOW)));
    }
    Ok(())
}

/// Changes one file on top of what there is, several times.
fn one_more(scratch: &Path, root: &Path, name: &str, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    let mut costs = Vec::new();
    make(root, Kind::Text, 1)?;
    for version in 1..=CHANGES {
        let file = scratch.join("answer.md");
        fs::write(&file, Answer::Whole.text(Kind::Text, 1, version))?;
        costs.push(run(relay(None)?.arg("apply").arg(&file).arg("-y").arg("-C").arg(root))?);
    }
    let Cost { wall, processor, .. } = median(&costs);
    let mut measured = Measured::single(name.to_owned(), "ms", wall.as_secs_f64() * 1e3, None);
    measured.note = format!("wall, median; processor {:.1} ms", processor.as_secs_f64() * 1e3);
    keep(measured);
    Ok(())
}

fn id(number: u32) -> anyhow::Result<TxId> {
    Ok(format!("{number:08x}-0c4b-4c1d-9a53-0c2f5d1e7b66").parse()?)
}

/// Writes so many records, as if so many changes had been applied.
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
        }],
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: Vec::new(),
        gate: None,
        decided_by: Some("-y".to_owned()),
        revert_of: Vec::new(),
        notes: Vec::new(),
        plan: None,
        rules: Vec::new(),
        transaction: None,
    })
}

/// Makes the directories in which those changes would have left the files that they displaced.
fn write_displaced(root: &Path, count: u32) -> anyhow::Result<()> {
    for number in 1..=count {
        let directory = root.join(format!("{}/tx/{}.done", state_dir::STATE_DIR_NAME, id(number)?));
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        fs::write(directory.join("lock"), "")?;
        fs::write(directory.join("0"), format!("const a = {};\n", number - 1))?;
    }
    Ok(())
}
