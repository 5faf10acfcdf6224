//! What it costs to know that nothing changed: a snapshot of a tree, compared with the one before, against `find` that
//! prints the same fields of the same tree. In processor time, taken in turns, so that a busy machine harms both alike; the
//! start of `find` itself does not count.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use relaycode_durable::{Fs, RealFs};
use relaycode_snapshot::{KnownTree, Snapshot, TreeDifference, WalkCaps, WholeTree};

use super::measure::{BenchReport, Measured};

/// Files in the trees.
const FILES: [usize; 2] = [2_000, 20_000];
/// Files in one directory.
const PER_DIRECTORY: usize = 20;
/// How often each is measured.
const ROUNDS: usize = 21;
/// So much of `find`'s time it may take.
const BELOW: f64 = 1.3;

/// Measures both trees.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for files in FILES {
        let name = format!("snapshot: {files} files, nothing changed");
        if report.wants(&name) {
            report.add(compared(name, files)?);
        }
    }
    Ok(())
}

fn compared(name: String, files: usize) -> anyhow::Result<Measured> {
    let dir = tempfile::tempdir()?;
    let (root, empty) = (dir.path().join("tree"), dir.path().join("empty"));
    fs::create_dir_all(&empty)?;
    make_tree(&root, files)?;
    let fs = RealFs::default();
    let open = fs.open_root(&root)?;
    // Young files are compared by their bytes, which is not what is measured here.
    let began = (i64::MAX, 0);
    let take = |known: Option<&Snapshot>| {
        let known = known.map(|tree| KnownTree { tree, is_beyond_cap: true, lends_names: true });
        Snapshot::take(&fs, &open, &mut WholeTree, WalkCaps::default(), known, began)
    };
    let before = take(None)?;
    let (mut ours, mut theirs, mut start) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let from = processor_time(UsageWho::RUSAGE_SELF)?;
        let now = take(Some(&before))?;
        let is_empty = TreeDifference::between(&before, &now).is_empty();
        ours.push(processor_time(UsageWho::RUSAGE_SELF)? - from);
        if !is_empty || now.len() != before.len() {
            bail!("nothing changed, and yet it differs");
        }
        theirs.push(find(&root)?);
        start.push(find(&empty)?);
    }
    let (ours, find) = (median(ours), median(theirs) - median(start));
    let note = format!("{ours:.1} ms, find {find:.1} ms, {} entries", before.len());
    Ok(Measured::single(name, "×", ours / find).below(BELOW).note(note))
}

pub(super) fn make_tree(root: &Path, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let folder = number / PER_DIRECTORY;
        let folder = root.join(format!("part{}", folder / PER_DIRECTORY)).join(format!("module{folder}"));
        if number % PER_DIRECTORY == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("file_{number}.rs")), "x".repeat(number % 300))?;
    }
    Ok(())
}

/// Milliseconds of the processor that `find` takes for a tree.
pub(super) fn find(root: &Path) -> anyhow::Result<f64> {
    let from = processor_time(UsageWho::RUSAGE_CHILDREN)?;
    let mut command = Command::new("find");
    command.arg(root).args(["-printf", "%p %s %T@ %m\\n"]).stdout(Stdio::null());
    let status = command.status().context("`find` is needed to compare with")?;
    if !status.success() {
        bail!("`find` fails");
    }
    Ok(processor_time(UsageWho::RUSAGE_CHILDREN)? - from)
}

/// Milliseconds that this process, or its children, had of the processor.
pub(super) fn processor_time(who: UsageWho) -> anyhow::Result<f64> {
    let usage = getrusage(who)?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e3)
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
