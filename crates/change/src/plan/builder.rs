//! The files of a plan while it is being built. Every path that an operation names is read from the tree
//! once; operations on one file are carried out in order, each on what the ones before it left, and those
//! that contradict each other are refused, naming both. What replaces a file that its author may not have
//! known is a finding.

use std::collections::HashMap;

use super::edit::{self, FileEditFailure};
use super::exact;
use super::{
    FileChangeKind, FilePlan, FindingKind, FittingHunk, HunkReport, PlanFinding, RefusalEntry, RefusalReason,
    SeenTexts,
};
use crate::diff;
use crate::plan::tree::{PlanTree, PlanTreeError, TreeEntry};
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::work_budget::WorkBudget;
use crate::proposal::{EditBody, ExactImage, FileAction, FileEdit, GitFileMode, Operation, ProposalNote};

type PlannedContent = (Vec<u8>, GitFileMode);

/// One path of the plan.
struct PlanFileState {
    /// What the tree has there.
    before: Option<PlannedContent>,
    /// What the plan leaves there.
    after: Option<PlannedContent>,
    /// The name and content that it has in the tree, if it was moved here.
    moved: Option<(RelPath, PlannedContent)>,
    /// The last step, and its line in the response.
    last_step: Option<(PlanFileStep, usize)>,
    dialect: Option<&'static str>,
    hunks: Vec<HunkReport>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanFileStep {
    Written,
    Deleted,
    MovedAway,
    MovedHere,
}

use PlanFileStep::{Deleted, MovedAway, MovedHere, Written};

pub(super) struct PlanBuilder<'a> {
    tree: &'a dyn PlanTree,
    seen: &'a dyn SeenTexts,
    limits: &'a PlanLimits,
    budget: WorkBudget,
    /// Of all files so far, before and after.
    bytes: usize,
    files: HashMap<RelPath, PlanFileState>,
    /// In order of first mention.
    order: Vec<RelPath>,
    /// The first path for every folded name.
    folded: HashMap<String, RelPath>,
    refusals: Vec<RefusalEntry>,
    fitting: Vec<FittingHunk>,
    notes: Vec<ProposalNote>,
    findings: Vec<PlanFinding>,
}

pub(super) struct PlanDraft {
    /// In the order in which the answer names them.
    pub files: Vec<FilePlan>,
    /// What prevents the plan.
    pub refusals: Vec<RefusalEntry>,
    /// The hunks that are not the problem.
    pub fitting: Vec<FittingHunk>,
    pub notes: Vec<ProposalNote>,
    pub findings: Vec<PlanFinding>,
}

