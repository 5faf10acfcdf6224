//! Prints diffs that read back the same: whole actions, and the hunks of any dialect that has them. An
//! empty context line is written as one blank, because reading drops empty lines at the end of a hunk.

use crate::diff;
use crate::plan::{FilePlan, Plan};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, GitFileMode, Hunk};

pub(in super::super) fn print_action(action: &FileAction) -> String {
    let mut out = String::new();
    match action {
        FileAction::Delete { path, old } => {
            out = format!("--- a/{path}\n+++ /dev/null\n");
            if let Some(old) = old.as_ref().filter(|old| !old.is_empty()) {
                out.push_str(&format!("@@ -1,{} +0,0 @@\n", old.len()));
                out.extend(old.iter().map(|line| format!("-{line}\n")));
            }
        }
        FileAction::Rename { from, to } => {
            out = format!(
                "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
            );
        }
        FileAction::Write { path, edit, mode } => match &edit.body {
            EditBody::Whole { text, .. } => print_new(path, text, *mode, &mut out),
            EditBody::Hunks(hunks) => {
                if let Some(mode) = mode {
                    let (old, new) = match mode {
                        GitFileMode::Regular => ("100755", "100644"),
                        GitFileMode::Executable => ("100644", "100755"),
                    };
                    out = format!("diff --git a/{path} b/{path}\nold mode {old}\nnew mode {new}\n");
                }
                if !hunks.is_empty() {
                    out.push_str(&format!("--- a/{path}\n+++ b/{path}\n"));
                }
                print_hunks(hunks, &mut out);
            }
        },
        FileAction::Exact { path, before, after } => {
            let file = FilePlan::between(path, before.as_ref(), after.as_ref());
            let plan = Plan { files: vec![file], ..Plan::default() };
            out = String::from_utf8_lossy(&diff::git_patch(&plan)).into_owned();
        }
    }
    out
}

fn print_new(path: &RelPath, text: &str, mode: Option<GitFileMode>, out: &mut String) {
    if let Some(mode) = mode {
        let mode = match mode {
            GitFileMode::Regular => "100644",
            GitFileMode::Executable => "100755",
        };
        out.push_str(&format!("diff --git a/{path} b/{path}\nnew file mode {mode}\n"));
        if text.is_empty() {
            return;
        }
    }
    let hunk = Hunk {
        after: text.strip_suffix('\n').unwrap_or(text).split('\n').map(str::to_owned).collect(),
        claimed: Some(0),
        final_newline: (!text.ends_with('\n')).then_some(false),
        ..Hunk::default()
    };
    out.push_str(&format!("--- /dev/null\n+++ b/{path}\n"));
    print_hunks(&[hunk], out);
}

fn print_hunks(hunks: &[Hunk], out: &mut String) {
    for hunk in hunks {
        print_hunk(hunk, out);
    }
}

pub(in super::super) fn print_hunk(hunk: &Hunk, out: &mut String) {
    print_header(hunk, out);
    print_lines(hunk, out);
}

/// The header of a unified diff; all but the innermost scope get their own line above.
fn print_header(hunk: &Hunk, out: &mut String) {
    let (inner, outer) = match hunk.scope.split_last() {
        Some((inner, outer)) => (Some(inner), outer),
        None => (None, &[][..]),
    };
    for scope in outer {
        out.push_str(&format!("@@ ... @@ {scope}\n"));
    }
    match hunk.claimed {
        Some(line) => out.push_str(&format!(
            "@@ -{line},{} +{},{} @@",
            hunk.before.len(),
            line.saturating_add(usize::from(hunk.before.is_empty())),
            hunk.after.len()
        )),
        None => out.push_str("@@ ... @@"),
    }
    if let Some(inner) = inner {
        out.push(' ');
        out.push_str(inner);
    }
    out.push('\n');
}

const NO_NEWLINE: &str = "\\ No newline at end of file\n";

fn print_lines(hunk: &Hunk, out: &mut String) {
    let mut printer = HunkPrinter { hunk, out, old: 0, new: 0, last_removed: last_removed(hunk) };
    for &(old, new) in hunk.kept.iter().flatten() {
        let ahead = old >= printer.old && new >= printer.new;
        if !ahead || old >= hunk.before.len() || new >= hunk.after.len() {
            continue;
        }
        printer.changes(old, new);
        printer.context();
    }
    printer.changes(hunk.before.len(), hunk.after.len());
}

/// The last line of the old side that is not kept.
fn last_removed(hunk: &Hunk) -> Option<usize> {
    let mut end = hunk.before.len();
    for &(old, _) in hunk.kept.iter().flatten().rev() {
        if old + 1 != end {
            break;
        }
        end = old;
    }
    end.checked_sub(1)
}

struct HunkPrinter<'a> {
    hunk: &'a Hunk,
    out: &'a mut String,
    old: usize,
    new: usize,
    last_removed: Option<usize>,
}

impl HunkPrinter<'_> {
    /// The removed and added lines up to the next line that is kept.
    fn changes(&mut self, old: usize, new: usize) {
        let looks_like_file_header = old > self.old
            && new > self.new
            && self.hunk.before[old - 1].starts_with("--")
            && self.hunk.after[self.new].starts_with("++");
        if looks_like_file_header {
            self.added(new);
            self.removed(old);
        } else {
            self.removed(old);
            self.added(new);
        }
    }

    fn removed(&mut self, to: usize) {
        while self.old < to {
            self.put('-', &self.hunk.before[self.old]);
            if self.hunk.final_newline == Some(true) && self.last_removed == Some(self.old) {
                self.out.push_str(NO_NEWLINE);
            }
            self.old += 1;
        }
    }

    fn added(&mut self, to: usize) {
        while self.new < to {
            self.put('+', &self.hunk.after[self.new]);
            self.new += 1;
            self.new_ended();
        }
    }

    fn context(&mut self) {
        self.put(' ', &self.hunk.before[self.old]);
        self.old += 1;
        self.new += 1;
        self.new_ended();
    }

    fn new_ended(&mut self) {
        if self.hunk.final_newline == Some(false) && self.new == self.hunk.after.len() {
            self.out.push_str(NO_NEWLINE);
        }
    }

    fn put(&mut self, prefix: char, text: &str) {
        self.out.push(prefix);
        self.out.push_str(text);
        self.out.push('\n');
    }
}
