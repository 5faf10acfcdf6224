//! Every rule that can stand against a change, checked on the disk before anything is touched. All
//! refusals are collected, so that a user sees them at once.

use std::collections::{HashMap, HashSet};

use relaycode_change::path::RelPath;
use relaycode_durable::fs::is_too_long;
use relaycode_durable::{Kind, Stat};

use super::stage::device_of;
use super::steps::Wanted;
use crate::error::{LedgerError, Refusal, Rule, cannot};
use crate::moves::no_directory;
use crate::paths::{Found, Places, ancestors, split};

/// Room that must be left beyond what the transaction itself writes.
const SPARE_BYTES: u64 = 64 * 1024;

/// What the disk says about the files of a change.
pub(super) struct Checked {
    /// The files that are there now, by name.
    pub(super) stats: HashMap<String, Stat>,
    /// Directories that have to be made, outermost first.
    pub(super) make_directories: Vec<String>,
}

/// Checks every step; nothing is written.
pub(super) fn check(
    places: &Places<'_>,
    steps: &[Wanted<'_>],
    directories_to_remove: &[String],
    read_only: &[String],
    claims: &HashMap<String, Rule>,
) -> Result<Checked, LedgerError> {
    let mut checker = Checker {
        places,
        directories_to_remove,
        read_only: read_only.iter().map(String::as_str).collect(),
        going: steps
            .iter()
            .filter(|step| matches!(step, Wanted::Remove { .. } | Wanted::Move { .. }))
            .map(Wanted::path)
            .collect(),
        refusals: Vec::new(),
        checked: Checked { stats: HashMap::new(), make_directories: Vec::new() },
    };
    for step in steps {
        for path in [Some(step.path()), step.made()].into_iter().flatten() {
            if let Some(rule) = claims.get(path) {
                checker.refuse(path, rule.clone());
            }
        }
        checker.step(step)?;
    }
    checker.space(steps)?;
    let Checker { mut refusals, checked, .. } = checker;
    if refusals.is_empty() {
        return Ok(checked);
    }
    refusals.dedup();
    Err(LedgerError::Refused(refusals))
}

struct Checker<'a, 'r> {
    places: &'a Places<'r>,
    /// Directories that go if nothing is left in them.
    directories_to_remove: &'a [String],
    /// Files that may be changed although they are read-only.
    read_only: HashSet<&'a str>,
    /// Names that are free afterwards.
    going: HashSet<&'a str>,
    refusals: Vec<Refusal>,
    checked: Checked,
}

impl Checker<'_, '_> {
    fn refuse(&mut self, path: &str, rule: Rule) {
        self.refusals.push(Refusal { path: path.to_string(), rule });
    }

    fn step(&mut self, step: &Wanted<'_>) -> Result<(), LedgerError> {
        match step {
            Wanted::Remove { path, before } | Wanted::Replace { path, before, .. } => {
                self.present(path, before)?;
            }
            Wanted::Create { path, .. } => self.absent(path)?,
            Wanted::Move { path, to, before } => {
                self.present(path, before)?;
                self.absent(to)?;
                self.same_device(path, to)?;
            }
        }
        Ok(())
    }

    /// A file that must be there, be ordinary, and have exactly these bytes.
    fn present(&mut self, path: &str, before: &[u8]) -> Result<(), LedgerError> {
        let stat = match self.places.find(path).map_err(cannot("look at", path))? {
            Found::File(stat) => stat,
            Found::Nothing => {
                self.refuse(path, Rule::Gone);
                return Ok(());
            }
            Found::Other(what) => {
                self.refuse(path, Rule::NotAFile(what));
                return Ok(());
            }
        };
        if stat.links > 1 {
            self.refuse(path, Rule::HardLink { names: stat.links });
        }
        if stat.immutable {
            self.refuse(path, Rule::Immutable);
        } else if stat.mode & 0o222 == 0 && !self.read_only.contains(path) {
            self.refuse(path, Rule::ReadOnly);
        }
        match self.places.read(path, before.len() as u64) {
            Ok(Some((bytes, _))) if bytes == before => {}
            Ok(Some(_)) => self.refuse(path, Rule::Changed),
            Ok(None) => self.refuse(path, Rule::Gone),
            Err(error) if is_too_long(&error) => self.refuse(path, Rule::Changed),
            Err(error) => return Err(cannot("read", path)(error)),
        }
        self.checked.stats.insert(path.to_string(), stat);
        Ok(())
    }

    /// A name that must be free, and the directories that it needs.
    fn absent(&mut self, path: &str) -> Result<(), LedgerError> {
        let ancestor_goes = ancestors(path).any(|above| self.going.contains(above));
        match self.places.find(path).map_err(cannot("look at", path))? {
            Found::Nothing => {}
            Found::Other("something beneath a file") if ancestor_goes => {}
            Found::Other("a directory") if self.goes(path)? => {}
            Found::File(_) => {
                self.refuse(path, Rule::Exists);
                return Ok(());
            }
            Found::Other(what) => {
                self.refuse(path, Rule::NotAFile(what));
                return Ok(());
            }
        }
        let mut first_free = path;
        for above in ancestors(path) {
            if !self.going.contains(above) {
                match self.places.directory(above) {
                    Ok(_) => continue,
                    Err(error) if no_directory(&error) => {}
                    Err(error) => return Err(cannot("open", above)(error)),
                }
            }
            if first_free == path {
                first_free = above;
            }
            if !self.checked.make_directories.iter().any(|known| known == above) {
                self.checked.make_directories.push(above.to_string());
            }
        }
        self.no_twin(first_free)
    }

    /// Whether a directory is to be removed and holds nothing that stays.
    fn goes(&self, path: &str) -> Result<bool, LedgerError> {
        if !self.directories_to_remove.iter().any(|directory| directory == path) {
            return Ok(false);
        }
        let dir = self.places.directory(path).map_err(cannot("open", path))?;
        for (name, kind) in self.places.fs().list(&dir).map_err(cannot("list", path))? {
            let inside = format!("{path}/{name}");
            let goes =
                if kind == Kind::Dir { self.goes(&inside)? } else { self.going.contains(inside.as_str()) };
            if !goes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name `path`, which is not there, must not differ from one that is only by its spelling.
    fn no_twin(&mut self, path: &str) -> Result<(), LedgerError> {
        let (parent, name) = split(path);
        let dir = match self.places.directory(parent) {
            Ok(dir) => dir,
            Err(error) if no_directory(&error) => return Ok(()),
            Err(error) => return Err(cannot("open", parent)(error)),
        };
        let fold = |name: &str| RelPath::parse(name).ok().map(|path| path.folded());
        let wanted = fold(name);
        let mut twin = None;
        let seen = self.places.fs().each(&dir, &mut |other, _| {
            // Comparing lengths first would be wrong: folding changes them.
            if other != name && twin.is_none() && fold(other) == wanted {
                twin = Some(other.to_string());
            }
        });
        seen.map_err(cannot("list", parent))?;
        let twin = twin.map(|other| if parent.is_empty() { other } else { format!("{parent}/{other}") });
        if let Some(other) = twin.filter(|other| !self.going.contains(other.as_str())) {
            self.refuse(path, Rule::Twin { other });
        }
        Ok(())
    }

    fn same_device(&mut self, from: &str, to: &str) -> Result<(), LedgerError> {
        if device_of(self.places, split(from).0)?.0 != device_of(self.places, split(to).0)?.0 {
            self.refuse(to, Rule::OtherDevice);
        }
        Ok(())
    }

    fn space(&mut self, steps: &[Wanted<'_>]) -> Result<(), LedgerError> {
        let mut needed = SPARE_BYTES;
        for step in steps {
            // The new files once; both images in the journal, and again in the record.
            let (before, after) = match step {
                Wanted::Remove { before, .. } | Wanted::Move { before, .. } => (before.len(), 0),
                Wanted::Replace { before, after, .. } => (before.len(), after.bytes.len()),
                Wanted::Create { after, .. } => (0, after.bytes.len()),
            };
            needed += 2 * before as u64 + 3 * after as u64;
        }
        let root = self.places.directory("").map_err(cannot("open", "the project"))?;
        let free = self.places.fs().free_bytes(&root).map_err(cannot("look at", "the project"))?;
        if free < needed {
            let path = steps.first().map_or("", Wanted::path).to_string();
            self.refuse(&path, Rule::NoSpace { needed, free });
        }
        Ok(())
    }
}
