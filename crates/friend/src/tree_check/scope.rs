//! What of a project belongs to the check: the rule of its walk.

use std::collections::HashSet;

use CheckWalkScope::{All, Own, Project, Repository};
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{EntryKind, EntryStat, WalkRule, WalkStep};

use super::git_dir::{GitDirPart, HEAD_FILE, PARTS};

/// relay's own directory. What is in it is written back into the project one day, by a revert or a recovery.
const STATE_DIR: &[u8] = b".relaycode";
/// Of it, what relay itself writes while somebody only looks: its lock, and the list of records, which is made from
/// them; and the texts that a prompt handed out, each of which has its digest for a name.
const STATE_DIR_SKIPPED: &[&[u8]] = &[b"lock", b"index", b"seen"];

/// Where a walk is, or what it found there. It is the mark of every entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckWalkPosition {
    /// Content is read here.
    pub(super) read: bool,
    /// What of a directory is looked at.
    pub(super) scope: CheckWalkScope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckWalkScope {
    /// All of it; what is called `.git` is a repository.
    Project,
    /// A repository.
    Repository(GitDirPart),
    /// relay's own directory.
    Own,
    /// All of it, by whatever name.
    All,
}

impl CheckWalkPosition {
    /// Where a walk through a repository outside of the project begins.
    pub(super) fn repository(here: bool) -> CheckWalkPosition {
        CheckWalkPosition { read: true, scope: Repository(GitDirPart::Top { here }) }
    }

    /// Where one through the project does.
    pub(super) fn project() -> CheckWalkPosition {
        CheckWalkPosition { read: true, scope: Project }
    }

    /// As the mark of an entry.
    fn mark(self) -> u32 {
        let number = match self.scope {
            Project => 0,
            Own => 1,
            All => 2,
            Repository(part) => 3 + PARTS.iter().position(|known| *known == part).unwrap_or(0) as u32,
        };
        number << 1 | u32::from(self.read)
    }

    pub(super) fn from_mark(mark: u32) -> CheckWalkPosition {
        let scope = match mark >> 1 {
            0 => Project,
            1 => Own,
            2 => All,
            number => Repository(*PARTS.get(number as usize - 3).unwrap_or(&GitDirPart::Rest)),
        };
        CheckWalkPosition { read: mark & 1 == 1, scope }
    }

    /// What something in this directory is; `None`: it is passed over.
    fn child(self, at_root: bool, name: &[u8], kind: EntryKind) -> Option<CheckWalkPosition> {
        let scope = match self.scope {
            Project if name == b".git" => Repository(GitDirPart::Top { here: true }),
            // Large, and never written to but as a whole.
            Project if at_root && name == STATE_DIR => {
                return Some(CheckWalkPosition { scope: Own, read: false });
            }
            Own if STATE_DIR_SKIPPED.contains(&name) => return None,
            Own | All => All,
            Project => Project,
            Repository(part) => Repository(part.child_part(name, kind)?),
        };
        let read = self.read && scope != Repository(GitDirPart::Large);
        Some(CheckWalkPosition { scope, read })
    }
}

/// The rule of a walk.
pub(super) struct CheckRule<'a> {
    /// What git ignores: of these no content is read.
    pub(super) ignored: &'a HashSet<Vec<u8>>,
    pub(super) stop: &'a dyn Fn() -> bool,
    pub(super) start: CheckWalkPosition,
    /// For the path that is looked for among the ignored ones.
    pub(super) path: Vec<u8>,
}

impl CheckRule<'_> {
    fn position(&self, at: WalkDirectory<'_>) -> CheckWalkPosition {
        if at.path.is_empty() { self.start } else { CheckWalkPosition::from_mark(at.mark) }
    }

    fn is_ignored(&mut self, folder: &[u8], name: &[u8]) -> bool {
        if self.ignored.is_empty() {
            return false;
        }
        self.path.clear();
        let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        [folder, slash, name].iter().for_each(|part| self.path.extend_from_slice(part));
        self.ignored.contains(&self.path)
    }
}

impl WalkRule for CheckRule<'_> {
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep {
        let here = CheckWalkPosition::from_mark(at.mark);
        let Some(mut below) = here.child(at.path.is_empty(), name, stat.kind) else { return WalkStep::Skip };
        below.read &= !self.is_ignored(at.path, name);
        match below.scope {
            Repository(GitDirPart::Objects | GitDirPart::ObjectsInfo) => WalkStep::Pass(below.mark()),
            _ => WalkStep::Take(below.mark()),
        }
    }

    fn enter(&mut self, at: WalkDirectory<'_>, contains: &dyn Fn(&[u8]) -> bool) -> u32 {
        let mut here = self.position(at);
        if let Repository(GitDirPart::Nested { here: counts }) = here.scope
            && contains(HEAD_FILE)
        {
            here.scope = Repository(GitDirPart::Top { here: counts });
        }
        here.mark()
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
