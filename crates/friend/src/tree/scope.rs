//! What of a project belongs to the check: the rule of its walk.

use std::collections::HashSet;

use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{EntryKind, EntryStat, WalkRule, WalkStep};

use super::git;

/// relay's own directory. What is in it is written back into the project one day, by a revert or a recovery.
const OWN: &[u8] = b".relaycode";
/// Of it, what relay itself writes while somebody only looks: its lock, and the list of records, which is made from
/// them; and the texts that a prompt handed out, each of which has its digest for a name.
const OWN_PASSING: &[&[u8]] = &[b"lock", b"index", b"seen"];

/// Where a walk is, or what it found there. It is the mark of every entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckWalkPosition {
    /// Content is read here.
    pub(super) read: bool,
    /// What of a directory is looked at.
    pub(super) part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it; what is called `.git` is a repository.
    Project,
    /// A repository.
    Repository(git::Part),
    /// relay's own directory.
    Own,
    /// All of it, by whatever name.
    All,
}

impl CheckWalkPosition {
    /// Where a walk through a repository outside of the project begins.
    pub(super) fn repository(here: bool) -> CheckWalkPosition {
        CheckWalkPosition { read: true, part: Part::Repository(git::Part::Top { here }) }
    }

    /// Where one through the project does.
    pub(super) fn project() -> CheckWalkPosition {
        CheckWalkPosition { read: true, part: Part::Project }
    }

    /// As the mark of an entry.
    fn mark(self) -> u32 {
        let number = match self.part {
            Part::Project => 0,
            Part::Own => 1,
            Part::All => 2,
            Part::Repository(part) => {
                3 + git::PARTS.iter().position(|known| *known == part).unwrap_or(0) as u32
            }
        };
        number << 1 | u32::from(self.read)
    }

    pub(super) fn from_mark(mark: u32) -> CheckWalkPosition {
        let part = match mark >> 1 {
            0 => Part::Project,
            1 => Part::Own,
            2 => Part::All,
            number => {
                Part::Repository(git::PARTS.get(number as usize - 3).copied().unwrap_or(git::Part::Rest))
            }
        };
        CheckWalkPosition { read: mark & 1 == 1, part }
    }

    /// What something in this directory is; `None`: it is passed over.
    fn below(self, at_root: bool, name: &[u8], kind: EntryKind) -> Option<CheckWalkPosition> {
        let part = match self.part {
            Part::Project if name == b".git" => Part::Repository(git::Part::Top { here: true }),
            // Large, and never written to but as a whole.
            Part::Project if at_root && name == OWN => {
                return Some(CheckWalkPosition { part: Part::Own, read: false });
            }
            Part::Own if OWN_PASSING.contains(&name) => return None,
            Part::Own | Part::All => Part::All,
            Part::Project => Part::Project,
            Part::Repository(part) => Part::Repository(part.below(name, kind)?),
        };
        let read = self.read && part != Part::Repository(git::Part::Large);
        Some(CheckWalkPosition { part, read })
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
        self.path.extend_from_slice(folder);
        if !folder.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        self.ignored.contains(&self.path)
    }
}

impl WalkRule for CheckRule<'_> {
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep {
        let here = CheckWalkPosition::from_mark(at.mark);
        let Some(mut below) = here.below(at.path.is_empty(), name, stat.kind) else { return WalkStep::Skip };
        below.read &= !self.is_ignored(at.path, name);
        match below.part {
            Part::Repository(git::Part::Objects | git::Part::ObjectsInfo) => WalkStep::Pass(below.mark()),
            _ => WalkStep::Take(below.mark()),
        }
    }

    fn enter(&mut self, at: WalkDirectory<'_>, contains: &dyn Fn(&[u8]) -> bool) -> u32 {
        let mut here = self.position(at);
        if let Part::Repository(git::Part::Nested { here: counts }) = here.part
            && contains(git::MARK)
        {
            here.part = Part::Repository(git::Part::Top { here: counts });
        }
        here.mark()
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
