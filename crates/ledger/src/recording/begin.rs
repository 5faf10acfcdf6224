//! Securing a project before a command runs in it: what git keeps or could keep first, what it ignores last and only
//! as far as it is little.

use std::collections::{BTreeMap, HashSet};

use relaycode_durable::Dir;

use super::keep::{Keeping, Missed};
use super::lost::Before;
use super::manifest::{Known, Manifest, Told};
use super::place::{Own, Place, places};
use super::walk::{self, Bounds, Print, Tree};
use super::{COPIED_BYTES, ENTRIES, FILE_BYTES, IGNORED_BYTES, Left, Recording, root};
use crate::about::About;
use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::paths::split;
use crate::recover;
use crate::state::{self, State};

/// After so many files whoever waits is told.
const TOLD_EVERY: usize = 128;

/// What was secured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secured {
    /// Files whose bytes are secured.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many of those had to be copied.
    pub copied: u64,
    /// What is not secured: what changes there can be named, but not undone.
    pub left: Vec<Left>,
    /// Why everything is secured within the command's reach, if it is.
    pub within_reach: Option<String>,
}

impl Ledger {
    /// Secures the project, so that what changes from now on can be adopted. `later` is what git ignores; `see` is told
    /// how many files are secured, and of how many; `stop` is asked as often.
    ///
    /// # Errors
    /// `Recording` if another one runs in this project, `Open` if a change is just being applied: each would take the
    /// other's changes for its own. `Interrupted`; the system's.
    pub fn secure(
        &self,
        about: &About,
        later: &[String],
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<Recording<'_>, LedgerError> {
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let ((own, within_reach), number) = {
            let _project = self.lock(&state)?;
            let open = recover::dead(self, &state)?;
            if let Some((id, pid)) = open.iter().find_map(|open| Some((open.id, open.pid?))) {
                return Err(LedgerError::Open { id, pid });
            }
            self.nobody_records(&state)?;
            (self.own_place(&state, about)?, self.next_number()?)
        };
        let later: HashSet<&str> = later.iter().map(|path| path.trim_end_matches('/')).collect();
        match self.secure_into(&state, &own, number, about, &later, see, stop) {
            Ok((manifest, secured)) => {
                let secured = Secured { within_reach, ..secured };
                Ok(Recording { ledger: self, own, manifest, secured })
            }
            Err(error) => {
                // What cannot be cleared now is cleared by the next recovery.
                let _ = own.clear(&state);
                Err(error)
            }
        }
    }

    /// Refuses if another recording is alive. The dead ones were dealt with before.
    fn nobody_records(&self, state: &State) -> Result<(), LedgerError> {
        let fs = state.fs();
        for place in places(self, Some(state)) {
            let Some(id) = place.list(fs)?.into_iter().next() else { continue };
            let told = (|| {
                let dir = fs.open_dir(&place.all(fs).ok()?, &id.to_string()).ok()?;
                let manifest = Manifest::read(fs, &dir, id, &place.path_of(id)).ok()?;
                Some((manifest.pid, manifest.told.command().to_string()))
            })();
            let (pid, command) = told.unwrap_or_default();
            return Err(LedgerError::Recording { pid, command });
        }
        Ok(())
    }

    /// Makes a recording's directory where no command in the project reaches it. Where that cannot be, in the project;
    /// and says why.
    fn own_place(&self, state: &State, about: &About) -> Result<(Own, Option<String>), LedgerError> {
        let outside = match Place::outside(self, true) {
            Ok(Some(place)) => {
                let path = place.path_of(about.uuid);
                Own::make(state.fs(), place, about.uuid).map_err(cannot("make", &path))
            }
            Ok(None) => Err(LedgerError::Unknown { name: String::new() }),
            Err(error) => Err(error),
        };
        let why = match outside {
            Ok(own) => {
                let inside = root::home_is_inside(self);
                return Ok((own, inside.then(|| "relay's own directory lies in the project".to_string())));
            }
            Err(LedgerError::Unknown { .. }) => "relay has no directory of its own".to_string(),
            Err(error) => error.to_string(),
        };
        let place = Place::inside(state);
        let path = place.path_of(about.uuid);
        let own = Own::make(state.fs(), place, about.uuid).map_err(cannot("make", &path))?;
        Ok((own, Some(why)))
    }

    #[expect(clippy::too_many_arguments, reason = "one step of `secure`, which has them all")]
    fn secure_into(
        &self,
        state: &State,
        own: &Own,
        number: u64,
        about: &About,
        later: &HashSet<&str>,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<(Manifest, Secured), LedgerError> {
        let fs = state.fs();
        let path = own.path();
        let began = fs.stamp(&own.dir, super::LOCK.as_ref()).map_err(cannot("look at", &path))?.changed;
        let bounds = Bounds { later, known: None, most: ENTRIES, own: root::own(self) };
        let tree = walk::walk(&self.root, &bounds)?;
        let free = fs.free_bytes(&own.dir).map_err(cannot("look at", &path))?;
        let keeping = Keeping::new(fs, &own.dir).map_err(cannot("make", &path))?;
        let mut securing = Securing {
            ledger: self,
            keeping,
            // Half of what is left is enough to take from anybody.
            most: COPIED_BYTES.min(free / 2),
            known: BTreeMap::new(),
            secured: Secured::default(),
            left: Lefts::default(),
            blind: tree.unseen.iter().map(|left| left.path.trim_end_matches('/').to_string()).collect(),
            parent: None,
            all: tree.files.len(),
        };
        securing.all(&tree, see, stop)?;
        let mut before = Before::default();
        if own.place().outside {
            let room = securing.most.saturating_sub(securing.keeping.copied());
            before = Before::secure(self, state, &mut securing.keeping, room)?;
        }
        securing.keeping.flush().map_err(cannot("write", &path))?;
        let mut manifest = Manifest::new(Told::of(about), number, began);
        let Securing { keeping, known, mut secured, left, blind, .. } = securing;
        secured.copied = keeping.copied();
        let partial = tree.partial.iter().map(|(path, names)| walk::too_many(path, *names));
        secured.left = left.all().chain(partial).chain(tree.unseen).collect();
        manifest.files = known;
        manifest.blind = blind;
        manifest.directories = tree.directories;
        manifest.odd = tree.odd;
        manifest.partial = tree.partial;
        manifest.mode = fs.stat_dir(self.root.dir()).ok().map(|stat| stat.mode);
        manifest.before = before;
        manifest.write(fs, &own.dir)?;
        Ok((manifest, secured))
    }
}

struct Securing<'s> {
    ledger: &'s Ledger,
    keeping: Keeping<'s>,
    most: u64,
    known: BTreeMap<String, Known>,
    secured: Secured,
    left: Lefts,
    blind: Vec<String>,
    /// The directory of the last file.
    parent: Option<(String, Dir)>,
    all: usize,
}

