//! Five thousand sessions of twenty projects: the list of all, by the library and by the command, with
//! their indexes and without.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use relaycode_durable::RealFs;
use relaycode_session::HomeLayout;
use relaycode_session::find::list::{ListScope, SessionLister};
use relaycode_session::home::layout::encode_project_dir;
use relaycode_testkit::random::Random;

use super::long::{index_of, make_index};
use super::made::{Shape, write};
use crate::child::{median, relay, run, scratch};
use crate::measure::{BenchReport, Measured, milliseconds, times};

const SESSIONS: usize = 5_000;
const PROJECTS: usize = 20;
/// Milliseconds.
const LIST_BELOW: f64 = 200.0;
const RUNS: usize = 21;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("session, list 5 000") {
        return Ok(());
    }
    let scratch = scratch()?;
    let home = scratch.path().join("home");
    let paths = make(&home)?;
    listed(report, &home, "indexes")?;
    for path in &paths {
        fs::remove_file(index_of(path))?;
    }
    listed(report, &home, "no indexes")
}

fn listed(report: &mut BenchReport, home: &Path, kind: &str) -> anyhow::Result<()> {
    let (fs, layout) = (RealFs::default(), HomeLayout::new(home));
    let mut found = 0;
    let library = times(|| {
        found = SessionLister::new(&fs, &layout)
            .list(ListScope::All, false)
            .map_or(0, |listed| listed.sessions.len());
    });
    ensure!(found == SESSIONS, "{found} of {SESSIONS} sessions are listed");
    let name = |what: &str| format!("session, list 5 000, {kind}, {what}");
    let runs = library.len();
    // Both processors are used, so any other load is in every run: the median is judged.
    let all = Measured::from_times("", library);
    let row = Measured::single(name("library"), "ms", all.median).below(LIST_BELOW);
    report.add(row.note(format!("wall, median of {runs} runs, p99 {:.1}", all.p99)));
    for (what, words) in [
        ("command", vec!["sessions", "--all", "--json"]),
        ("command, all", vec!["sessions", "--all", "--json", "-n", "5000"]),
    ] {
        let mut costs = Vec::new();
        for _ in 0..RUNS {
            costs.push(run(relay(Some(home))?.args(&words).arg("-C").arg(home))?);
        }
        let longest = costs.iter().map(|cost| cost.wall).max().unwrap_or_default();
        let middle = median(&costs);
        let below = Some(LIST_BELOW).filter(|_| what == "command");
        report.add(Measured::single(name(what), "ms", milliseconds(middle.wall)).below(below).note(format!(
            "relay {}; wall, median, max {:.1}; processor {:.1} ms",
            words.join(" "),
            milliseconds(longest),
            milliseconds(middle.processor)
        )));
    }
    Ok(())
}

/// Creates the sessions and their indexes: most are short, one in fifty is long.
fn make(home: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut random = Random::new(5);
    let mut paths = Vec::new();
    for number in 0..SESSIONS {
        let cwd = format!("/home/someone/project-{}", number % PROJECTS);
        let id = format!("019c3a5f2b7e7c1d9a53{number:012x}");
        let name = format!(
            "2026-02-01T{:02}-{:02}-{:02}-000Z_{id}.jsonl",
            number / 3_600,
            number / 60 % 60,
            number % 60
        );
        let path = home.join("sessions").join(encode_project_dir(Path::new(&cwd))).join(name);
        let most = if random.once_in(50) { 400_000 } else { 30_000 };
        let bytes = 2_000 + random.below(most) as u64;
        write(&path, &id, &cwd, &Shape { seed: number as u64, bytes, compaction: None })?;
        make_index(&path)?;
        paths.push(path);
    }
    Ok(paths)
}
