//! One change of two hundred files: how often the disk is waited for, the number of system calls, and
//! processor time compared to a program that just writes the files.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::project::{Answer, FILES, Kind, make};
use crate::child::{Calls, Cost, calls, median, relay, run, scratch};
use crate::measure::{BenchReport, Measured, milliseconds};

/// Syncs of a whole file system: staged files, changed directories, and one to spare.
const SYNCFS_BELOW: f64 = 4.0;
/// Syncs of single files and directories.
const FSYNC_BELOW: f64 = 7.0;
/// System calls per file.
const CALLS_BELOW: f64 = 45.0;
/// Processor time without planning, compared to writing the files twice.
const RATIO_BELOW: f64 = 4.0;
/// The median counts.
const RUNS: usize = 9;

/// Both kinds of answer.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for answer in Answer::ALL {
        let name = |what: &str| format!("ledger, {FILES} {}, {what}", answer.name());
        if report.wants(&name("calls")) {
            count_calls(answer, None, &name, report)?;
            let home = scratch()?;
            let with_copy = |what: &str| name(&format!("copy, {what}"));
            count_calls(answer, Some(home.path()), &with_copy, report)?;
        }
        if report.wants(&name("processor time")) {
            processor_time(answer, &name, report)?;
        }
    }
    Ok(())
}

/// Arguments that apply the answer in `file` to the project at `root`.
fn apply(file: &Path, root: &Path) -> Vec<OsString> {
    ["apply".into(), file.into(), "-y".into(), "-C".into(), root.into()].into()
}

fn count_calls(
    answer: Answer,
    home: Option<&Path>,
    name: &dyn Fn(&str) -> String,
    report: &mut BenchReport,
) -> anyhow::Result<()> {
    let Some(new) = counted(answer, FILES, false, home)? else { return Ok(()) };
    let (Some(one), Some(all)) = (counted(answer, 1, true, home)?, counted(answer, FILES, true, home)?)
    else {
        return Ok(());
    };
    let judged = |below: f64| Some(below).filter(|_| home.is_none());
    for (call, below) in [("syncfs", SYNCFS_BELOW), ("fsync", FSYNC_BELOW)] {
        let counted = Measured::single(name(call), "", all.of(call) as f64).below(judged(below));
        report.add(counted.note(format!("{} in a project without a ledger", new.of(call))));
    }
    let more = all.all().saturating_sub(one.all());
    let each = more as f64 / (FILES - 1) as f64;
    let row = Measured::single(name("calls per file"), "", each).below(judged(CALLS_BELOW));
    report.add(row.note(all.most(FILES as u64)));
    Ok(())
}

/// The calls of one change, in a project with a ledger or without.
fn counted(
    answer: Answer,
    files: usize,
    has_ledger: bool,
    home: Option<&Path>,
) -> anyhow::Result<Option<Calls>> {
    let scratch = scratch()?;
    let root = prepared(scratch.path(), answer, Kind::Text, files)?;
    let mut version = 1;
    if has_ledger {
        run(relay(home)?.args(apply(&scratch.path().join("1.md"), &root)))?;
        version = 2;
    }
    let file = scratch.path().join(format!("{version}.md"));
    calls(&apply(&file, &root), home, scratch.path())
}

/// A project of `files` files, and beside it the answers `1.md` and `2.md`.
fn prepared(scratch: &Path, answer: Answer, kind: Kind, files: usize) -> anyhow::Result<std::path::PathBuf> {
    let root = scratch.join("project");
    make(&root, kind, files)?;
    for version in 1..=2 {
        fs::write(scratch.join(format!("{version}.md")), answer.text(kind, files, version))?;
    }
    Ok(root)
}

fn processor_time(
    answer: Answer,
    name: &dyn Fn(&str) -> String,
    report: &mut BenchReport,
) -> anyhow::Result<()> {
    let (mut code, mut applied, mut previewed, mut plain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // They are all kept to the end: ext4 is slow to find room in a directory of what was just deleted.
    let mut kept = Vec::new();
    for _ in 0..RUNS {
        for kind in [Kind::Code, Kind::Text] {
            let scratch = scratch()?;
            let root = prepared(scratch.path(), answer, kind, FILES)?;
            let file = scratch.path().join("1.md");
            // Otherwise earlier writes would be flushed during the measurement.
            run(&mut Command::new("sync"))?;
            if let Kind::Code = kind {
                code.push(run(relay(None)?.args(apply(&file, &root)))?);
                kept.push(scratch);
                continue;
            }
            let mut preview = relay(None)?;
            preview.arg("preview").arg(&file).arg("--no-diff").arg("-C").arg(&root);
            previewed.push(run(&mut preview)?);
            applied.push(run(relay(None)?.args(apply(&file, &root)))?);
            let mut writes = Command::new(std::env::current_exe()?);
            plain.push(run(writes.args(["--write-plainly"]).arg(scratch.path()))?);
            kept.push(scratch);
        }
    }
    drop(kept);
    let (code, applied) = (median(&code), median(&applied));
    let (previewed, plain) = (median(&previewed), median(&plain));
    let processor = |cost: Cost| milliseconds(cost.processor);
    let mut show = |what: &str, value: f64, note: &str| {
        report.add(Measured::single(name(what), "ms", value).note(note));
    };
    show("apply, processor", processor(applied), "start, reading, planning, the ledger");
    show("apply of code, processor", processor(code), "the same with checks of the syntax");
    show("preview, processor", processor(previewed), "start, reading, planning");
    show("written twice, processor", processor(plain), "start, making the texts, writing, renaming");
    show("apply, wall", milliseconds(applied.wall), "");
    let twice = processor(plain);
    let plain_ratio = processor(applied) / twice;
    report.add(Measured::single(name("apply / written twice"), "×", plain_ratio));
    let ledger = processor(applied) - processor(previewed);
    let row =
        Measured::single(name("without planning / written twice"), "×", ledger / twice).below(RATIO_BELOW);
    report.add(row.note("(apply - preview) / written twice"));
    Ok(())
}
