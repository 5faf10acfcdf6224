//! Every rule that can stand against a change, checked on the disk before anything is touched. All
//! refusals are collected, so that a user sees them at once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::{FsKind, FsStat, is_too_long, name_text};

use crate::disk::{PathEntry, PathResolver, ancestors, if_directory, split_parent};
use crate::transaction::{PlannedStep, TransactionHeader};
use crate::{IoContext, LedgerError, LedgerRefusal, LedgerResult, LedgerRule, io_error};

/// Room that must be left beyond what the transaction itself writes.
const SPARE_BYTES: u64 = 64 * 1024;

/// What the disk says about the files of a change.
pub(super) struct CheckedFiles {
    /// The files that are there now, by name.
    pub(super) stats: HashMap<String, FsStat>,
    /// Directories that have to be made, outermost first.
    pub(super) make_directories: Vec<String>,
}

/// Checks every step; nothing is written.
pub(super) fn check(
    paths: &PathResolver<'_>,
    steps: &[PlannedStep<'_>],
    about: &TransactionHeader,
    claims: &HashMap<String, LedgerRule>,
) -> LedgerResult<CheckedFiles> {
    let mut checker = ChangeChecker {
        paths,
        about,
        read_only: about.read_only.iter().map(String::as_str).collect(),
        linked: about.linked.iter().map(String::as_str).collect(),
        links: about.links.iter().map(String::as_str).collect(),
        freed_paths: steps
            .iter()
            .filter(|step| matches!(step, PlannedStep::Remove { .. } | PlannedStep::Move { .. }))
            .map(PlannedStep::path)
            .collect(),
        refusals: Vec::new(),
        checked: CheckedFiles { stats: HashMap::new(), make_directories: Vec::new() },
    };
    for step in steps {
        for path in [Some(step.path()), step.created_path()].into_iter().flatten() {
            if let Some(rule) = claims.get(path) {
                checker.refuse(path, rule.clone());
            }
        }
        checker.check_step(step)?;
    }
    for directory in &about.directories_to_make {
        if paths.directory_mode(&directory.path).context("look at", &directory.path)?.is_none() {
            checker.add_directories(&directory.path, true)?;
        }
    }
    checker.require_space(steps)?;
    let ChangeChecker { mut refusals, checked, .. } = checker;
    if refusals.is_empty() {
        return Ok(checked);
    }
    refusals.dedup();
    Err(LedgerError::Refused(refusals))
}

struct ChangeChecker<'a, 'r> {
    paths: &'a PathResolver<'r>,
    about: &'a TransactionHeader,
    /// Files that may be changed although they are read-only.
    read_only: HashSet<&'a str>,
    /// Files that may be changed although they have other names.
    linked: HashSet<&'a str>,
    /// Names that must be symbolic links.
    links: HashSet<&'a str>,
    /// Names that are free afterwards.
    freed_paths: HashSet<&'a str>,
    refusals: Vec<LedgerRefusal>,
    checked: CheckedFiles,
}

impl ChangeChecker<'_, '_> {
    fn refuse(&mut self, path: &str, rule: LedgerRule) {
        self.refusals.push(LedgerRefusal { path: path.to_string(), rule });
    }

    fn refuse_file(&mut self, path: &str, rule: LedgerRule) -> LedgerResult<()> {
        self.refuse(path, rule);
        Ok(())
    }

    fn check_step(&mut self, step: &PlannedStep<'_>) -> LedgerResult<()> {
        match step {
            // Whoever takes a name back that it made leaves the other names of the file as they are.
            PlannedStep::Remove { path, before } => {
                self.require_file(path, before, !self.about.revert_of.is_empty())
            }
            PlannedStep::Replace { path, before, .. } => {
                self.require_file(path, before, self.linked.contains(path))
            }
            PlannedStep::Create { path, .. } => self.require_free(path),
            PlannedStep::Move { path, to, before } => {
                self.require_file(path, before, !self.about.revert_of.is_empty())?;
                self.require_free(to)
            }
        }
    }

    /// A file that must be there, be ordinary, and have exactly these bytes.
    fn require_file(&mut self, path: &str, before: &[u8], may_have_names: bool) -> LedgerResult<()> {
        if self.links.contains(path) {
            return self.require_link(path, before);
        }
        let stat = match self.paths.entry_at(path).context("look at", path)? {
            PathEntry::File(stat) => stat,
            PathEntry::Nothing => return self.refuse_file(path, LedgerRule::Gone),
            PathEntry::Other(what) => return self.refuse_file(path, LedgerRule::NotAFile(what)),
        };
        if stat.links > 1 && !may_have_names {
            self.refuse(path, LedgerRule::HardLink { names: stat.links });
        }
        if stat.immutable {
            self.refuse(path, LedgerRule::Immutable);
        } else if stat.mode & 0o222 == 0 && !self.read_only.contains(path) {
            self.refuse(path, LedgerRule::ReadOnly);
        }
        match self.paths.read(path, before.len() as u64) {
            Ok(Some((bytes, _))) if bytes == before => {}
            Ok(Some(_)) => self.refuse(path, LedgerRule::Changed),
            Ok(None) => self.refuse(path, LedgerRule::Gone),
            Err(error) if is_too_long(&error) => self.refuse(path, LedgerRule::Changed),
            Err(error) => return Err(io_error("read", path)(error)),
        }
        self.checked.stats.insert(path.to_string(), stat);
        Ok(())
    }

    /// A symbolic link that must be there and lead exactly there.
    fn require_link(&mut self, path: &str, target: &[u8]) -> LedgerResult<()> {
        let found = || -> io::Result<Option<FsStat>> {
            let place = self.paths.resolve(path)?;
            let stat = self.paths.fs().stat(&place.dir, place.name)?;
            let same = stat.kind == FsKind::Link && self.paths.read_link(path)? == target;
            Ok(same.then_some(stat))
        };
        match if_directory(found()).context("look at", path)? {
            Some(Some(stat)) => _ = self.checked.stats.insert(path.to_string(), stat),
            Some(None) => self.refuse(path, LedgerRule::Changed),
            None => self.refuse(path, LedgerRule::Gone),
        }
        Ok(())
    }

    /// A name that must be free, and the directories that it needs.
    fn require_free(&mut self, path: &str) -> LedgerResult<()> {
        let ancestor_goes = ancestors(path).any(|above| self.freed_paths.contains(above));
        match self.paths.entry_at(path).context("look at", path)? {
            PathEntry::Nothing => {}
            PathEntry::Other("a path through a file" | "a path through a symbolic link") if ancestor_goes => {
            }
            PathEntry::Other("a directory") if self.becomes_empty(path)? => {}
            PathEntry::File(_) => return self.refuse_file(path, LedgerRule::Exists),
            PathEntry::Other(what) => return self.refuse_file(path, LedgerRule::NotAFile(what)),
        }
        self.add_directories(path, false)
    }

    /// The directories that have to be made for a name that is free; the last of them may be one itself.
    fn add_directories(&mut self, path: &str, is_directory: bool) -> LedgerResult<()> {
        let mut first_free = path;
        for above in ancestors(path).chain(is_directory.then_some(path)) {
            if !self.freed_paths.contains(above)
                && if_directory(self.paths.open_directory(above)).context("open", above)?.is_some()
            {
                continue;
            }
            if first_free == path {
                first_free = above;
            }
            if !self.checked.make_directories.iter().any(|known| known == above) {
                self.checked.make_directories.push(above.to_string());
            }
        }
        self.check_name_collision(first_free)
    }

    /// Whether a directory is to be removed and holds nothing that stays.
    fn becomes_empty(&self, path: &str) -> LedgerResult<bool> {
        if !self.about.directories_to_remove.iter().any(|directory| directory == path) {
            return Ok(false);
        }
        let dir = self.paths.open_directory(path).context("open", path)?;
        let mut entries = Vec::new();
        let mut see = |name: &OsStr, kind| entries.push((name_text(name.as_bytes()).into_owned(), kind));
        self.paths.fs().for_each_entry(&dir, &mut see).context("list", path)?;
        for (name, kind) in entries {
            let inside = format!("{path}/{name}");
            let goes = if kind == FsKind::Dir {
                self.becomes_empty(&inside)?
            } else {
                self.freed_paths.contains(inside.as_str())
            };
            if !goes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name `path`, which is not there, must not differ from one that is only by its spelling. Where it was before, it
    /// can be again: on a file system that takes the two for one it is not free.
    fn check_name_collision(&mut self, path: &str) -> LedgerResult<()> {
        if !self.about.revert_of.is_empty() {
            return Ok(());
        }
        let (parent, name) = split_parent(path);
        let opened = if_directory(self.paths.open_directory(parent));
        let Some(dir) = opened.context("open", parent)? else { return Ok(()) };
        let fold = |name: &str| RelPath::parse(name).ok().map(|path| path.folded_key());
        let wanted = fold(name);
        let mut twin = None;
        let seen = self.paths.fs().for_each_name(&dir, &mut |other, _| {
            // Comparing lengths first would be wrong: folding changes them.
            if other != name && twin.is_none() && fold(other) == wanted {
                twin = Some(other.to_string());
            }
        });
        seen.context("list", parent)?;
        let twin = twin.map(|other| if parent.is_empty() { other } else { format!("{parent}/{other}") });
        if let Some(other) = twin.filter(|other| !self.freed_paths.contains(other.as_str())) {
            self.refuse(path, LedgerRule::NameCollision { other });
        }
        Ok(())
    }

    fn require_space(&mut self, steps: &[PlannedStep<'_>]) -> LedgerResult<()> {
        let mut needed = SPARE_BYTES;
        for step in steps {
            // The new files once; both images in the journal, and again in the record.
            let (before, after) = match step {
                PlannedStep::Remove { before, .. } | PlannedStep::Move { before, .. } => (before.len(), 0),
                PlannedStep::Replace { before, after, .. } => (before.len(), after.bytes.len()),
                PlannedStep::Create { after, .. } => (0, after.bytes.len()),
            };
            needed += 2 * before as u64 + 3 * after as u64;
        }
        let root = self.paths.open_directory("").context("open", "the project")?;
        let free = self.paths.fs().free_bytes(&root).context("look at", "the project")?;
        if free < needed {
            let path = steps.first().map_or("", PlannedStep::path).to_string();
            self.refuse(&path, LedgerRule::NoSpace { needed, free });
        }
        Ok(())
    }
}