impl Securing<'_> {
    fn all(
        &mut self,
        tree: &Tree,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<(), LedgerError> {
        let mut groups: Vec<(u64, Vec<(&String, Print)>)> = vec![(0, Vec::new()); tree.late.len() + 1];
        for (path, seen) in &tree.files {
            let group = seen.late.map_or(0, |late| late as usize + 1);
            groups[group].0 += seen.print.size;
            groups[group].1.push((path, seen.print));
        }
        let (bytes, mut files) = std::mem::take(&mut groups[0]);
        if bytes > self.most {
            // Rather all the small ones than the first of the large ones.
            files.sort_by_key(|(_, print)| print.size);
        }
        for (path, print) in files {
            self.tick(see, stop)?;
            if print.size > FILE_BYTES {
                self.leave(path, print, &format!("has more than {}", size(FILE_BYTES)));
            } else if self.keeping.copies(print.size) && self.keeping.copied() + print.size > self.most {
                self.leave(path, print, &format!("would be beyond the {} that are copied", size(self.most)));
            } else {
                self.keep(path, print)?;
            }
        }
        let mut order: Vec<usize> = (1..groups.len()).collect();
        order.sort_by_key(|group| groups[*group].0);
        let mut ignored = IGNORED_BYTES.min(self.most.saturating_sub(self.keeping.copied()));
        for group in order {
            let (bytes, files) = std::mem::take(&mut groups[group]);
            let name = &tree.late[group - 1];
            let name = if tree.directories.contains_key(name) { format!("{name}/") } else { name.clone() };
            if bytes > ignored {
                let why = "is ignored by git, and large".to_string();
                self.blind.push(name.trim_end_matches('/').to_string());
                for (path, print) in files {
                    self.known.insert(path.clone(), Known { print, kept: None });
                    self.left.add(&name, &why, 1, print.size);
                }
                continue;
            }
            ignored -= bytes;
            for (path, print) in files {
                self.tick(see, stop)?;
                self.keep(path, print)?;
            }
        }
        Ok(())
    }

    fn tick(&self, see: &mut dyn FnMut(usize, usize), stop: &dyn Fn() -> bool) -> Result<(), LedgerError> {
        if !self.known.len().is_multiple_of(TOLD_EVERY) {
            return Ok(());
        }
        see(self.known.len(), self.all);
        if stop() { Err(LedgerError::Interrupted) } else { Ok(()) }
    }

    fn leave(&mut self, path: &str, print: Print, why: &str) {
        self.known.insert(path.to_string(), Known { print, kept: None });
        self.left.add(path, why, 1, print.size);
    }

    fn keep(&mut self, path: &str, print: Print) -> Result<(), LedgerError> {
        let (parent, name) = split(path);
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            let root = &self.ledger.root;
            let opened = if parent.is_empty() {
                Ok(root.dir().clone())
            } else {
                root.fs().open_dir(root.dir(), parent)
            };
            match opened {
                Ok(dir) => self.parent = Some((parent.to_string(), dir)),
                Err(error) => {
                    self.leave(path, print, &format!("cannot be read: {error}"));
                    return Ok(());
                }
            }
        }
        let Some((_, dir)) = &self.parent else { return Ok(()) };
        match self.keeping.keep(dir, name, print) {
            Ok(known) => {
                self.secured.files += 1;
                self.secured.bytes += known.print.size;
                self.known.insert(path.to_string(), known);
            }
            Err(Missed::Gone) => {}
            Err(Missed::Restless) => {
                self.leave(path, print, "kept changing while it was secured");
            }
            Err(Missed::Failed(error)) if is_full(&error) => return Err(cannot("secure", path)(error)),
            Err(Missed::Failed(error)) => self.leave(path, print, &format!("cannot be read: {error}")),
        }
        Ok(())
    }
}

/// Whether there is no room for what is secured: then nothing can be promised, and nothing begins.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem)
}

/// Bytes for people.
pub(super) fn size(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// What is left out, gathered by its name and the reason.
#[derive(Debug, Default)]
pub(super) struct Lefts(BTreeMap<(String, String), (usize, u64)>);

impl Lefts {
    pub(super) fn add(&mut self, path: &str, why: &str, files: usize, bytes: u64) {
        let sum = self.0.entry((path.to_string(), why.to_string())).or_default();
        sum.0 += files;
        sum.1 += bytes;
    }

    pub(super) fn all(self) -> impl Iterator<Item = Left> {
        self.0.into_iter().map(|((path, why), (files, bytes))| Left { path, why, files, bytes })
    }
}
