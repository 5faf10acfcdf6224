//! Projects that were set up, and answers for them: files of code with one edit of four lines each, written
//! in each of the ways that models use most.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use tempfile::TempDir;

use crate::child::{Cost, relay, run, scratch};
use crate::startup;
use relaycode_testkit::clock;

/// Functions of five lines per file.
const FUNCTIONS: usize = 40;
/// The function that an answer changes: all its lines but the closing brace.
const CHANGED: usize = 24;
/// Lines of a function that an answer changes.
const EDIT: usize = 4;

/// The content of the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A language whose syntax planning checks.
    Code,
    /// Nothing that anybody checks.
    Text,
}

impl Kind {
    pub(super) fn extension(self) -> &'static str {
        match self {
            Kind::Code => "ts",
            Kind::Text => "txt",
        }
    }
}

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    SearchReplace,
    Whole,
    Diff,
}

impl Form {
    pub(super) const ALL: [Form; 3] = [Form::SearchReplace, Form::Whole, Form::Diff];

    pub(super) fn name(self) -> &'static str {
        match self {
            Form::SearchReplace => "search/replace",
            Form::Whole => "whole files",
            Form::Diff => "diffs",
        }
    }
}

/// A project with its own home, both removed on drop.
pub(super) struct Project {
    scratch: TempDir,
    root: PathBuf,
    kind: Kind,
    files: usize,
    /// Of its files, as the last answer left them.
    version: usize,
}

impl Project {
    /// Creates the files, and has relay set the project up. A linter is configured and trusted.
    pub(super) fn make(kind: Kind, files: usize, linter: Option<&str>) -> anyhow::Result<Project> {
        let scratch = scratch()?;
        let root = scratch.path().join("project");
        let project = Project { scratch, root, kind, files, version: 0 };
        project.write_files(0)?;
        run(project.relay()?.args(["init", "--id", "bench"]))?;
        if let Some(linter) = linter {
            let path = project.root.join("relaycode.config.json");
            let mut config: serde_json::Value = serde_json::from_slice(&fs::read(&path)?)?;
            config["patch"]["linter"] = linter.into();
            fs::write(&path, serde_json::to_vec_pretty(&config)?)?;
            run(project.relay()?.args(["trust", "-y"]))?;
        }
        Ok(project)
    }

    /// Its directory, to be kept for a while.
    pub(super) fn into_scratch(self) -> TempDir {
        self.scratch
    }

    /// A file of the project, by number.
    pub(super) fn path(&self, number: usize) -> String {
        format!("src/part{}/file{number}.{}", number % 7, self.kind.extension())
    }

    /// relay, for this project.
    pub(super) fn relay(&self) -> anyhow::Result<Command> {
        let mut relay = relay(Some(&self.scratch.path().join("home")))?;
        relay.arg("-C").arg(&self.root);
        Ok(relay)
    }

    fn write_files(&self, version: usize) -> anyhow::Result<()> {
        for number in 0..self.files {
            let path = self.root.join(self.path(number));
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            fs::write(path, file(number, version))?;
        }
        Ok(())
    }

    /// Writes the answer that brings every file to its next version; returns its path.
    fn next_answer(&mut self, form: Form) -> anyhow::Result<PathBuf> {
        self.version += 1;
        let path = self.scratch.path().join("answer.md");
        fs::write(&path, self.answer(form))?;
        Ok(path)
    }

    fn answer(&self, form: Form) -> String {
        let mut text = String::from("The functions are scaled anew.\n\n");
        for number in 0..self.files {
            let path = self.path(number);
            let (old, new) = (edit(number, self.version - 1), edit(number, self.version));
            text += &match form {
                Form::Whole => {
                    format!("```typescript // {path} replace\n{}```\n\n", file(number, self.version))
                }
                Form::SearchReplace => format!(
                    "```typescript // {path} multi-search-replace\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n```\n\n",
                    old.concat(),
                    new.concat()
                ),
                Form::Diff => diff(&path, &old, &new),
            };
        }
        text += &format!(
            "```yaml\nprojectId: bench\nuuid: {:08x}-0c4b-4c1d-9a53-0c2f5d1e7b66\ngitCommitMsg: \"feat: scale anew\"\n```\n",
            self.version
        );
        text
    }

    /// The command that applies the next answer.
    fn apply_next(&mut self, form: Form, options: &[&str]) -> anyhow::Result<Command> {
        let answer = self.next_answer(form)?;
        let mut apply = self.relay()?;
        apply.arg("apply").arg(answer).arg("-y").args(options);
        Ok(apply)
    }

    pub(super) fn apply(&mut self, form: Form, options: &[&str]) -> anyhow::Result<Cost> {
        run(&mut self.apply_next(form, options)?)
    }

    /// Peak memory of applying the next answer, in megabytes; `None` if unknown.
    pub(super) fn apply_peak(&mut self, form: Form, options: &[&str]) -> anyhow::Result<Option<f64>> {
        startup::peak(&self.apply_next(form, options)?)
    }

