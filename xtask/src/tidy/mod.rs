//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! One rule per file, each a pure function from the repository to a [`Verdict`]; the list is
//! [`RULES`]. A problem fails the run and says what to do; a warning is only shown. The data that
//! a rule compares with (allowed edges, registries, licences …) stands at the top of its file.

mod dependencies;
mod edges;
mod lengths;
mod licences;
mod links;
mod lists;
mod manifests;
mod modules;
pub(crate) mod names;
mod paths;
mod purity;
mod sources;
mod systems;

use anyhow::bail;

use crate::workspace::Workspace;

/// What a rule has to say.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// What was looked at, in a few words, for the line of a rule that passes.
    pub(crate) looked_at: String,
    /// What breaks the rule, each with where and what to do.
    pub(crate) problems: Vec<String>,
    /// What somebody should look at one day.
    pub(crate) warnings: Vec<String>,
}

struct Rule {
    name: &'static str,
    check: fn(&Workspace) -> Verdict,
}

/// Every rule, in the order in which it runs.
const RULES: &[Rule] = &[
    Rule { name: "edges", check: edges::check },
    Rule { name: "purity", check: purity::check },
    Rule { name: "systems", check: systems::check },
    Rule { name: "lists", check: lists::check },
    Rule { name: "names", check: names::check },
    Rule { name: "modules", check: modules::check },
    Rule { name: "lengths", check: lengths::check },
    Rule { name: "sources", check: sources::check },
    Rule { name: "manifests", check: manifests::check },
    Rule { name: "licences", check: licences::check },
    Rule { name: "dependencies", check: dependencies::check },
    Rule { name: "links", check: links::check },
    Rule { name: "paths", check: paths::check },
];

/// Runs every rule, so that one run shows all there is to do.
pub(crate) fn run() -> anyhow::Result<()> {
    let workspace = Workspace::read()?;
    let mut problems = 0;
    for rule in RULES {
        let verdict = (rule.check)(&workspace);
        let word = if verdict.problems.is_empty() { "ok" } else { "FAILED" };
        println!("  {:<13} {word:<7} {}", rule.name, verdict.looked_at);
        for warning in &verdict.warnings {
            println!("    note: {warning}");
        }
        for problem in &verdict.problems {
            println!("    problem: {problem}");
        }
        problems += verdict.problems.len();
    }
    match problems {
        0 => Ok(()),
        1 => bail!("tidy found a problem, shown above"),
        many => bail!("tidy found {many} problems, shown above"),
    }
}
