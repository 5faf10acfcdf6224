//! Which files belong to a project by git's word: those it has been told of, those it has not, and those
//! it was told to leave out.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use relaycode_exec::JobInput;

use super::{Git, GitResult, call, join_nul, split_nul};

/// Bytes of a list of files: some hundred thousand of them.
const LIST: usize = 64 << 20;

/// The files of a project, relative to its root, each name as its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitFiles {
    /// Files and links that git has been told of, whether they are there or not. Each once, sorted.
    pub tracked: Vec<Vec<u8>>,
    /// Those of them that a sparse checkout leaves out.
    pub sparse: Vec<Vec<u8>>,
    /// Other files that are there, and not ignored.
    pub untracked: Vec<Vec<u8>>,
    /// Repositories among the files that git has been told of.
    pub submodules: Vec<Vec<u8>>,
    /// Repositories among the files that git does not track.
    pub nested: Vec<Vec<u8>>,
    /// What is ignored; a directory of which everything is ends in `/`.
    pub ignored: Vec<Vec<u8>>,
}

impl Git<'_> {
    /// Every file of the project, the ignored ones by the directories they are in.
    ///
    /// # Errors
    /// If git cannot say, or there are too many.
    pub fn files(&self) -> GitResult<GitFiles> {
        let mut files = GitFiles::default();
        let told = self.run_checked(self.safe_policy()?, &["ls-files", "-z", "-t", "--stage"], LIST)?;
        let (mut tracked, mut submodules) = (BTreeSet::new(), BTreeSet::new());
        for entry in split_nul(&told) {
            let Some(cut) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, path) = (&entry[..cut], &entry[cut + 1..]);
            // `H 100644 <object> 0`: a conflicted file is there three times.
            let mode = head.get(2..8).unwrap_or_default();
            if mode == b"160000" {
                submodules.insert(path.to_vec());
                continue;
            }
            if head.starts_with(b"S ") {
                files.sparse.push(path.to_vec());
            }
            tracked.insert(path.to_vec());
        }
        let others = self.run_checked(
            self.safe_policy()?,
            &["ls-files", "-z", "--others", "--exclude-standard"],
            LIST,
        )?;
        for path in split_nul(&others) {
            match path.strip_suffix(b"/") {
                Some(nested) => files.nested.push(nested.to_vec()),
                None => files.untracked.push(path.to_vec()),
            }
        }
        files.ignored = self.ignored()?;
        files.tracked = tracked.into_iter().collect();
        files.submodules = submodules.into_iter().collect();
        Ok(files)
    }

    /// Repositories among the files that git has been told of, from the root.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn submodules(&self) -> GitResult<Vec<PathBuf>> {
        let told = self.run_checked(self.safe_policy()?, &["ls-files", "-z", "--stage"], LIST)?;
        let told = split_nul(&told).filter_map(|entry| entry.strip_prefix(b"160000 "));
        let path = |entry: &[u8]| {
            let cut = entry.iter().position(|byte| *byte == b'\t')?;
            Some(PathBuf::from(OsStr::from_bytes(&entry[cut + 1..])))
        };
        Ok(told.filter_map(path).collect())
    }

    /// Whether git has been told of anything in the directory `path`, relative to the project's root.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn tracks(&self, path: &str) -> GitResult<bool> {
        let told = self.run_checked(self.safe_policy()?, &["ls-files", "-z", "--", path], LIST)?;
        Ok(!told.is_empty())
    }

    /// Those of these files, relative to the project's root, that git ignores or would ignore.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn would_ignore(&self, paths: &[&str]) -> GitResult<Vec<String>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let (leave, what) = (self.safe_policy()?, "check-ignore");
        let input = join_nul(paths.iter().map(|path| path.as_bytes()));
        let finished = self.call(leave, &[what, "-z", "--stdin"], JobInput::Bytes(input), LIST)?;
        if call::exit_code(&finished, what, leave)? == 1 {
            return Ok(Vec::new());
        }
        let answer = self.checked_output(finished, leave, what, LIST)?;
        Ok(split_nul(&answer).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }
}
