//! The project as the planner's [`PlanTree`], read only, over the ledger's safe paths.
//!
//! Symbolic links are never followed: a path's directory is opened beneath the root and kept, the
//! file is opened by its last name alone. Special files are not read at all, and no file beyond the
//! limit. A tree is made for one plan and shows the directories as they were when it first met them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;

use relaycode_change::plan::tree::{PlanTree, PlanTreeError, TreeEntry};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;
use relaycode_durable::{is_link, is_not_regular, is_too_long};

use crate::Ledger;
use crate::disk::{LedgerRoot, PathEntry, PathResolver};

/// Names read in all while looking for names that are equal but for case; beyond that none is found.
const NAMES_READ: usize = 200_000;

/// Files that are read before the open directories are let go, so that a plan with very many
/// directories does not run out of handles.
const READS_PER_ROUND: usize = 256;

/// The bit that lets a file's owner run it.
const OWNER_RUNS: u32 = 0o100;

/// The files beneath a project's root.
pub struct ProjectTree<'r> {
    root: &'r LedgerRoot,
    file_bytes: u64,
    paths: RefCell<PathResolver<'r>>,
    reads: Cell<usize>,
    listings: RefCell<FoldedListings>,
}

impl Ledger {
    /// The project's files for the planner; files of more than `file_bytes` are not read.
    pub fn tree(&self, file_bytes: u64) -> ProjectTree<'_> {
        ProjectTree::new(self.root(), file_bytes)
    }
}

impl<'r> ProjectTree<'r> {
    /// The tree beneath `root`; files of more than `file_bytes` are not read.
    pub fn new(root: &'r LedgerRoot, file_bytes: u64) -> ProjectTree<'r> {
        ProjectTree {
            root,
            file_bytes,
            paths: RefCell::new(root.resolver()),
            reads: Cell::new(0),
            listings: RefCell::new(FoldedListings::default()),
        }
    }

    fn read_entry(&self, path: &str, most: u64) -> io::Result<TreeEntry> {
        if self.reads.replace(self.reads.get() + 1) == READS_PER_ROUND {
            self.reads.set(0);
            *self.paths.borrow_mut() = self.root.resolver();
        }
        let places = self.paths.borrow();
        match places.read(path, most) {
            Ok(Some((bytes, stat))) => {
                let mode =
                    if stat.mode & OWNER_RUNS == 0 { GitFileMode::Regular } else { GitFileMode::Executable };
                Ok(TreeEntry::File { bytes, mode })
            }
            Ok(None) => Ok(TreeEntry::Missing),
            Err(error) if is_too_long(&error) => {
                Err(too_long(&places, path, most, most == self.file_bytes, error))
            }
            Err(error) if is_not_a_file(&error) => {
                find_obstacle(&places, path)?.map(TreeEntry::Other).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }
}

/// Says how long the file is, and which limit stands against it.
fn too_long(places: &PathResolver<'_>, path: &str, most: u64, one_file: bool, error: io::Error) -> io::Error {
    let limit = if one_file { "file" } else { "total" };
    match places.entry_at(path) {
        Ok(PathEntry::File(stat)) if stat.len > most => io::Error::other(format!(
            "it has {} bytes, and the limit `{limit}` is {most}; raise it with `--limit {limit}={}M`",
            stat.len,
            stat.len.div_ceil(1 << 20).next_power_of_two()
        )),
        _ => error,
    }
}

impl PlanTree for ProjectTree<'_> {
    fn entry(&self, path: &RelPath) -> Result<TreeEntry, PlanTreeError> {
        self.read_entry(path.as_str(), self.file_bytes).map_err(|error| tree_error(path, &error))
    }

    fn large_entry(&self, path: &RelPath, most: usize) -> Result<TreeEntry, PlanTreeError> {
        let most = u64::try_from(most).unwrap_or(u64::MAX).max(self.file_bytes);
        self.read_entry(path.as_str(), most).map_err(|error| tree_error(path, &error))
    }

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let mut listings = self.listings.borrow_mut();
        let mut directory = String::new();
        for component in path.components() {
            let names = listings.names_in(self.root, &directory);
            let twins = names.get(&fold_name(component)?)?;
            let inside = |name: &str| join(&directory, name);
            if let Some(twin) = twins.iter().find(|name| *name != component) {
                return Some(inside(twin));
            }
            directory = inside(component);
        }
        None
    }
}

fn tree_error(path: &RelPath, error: &io::Error) -> PlanTreeError {
    PlanTreeError { path: path.to_string(), reason: error.to_string() }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_string() } else { format!("{directory}/{name}") }
}

/// Whether reading failed because something else than a file stands there, or on the way.
pub(crate) fn is_not_a_file(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory || is_link(error) || is_not_regular(error)
}

/// What keeps `path` from being a file: what stands at its end, or on the way. `None` if that is gone
/// by now.
pub(crate) fn find_obstacle(places: &PathResolver<'_>, path: &str) -> io::Result<Option<&'static str>> {
    for (end, _) in path.match_indices('/') {
        let beneath = match places.entry_at(&path[..end])? {
            PathEntry::Other("a directory") | PathEntry::Nothing => continue,
            PathEntry::File(_) => "a path through a file",
            PathEntry::Other("a symbolic link") => "a path through a symbolic link",
            PathEntry::Other(_) => "a path through a special file",
        };
        return Ok(Some(beneath));
    }
    Ok(match places.entry_at(path)? {
        PathEntry::Other(what) => Some(what),
        PathEntry::Nothing | PathEntry::File(_) => None,
    })
}

/// The names in directories, by their folded form.
#[derive(Default)]
struct FoldedListings {
    known: HashMap<String, FoldedNames>,
    names_read: usize,
}

type FoldedNames = HashMap<String, Vec<String>>;

impl FoldedListings {
    /// The names in `directory`; none if it is no directory or cannot be read.
    fn names_in(&mut self, root: &LedgerRoot, directory: &str) -> &FoldedNames {
        let FoldedListings { known, names_read } = self;
        known.entry(directory.to_string()).or_insert_with(|| {
            let mut folded = FoldedNames::new();
            let mut see = |name: &str| {
                if *names_read < NAMES_READ {
                    *names_read += 1;
                    if let Some(key) = fold_name(name) {
                        folded.entry(key).or_default().push(name.to_string());
                    }
                }
            };
            // A handle of its own: a listing is read once, and its directory need not stay open.
            let opened = if directory.is_empty() {
                Ok(root.dir().clone())
            } else {
                root.fs().open_dir(root.dir(), directory)
            };
            // A twin is a courtesy to other file systems: what cannot be listed has none.
            let _ = opened.and_then(|dir| root.fs().for_each_name(&dir, &mut |name, _| see(name)));
            folded
        })
    }
}

/// The folded form of one name; `None` if no change could name it anyway.
fn fold_name(name: &str) -> Option<String> {
    RelPath::parse(name).ok().map(|path| path.folded_key())
}

#[cfg(test)]
mod tests;