/// The operation was refused; the reason is in the builder.
struct OperationRejected;

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(
        tree: &'a dyn PlanTree,
        seen: &'a dyn SeenTexts,
        limits: &'a PlanLimits,
    ) -> PlanBuilder<'a> {
        PlanBuilder {
            tree,
            seen,
            limits,
            budget: WorkBudget::new(limits),
            bytes: 0,
            files: HashMap::new(),
            order: Vec::new(),
            folded: HashMap::new(),
            refusals: Vec::new(),
            fitting: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Applies one operation; problems are noted.
    pub(super) fn apply(&mut self, operation: &Operation) {
        if self.budget.is_spent() {
            return;
        }
        let line = operation.line;
        let done = match &operation.action {
            FileAction::Write { path, edit, mode } => self.write(path, edit, *mode, line),
            FileAction::Delete { path, old } => self.delete(path, old.as_deref(), line),
            FileAction::Rename { from, to } => self.rename(from, to, line),
            FileAction::Exact { path, before, after } => {
                self.write_exact(path, before.as_ref(), after.as_ref(), line)
            }
        };
        debug_assert!(done.is_ok() || !self.refusals.is_empty(), "a refusal has a reason");
    }

    pub(super) fn finish(mut self) -> PlanDraft {
        let mut files = Vec::new();
        // Without its last operations it is no plan, and nobody looks at it.
        let order = if self.budget.is_spent() { Vec::new() } else { std::mem::take(&mut self.order) };
        for path in order {
            let Some(sheet) = self.files.remove(&path) else {
                continue;
            };
            if let Some(file) = sheet.into_plan(path) {
                self.fitting.extend(fitting_hunks(&file));
                files.push(file);
            }
        }
        let PlanBuilder { refusals, fitting, notes, findings, .. } = self;
        PlanDraft { files, refusals, fitting, notes, findings }
    }

    fn write(
        &mut self,
        path: &RelPath,
        edit: &FileEdit,
        mode: Option<GitFileMode>,
        line: usize,
    ) -> Result<(), OperationRejected> {
        self.load(path, line)?;
        let whole = match &edit.body {
            EditBody::Whole { text, must_be_new } => Some((text, *must_be_new)),
            EditBody::Hunks(_) => None,
        };
        let Some(sheet) = self.files.get(path) else { return Err(OperationRejected) };
        let (old, step) = (sheet.after.clone(), sheet.last_step.map(|(step, _)| step));
        let same = |text: &str| old.as_ref().is_some_and(|(bytes, _)| edit::is_text(bytes, text));
        // A whole text leaves nothing of an earlier write, and creates a file that was deleted.
        let hindrances: &[PlanFileStep] = match whole {
            Some((text, _)) if step == Some(Written) && !same(text) => &[Written],
            Some(_) => &[MovedAway],
            None => &[Deleted, MovedAway],
        };
        self.check_no_conflict(path, hindrances, "be written", line)?;
        let before = self.files.get(path).and_then(|sheet| sheet.before.clone());
        let replaced = if step == Some(Deleted) { before.as_ref() } else { old.as_ref() };
        let edited = match replaced {
            None => {
                self.check_name(path, line)?;
                self.check_creatable(path, line)?;
                edit::create_file(edit, line)
            }
            Some((bytes, _)) => {
                if let Some((text, true)) = whole
                    && step != Some(Deleted)
                    && !same(text)
                {
                    let text = "the answer creates this file, but it already exists with other content, which would be replaced";
                    self.overwrites(path, text);
                }
                let mut seen: Vec<String> = edit.seen.iter().cloned().collect();
                // A whole text that follows another step builds on that, not on what was shown.
                if whole.is_none() || step.is_none() {
                    seen.extend(self.seen.texts(path));
                }
                edit::apply_edit(path.as_str(), bytes, edit, &seen, line, &self.budget)
            }
        };
        let edited = match edited {
            Ok(edited) => edited,
            Err(not) => return self.refuse_edit(path, not),
        };
        self.check_size(path, line, edited.bytes.len())?;
        if let Some(text) = edited.note {
            self.notes.push(ProposalNote { line, text: format!("{path}: {text}") });
        }
        if let Some(text) = edited.loss {
            self.overwrites(path, &text);
        }
        let mode = mode.or(replaced.map(|(_, mode)| *mode)).unwrap_or(GitFileMode::Regular);
        if let Some(sheet) = self.files.get_mut(path) {
            sheet.add_reports(edited.hunks);
            sheet.after = Some((edited.bytes, mode));
            sheet.dialect = Some(edit.dialect);
            sheet.last_step = Some((Written, line));
        }
        Ok(())
    }

    fn delete(
        &mut self,
        path: &RelPath,
        old: Option<&[String]>,
        line: usize,
    ) -> Result<(), OperationRejected> {
        self.load_large(path, line)?;
        self.check_no_conflict(path, &[Written, Deleted, MovedAway, MovedHere], "be deleted", line)?;
        let Some((bytes, _)) = self.files.get(path).and_then(|sheet| sheet.after.as_ref()) else {
            return self.refuse(path, line, "the answer deletes this file, but it does not exist");
        };
        let shown = self.seen.texts(path);
        match old {
            Some(old) => {
                if let Some(text) = edit::differing_line(bytes, old) {
                    return self.refuse(path, line, &text);
                }
            }
            None if !shown.is_empty() && !shown.iter().any(|text| edit::is_text(bytes, text)) => {
                let text = "the file changed after it was shown, and the answer deletes it".to_owned();
                let kind = FindingKind::Near;
                self.findings.push(PlanFinding { kind, path: path.clone(), line: None, text });
            }
            None => {}
        }
        let Some(sheet) = self.files.get_mut(path) else { return Err(OperationRejected) };
        sheet.after = None;
        sheet.last_step = Some((Deleted, line));
        Ok(())
    }

    fn rename(&mut self, from: &RelPath, to: &RelPath, line: usize) -> Result<(), OperationRejected> {
        if from == to {
            return self.refuse(from, line, "the answer renames this file to the name it has");
        }
        self.load_large(from, line)?;
        self.check_no_conflict(from, &[Deleted, MovedAway, MovedHere], "be renamed", line)?;
        let text = format!("the answer renames this file to {to}, but it does not exist");
        let Some(source) = self.files.get(from).filter(|sheet| sheet.after.is_some()) else {
            return self.refuse(from, line, &text);
        };
        let (content, original) = (source.after.clone(), source.before.clone());
        self.load(to, line)?;
        self.check_no_conflict(to, &[Written, MovedAway, MovedHere], "take another file's place", line)?;
        let taken = self.files.get(to).and_then(|sheet| sheet.before.clone());
        let Some(sheet) = self.files.get_mut(from) else { return Err(OperationRejected) };
        sheet.after = None;
        // A file that takes the place of another is written there and deleted here, so that both can come back.
        let gone = if taken.is_some() && original.is_some() { Deleted } else { MovedAway };
        sheet.last_step = Some((gone, line));
        let (dialect, hunks) = (sheet.dialect.take(), std::mem::take(&mut sheet.hunks));
        let there = self.files.get(to).and_then(|sheet| sheet.after.clone());
        match &there {
            None if taken.is_none() => self.check_creatable(to, line)?,
            Some(there) if content.as_ref().is_some_and(|content| content.0 != there.0) => {
                let text = format!(
                    "the answer renames {from} to this name, but a file with this name exists and would be replaced"
                );
                self.overwrites(to, &text);
            }
            _ => {}
        }
        if let Some(sheet) = self.files.get_mut(to) {
            (sheet.after, sheet.dialect, sheet.hunks) = (content, dialect, hunks);
            sheet.moved = original.filter(|_| taken.is_none()).map(|original| (from.clone(), original));
            sheet.last_step = Some((MovedHere, line));
        }
        Ok(())
    }

    /// Writes bytes whose author says what was there before.
    fn write_exact(
        &mut self,
        path: &RelPath,
        before: Option<&ExactImage>,
        after: Option<&ExactImage>,
        line: usize,
    ) -> Result<(), OperationRejected> {
        self.load(path, line)?;
        self.check_no_conflict(path, &[Written, Deleted, MovedAway], "be changed", line)?;
        let now = self.files.get(path).and_then(|sheet| sheet.after.clone());
        let moved = self.files.get(path).is_some_and(|sheet| sheet.moved.is_some());
        let settled = match exact::merge_exact(now.as_ref(), before, after, line) {
            Ok(settled) => settled,
            Err(text) => return self.refuse(path, line, &text),
        };
        if now.is_none() && settled.after.is_some() {
            self.check_creatable(path, line)?;
        }
        let bytes = settled.after.as_ref().map_or(0, |(bytes, _)| bytes.len());
        self.check_size(path, line, bytes)?;
        if let Some(sheet) = self.files.get_mut(path) {
            // A file that is gone on both sides has no row in the plan.
            let gone = now.is_none() && settled.after.is_none() && !moved;
            let done = if settled.after.is_some() { Written } else { Deleted };
            sheet.last_step = (!gone).then_some((done, line));
            sheet.after = settled.after;
            sheet.hunks = settled.merged.into_iter().collect();
        }
        Ok(())
    }

    /// Reads `path` from the tree, unless it was read already, for a change of its content.
    fn load(&mut self, path: &RelPath, line: usize) -> Result<(), OperationRejected> {
        match self.files.get(path).and_then(|sheet| sheet.after.as_ref()).map(|(bytes, _)| bytes.len()) {
            // It was moved here, however large it is.
            Some(bytes) if bytes > self.limits.file_bytes => self.check_size(path, line, bytes),
            Some(_) => Ok(()),
            None if self.files.contains_key(path) => Ok(()),
            None => self.load_entry(path, line, self.tree.entry(path), self.limits.file_bytes),
        }
    }

    /// The same for a file that is moved or deleted as it is: all files together have a limit, one has none.
    fn load_large(&mut self, path: &RelPath, line: usize) -> Result<(), OperationRejected> {
        let most = self.limits.total_bytes;
        if self.files.contains_key(path) {
            return Ok(());
        }
        self.load_entry(path, line, self.tree.large_entry(path, most), most)
    }

    fn load_entry(
        &mut self,
        path: &RelPath,
        line: usize,
        entry: Result<TreeEntry, PlanTreeError>,
        most: usize,
    ) -> Result<(), OperationRejected> {
        let before = match entry {
            Ok(TreeEntry::Missing) => None,
            Ok(TreeEntry::File { bytes, mode }) => {
                self.check_bytes(path, line, bytes.len(), most)?;
                Some((bytes, mode))
            }
            Ok(TreeEntry::Other(what)) => {
                let why = match what.strip_prefix("a path ") {
                    Some(through) => format!("this path leads {through}"),
                    None => format!("this is {what}, not a file"),
                };
                return self.refuse(path, line, &why);
            }
            Err(error) => return self.refuse(path, line, &error.to_string()),
        };
        let sheet = PlanFileState {
            after: before.clone(),
            before,
            moved: None,
            last_step: None,
            dialect: None,
            hunks: Vec::new(),
        };
        self.files.insert(path.clone(), sheet);
        self.order.push(path.clone());
        Ok(())
    }

    /// Refuses if an earlier operation on `path` contradicts this one.
    fn check_no_conflict(
        &mut self,
        path: &RelPath,
        hindrances: &[PlanFileStep],
        wish: &str,
        line: usize,
    ) -> Result<(), OperationRejected> {
        let Some((done, earlier)) = self.files.get(path).and_then(|sheet| sheet.last_step) else {
            return Ok(());
        };
        if !hindrances.contains(&done) {
            return Ok(());
        }
        let what = match done {
            Written => "written",
            Deleted => "deleted",
            MovedAway => "renamed",
            MovedHere => "made by a rename",
        };
        let text = format!(
            "it cannot {wish} here: it is already {what} by the block on line {earlier} of the answer"
        );
        self.refuse(path, line, &text)
    }

    /// Refuses a new file whose name is that of another one and a word more, which is a remark rather than its name.
    fn check_name(&mut self, path: &RelPath, line: usize) -> Result<(), OperationRejected> {
        if let Some((file, word)) = path.as_str().rsplit_once(' ')
            && !word.contains(['.', '/'])
            && let Ok(file) = RelPath::parse(file.trim_end())
            && (self.files.contains_key(&file)
                || matches!(self.tree.entry(&file), Ok(TreeEntry::File { .. })))
        {
            let text = format!("there is no such file, only `{file}`: name the file without `{word}`");
            return self.refuse(path, line, &text);
        }
        Ok(())
    }

    /// Refuses a new file whose name or directory is taken by something else.
    fn check_creatable(&mut self, path: &RelPath, line: usize) -> Result<(), OperationRejected> {
        let mut parent = path.as_str();
        while let Some((above, _)) = parent.rsplit_once('/') {
            parent = above;
            // A part of a checked path is a checked path.
            let Ok(directory) = RelPath::parse(above) else {
                break;
            };
            let taken = match self.files.get(&directory) {
                Some(sheet) => sheet.after.is_some().then_some("a file"),
                None => match self.tree.entry(&directory) {
                    Ok(TreeEntry::File { .. }) => Some("a file"),
                    Ok(TreeEntry::Other(what)) if what != "a directory" => Some(what),
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
        let twin = self.find_twin(path);
        if let Some(twin) = twin {
            let text = format!(
                "{twin} differs only in case or in how accents are encoded; some systems cannot keep both"
            );
            return self.refuse(path, line, &text);
        }
        self.folded.insert(path.folded_key(), path.clone());
        Ok(())
    }

    fn find_twin(&self, path: &RelPath) -> Option<String> {
        if let Some(other) = self.folded.get(&path.folded_key()).filter(|other| *other != path) {
            return Some(other.to_string());
        }
        let twin = self.tree.folded_twin(path)?;
        let goes = RelPath::parse(&twin)
            .ok()
            .and_then(|twin| self.files.get(&twin))
            .is_some_and(|sheet| sheet.after.is_none());
        (!goes).then_some(twin)
    }

    /// Lets a person decide about a file whose content would be replaced.
    fn overwrites(&mut self, path: &RelPath, text: &str) {
        let (kind, text) = (FindingKind::Overwrite, text.to_owned());
        self.findings.push(PlanFinding { kind, path: path.clone(), line: None, text });
    }

    fn refuse(&mut self, path: &RelPath, line: usize, text: &str) -> Result<(), OperationRejected> {
        let reason = RefusalReason::Conflict { text: text.to_string() };
        self.refusals.push(RefusalEntry { path: Some(path.clone()), line, reason });
        Err(OperationRejected)
    }

    /// Refuses a file that is too large, by itself or with those before it.
    fn check_size(&mut self, path: &RelPath, line: usize, bytes: usize) -> Result<(), OperationRejected> {
        self.check_bytes(path, line, bytes, self.limits.file_bytes)
    }

    fn check_bytes(
        &mut self,
        path: &RelPath,
        line: usize,
        bytes: usize,
        file_bytes: usize,
    ) -> Result<(), OperationRejected> {
        let total_bytes = self.limits.total_bytes;
        self.bytes = self.bytes.saturating_add(bytes);
        // What it refuses, it refuses in the end.
        self.budget.draw_file(bytes);
        let text = if bytes > file_bytes {
            format!("the file has {bytes} bytes; the limit `file` is {file_bytes}")
        } else if self.bytes > total_bytes {
            format!(
                "with this file the answer changes {} bytes, before and after; the limit `total` is {total_bytes}",
                self.bytes
            )
        } else {
            return Ok(());
        };
        let reason = RefusalReason::Limit { text };
        self.refusals.push(RefusalEntry { path: Some(path.clone()), line, reason });
        Err(OperationRejected)
    }

    fn refuse_edit(&mut self, path: &RelPath, not: FileEditFailure) -> Result<(), OperationRejected> {
        let earlier = self.files.get(path).map_or(0, |sheet| sheet.hunks.len());
        for (line, reason) in not.reasons {
            let reason = reason.numbered_after(earlier);
            self.refusals.push(RefusalEntry { path: Some(path.clone()), line, reason });
        }
        let fitting = not.fitting.into_iter().map(|(hunk, report)| (hunk + earlier, report));
        self.fitting.extend(fitting.map(|(hunk, report)| FittingHunk { path: path.clone(), hunk, report }));
        Err(OperationRejected)
    }
}

fn fitting_hunks(file: &FilePlan) -> impl Iterator<Item = FittingHunk> + '_ {
    let reports = file.hunks.iter().enumerate();
    reports.map(|(at, report)| FittingHunk { path: file.path.clone(), hunk: at + 1, report: report.clone() })
}

impl PlanFileState {
    /// Adds the reports of one more step, with their lines in the file as the tree has it. To be called before the
    /// step's result is put in.
    fn add_reports(&mut self, mut reports: Vec<HunkReport>) {
        let original = self.moved.as_ref().map(|(_, content)| content).or(self.before.as_ref());
        if let (Some((before, _)), Some((now, _))) = (original, &self.after)
            && before != now
        {
            let runs = edit::equal_lines(before, now);
            for report in &mut reports {
                let at = report.used.saturating_sub(1);
                // In lines of the answer's own: where they were put in.
                let run = runs[..runs.partition_point(|run| run.new <= at)].last();
                report.used = run.map_or(0, |run| run.old + (at - run.new).min(run.len - 1)) + 1;
            }
        }
        self.hunks.extend(reports);
    }

    /// The file's row of the plan; a name that only lost its content to a rename has none.
    fn into_plan(self, path: RelPath) -> Option<FilePlan> {
        let (done, _) = self.last_step?;
        if done == MovedAway {
            return None;
        }
        let (renamed_from, before) = match self.moved {
            Some((from, content)) => (Some(from), Some(content)),
            None => (None, self.before),
        };
        let change = match (&before, &self.after) {
            _ if renamed_from.is_some() => FileChangeKind::Renamed,
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            (before, after) if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        };
        let bytes =
            |content: &Option<PlannedContent>| content.as_ref().map_or(&[][..], |(bytes, _)| bytes).to_vec();
        let (added, removed) = diff::count_changed_lines(&bytes(&before), &bytes(&self.after));
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
