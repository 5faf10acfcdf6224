//! The files of a plan while it is being made. Every path that an operation names is read from the
//! tree once; later operations see what earlier ones did to it, and operations that contradict each
//! other are refused, naming both.

use std::collections::HashMap;

use super::edit::{self, NotEdited};
use super::exact;
use super::{Change, FilePlan, FittingHunk, HunkReport, Reason, Refusal, Seen};
use crate::diff;
use crate::limits::Limits;
use crate::path::RelPath;
use crate::proposal::{Action, Body, Edit, Image, Mode, Note, Operation};
use crate::tree::{Entry, Tree};

/// Content and mode.
type Content = (Vec<u8>, Mode);

/// One path on the desk.
struct Sheet {
    /// What the tree has there.
    before: Option<Content>,
    /// What the plan leaves there.
    after: Option<Content>,
    /// The name and content it had before it was moved here.
    moved: Option<(RelPath, Content)>,
    /// What was done to it last, and on which line of the response.
    done: Option<(Done, usize)>,
    dialect: Option<&'static str>,
    hunks: Vec<HunkReport>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Written,
    Deleted,
    MovedAway,
    MovedHere,
}

/// The files of a plan while it is being made.
pub(super) struct Desk<'a> {
    tree: &'a dyn Tree,
    seen: &'a dyn Seen,
    limits: &'a Limits,
    sheets: HashMap<RelPath, Sheet>,
    /// Paths in the order in which they came up.
    order: Vec<RelPath>,
    /// The first path for every folded name.
    folded: HashMap<String, RelPath>,
    refusals: Vec<Refusal>,
    fitting: Vec<FittingHunk>,
    notes: Vec<Note>,
}

