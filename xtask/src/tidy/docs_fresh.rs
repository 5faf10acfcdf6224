//! The reference pages say what the code says.

use super::Verdict;
use crate::docs;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let pages = docs::pages();
    let problems = pages
        .iter()
        .filter(|page| !page.is_fresh(&workspace.root))
        .map(|page| format!("{} is out of date: `cargo xtask docs` writes it again", page.path))
        .collect();
    Verdict {
        looked_at: format!("pages generated from the code: {}", pages.len()),
        problems,
        warnings: Vec::new(),
    }
}
