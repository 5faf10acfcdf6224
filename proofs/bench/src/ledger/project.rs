//! Projects to apply answers to: files of code-like lines, answers that change each of them, and the plain
//! program that writes the same files without any care.

use std::fs;
use std::path::Path;

/// Files of a large change.
pub(super) const FILES: usize = 200;
const LINES: usize = 200;
/// The line that an answer changes.
const CHANGED: usize = 120;

/// The content of the files.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A language whose syntax planning checks, which takes most of its time.
    Code,
    /// Nothing that anybody checks, so that the ledger's share is visible.
    Text,
}

/// How an answer is written.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// Every file as a whole.
    Whole,
    /// One small edit of every file.
    SearchReplace,
}

impl Answer {
    pub(super) const ALL: [Answer; 2] = [Answer::Whole, Answer::SearchReplace];

    pub(super) fn name(self) -> &'static str {
        match self {
            Answer::Whole => "whole files",
            Answer::SearchReplace => "search/replace",
        }
    }

    /// Brings the first `files` files to version `version` from the one before.
    pub(super) fn text(self, kind: Kind, files: usize, version: usize) -> String {
        let mut text = String::new();
        for number in 0..files {
            let path = path(number, kind);
            match self {
                Answer::Whole => text += &format!("```text // {path}\n{}```\n\n", file(number, version)),
                Answer::SearchReplace => {
                    let edit = [version - 1, version].map(|version| {
                        let around = (CHANGED - 2..=CHANGED + 2).map(|at| line(number, at, version));
                        around.collect::<String>()
                    });
                    text += &format!(
                        "```text // {path} multi-search-replace\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n```\n\n",
                        edit[0], edit[1]
                    );
                }
            }
        }
        text
    }
}

/// Writes the first version of `files` files into a project.
pub(super) fn make(root: &Path, kind: Kind, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let path = root.join(path(number, kind));
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, file(number, 0))?;
    }
    Ok(())
}

/// Writes version 1 of every file twice, each under another name first, into empty directories, and syncs
/// nothing: the least that a program must do which stages files and keeps the old ones. (Replacing files
/// would cost more: some file systems then write at once.)
pub(crate) fn write_plainly(root: &Path) -> anyhow::Result<()> {
    for pass in ["once", "twice"] {
        for number in 0..FILES {
            let path = root.join(pass).join(path(number, Kind::Text));
            if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
                fs::create_dir_all(directory)?;
            }
            let new = path.with_extension("new");
            fs::write(&new, file(number, 1))?;
            fs::rename(&new, &path)?;
        }
    }
    Ok(())
}

fn path(number: usize, kind: Kind) -> String {
    let extension = match kind {
        Kind::Code => "ts",
        Kind::Text => "txt",
    };
    format!("src/part{}/file{number}.{extension}", number % 7)
}

/// About eight kilobytes.
fn file(number: usize, version: usize) -> String {
    let mut text = String::with_capacity(LINES * 48);
    for at in 0..LINES {
        text += &line(number, at, version);
    }
    text
}

fn line(number: usize, at: usize, version: usize) -> String {
    let version = if at == CHANGED { version } else { 0 };
    format!("    const value{at} = read(\"{number}\", {at}, {version});\n")
}