    /// A preview of the next answer, without the diff.
    pub(super) fn preview(&mut self, form: Form, options: &[&str]) -> anyhow::Result<Cost> {
        let answer = self.next_answer(form)?;
        self.version -= 1;
        run(self.relay()?.arg("preview").arg(answer).arg("--no-diff").args(options))
    }

    /// Processor time of a plain program that does the same to the files: reads each, writes the new one
    /// under another name, syncs it and renames it. Its start is not counted.
    pub(super) fn plainly(&self) -> anyhow::Result<Duration> {
        let start = clock::processor_time();
        for number in 0..self.files {
            let path = self.root.join(self.path(number));
            let bytes = fs::read(&path)?;
            let new = path.with_extension("new");
            let mut copy = File::create(&new).with_context(|| format!("cannot make {}", new.display()))?;
            copy.write_all(&bytes)?;
            copy.sync_all()?;
            fs::rename(new, path)?;
        }
        Ok(clock::processor_time().saturating_sub(start))
    }
}

/// About seven kilobytes in two hundred lines.
fn file(number: usize, version: usize) -> String {
    let functions = (0..FUNCTIONS).map(|at| {
        let version = if at == CHANGED { version } else { 0 };
        function(number, at, version).concat()
    });
    functions.collect()
}

fn function(number: usize, at: usize, version: usize) -> [String; 5] {
    [
        format!("export function compute{at}v{version}(value: number): number {{\n"),
        format!("    const scaled = value * {version} + {at};\n"),
        format!("    const shifted = scaled - {number} + {version};\n"),
        format!("    return shifted > {version} ? shifted : read(\"{at}\", {version});\n"),
        "}\n".to_owned(),
    ]
}

/// The lines that an answer changes, with one line of context around them.
fn edit(number: usize, version: usize) -> Vec<String> {
    let before = function(number, CHANGED - 1, 0).into_iter().skip(EDIT);
    before.chain(function(number, CHANGED, version)).collect()
}

fn diff(path: &str, old: &[String], new: &[String]) -> String {
    let line = CHANGED * 5;
    let mut text =
        format!("```diff // {path} standard-diff\n--- a/{path}\n+++ b/{path}\n@@ -{line},6 +{line},6 @@\n");
    text += &format!(" {}", old[0]);
    for (sign, lines) in [('-', old), ('+', new)] {
        text.extend(lines[1..=EDIT].iter().map(|line| format!("{sign}{line}")));
    }
    text += &format!(" {}```\n\n", old[EDIT + 1]);
    text
}

/// A project of one file that this many answers have changed, one after the other.
pub(super) fn with_history(answers: usize) -> anyhow::Result<Project> {
    let mut project = Project::make(Kind::Code, 1, None)?;
    for _ in 0..answers {
        project.apply(Form::SearchReplace, &["--no-syntax"])?;
    }
    Ok(project)
}

/// An empty project, and the command that sets it up.
pub(super) fn init() -> anyhow::Result<(TempDir, Command)> {
    let scratch = scratch()?;
    let root = scratch.path().join("project");
    fs::create_dir(&root)?;
    let mut init = relay(Some(&scratch.path().join("home")))?;
    init.arg("-C").arg(root).args(["init", "--id", "bench"]);
    Ok((scratch, init))
}

/// Waits until everything written is on the disk, so that no measurement pays for it.
pub(super) fn settle() -> anyhow::Result<()> {
    run(&mut Command::new("sync")).map(|_| ())
}

/// A project of `files` files with `bytes` each, and its answer of `hunks` edits in each file.
pub(super) fn large(files: usize, bytes: usize, hunks: usize) -> anyhow::Result<(TempDir, Command)> {
    let (scratch, mut init) = init()?;
    run(&mut init)?;
    let root = scratch.path().join("project");
    fs::create_dir(root.join("src"))?;
    let mut answer = String::new();
    for number in 0..files {
        let lines: Vec<String> = (0..bytes / 64).map(|at| line(number, at)).collect();
        fs::write(root.join(format!("src/file{number}.txt")), lines.concat())?;
        answer += &format!("```text // src/file{number}.txt multi-search-replace\n");
        for hunk in 0..hunks {
            let at = (hunk * 2 + 1) * lines.len() / (hunks * 2);
            let old = &lines[at];
            answer += &format!("<<<<<<< SEARCH\n{old}=======\nchanged: {old}>>>>>>> REPLACE\n");
        }
        answer += "```\n\n";
    }
    let file = scratch.path().join("answer.md");
    fs::write(&file, answer)?;
    let mut apply = relay(Some(&scratch.path().join("home")))?;
    apply.arg("-C").arg(&root).arg("apply").arg(file).args(["-y", "--no-syntax"]);
    Ok((scratch, apply))
}

/// Sixty-four bytes.
fn line(number: usize, at: usize) -> String {
    format!(
        "{:<63}\n",
        format!("value {at} of file {number} is {}", at.wrapping_mul(2_654_435_761) % 1_000_003)
    )
}
