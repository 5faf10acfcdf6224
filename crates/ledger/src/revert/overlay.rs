//! The project as it will be: what stands on disk, and over it what the revert makes of it. Every
//! file is read once; a file that moves keeps in mind where it came from.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use relaycode_change::diff;
use relaycode_change::proposal::path::RelPath;

use crate::disk::ancestors;
use crate::record::FileImage;
use crate::revert::CurrentFiles;
use crate::transaction::{AfterContent, FileChange, NewMode};
use crate::{LedgerError, LedgerResult, LedgerRule};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OverlayEntry {
    Missing,
    File(Rc<OverlayContent>),
    /// Something that is no file; the rest of a sentence says what.
    Other(String),
}

/// A file's bytes with their image.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OverlayContent {
    pub(super) bytes: Vec<u8>,
    pub(super) image: FileImage,
}

impl OverlayContent {
    pub(super) fn new(bytes: Vec<u8>, mode: u32) -> OverlayContent {
        let image = FileImage::of(&bytes, mode);
        OverlayContent { bytes, image }
    }
}

/// What may go with what is taken back, and is in nobody's way.
#[derive(Clone, Copy)]
pub(super) struct RevertedPaths<'n> {
    /// Directories: a file may have their names again.
    pub(super) directories: &'n BTreeSet<RelPath>,
    /// Files: a directory may have their names again.
    pub(super) files: &'n BTreeSet<RelPath>,
}

impl RevertedPaths<'_> {
    fn is_above(&self, path: &RelPath) -> bool {
        ancestors(path.as_str())
            .any(|above| RelPath::of_existing(above).is_ok_and(|above| self.files.contains(&above)))
    }
}

pub(super) struct RevertOverlay<'n> {
    now: &'n dyn CurrentFiles,
    reverted: RevertedPaths<'n>,
    disk: BTreeMap<RelPath, OverlayEntry>,
    nodes: BTreeMap<RelPath, OverlayNode>,
}

/// What stands at a path of the overlay, and under which name it lies on disk.
#[derive(Clone)]
struct OverlayNode {
    slot: OverlayEntry,
    from: Option<RelPath>,
}

/// What differs between the disk and the overlay.
pub(super) struct OverlayDifference {
    pub(super) changes: Vec<FileChange<'static>>,
    /// Paths where nothing stands any more.
    pub(super) vacated: Vec<RelPath>,
    /// Names that are symbolic links on disk and take part.
    pub(super) links: Vec<String>,
    /// Paths where a file stands in the end, of those that were looked at.
    pub(super) standing: BTreeSet<RelPath>,
}

