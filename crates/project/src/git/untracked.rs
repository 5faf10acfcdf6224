//! Files that git has not been told of, as git would show them if it had: a difference from nothing.
//!
//! Nothing is read through a link, nothing that is no file, and nothing that by its name holds secrets: who asks
//! for a difference does not expect their keys in it. What is left out is named.

use std::{ffi::OsString, io, path::Path};

use relaycode_durable::{Fs, FsDir, FsKind, RealFs};

use super::diff::{GitFileDiff, OmittedFile};
use super::{Git, GitError, GitResult, OUTPUT_BYTES, literal_pathspecs, split_nul};

/// Files that are looked at; with more, somebody forgot to ignore a directory.
const MAX_FILES: usize = 10_000;
/// Directories that are named when there are more.
const FOLDERS: usize = 3;
/// How deep in them most of the files are looked for.
const DEEPEST: usize = 16;
/// How much of a file is looked at to say whether it is text; as git does it.
const BINARY_CHECK_BYTES: usize = 8_000;

/// What is added for files that git does not track.
pub(super) struct UntrackedDiff {
    pub(super) files: Vec<(GitFileDiff, String)>,
    pub(super) omitted: Vec<OmittedFile>,
}

impl Git<'_> {
    /// The files below the project's root (or below `paths`) that git has not been told of and does not ignore,
    /// in their order. The text of a file is left out, but not its size, once there are `most` bytes.
    pub(super) fn untracked_diff(&self, paths: &[&str], most: usize) -> GitResult<UntrackedDiff> {
        let words = ["ls-files", "-z", "--others", "--exclude-standard", "--"].iter().map(OsString::from);
        let words: Vec<OsString> = words.chain(literal_pathspecs(paths)?).collect();
        let (code, finished) = self.try_ask(&words, OUTPUT_BYTES)?;
        if code != 0 {
            return Err(self.explain_failure(&finished, "ls-files"));
        }
        let cut = finished.stdout.dropped > 0 || !finished.stdout.tail.is_empty();
        let list = finished.stdout.head;
        let mut names: Vec<&[u8]> = split_nul(&list).collect();
        names.sort_unstable();
        if names.len() > MAX_FILES || cut {
            let folders = fullest_directories(&names);
            return Err(GitError::ManyNewFiles { count: names.len(), most: MAX_FILES, folders });
        }
        let failed = |error: io::Error| {
            GitError::failed("ls-files", format!("{} cannot be opened: {error}", self.root.display()))
        };
        let root = RealFs::default().open_root(&self.root).map_err(failed)?;
        let mut found = UntrackedDiff { files: Vec::new(), omitted: Vec::new() };
        let mut room = most;
        for name in names {
            let Ok(path) = std::str::from_utf8(name) else {
                let path = String::from_utf8_lossy(name).into_owned();
                found.omitted.push(OmittedFile { path, why: "its name is no text" });
                continue;
            };
            match new_file_diff(&root, &self.root, path, room) {
                Ok((bytes, text)) => {
                    room = room.saturating_sub(text.len());
                    found.files.push((GitFileDiff { path: path.to_string(), bytes, untracked: true }, text));
                }
                Err(why) => found.omitted.push(OmittedFile { path: path.to_string(), why }),
            }
        }
        Ok(found)
    }
}

/// The directories with the most of these files, which are in their order, each as deep as most of its files have it
/// in common.
fn fullest_directories(names: &[&[u8]]) -> Vec<(String, usize)> {
    let mut folders = subdirectories(names, 0);
    folders.truncate(FOLDERS);
    let mut found: Vec<(String, usize)> = Vec::new();
    for (mut names, mut depth) in folders {
        for _ in 0..DEEPEST {
            match subdirectories(names, depth).first() {
                Some((most, deeper)) if most.len() * 2 > names.len() => (names, depth) = (most, *deeper),
                _ => break,
            }
        }
        let name = names.first().and_then(|name| name.get(..depth)).unwrap_or_default();
        found.push((String::from_utf8_lossy(name).into_owned(), names.len()));
    }
    found
}

/// The directories that begin behind `depth` bytes of these names, the fullest first: their files, and how many bytes
/// their own names have.
fn subdirectories<'n, 'b>(names: &'n [&'b [u8]], depth: usize) -> Vec<(&'n [&'b [u8]], usize)> {
    let folder = |name: &'b [u8]| {
        let rest = name.get(depth..).unwrap_or_default();
        rest.iter().position(|byte| *byte == b'/').map(|at| &name[..=depth + at])
    };
    let mut found: Vec<(&[&[u8]], usize)> = names
        .chunk_by(|a, b| folder(a) == folder(b))
        .filter_map(|files| Some((files, folder(files.first()?)?.len())))
        .collect();
    found.sort_by_key(|(files, _)| std::cmp::Reverse(files.len()));
    found
}

