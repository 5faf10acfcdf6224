//! A kind of thing has one folder and one explicit list. A file that stands in the folder but not
//! in the list would compile and do nothing, so folder and list are compared here.

use std::fs;
use std::path::Path;

use super::Verdict;
use crate::workspace::Workspace;

/// A folder with one file per member, and a `mod.rs` that lists them.
struct Registry {
    /// What the members are.
    kind: &'static str,
    folder: &'static str,
    /// Modules in the folder that are not members: shared parts and tests.
    not_members: &'static [&'static str],
}

const fn registry(
    kind: &'static str,
    folder: &'static str,
    not_members: &'static [&'static str],
) -> Registry {
    Registry { kind, folder, not_members }
}

/// Every registry, also those whose folder is still to come.
#[rustfmt::skip]
const REGISTRIES: &[Registry] = &[
    registry("dialect", "crates/change/src/dialect", &["diff", "headed", "opening", "patch_marker", "tests"]),
    registry("rung", "crates/change/src/matching/rungs", &["tests"]),
    registry("finding", "crates/change/src/plan/findings", &["tests"]),
    registry("approval rule", "crates/door/src/approval/rules", &[]),
    registry("linter reader", "crates/door/src/linter/readers", &[]),
    registry("command", "crates/relay/src/commands", &["accept_foreign", "tests"]),
    registry("friend", "crates/friend/src/friends", &["registry", "model"]),
    registry("rpc command family", "crates/servers/src/rpc/commands", &[]),
    registry("wire", "crates/llm/src/wire",
        &["address", "conformance", "effort", "history", "ids", "kept_turns", "picture", "request_body"]),
    registry("scripted wire", "crates/testkit/src/model/wire", &[]),
    registry("real agent", "crates/testkit/src/agents", &["install", "resident", "run"]),
    registry("torture layer", "proofs/torture/src/layers", &[]),
    registry("tidy rule", "xtask/src/tidy", &["tests"]),
];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let mut verdict = Verdict::default();
    let mut looked_at = Vec::new();
    for registry in REGISTRIES {
        let folder = workspace.root.join(registry.folder);
        if !folder.is_dir() {
            verdict.warnings.push(format!("{}: not there yet", registry.folder));
            continue;
        }
        let members = members(&folder, registry);
        looked_at.push(plural(members.len(), registry.kind));
        match fs::read_to_string(folder.join("mod.rs")) {
            Ok(list) => verdict.problems.extend(problems(registry, &members, &list)),
            Err(error) => verdict.problems.push(format!(
                "{}/mod.rs, the list of every {}, cannot be read: {error}",
                registry.folder, registry.kind
            )),
        }
    }
    verdict.looked_at = looked_at.join(", ");
    verdict
}

fn plural(count: usize, kind: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {kind}{s}")
}

/// The names of the members that the folder holds: `x.rs` and `x/` are both `x`.
fn members(folder: &Path, registry: &Registry) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                return Some(name);
            }
            name.strip_suffix(".rs").map(str::to_owned)
        })
        .filter(|name| name != "mod" && !registry.not_members.contains(&name.as_str()))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn problems(registry: &Registry, members: &[String], list: &str) -> Vec<String> {
    let Registry { kind, folder, .. } = registry;
    let mut problems = Vec::new();
    for member in members {
        if !declared(list, member) {
            problems.push(format!(
                "{folder}/{member} is not part of the build: add `mod {member};` to {folder}/mod.rs"
            ));
        } else if !used(list, member) {
            problems.push(format!(
                "{folder}/{member} is not in the list: add the {kind} as `{member}::…` to the list in \
                 {folder}/mod.rs, or name the module under `not_members` in xtask/src/tidy/lists.rs"
            ));
        }
    }
    problems
}

/// Whether `list` has the line `mod member;`, of whatever visibility.
fn declared(list: &str, member: &str) -> bool {
    code_lines(list).any(|line| {
        line.trim_end()
            .strip_suffix(';')
            .and_then(|line| line.strip_suffix(member))
            .is_some_and(|before| before == "mod " || before.ends_with(" mod "))
    })
}

/// Whether `list` uses something of the member's module, outside comments and re-exports.
fn used(list: &str, member: &str) -> bool {
    let path = format!("{member}::");
    code_lines(list).filter(|line| !line.starts_with("pub use ")).any(|line| {
        line.match_indices(&path)
            .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The lines that are not comments, without their indentation.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRUIT: Registry = registry("fruit", "fruit", &[]);

    fn found(list: &str) -> Vec<String> {
        problems(&FRUIT, &["apple".to_owned(), "pear".to_owned()], list)
    }

    #[test]
    fn a_complete_list_passes() {
        let list =
            "mod apple;\npub(crate) mod pear;\nstatic ALL: &[&dyn Fruit] = &[&apple::Apple, &pear::Pear];\n";
        assert_eq!(found(list), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_not_built_is_found() {
        let list = "mod apple;\n// mod pear;\nlet all = [apple::Apple];";
        assert_eq!(found(list), ["fruit/pear is not part of the build: add `mod pear;` to fruit/mod.rs"]);
    }

    #[test]
    fn a_member_that_is_not_listed_is_found() {
        let list = "mod apple;\nmod pear;\n/// Not pear::Pear.\npub use pear::Pear;\nlet all = [apple::Apple, spear::Spear];";
        let found = found(list);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("fruit/pear is not in the list: add the fruit as `pear::…`"));
    }
}
