//! Files stay short enough to be read in one go: past 500 lines ask whether there are two rooms,
//! past 800 there are.

use super::Verdict;
use crate::workspace::{Source, Workspace};

/// Over this, a note.
const LONG: usize = 500;
/// Over this, a problem.
const TOO_LONG: usize = 800;
/// Over this, a problem for a file of tests.
const TOO_LONG_FOR_TESTS: usize = 1_500;

/// A file that may be longer.
struct Exception {
    path: &'static str,
    most: usize,
    #[expect(dead_code, reason = "written for whoever reads the list")]
    reason: &'static str,
}

/// Files that may be longer, each with the reason why it is one room.
const EXCEPTIONS: &[Exception] = &[];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let lines: usize = workspace.sources.iter().map(|source| source.text.lines().count()).sum();
    let mut verdict = Verdict {
        looked_at: format!("{} files, {lines} lines", workspace.sources.len()),
        ..Verdict::default()
    };
    for source in &workspace.sources {
        judge(source, EXCEPTIONS, &mut verdict);
    }
    for exception in EXCEPTIONS {
        let needed = workspace
            .sources
            .iter()
            .any(|source| source.path == exception.path && source.text.lines().count() > most(source, &[]));
        if !needed {
            verdict.problems.push(format!(
                "{} needs no exception any more: remove it from xtask/src/tidy/lengths.rs",
                exception.path
            ));
        }
    }
    verdict
}

fn judge(source: &Source, exceptions: &[Exception], verdict: &mut Verdict) {
    let lines = source.text.lines().count();
    let most = most(source, exceptions);
    let path = &source.path;
    if lines > most {
        verdict.problems.push(format!(
            "{path} has {lines} lines, at most {most} are allowed: split it, or give the reason why it is one \
             room in EXCEPTIONS in xtask/src/tidy/lengths.rs"
        ));
    } else if lines > LONG && most == TOO_LONG {
        verdict
            .warnings
            .push(format!("{path} has {lines} lines; over {LONG}, ask whether there are two rooms"));
    }
}

fn most(source: &Source, exceptions: &[Exception]) -> usize {
    if let Some(exception) = exceptions.iter().find(|one| one.path == source.path) {
        return exception.most;
    }
    if source.is_test() { TOO_LONG_FOR_TESTS } else { TOO_LONG }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many problems and how many warnings a file of so many lines gives.
    fn judged(path: &str, lines: usize) -> (usize, usize) {
        let source = Source { path: path.into(), text: "x\n".repeat(lines) };
        let exceptions = [Exception { path: "src/table.rs", most: 900, reason: "one table" }];
        let mut verdict = Verdict::default();
        judge(&source, &exceptions, &mut verdict);
        (verdict.problems.len(), verdict.warnings.len())
    }

    #[test]
    fn the_edges_of_each_length() {
        assert_eq!(judged("src/a.rs", LONG), (0, 0));
        assert_eq!(judged("src/a.rs", LONG + 1), (0, 1));
        assert_eq!(judged("src/a.rs", TOO_LONG), (0, 1));
        assert_eq!(judged("src/a.rs", TOO_LONG + 1), (1, 0));
        assert_eq!(judged("src/a/tests.rs", TOO_LONG_FOR_TESTS), (0, 0));
        assert_eq!(judged("tests/it/main.rs", TOO_LONG_FOR_TESTS + 1), (1, 0));
        assert_eq!(judged("src/table.rs", 900), (0, 0));
        assert_eq!(judged("src/table.rs", 901), (1, 0));
    }
}
