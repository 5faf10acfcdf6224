//! What holds for every dialect in the list, and tables of what each reads.

mod contract;
mod diffs;
mod patches;
mod searches;

use super::*;
use crate::proposal::{EditBody, GitFileMode, Hunk};

/// Reads `text` as one block that begins on line 1 and tells the outcome in short, one operation
/// per line; an error as `! line: reason`.
fn told(dialect: &str, path: Option<&str>, text: &str) -> String {
    let block = DialectBlock { path: path.map(|path| RelPath::parse(path).unwrap()), text, line: 1 };
    match by_name(dialect).unwrap().read(&block) {
        Ok(operations) => {
            let told: Vec<String> = operations.iter().map(|op| tell(&op.action)).collect();
            told.join("\n")
        }
        Err(error) => format!("! {}: {}", error.line, error.reason),
    }
}

fn tell(action: &FileAction) -> String {
    match action {
        FileAction::Delete { path } => format!("delete {path}"),
        FileAction::Rename { from, to } => format!("rename {from} {to}"),
        FileAction::Exact { path, .. } => format!("exact {path}"),
        FileAction::Write { path, edit, mode } => {
            let mode = match mode {
                None => "",
                Some(GitFileMode::Regular) => " -x",
                Some(GitFileMode::Executable) => " +x",
            };
            match &edit.body {
                EditBody::Whole { text, must_be_new } => {
                    let verb = if *must_be_new { "create" } else { "replace" };
                    format!("{verb} {path}{mode} {text:?}")
                }
                EditBody::Hunks(hunks) => {
                    let hunks: String = hunks.iter().map(|h| format!(" {}", tell_hunk(h))).collect();
                    format!("edit {path}{mode}{hunks}")
                }
            }
        }
    }
}

/// `{5-7 [scope] a|b => a|c ~1 end nl}`: claimed range, scope, both sides, how many lines are
/// kept, and what is said about the end.
fn tell_hunk(hunk: &Hunk) -> String {
    let mut told = String::from("{");
    if let Some(line) = hunk.claimed {
        told += &format!("{line}");
    }
    if let Some(line) = hunk.claimed_end {
        told += &format!("-{line}");
    }
    for scope in &hunk.scope {
        told += &format!("[{scope}]");
    }
    told += &format!("{} => {}", hunk.before.join("|"), hunk.after.join("|"));
    if let Some(kept) = &hunk.kept {
        for (old, new) in kept {
            assert_eq!(hunk.before[*old], hunk.after[*new]);
        }
        told += &format!(" ~{}", kept.len());
    }
    if hunk.at_end {
        told += " end";
    }
    match hunk.final_newline {
        Some(true) => told += " nl",
        Some(false) => told += " no-nl",
        None => {}
    }
    told + "}"
}

/// Checks a table of texts and what they must be told as. An expectation that begins with `!` is
/// the beginning of an error, up to a part of its reason.
fn check(dialect: &str, path: Option<&str>, table: &[(&str, &str, &str)]) {
    for (what, text, expected) in table {
        let told = told(dialect, path, text);
        match expected.split_once(": ").filter(|(line, _)| line.starts_with('!')) {
            Some((line, reason)) => {
                assert!(told.starts_with(&format!("{line}: ")) && told.contains(reason), "{what}: {told}");
            }
            None => assert_eq!(told, *expected, "{what}"),
        }
    }
}
