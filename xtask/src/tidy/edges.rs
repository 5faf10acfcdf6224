//! Which crate may use which. The table is the architecture: an edge that is not in it is either a
//! mistake or a decision, and a decision is written down here.
//!
//! Rows stand from the bottom up, and a crate uses only rows above its own, so the table cannot
//! hold a cycle. Development dependencies are free.

use super::Verdict;
use crate::workspace::Workspace;

/// One crate: its folder's name, what it may use, and what it must not know.
struct Row {
    name: &'static str,
    may_use: &'static [&'static str],
    does_not_know: &'static str,
}

const fn row(name: &'static str, may_use: &'static [&'static str], does_not_know: &'static str) -> Row {
    Row { name, may_use, does_not_know }
}

/// Every crate that exists or is planned.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    row("text", &[], "files, network"),
    row("durable", &[], "what is stored"),
    row("change", &["text"], "disk, async, git"),
    row("snapshot", &["durable", "text"], "git's meaning, who changed it"),
    row("ledger", &["change", "snapshot", "durable", "text"], "where a change came from"),
    row("exec", &["text", "durable"], "what it runs"),
    row("project", &["exec", "durable", "text"], "changes, models, user interfaces"),
    row("door", &["ledger", "snapshot", "change", "project", "exec", "durable", "text"], "surfaces"),
    row("watch", &["door", "change", "project", "exec", "durable", "text"], "how it is shown"),
    row("llm", &["exec", "durable", "text"], "tools, sessions"),
    row("session", &["durable", "llm", "text"], "tools, user interfaces"),
    row("clients", &["exec", "durable", "text"], "the model"),
    row("friend", &["clients", "door", "snapshot", "exec", "project", "change", "llm", "durable", "text"], "our own agent"),
    row("tools", &["door", "change", "clients", "exec", "project", "llm", "session", "durable", "text"], "the loop, user interfaces"),
    row("agent", &["tools", "llm", "session", "project", "door", "text"], "how it is shown"),
    row("servers", &["agent", "tools", "friend", "door", "ledger", "session", "llm", "project", "text"], "the terminal, HTTP pages"),
    row("bridge", &["agent", "friend", "door", "ledger", "change", "project", "exec", "durable", "text"], "the terminal"),
    row("tui", &[
        "watch", "agent", "tools", "session", "llm", "door", "ledger", "change", "project", "text",
    ], "HTTP, providers"),
    row("relay", &[
        "text", "durable", "change", "snapshot", "ledger", "exec", "project", "door", "watch", "llm", "session", "clients", "friend",
        "tools", "agent", "servers", "bridge", "tui",
    ], "logic"),
];

/// The crate that may use everything, and that nobody uses except for development.
const TESTKIT: &str = "testkit";

/// Proofs, by how their names begin: they may use everything, and only proofs and `testkit` use them,
/// others for development.
const PROOF: &str = "proof-";

/// It starts in seconds because it uses none of the others.
const XTASK: &str = "xtask";

/// Where the table is, for messages.
const HERE: &str = "TABLE in xtask/src/tidy/edges.rs";

/// A crate of ours and the crates of ours that it is built with, by folder name.
struct Uses {
    name: String,
    uses: Vec<String>,
}

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let uses: Vec<Uses> = workspace
        .members()
        .map(|member| Uses {
            name: short(&member.name),
            uses: member
                .built_with
                .iter()
                .filter(|name| workspace.members().any(|other| other.name == **name))
                .map(|name| short(name))
                .collect(),
        })
        .collect();
    Verdict {
        looked_at: format!("{} crates, {} in the table", uses.len(), TABLE.len()),
        problems: problems(TABLE, &uses),
        warnings: Vec::new(),
    }
}

fn short(package: &str) -> String {
    package.strip_prefix("relaycode-").unwrap_or(package).to_owned()
}

fn problems(table: &[Row], crates: &[Uses]) -> Vec<String> {
    let mut problems = Vec::new();
    for Uses { name, uses } in crates {
        if name == TESTKIT || name.starts_with(PROOF) {
            continue;
        }
        if name == XTASK {
            problems.extend(uses.iter().map(|used| {
                format!(
                    "`{XTASK}` uses `{used}`: it stays light; what needs our crates is a program in proofs/"
                )
            }));
            continue;
        }
        let Some(row) = table.iter().find(|row| row.name == name) else {
            problems.push(format!(
                "the crate `{name}` has no row in {HERE}: say there what it may use and what it does not know, \
                 and describe it in ARCHITECTURE.md"
            ));
            continue;
        };
        for used in uses {
            if used == TESTKIT || used.starts_with(PROOF) {
                problems.push(format!(
                    "`{name}` is built with `{used}`, which is for development only: move it to [dev-dependencies]"
                ));
            } else if !row.may_use.contains(&used.as_str()) {
                problems.push(format!(
                    "`{name}` uses `{used}`, an edge that is not in {HERE} (`{name}` does not know: {}). \
                     If the edge is meant, add it there and say why in docs/decisions/",
                    row.does_not_know
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(name: &str, uses: &[&str]) -> Uses {
        Uses { name: name.to_owned(), uses: uses.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn edges_in_the_table_pass() {
        let crates = [
            uses("text", &[]),
            uses("change", &["text"]),
            uses("relay", &["change", "text"]),
            uses("xtask", &[]),
            uses("testkit", &["bridge"]),
            uses("proof-fuzz", &["proof-corpus", "testkit", "change"]),
        ];
        assert_eq!(problems(TABLE, &crates), Vec::<String>::new());
    }

    #[test]
    fn a_new_edge_is_named_with_where_to_add_it() {
        let found = problems(TABLE, &[uses("change", &["text", "durable"])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`change` uses `durable`"), "{}", found[0]);
        assert!(found[0].contains(HERE) && found[0].contains("disk"));
    }

    #[test]
    fn a_new_crate_is_named_with_where_to_add_it() {
        let found = problems(TABLE, &[uses("common", &[])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`common` has no row") && found[0].contains(HERE));
    }

    #[test]
    fn development_crates_are_not_built_in() {
        for used in ["testkit", "proof-corpus"] {
            let found = problems(TABLE, &[uses("relay", &[used])]);
            assert!(found[0].contains("[dev-dependencies]"));
        }
    }

    #[test]
    fn xtask_stays_light() {
        let found = problems(TABLE, &[uses("xtask", &["testkit", "text"])]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn every_row_uses_only_rows_above_it() {
        for (at, row) in TABLE.iter().enumerate() {
            for used in row.may_use {
                assert!(
                    TABLE[..at].iter().any(|above| above.name == *used),
                    "{} uses {used}, which does not stand above it",
                    row.name
                );
            }
        }
    }
}