impl<'n> RevertOverlay<'n> {
    pub(super) fn new(now: &'n dyn CurrentFiles, goes: RevertedPaths<'n>) -> RevertOverlay<'n> {
        RevertOverlay { now, reverted: goes, disk: BTreeMap::new(), nodes: BTreeMap::new() }
    }

    /// What stands at `path` on the overlay.
    pub(super) fn get(&mut self, path: &RelPath) -> LedgerResult<OverlayEntry> {
        if let Some(standing) = self.nodes.get(path) {
            return Ok(standing.slot.clone());
        }
        let slot =
            match self.now.read_file(path.as_str()) {
                Ok(None) => OverlayEntry::Missing,
                Ok(Some((bytes, mode))) => OverlayEntry::File(Rc::new(OverlayContent::new(bytes, mode))),
                Err(LedgerError::Refused(refusals)) => match refusals.first().map(|refusal| &refusal.rule) {
                    Some(LedgerRule::NotAFile("a directory")) if self.reverted.directories.contains(path) => {
                        OverlayEntry::Missing
                    }
                    Some(LedgerRule::NotAFile(
                        "a path through a file" | "a path through a symbolic link",
                    )) if self.reverted.is_above(path) => OverlayEntry::Missing,
                    Some(rule @ LedgerRule::NotAFile(_)) => OverlayEntry::Other(rule.to_string()),
                    _ => return Err(LedgerError::Refused(refusals)),
                },
                Err(error) => return Err(error),
            };
        self.disk.insert(path.clone(), slot.clone());
        self.nodes.insert(path.clone(), OverlayNode { slot: slot.clone(), from: Some(path.clone()) });
        Ok(slot)
    }

    /// Under which name the file at `path` lies on disk.
    pub(super) fn origin(&self, path: &RelPath) -> Option<RelPath> {
        self.nodes.get(path)?.from.clone()
    }

    /// The bytes on disk of the file that stands at `path` of the overlay.
    pub(super) fn on_disk(&self, path: &RelPath) -> Option<Rc<OverlayContent>> {
        match self.disk.get(&self.origin(path)?)? {
            OverlayEntry::File(content) => Some(Rc::clone(content)),
            _ => None,
        }
    }

    /// Nothing stands at `path` any more.
    pub(super) fn clear(&mut self, path: &RelPath) {
        self.nodes.insert(path.clone(), OverlayNode { slot: OverlayEntry::Missing, from: None });
    }

    /// `content` stands at `path` from now on; on disk it lies at `from`.
    pub(super) fn put(&mut self, path: &RelPath, content: Rc<OverlayContent>, from: Option<RelPath>) {
        self.nodes.insert(path.clone(), OverlayNode { slot: OverlayEntry::File(content), from });
    }

    /// What must be done so that the disk becomes the overlay. Every path takes part once.
    pub(super) fn difference(&self) -> OverlayDifference {
        let mut changes = Vec::new();
        let mut moved = BTreeSet::new();
        for (path, standing) in &self.nodes {
            let OverlayEntry::File(content) = &standing.slot else { continue };
            let renamed_from = standing.from.clone().filter(|from| self.can_move(from, path));
            let before = self.file_on_disk(renamed_from.as_ref().unwrap_or(path));
            if renamed_from.is_none() && before.is_some_and(|before| **before == **content) {
                continue;
            }
            moved.extend(renamed_from.clone());
            changes.push(file_change(path, renamed_from, before, Some(content)));
        }
        let vacated: Vec<RelPath> = self.nodes.keys().filter(|path| self.is_vacated(path)).cloned().collect();
        for path in vacated.iter().filter(|path| !moved.contains(*path)) {
            changes.push(file_change(path, None, self.file_on_disk(path), None));
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let is_link =
            |path: &&RelPath| self.file_on_disk(path).is_some_and(|content| content.image.is_link());
        let links =
            changes.iter().map(FileChange::old_path).filter(is_link).map(ToString::to_string).collect();
        let stands = |standing: &OverlayNode| standing.slot != OverlayEntry::Missing;
        let standing = self
            .nodes
            .iter()
            .filter(|(_, standing)| stands(standing))
            .map(|(path, _)| path.clone())
            .collect();
        OverlayDifference { changes, vacated, links, standing }
    }

    fn file_on_disk(&self, path: &RelPath) -> Option<&Rc<OverlayContent>> {
        match self.disk.get(path)? {
            OverlayEntry::File(content) => Some(content),
            _ => None,
        }
    }

    fn is_vacated(&self, path: &RelPath) -> bool {
        self.file_on_disk(path).is_some()
            && self.nodes.get(path).is_some_and(|now| now.slot == OverlayEntry::Missing)
    }

    /// Whether the file at `from` can simply get the name `to`: it leaves the one name, and nothing
    /// has the other.
    fn can_move(&self, from: &RelPath, to: &RelPath) -> bool {
        from != to && self.is_vacated(from) && self.file_on_disk(to).is_none()
    }
}

fn file_change(
    path: &RelPath,
    renamed_from: Option<RelPath>,
    before: Option<&Rc<OverlayContent>>,
    after: Option<&Rc<OverlayContent>>,
) -> FileChange<'static> {
    let bytes = |content: Option<&Rc<OverlayContent>>| content.map(|content| content.bytes.clone());
    // A file that only gets another name is moved as it is, with all that it has.
    let as_it_is = renamed_from.is_some() && before == after;
    let mode = |content: &Rc<OverlayContent>| {
        if as_it_is { NewMode::Keep } else { NewMode::Exact(content.image.mode) }
    };
    let mode = after.map(mode);
    let (before, after) = (bytes(before), bytes(after));
    let (added, removed) = diff::count_changed_lines(
        before.as_deref().unwrap_or_default(),
        after.as_deref().unwrap_or_default(),
    );
    let after = after.zip(mode).map(|(bytes, mode)| AfterContent { bytes: bytes.into(), mode });
    FileChange { path: path.clone(), renamed_from, before: before.map(Into::into), after, added, removed }
}
