//! The check of the project before and after a friend: the part that reads everything once, and the
//! comparison. Each check runs in a separate process, as it does for a user. The plain pass reads the same
//! files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::time::{ClockId, clock_gettime};
use relaycode_exec::Runner;
use relaycode_friend::tree_check::TreeCheckSnapshot;
use relaycode_project::git::Git;

use super::median_row;
use crate::child::{part, scratch};
use crate::measure::{BenchReport, milliseconds};
use crate::repository::{fill, git};
use crate::startup::beside_this_one;

/// Milliseconds for 100 MB.
const TREE_BELOW: f64 = 1_000.0;
/// Milliseconds for ignored files, which are not read.
const IGNORED_BELOW: f64 = 100.0;
const RUNS: usize = 9;

/// Three projects.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for (name, files, size, ignored, below) in [
        ("100 MB in 2000 files", 2_000, 50_000, 0, TREE_BELOW),
        ("10 MB in 10000 files", 10_000, 1_000, 0, TREE_BELOW),
        ("1 GB ignored in 1000 files", 10, 1_000, 1_000, IGNORED_BELOW),
    ] {
        let name = format!("friends, tree check, {name}");
        if !report.wants(&name) {
            continue;
        }
        let folder = scratch()?;
        let root = folder.path().canonicalize()?;
        fill(&root, files, size)?;
        ignore(&root, ignored)?;
        let plain = super::middle((0..RUNS).map(|_| read(&root)).collect::<anyhow::Result<_>>()?);
        let (mut both, mut takes, mut processor) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let [take, compare, used] = in_a_child(&root)?;
            both.push(take + compare);
            takes.push(take);
            processor.push(used);
        }
        report.add(median_row(&name, "ms", &both, Some(below)).plain(plain).note(format!(
            "; taking it {:.0}, processor {:.0}",
            super::middle(takes),
            super::middle(processor)
        )));
    }
    Ok(())
}

/// Empty files of a megabyte that git ignores.
fn ignore(root: &Path, files: usize) -> anyhow::Result<()> {
    if files == 0 {
        return Ok(());
    }
    fs::write(root.join(".gitignore"), "/built/\n")?;
    fs::create_dir(root.join("built"))?;
    for at in 0..files {
        fs::File::create(root.join(format!("built/object{at}")))?.set_len(1 << 20)?;
    }
    git(root, &["add", ".gitignore"])
}

/// Time to read every tracked file, and nothing more.
fn read(root: &Path) -> anyhow::Result<f64> {
    let mut files = Vec::new();
    for folder in fs::read_dir(root)?.flatten() {
        if folder.file_name().to_string_lossy().starts_with("part") {
            files.extend(fs::read_dir(folder.path())?.flatten().map(|entry| entry.path()));
        }
    }
    let began = Instant::now();
    for file in files {
        std::hint::black_box(fs::read(file)?);
    }
    Ok(milliseconds(began.elapsed()))
}

/// Milliseconds to take it, to compare it, and processor time of both.
fn in_a_child(root: &Path) -> anyhow::Result<[f64; 3]> {
    let output = part(&["friends", "tree"])?.arg(root).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(said.trim())
        .with_context(|| format!("the child says `{said}` and {}", String::from_utf8_lossy(&output.stderr)))
}

/// Checks a project twice, and reports the cost.
pub(super) fn look(root: &Path) -> anyhow::Result<()> {
    let runner = Runner::new(beside_this_one()?);
    let git = Git::new(&runner, root);
    let began = Instant::now();
    let snapshot = TreeCheckSnapshot::take(root, Some(&git), &|| false)?;
    let taken = began.elapsed();
    let began = Instant::now();
    let differences = snapshot.compare(&|| false)?;
    let compared = began.elapsed();
    anyhow::ensure!(differences.is_empty(), "nothing was changed: {differences:?}");
    let processor = Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?);
    println!("{}", serde_json::json!([taken, compared, processor].map(milliseconds)));
    Ok(())
}
