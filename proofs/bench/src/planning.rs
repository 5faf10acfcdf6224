//! Planning: one hunk on a file, for every rung and the worst cases; and two hundred files at once.

use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{NoSeenTexts, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, Proposal};

use super::measure::{BenchReport, Measured, plain_pass, times};
use super::samples;
use relaycode_testkit::clock;

/// File sizes, and the limit of the p99 in milliseconds.
const SIZES: &[(&str, usize, f64)] = &[("60 kB", 60_000, 5.0), ("1 MB", 1_000_000, 50.0)];
/// Files and lines of the large proposal.
const FILES: usize = 200;
const LINES: usize = 200;
/// Its limit in milliseconds of processor time.
const FILES_BELOW: f64 = 50.0;

/// Measures both.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    single_hunks(report);
    many_files(report);
    Ok(())
}

/// One hunk on one file.
fn single_hunks(report: &mut BenchReport) {
    for (size, bytes, below) in SIZES {
        for sample in samples::hunks(*bytes) {
            let name = format!("hunk, {size}, {}", sample.name);
            if !report.wants(&name) {
                continue;
            }
            let Some((proposal, tree)) = one_file(&sample) else {
                continue;
            };
            let limits = PlanLimits::default();
            let mut outcome = String::new();
            let taken = times(|| {
                let result = plan(&proposal, &tree, &NoSeenTexts, &limits);
                outcome = match &result {
                    Ok(plan) => plan
                        .files
                        .first()
                        .and_then(|file| file.hunks.first())
                        .map_or("no hunk".to_owned(), |hunk| hunk.rung.to_owned()),
                    Err(_) => "refused".to_owned(),
                };
                result
            });
            let row =
                Measured::from_times(name, taken).below(*below).plain(plain_pass(sample.file.as_bytes()));
            report.add(row.note(outcome));
        }
    }
}

fn one_file(sample: &samples::Sample) -> Option<(Proposal, MemoryTree)> {
    let path = RelPath::parse("src/file.ts").ok()?;
    let mut tree = MemoryTree::default();
    tree.insert(path.clone(), sample.file.as_bytes());
    Some((proposal(vec![write(path, sample.hunk.clone(), sample.dialect)]), tree))
}

fn write(path: RelPath, hunk: Hunk, dialect: &'static str) -> Operation {
    Operation {
        line: 1,
        action: FileAction::Write {
            path,
            edit: FileEdit { dialect, body: EditBody::Hunks(vec![hunk]), seen: None },
            mode: None,
        },
    }
}

fn proposal(operations: Vec<Operation>) -> Proposal {
    Proposal { operations, ..Proposal::default() }
}

/// Two hundred files with a hunk each, in processor time.
fn many_files(report: &mut BenchReport) {
    let name = format!("{FILES} files of {LINES} lines, processor time");
    if !report.wants(&name) {
        return;
    }
    let mut tree = MemoryTree::default();
    let mut operations = Vec::new();
    let mut all = String::new();
    for number in 0..FILES {
        let Ok(path) = RelPath::parse(&format!("src/part{}/file{number}.ts", number % 7)) else {
            continue;
        };
        let file: String = samples::code(16_000).lines().take(LINES).flat_map(|line| [line, "\n"]).collect();
        let at = LINES / 2 + number % 50;
        let before: Vec<String> = file.lines().skip(at).take(14).map(str::to_owned).collect();
        let mut after = before.clone();
        after.insert(7, format!("    // added to {number}"));
        let hunk = Hunk { line: 1, before, after, ..Hunk::default() };
        all += &file;
        tree.insert(path.clone(), file);
        operations.push(write(path, hunk, "multi-search-replace"));
    }
    let proposal = proposal(operations);
    let limits = PlanLimits::default();
    let mut taken = Vec::new();
    let mut fits = false;
    for _ in 0..40 {
        let start = clock::processor_time();
        fits = std::hint::black_box(plan(&proposal, &tree, &NoSeenTexts, &limits)).is_ok();
        taken.push(clock::processor_time().saturating_sub(start));
    }
    let row = Measured::from_times(name, taken).below(FILES_BELOW).plain(plain_pass(all.as_bytes()));
    report.add(row.note(if fits { "planned" } else { "refused" }));
}
