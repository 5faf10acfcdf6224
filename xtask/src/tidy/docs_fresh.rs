//! The reference pages say what the code says.

use super::Verdict;
use crate::docs;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let pages = match docs::pages() {
        Ok(pages) => pages,
        Err(error) => {
            let problems = vec![format!("the pages cannot be written: {error:#}")];
            return Verdict { problems, ..Verdict::default() };
        }
    };
    let strays = docs::strays(&workspace.root, &pages).into_iter();
    let strays = strays.map(|path| format!("{path} is about nothing: `cargo xtask docs` removes it"));
    let problems = pages
        .iter()
        .filter(|page| !page.is_fresh(&workspace.root))
        .map(|page| format!("{} is out of date: `cargo xtask docs` writes it again", page.path))
        .chain(strays)
        .collect();
    Verdict {
        looked_at: format!("pages generated from the code: {}", pages.len()),
        problems,
        warnings: Vec::new(),
    }
}
