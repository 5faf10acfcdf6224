//! What holds for every dialect in the list, and tables of what each reads.

mod contract;
mod diffs;
mod patches;
mod searches;

use super::*;
use crate::proposal::{EditBody, GitFileMode, Hunk};

/// Reads `text` as one block that begins on line 1 and summarises the outcome, one operation per line; an
/// error as `! line: reason`.
fn summary(dialect: &str, path: Option<&str>, text: &str) -> String {
    let block = DialectBlock { path: path.map(|path| RelPath::parse(path).unwrap()), text, line: 1 };
    match by_name(dialect).unwrap().read(&block) {
        Ok(operations) => {
            let summary: Vec<String> = operations.iter().map(|op| action_summary(&op.action)).collect();
            summary.join("\n")
        }
        Err(error) => format!("! {}: {}", error.line, error.reason),
    }
}

fn action_summary(action: &FileAction) -> String {
    match action {
        FileAction::Delete { path, .. } => format!("delete {path}"),
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
                    let hunks: String = hunks.iter().map(|h| format!(" {}", hunk_summary(h))).collect();
                    format!("edit {path}{mode}{hunks}")
                }
            }
        }
    }
}

/// `{5-7 [scope] a|b => a|c ~1 end nl}`: claimed range, scope, both sides, how many lines are kept, and
/// what is known about the end.
fn hunk_summary(hunk: &Hunk) -> String {
    let mut summary = String::from("{");
    if let Some(line) = hunk.claimed {
        summary += &format!("{line}");
    }
    if let Some(line) = hunk.claimed_end {
        summary += &format!("-{line}");
    }
    for scope in &hunk.scope {
        summary += &format!("[{scope}]");
    }
    summary += &format!("{} => {}", hunk.before.join("|"), hunk.after.join("|"));
    if let Some(kept) = &hunk.kept {
        for (old, new) in kept {
            assert_eq!(hunk.before[*old], hunk.after[*new]);
        }
        summary += &format!(" ~{}", kept.len());
    }
    if hunk.at_end {
        summary += " end";
    }
    match hunk.final_newline {
        Some(true) => summary += " nl",
        Some(false) => summary += " no-nl",
        None => {}
    }
    summary + "}"
}

/// Checks a table of texts and their summaries. An expectation that begins with `!` is the beginning of an
/// error, up to a part of its reason.
fn check(dialect: &str, path: Option<&str>, table: &[(&str, &str, &str)]) {
    for (what, text, expected) in table {
        let summary = summary(dialect, path, text);
        match expected.split_once(": ").filter(|(line, _)| line.starts_with('!')) {
            Some((line, reason)) => {
                assert!(
                    summary.starts_with(&format!("{line}: ")) && summary.contains(reason),
                    "{what}: {summary}"
                );
            }
            None => assert_eq!(summary, *expected, "{what}"),
        }
    }
}
