//! One change of two hundred files: how often the disk is waited for, how often the system is
//! called, and how much processor time it takes against a program that just writes the files.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::project::{Answer, FILES, Kind, make};
use crate::child::{Calls, Cost, calls, median, relay, run, scratch};
use crate::measure::Measured;

/// Whole file systems that are waited for: staged files, changed directories, and one to spare.
const SYNCFS_BELOW: f64 = 4.0;
/// Single files and directories that are waited for.
const FSYNC_BELOW: f64 = 7.0;
/// Calls of the system for every file.
const CALLS_BELOW: f64 = 45.0;
/// Processor time without planning, against writing the files twice.
const RATIO_BELOW: f64 = 4.0;
/// Runs of which the median counts.
const RUNS: usize = 9;

/// Measures both kinds of answer.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    for answer in Answer::ALL {
        let name = |what: &str| format!("ledger, {FILES} {}, {what}", answer.name());
        if wanted(&name("calls")) {
            count_calls(answer, None, &name, keep)?;
            let home = scratch()?;
            let with_copy = |what: &str| name(&format!("copy, {what}"));
            count_calls(answer, Some(home.path()), &with_copy, keep)?;
        }
        if wanted(&name("processor time")) {
            processor_time(answer, &name, keep)?;
        }
    }
    Ok(())
}

/// The arguments that apply the answer in `file` to the project at `root`.
fn apply(file: &Path, root: &Path) -> Vec<OsString> {
    ["apply".into(), file.into(), "-y".into(), "-C".into(), root.into()].into()
}

fn count_calls(
    answer: Answer,
    home: Option<&Path>,
    name: &dyn Fn(&str) -> String,
    keep: &mut impl FnMut(Measured),
) -> anyhow::Result<()> {
    let Some(new) = counted(answer, FILES, false, home)? else { return Ok(()) };
    let (Some(one), Some(all)) = (counted(answer, 1, true, home)?, counted(answer, FILES, true, home)?)
    else {
        return Ok(());
    };
    let judged = |below: f64| Some(below).filter(|_| home.is_none());
    let mut syncfs = Measured::single(name("syncfs"), "", all.of("syncfs") as f64, judged(SYNCFS_BELOW));
    syncfs.note = format!("{} in a project without a ledger", new.of("syncfs"));
    keep(syncfs);
    let mut fsync = Measured::single(name("fsync"), "", all.of("fsync") as f64, judged(FSYNC_BELOW));
    fsync.note = format!("{} in a project without a ledger", new.of("fsync"));
    keep(fsync);
    let more = all.all().saturating_sub(one.all());
    let each = more as f64 / (FILES - 1) as f64;
    let mut measured = Measured::single(name("calls per file"), "", each, judged(CALLS_BELOW));
    measured.note = all.most(FILES as u64);
    keep(measured);
    Ok(())
}

/// The calls of one change, in a project that has a ledger already or not.
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
    keep: &mut impl FnMut(Measured),
) -> anyhow::Result<()> {
    let (mut code, mut applied, mut previewed, mut plain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // They all stay to the end: ext4 looks long for a place in a directory of what was just deleted.
    let mut kept = Vec::new();
    for _ in 0..RUNS {
        for kind in [Kind::Code, Kind::Text] {
            let scratch = scratch()?;
            let root = prepared(scratch.path(), answer, kind, FILES)?;
            let file = scratch.path().join("1.md");
            // What was written just now is not written again meanwhile.
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
    let milliseconds = |cost: Cost| cost.processor.as_secs_f64() * 1e3;
    let mut show = |what: &str, value: f64, note: &str| {
        let mut measured = Measured::single(name(what), "ms", value, None);
        measured.note = note.to_owned();
        keep(measured);
    };
    show("apply, processor", milliseconds(applied), "start, reading, planning, the ledger");
    show("apply of code, processor", milliseconds(code), "the same with checks of the syntax");
    show("preview, processor", milliseconds(previewed), "start, reading, planning");
    show("written twice, processor", milliseconds(plain), "start, making the texts, writing, renaming");
    show("apply, wall", applied.wall.as_secs_f64() * 1e3, "");
    let twice = milliseconds(plain);
    let plain_ratio = milliseconds(applied) / twice;
    keep(Measured::single(name("apply / written twice"), "×", plain_ratio, None));
    let ledger = milliseconds(applied) - milliseconds(previewed);
    let mut ratio =
        Measured::single(name("without planning / written twice"), "×", ledger / twice, Some(RATIO_BELOW));
    ratio.note = "(apply - preview) / written twice".to_owned();
    keep(ratio);
    Ok(())
}