/// What comes off the desk.
pub(super) struct Cleared {
    /// The files, in the order in which the answer names them.
    pub files: Vec<FilePlan>,
    /// What stands against the plan.
    pub refusals: Vec<Refusal>,
    /// The hunks that are not the problem.
    pub fitting: Vec<FittingHunk>,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// The operation at hand was refused; the reason is on the desk.
struct Refusing;

impl<'a> Desk<'a> {
    pub(super) fn new(tree: &'a dyn Tree, seen: &'a dyn Seen, limits: &'a Limits) -> Desk<'a> {
        Desk {
            tree,
            seen,
            limits,
            sheets: HashMap::new(),
            order: Vec::new(),
            folded: HashMap::new(),
            refusals: Vec::new(),
            fitting: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Carries out one operation; what stands against it is noted.
    pub(super) fn carry_out(&mut self, operation: &Operation) {
        let line = operation.line;
        let done = match &operation.action {
            Action::Write { path, edit, mode } => self.write(path, edit, *mode, line),
            Action::Delete { path } => self.delete(path, line),
            Action::Rename { from, to } => self.rename(from, to, line),
            Action::Exact { path, before, after } => self.exact(path, before.as_ref(), after.as_ref(), line),
        };
        debug_assert!(done.is_ok() || !self.refusals.is_empty(), "a refusal has a reason");
    }

    /// All that was done and all that stands against it.
    pub(super) fn clear(mut self) -> Cleared {
        let mut files = Vec::new();
        for path in std::mem::take(&mut self.order) {
            let Some(sheet) = self.sheets.remove(&path) else {
                continue;
            };
            if let Some(file) = sheet.into_plan(path) {
                self.fitting.extend(fitting(&file));
                files.push(file);
            }
        }
        Cleared { files, refusals: self.refusals, fitting: self.fitting, notes: self.notes }
    }

    fn write(
        &mut self,
        path: &RelPath,
        edit: &Edit,
        mode: Option<Mode>,
        line: usize,
    ) -> Result<(), Refusing> {
        self.open(path, line)?;
        self.not_yet(path, &[Done::Written, Done::Deleted, Done::MovedAway], "be written", line)?;
        let old = self.sheets.get(path).and_then(|sheet| sheet.after.clone());
        let edited = match &old {
            None => {
                self.may_be_created(path, line)?;
                edit::create(edit, line)
            }
            Some((bytes, _)) => {
                if matches!(&edit.body, Body::Whole { must_be_new: true, text } if text.as_bytes() != bytes) {
                    return self.refuse(
                        path,
                        line,
                        "the answer creates this file, but it already exists with other content",
                    );
                }
                let mut seen: Vec<String> = edit.seen.iter().cloned().collect();
                seen.extend(self.seen.texts(path));
                edit::change(bytes, edit, &seen, line)
            }
        };
        let edited = match edited {
            Ok(edited) => edited,
            Err(not) => return self.not_edited(path, not),
        };
        if edited.bytes.len() > self.limits.file_bytes {
            return self.too_large(path, line, edited.bytes.len());
        }
        if let Some(text) = edited.note {
            self.notes.push(Note { line, text: format!("{path}: {text}") });
        }
        if let Some(sheet) = self.sheets.get_mut(path) {
            let mode = mode.or(old.map(|(_, mode)| mode)).unwrap_or(Mode::Regular);
            sheet.after = Some((edited.bytes, mode));
            sheet.dialect = Some(edit.dialect);
            sheet.hunks = edited.hunks;
            sheet.done = Some((Done::Written, line));
        }
        Ok(())
    }

    fn delete(&mut self, path: &RelPath, line: usize) -> Result<(), Refusing> {
        self.open(path, line)?;
        self.not_yet(
            path,
            &[Done::Written, Done::Deleted, Done::MovedAway, Done::MovedHere],
            "be deleted",
            line,
        )?;
        let Some(sheet) = self.sheets.get_mut(path).filter(|sheet| sheet.after.is_some()) else {
            return self.refuse(path, line, "the answer deletes this file, but it does not exist");
        };
        sheet.after = None;
        sheet.done = Some((Done::Deleted, line));
        Ok(())
    }

    fn rename(&mut self, from: &RelPath, to: &RelPath, line: usize) -> Result<(), Refusing> {
        if from == to {
            return self.refuse(from, line, "the answer renames this file to the name it has");
        }
        self.open(from, line)?;
        self.not_yet(
            from,
            &[Done::Written, Done::Deleted, Done::MovedAway, Done::MovedHere],
            "be renamed",
            line,
        )?;
        let Some(content) = self.sheets.get_mut(from).and_then(|sheet| sheet.after.take()) else {
            return self.refuse(
                from,
                line,
                &format!("the answer renames this file to {to}, but it does not exist"),
            );
        };
        if let Some(sheet) = self.sheets.get_mut(from) {
            sheet.done = Some((Done::MovedAway, line));
        }
        self.open(to, line)?;
        self.not_yet(
            to,
            &[Done::Written, Done::Deleted, Done::MovedAway, Done::MovedHere],
            "take another file's place",
            line,
        )?;
        if self.sheets.get(to).is_some_and(|sheet| sheet.after.is_some()) {
            return self.refuse(
                to,
                line,
                &format!("the answer renames {from} to this name, but a file of this name exists"),
            );
        }
        self.may_be_created(to, line)?;
        if let Some(sheet) = self.sheets.get_mut(to) {
            sheet.after = Some(content.clone());
            sheet.moved = Some((from.clone(), content));
            sheet.done = Some((Done::MovedHere, line));
        }
        Ok(())
    }

    /// Puts bytes in whose author says what was there.
    fn exact(
        &mut self,
        path: &RelPath,
        before: Option<&Image>,
        after: Option<&Image>,
        line: usize,
    ) -> Result<(), Refusing> {
        self.open(path, line)?;
        self.not_yet(path, &[Done::Written, Done::Deleted, Done::MovedAway], "be changed", line)?;
        let now = self.sheets.get(path).and_then(|sheet| sheet.after.clone());
        let moved = self.sheets.get(path).is_some_and(|sheet| sheet.moved.is_some());
        let settled = match exact::settle(now.as_ref(), before, after, line) {
            Ok(settled) => settled,
            Err(text) => return self.refuse(path, line, &text),
        };
        if now.is_none() && settled.after.is_some() {
            self.may_be_created(path, line)?;
        }
        let bytes = settled.after.as_ref().map_or(0, |(bytes, _)| bytes.len());
        if bytes > self.limits.file_bytes {
            return self.too_large(path, line, bytes);
        }
        if let Some(sheet) = self.sheets.get_mut(path) {
            // A file that is gone on both sides is no row of the plan.
            let gone = now.is_none() && settled.after.is_none() && !moved;
            let done = if settled.after.is_some() { Done::Written } else { Done::Deleted };
            sheet.done = (!gone).then_some((done, line));
            sheet.after = settled.after;
            sheet.hunks = settled.merged.into_iter().collect();
        }
        Ok(())
    }

    /// Puts `path` on the desk, if it is not there yet.
    fn open(&mut self, path: &RelPath, line: usize) -> Result<(), Refusing> {
        if self.sheets.contains_key(path) {
            return Ok(());
        }
        let before = match self.tree.entry(path) {
            Ok(Entry::Missing) => None,
            Ok(Entry::File { bytes, .. }) if bytes.len() > self.limits.file_bytes => {
                return self.too_large(path, line, bytes.len());
            }
            Ok(Entry::File { bytes, mode }) => Some((bytes, mode)),
            Ok(Entry::Other(what)) => {
                return self.refuse(path, line, &format!("{what} stands there, not a file"));
            }
            Err(error) => return self.refuse(path, line, &error.to_string()),
        };
        let sheet = Sheet {
            after: before.clone(),
            before,
            moved: None,
            done: None,
            dialect: None,
            hunks: Vec::new(),
        };
        self.sheets.insert(path.clone(), sheet);
        self.order.push(path.clone());
        Ok(())
    }

    /// Refuses if something was done to `path` that this operation contradicts.
    fn not_yet(
        &mut self,
        path: &RelPath,
        hindrances: &[Done],
        wish: &str,
        line: usize,
    ) -> Result<(), Refusing> {
        let Some((done, earlier)) = self.sheets.get(path).and_then(|sheet| sheet.done) else {
            return Ok(());
        };
        if !hindrances.contains(&done) {
            return Ok(());
        }
        let what = match done {
            Done::Written => "written",
            Done::Deleted => "deleted",
            Done::MovedAway => "renamed",
            Done::MovedHere => "made by a rename",
        };
        let text = format!(
            "it cannot {wish} here: it is already {what} by the block on line {earlier} of the answer"
        );
        self.refuse(path, line, &text)
    }

    /// Refuses a new file whose name or directory is taken by something else.
    fn may_be_created(&mut self, path: &RelPath, line: usize) -> Result<(), Refusing> {
        let mut parent = path.as_str();
        while let Some((above, _)) = parent.rsplit_once('/') {
            parent = above;
            // A part of a checked path is a checked path.
            let Ok(directory) = RelPath::parse(above) else {
                break;
            };
            let taken = match self.sheets.get(&directory) {
                Some(sheet) => sheet.after.is_some().then_some("a file"),
                None => match self.tree.entry(&directory) {
                    Ok(Entry::File { .. }) => Some("a file"),
                    Ok(Entry::Other(what)) if what != "a directory" => Some(what),
                    _ => None,
                },
            };
            if let Some(what) = taken {
                return self.refuse(
                    path,
                    line,
                    &format!("{what} stands at {above}, so nothing can be created below it"),
                );
            }
        }
        let twin = self.twin(path);
        if let Some(twin) = twin {
            let text = format!(
                "{twin} has the same name but for case or composed characters; not every system can keep both"
            );
            return self.refuse(path, line, &text);
        }
        self.folded.insert(path.folded(), path.clone());
        Ok(())
    }

    fn twin(&self, path: &RelPath) -> Option<String> {
        if let Some(other) = self.folded.get(&path.folded()).filter(|other| *other != path) {
            return Some(other.to_string());
        }
        let twin = self.tree.folded_twin(path)?;
        let goes = RelPath::parse(&twin)
            .ok()
            .and_then(|twin| self.sheets.get(&twin))
            .is_some_and(|sheet| sheet.after.is_none());
        (!goes).then_some(twin)
    }

    fn refuse(&mut self, path: &RelPath, line: usize, text: &str) -> Result<(), Refusing> {
        let reason = Reason::Conflict { text: text.to_string() };
        self.refusals.push(Refusal { path: Some(path.clone()), line, reason });
        Err(Refusing)
    }

    fn too_large(&mut self, path: &RelPath, line: usize, bytes: usize) -> Result<(), Refusing> {
        let text = format!("the file has {bytes} bytes; the limit `file` is {}", self.limits.file_bytes);
        self.refusals.push(Refusal { path: Some(path.clone()), line, reason: Reason::Limit { text } });
        Err(Refusing)
    }

    fn not_edited(&mut self, path: &RelPath, not: NotEdited) -> Result<(), Refusing> {
        for (line, reason) in not.reasons {
            self.refusals.push(Refusal { path: Some(path.clone()), line, reason });
        }
        let fitting = not.fitting.into_iter();
        self.fitting.extend(fitting.map(|(hunk, report)| FittingHunk { path: path.clone(), hunk, report }));
        Err(Refusing)
    }
}

fn fitting(file: &FilePlan) -> impl Iterator<Item = FittingHunk> + '_ {
    let reports = file.hunks.iter().enumerate();
    reports.map(|(at, report)| FittingHunk { path: file.path.clone(), hunk: at + 1, report: report.clone() })
}

impl Sheet {
    /// The file's row of the plan; a name that only lost its content to a rename has none.
    fn into_plan(self, path: RelPath) -> Option<FilePlan> {
        let (done, _) = self.done?;
        if done == Done::MovedAway {
            return None;
        }
        let (renamed_from, before) = match self.moved {
            Some((from, content)) => (Some(from), Some(content)),
            None => (None, self.before),
        };
        let change = match (&before, &self.after) {
            _ if renamed_from.is_some() => Change::Renamed,
            (None, _) => Change::Added,
            (_, None) => Change::Deleted,
            (before, after) if before == after => Change::Unchanged,
            _ => Change::Modified,
        };
        let bytes = |content: &Option<Content>| content.as_ref().map_or(&[][..], |(bytes, _)| bytes).to_vec();
        let (added, removed) = diff::count(&bytes(&before), &bytes(&self.after));
        let (before, mode_before) = before.unzip();
        let (after, mode_after) = self.after.unzip();
        let (dialect, hunks) = (self.dialect, self.hunks);
        Some(FilePlan {
            path,
            renamed_from,
            change,
            before,
            after,
            mode_before,
            mode_after,
            added,
            removed,
            dialect,
            hunks,
        })
    }
}
