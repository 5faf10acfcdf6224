//! How much code of others comes along: the packages of the lock file, against a budget. A step
//! over it is a decision, not an accident.

use std::fs;

use super::Verdict;
use crate::workspace::Workspace;

/// Packages in `Cargo.lock`, ours included.
const BUDGET: usize = 480;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let mut verdict = Verdict::default();
    match fs::read_to_string(workspace.root.join("Cargo.lock")) {
        Ok(lock) => {
            let count = count(&lock);
            verdict.looked_at = format!("{count} packages locked, {BUDGET} at most");
            if count > BUDGET {
                verdict.problems.push(format!(
                    "Cargo.lock holds {count} packages, the budget is {BUDGET}: do without one, or raise BUDGET in \
                     xtask/src/tidy/dependencies.rs and say why in docs/decisions/"
                ));
            }
        }
        Err(error) => verdict.problems.push(format!("Cargo.lock cannot be read: {error}")),
    }
    verdict
}

fn count(lock: &str) -> usize {
    lock.lines().filter(|line| *line == "[[package]]").count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn packages_are_counted() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\n\n[[package]]\nname = \"[[package]]\"\n";
        assert_eq!(super::count(lock), 2);
    }
}