/// A new file: how many bytes its difference has, and the difference itself, if there is room for it.
fn new_file_diff(dir: &FsDir, root: &Path, path: &str, room: usize) -> Result<(u64, String), &'static str> {
    let (fs, gone) = (RealFs::default(), "it cannot be read");
    if path.ends_with('/') {
        return Err("it is a repository of its own");
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if holds_secrets(name) {
        return Err("by its name it holds secrets");
    }
    let dir = if folder.is_empty() { dir.clone() } else { fs.open_dir(dir, folder).map_err(|_| gone)? };
    let stat = fs.stat(&dir, name).map_err(|_| gone)?;
    let (mode, bytes) = match stat.kind {
        FsKind::Link => {
            let target = std::fs::read_link(root.join(path)).map_err(|_| gone)?;
            ("120000", target.to_string_lossy().into_owned().into_bytes())
        }
        FsKind::File => {
            let mode = if stat.mode & 0o111 == 0 { "100644" } else { "100755" };
            if stat.len > room as u64 {
                let look = fs.read_range(&dir, name, 0, BINARY_CHECK_BYTES).map_err(|_| gone)?;
                if !look.contains(&0) {
                    return Ok((stat.len, String::new()));
                }
                (mode, look)
            } else {
                (mode, fs.read(&dir, name, room as u64).map_err(|_| gone)?.0)
            }
        }
        FsKind::Dir | FsKind::Other => return Err("it is no file"),
    };
    let text = diff_from_empty(path, mode, &bytes);
    Ok((text.len() as u64, text))
}

/// A file with these bytes as a difference from nothing, as git writes it.
fn diff_from_empty(path: &str, mode: &str, bytes: &[u8]) -> String {
    let (old, new) = (quoted("a/", path), quoted("b/", path));
    let mut text = format!("diff --git {old} {new}\nnew file mode {mode}\n");
    if bytes[..bytes.len().min(BINARY_CHECK_BYTES)].contains(&0) {
        text.push_str(&format!("Binary files /dev/null and {new} differ\n"));
        return text;
    }
    if bytes.is_empty() {
        return text;
    }
    let content = String::from_utf8_lossy(bytes);
    let lines = content.split_inclusive('\n').count();
    let range = if lines == 1 { "1".to_string() } else { format!("1,{lines}") };
    // A blank in the name is followed by a tab, so that it is no date.
    let tab = if path.contains(' ') { "\t" } else { "" };
    text.push_str(&format!("--- /dev/null\n+++ {new}{tab}\n@@ -0,0 +{range} @@\n"));
    for line in content.split_inclusive('\n') {
        text.push('+');
        text.push_str(line);
    }
    if !content.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
    text
}

/// A path as git writes it: in quotes if a character in it would end it.
fn quoted(side: &str, path: &str) -> String {
    if !path.contains(|c: char| c.is_ascii_control() || c == '"' || c == '\\') {
        return format!("{side}{path}");
    }
    let mut text = format!("\"{side}");
    for c in path.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_ascii_control() => text.push_str(&format!("\\{:03o}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Whether a file of this name holds secrets as a rule.
fn holds_secrets(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let example = [".example", ".sample", ".template", ".dist", ".pub"].iter().any(|end| name.ends_with(end));
    let environment = name == ".env" || name.starts_with(".env.");
    let key = [".pem", ".key", ".p12", ".pfx", ".keystore"].iter().any(|end| name.ends_with(end))
        || ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc"]
            .contains(&name.as_str());
    !example && (environment || key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_looks_as_git_shows_it() {
        assert_eq!(
            diff_from_empty("a b", "100644", b"x\ny"),
            "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1,2 @@\n+x\n+y\n\
             \\ No newline at end of file\n"
        );
        assert_eq!(
            diff_from_empty("x\n\"", "100755", b"\0"),
            "diff --git \"a/x\\n\\\"\" \"b/x\\n\\\"\"\nnew file mode 100755\nBinary files /dev/null and \
             \"b/x\\n\\\"\" differ\n"
        );
        assert_eq!(diff_from_empty("e", "100644", b""), "diff --git a/e b/e\nnew file mode 100644\n");
    }

    #[test]
    fn the_fullest_directories_are_named_as_deep_as_their_files_lie_together() {
        let mut names = vec!["a.txt".to_string(), "a/b.txt".to_string()];
        names.extend((0..6).map(|n| format!("app/web/modules/p{n}/x")));
        names.extend((0..4).map(|n| format!("app/{n}/x")));
        names.extend((0..3).map(|n| format!("dist/{n}")));
        names.sort();
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let named = [("app/web/modules/".to_string(), 6), ("dist/".to_string(), 3), ("a/".to_string(), 1)];
        assert_eq!(fullest_directories(&names), named);
        assert_eq!(fullest_directories(&[b"x", b"y"]), []);
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [".env", ".env.local", "server.KEY", "id_rsa", "cert.pem", ".npmrc"] {
            assert!(holds_secrets(name), "{name}");
        }
        for name in [".env.example", "env", "id_rsa.pub", "key.rs", "keys", ".envrc.md"] {
            assert!(!holds_secrets(name), "{name}");
        }
    }
}
