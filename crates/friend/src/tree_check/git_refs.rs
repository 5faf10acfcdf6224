//! The branches and tags of a repository by what they mean, not by the files they are in: `git gc` and `git pack-refs` move
//! them from one file each into one for all, which changes none of them.
//!
//! What `git fetch` brings is not counted: where a remote's branches stand (`refs/remotes`, `refs/prefetch`), and tags that
//! are new, unless a branch has the same name. No file changes by them, and nothing is run; a commit is made on a branch.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ObservedChangeKind;

/// The file with many refs.
const PACKED: &str = "packed-refs";
/// The directory with a file for each.
const LOOSE: &str = "refs";

/// Refs of one repository, and bytes of the file with many of them: beyond that, files are compared.
const MOST_REFS: usize = 100_000;
const MOST_BYTES: u64 = 32 << 20;
/// Bytes of a file with one ref: a commit, or the name of another ref.
const MOST_REF_BYTES: u64 = 4 << 10;

/// Where a remote's branches were last seen.
const FETCHED: [&[u8]; 2] = [b"refs/remotes/", b"refs/prefetch/"];
const BRANCHES: &[u8] = b"refs/heads/";
const TAGS: &[u8] = b"refs/tags/";

/// Every ref of a repository by its name, with what it says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitRefs(BTreeMap<Vec<u8>, Vec<u8>>);

impl GitRefs {
    /// The refs of the repository in this directory; `None` if they are too many, or cannot be read.
    pub(super) fn read(git_dir: &Path) -> Option<GitRefs> {
        let mut refs = GitRefs::default();
        refs.add_packed(&git_dir.join(PACKED)).ok()?;
        refs.add_loose(&git_dir.join(LOOSE), LOOSE.as_bytes()).ok()?;
        Some(refs)
    }

    /// What is not as it was, by name, as far as it counts.
    pub(super) fn changes(&self, now: &GitRefs) -> Vec<(Vec<u8>, ObservedChangeKind)> {
        let mut found = Vec::new();
        for (name, value) in &self.0 {
            match now.0.get(name) {
                Some(after) if after == value => {}
                Some(_) => found.push((name.clone(), ObservedChangeKind::Changed)),
                None => found.push((name.clone(), ObservedChangeKind::Removed)),
            }
        }
        for name in now.0.keys().filter(|name| !self.0.contains_key(*name)) {
            if !now.is_fetched_tag(name) {
                found.push((name.clone(), ObservedChangeKind::Created));
            }
        }
        found.retain(|(name, _)| !FETCHED.iter().any(|begin| name.starts_with(begin)));
        found
    }

    /// Whether this is a tag by whose name nothing else is meant.
    fn is_fetched_tag(&self, name: &[u8]) -> bool {
        let branch = |tag: &[u8]| [BRANCHES, tag].concat();
        name.strip_prefix(TAGS).is_some_and(|tag| !self.0.contains_key(&branch(tag)))
    }

    /// `commit name` in each line; a line with `^` says more about the one above. Anything else stands for the file.
    fn add_packed(&mut self, file: &Path) -> io::Result<()> {
        let Some(bytes) = read_bounded(file, MOST_BYTES)? else { return Ok(()) };
        for line in bytes.split(|byte| *byte == b'\n') {
            let is_id = |word: &[u8]| word.len() >= 40 && word.iter().all(u8::is_ascii_hexdigit);
            let (commit, name) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
            let comment = line.is_empty() || line.starts_with(b"# ");
            if comment || line.strip_prefix(b"^").is_some_and(is_id) {
                continue;
            }
            match name.strip_prefix(b" ").filter(|name| is_id(commit) && name.starts_with(b"refs/")) {
                Some(name) => self.insert(name.to_vec(), commit.to_vec())?,
                None => self.0.entry(PACKED.into()).or_default().extend_from_slice(line),
            }
        }
        Ok(())
    }

    /// A ref in a file of its own stands over one of the same name in the file with many.
    fn add_loose(&mut self, folder: &Path, name: &[u8]) -> io::Result<()> {
        match folder.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            // A directory goes when its last ref is packed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let file_name = entry.file_name();
            let name = [name, b"/", file_name.as_bytes()].concat();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.add_loose(&entry.path(), &name)?;
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path())?;
                self.insert(name, [b"link ", target.as_os_str().as_bytes()].concat())?;
            } else if !name.ends_with(b".lock")
                && let Some(bytes) = read_bounded(&entry.path(), MOST_REF_BYTES)?
            {
                self.insert(name, bytes.trim_ascii().to_vec())?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, name: Vec<u8>, value: Vec<u8>) -> io::Result<()> {
        self.0.insert(name, value);
        if self.0.len() > MOST_REFS { Err(io::ErrorKind::QuotaExceeded.into()) } else { Ok(()) }
    }
}

/// Whether this path holds refs of a repository that `is_repository` knows, the outermost first.
pub(super) fn is_ref_file(path: &[u8], is_repository: impl Fn(&[u8]) -> bool) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let mut folders =
        std::iter::once((&path[..0], path)).chain(slashes.map(|at| (&path[..at], &path[at + 1..])));
    let within = folders.find(|(folder, _)| is_repository(folder)).map(|(_, rest)| rest);
    within.is_some_and(|rest| {
        rest == PACKED.as_bytes()
            || rest.strip_prefix(LOOSE.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    })
}

/// A file's bytes; `None` if there is none. One that is no plain file, or too large, is an error.
fn read_bounded(file: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match file.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() <= most => fs::read(file).map(Some),
        // It went between the two looks at it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(_) => Err(io::ErrorKind::InvalidData.into()),
        Err(error) => Err(error),
    }
}
