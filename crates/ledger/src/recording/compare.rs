//! What differs between the tree before a command and the tree now, without a byte read: which files have to be looked
//! at, which directories came and went, and what no record can hold.

use std::collections::HashSet;

use super::manifest::{ManifestFile, RecordingManifest};
use super::secure::{RecordingOmissions, format_size};
use super::walk::{self, RecordingFile, RecordingStamp, RecordingTree, UnrecordableEntry};
use super::{FILE_BYTES, IGNORED_BYTES};
use crate::disk::paths::ancestors;
use crate::record::RemovedDirectory;

/// Seconds within which the clocks of file systems may not tell two moments apart. A file that was changed so shortly
/// before everything began is compared by its bytes, whatever its times say.
const GRAIN: i64 = 2;

/// What differs.
#[derive(Default)]
pub(super) struct RecordingDifferences<'t> {
    /// Files to be looked at: what git ignores last.
    pub(super) files: Vec<SuspectFile<'t>>,
    /// Directories that came, outermost first.
    pub(super) made: Vec<String>,
    /// Directories that went, innermost first.
    pub(super) removed: Vec<RemovedDirectory>,
    /// What cannot be undone.
    pub(super) left: RecordingOmissions,
}

/// A file that may have changed.
pub(super) struct SuspectFile<'t> {
    pub(super) path: &'t str,
    pub(super) before: Option<&'t ManifestFile>,
    pub(super) now: Option<&'t RecordingFile>,
}

/// Compares the two.
pub(super) fn compare<'t>(before: &'t RecordingManifest, now: &'t RecordingTree) -> RecordingDifferences<'t> {
    let mut found = RecordingDifferences::default();
    let hidden = UnseenDirectories::from_tree(now);
    files(before, now, &hidden, &mut found);
    compare_unrecordable(before, now, &hidden, &mut found.left);
    directories(before, now, &hidden, &mut found);
    for unseen in
        now.unseen.iter().filter(|unseen| !before.blind.iter().any(|path| *path == name(&unseen.path)))
    {
        found.left.add(&unseen.path, &unseen.reason, unseen.files, unseen.bytes);
    }
    for (path, names) in &now.partial {
        let left = walk::too_many(path, *names);
        found.left.add(&left.path, &left.reason, left.files, 0);
    }
    found
}

fn files<'t>(
    before: &'t RecordingManifest,
    now: &'t RecordingTree,
    hidden: &UnseenDirectories<'_>,
    found: &mut RecordingDifferences<'t>,
) {
    let blind = UnsecuredPaths::from_manifest(before);
    let mut late: Vec<(u32, SuspectFile<'t>)> = Vec::new();
    let all: std::collections::BTreeSet<&String> = before.files.keys().chain(now.files.keys()).collect();
    for path in all {
        let (was, is) = (before.files.get(path), now.files.get(path));
        let touched = match (was, is) {
            (Some(was), Some(is)) => {
                was.print != is.print || (was.kept.is_some() && is_racy(&was.print, before))
            }
            // What cannot be seen is not gone.
            (Some(_), None) => hidden.covering(path).is_none(),
            _ => true,
        };
        if !touched {
            continue;
        }
        let bytes = is.map(|is| is.print.size).or(was.map(|was| was.print.size)).unwrap_or(0);
        let what = match (was, is) {
            (None, _) => "was made",
            (_, None) => "was deleted",
            _ => "was changed",
        };
        let kept = was.is_some_and(|was| was.kept.is_some());
        if let Some(blind) = blind.covering(path).filter(|_| !kept) {
            let name = if blind == path { path.clone() } else { format!("{blind}/") };
            found.left.add(&name, "was not secured, and something changed in it", 1, bytes);
        } else if let Some(partial) = blind.partial_parent(path).filter(|_| was.is_none()) {
            let name = if partial.is_empty() { "./".to_string() } else { format!("{partial}/") };
            found.left.add(
                &name,
                "was not looked at as a whole before: what is new in it is not known",
                1,
                bytes,
            );
        } else if was.is_some_and(|was| was.kept.is_none()) {
            found.left.add(path, &format!("{what}, and was not secured"), 1, bytes);
        } else if let Some(is) = is.filter(|is| is.links > 1) {
            let why = format!("{what}, and has {} other names (hard links)", is.links - 1);
            found.left.add(path, &why, 1, bytes);
        } else if is.is_some() && bytes > FILE_BYTES {
            found.left.add(path, &format!("{what}, and has more than {}", format_size(FILE_BYTES)), 1, bytes);
        } else {
            let touched = SuspectFile { path, before: was, now: is };
            match is.and_then(|is| is.ignored_group) {
                Some(group) if was.is_none() => late.push((group, touched)),
                _ => found.files.push(touched),
            }
        }
    }
    keep_small_ignored(late, now, found);
}

/// Of files that git ignores and that came, those are kept that are little: what a build makes is no loss.
fn keep_small_ignored<'t>(
    late: Vec<(u32, SuspectFile<'t>)>,
    now: &RecordingTree,
    found: &mut RecordingDifferences<'t>,
) {
    let mut groups: std::collections::BTreeMap<u32, (u64, Vec<SuspectFile<'t>>)> = Default::default();
    for (group, touched) in late {
        let (bytes, files) = groups.entry(group).or_default();
        *bytes += touched.now.map_or(0, |now| now.print.size);
        files.push(touched);
    }
    let mut left = IGNORED_BYTES;
    for (group, (bytes, files)) in groups {
        if bytes <= left {
            left -= bytes;
            found.files.extend(files);
            continue;
        }
        let name = now.ignored_roots.get(group as usize).map_or("", String::as_str);
        let slash = if now.directories.contains_key(name) { "/" } else { "" };
        let why = "was made, is ignored by git, and large";
        found.left.add(&format!("{name}{slash}"), why, files.len(), bytes);
    }
}

/// Whether the times of a file cannot tell if it was changed since.
fn is_racy(print: &RecordingStamp, before: &RecordingManifest) -> bool {
    print.changed.0.max(print.modified.0) >= before.began.0.saturating_sub(GRAIN)
}

/// The path of a directory without the slash at its end.
fn name(directory: &str) -> &str {
    directory.trim_end_matches('/')
}

/// What cannot be looked into now.
struct UnseenDirectories<'t>(HashSet<&'t str>);

impl<'t> UnseenDirectories<'t> {
    fn from_tree(now: &'t RecordingTree) -> UnseenDirectories<'t> {
        UnseenDirectories(now.unseen.iter().map(|unseen| name(&unseen.path)).collect())
    }

    /// The directory that hides a path.
    fn covering<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.0.is_empty() {
            return None;
        }
        ancestors(path).find(|above| self.0.contains(above))
    }
}

/// What was not secured as a whole.
struct UnsecuredPaths<'m> {
    blind: HashSet<&'m str>,
    manifest: &'m RecordingManifest,
}

impl<'m> UnsecuredPaths<'m> {
    fn from_manifest(manifest: &'m RecordingManifest) -> UnsecuredPaths<'m> {
        UnsecuredPaths { blind: manifest.blind.iter().map(String::as_str).collect(), manifest }
    }

    /// The one that a path is, or lies in.
    fn covering<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.blind.is_empty() {
            return None;
        }
        ancestors(path).chain([path]).find(|above| self.blind.contains(above))
    }

    /// The directory that was not looked at as a whole, if a path that was not seen may have been in it.
    fn partial_parent<'p>(&self, path: &'p str) -> Option<&'p str> {
        let RecordingManifest { directories, partial, .. } = self.manifest;
        if partial.is_empty() {
            return None;
        }
        let nearest = ancestors(path).filter(|above| directories.contains_key(*above)).last().unwrap_or("");
        partial.contains_key(nearest).then_some(nearest)
    }
}

fn compare_unrecordable(
    before: &RecordingManifest,
    now: &RecordingTree,
    hidden: &UnseenDirectories<'_>,
    left: &mut RecordingOmissions,
) {
    let about = |path: &String, odd: &UnrecordableEntry, what: &str, left: &mut RecordingOmissions| {
        left.add(path, &format!("{what}: it is {}", odd.what), 1, odd.print.size);
    };
    for (path, is) in &now.odd {
        match before.odd.get(path) {
            Some(was) if was == is => {}
            Some(_) => about(path, is, "was changed", left),
            None if before.files.contains_key(path) => {
                left.add(path, &format!("became {}; move it away before you revert", is.what), 1, 0);
            }
            None => about(path, is, "was made", left),
        }
    }
    for (path, was) in &before.odd {
        if !now.odd.contains_key(path) && hidden.covering(path).is_none() {
            left.add(path, &format!("was removed: it was {}", was.what), 1, was.print.size);
        }
    }
}

fn directories(
    before: &RecordingManifest,
    now: &RecordingTree,
    hidden: &UnseenDirectories<'_>,
    found: &mut RecordingDifferences<'_>,
) {
    let depth = |path: &String| path.matches('/').count();
    let blind = UnsecuredPaths::from_manifest(before);
    let is_new = |path: &&String| {
        !before.directories.contains_key(*path)
            && blind.covering(path).is_none()
            && blind.partial_parent(path).is_none()
    };
    found.made = now.directories.keys().filter(is_new).cloned().collect();
    found.made.sort_by_key(depth);
    let went = before
        .directories
        .iter()
        .filter(|(path, _)| !now.directories.contains_key(*path) && hidden.covering(path).is_none());
    found.removed = went.map(|(path, mode)| RemovedDirectory { path: path.clone(), mode: *mode }).collect();
    found.removed.sort_by_key(|directory| std::cmp::Reverse(depth(&directory.path)));
    let restored: HashSet<&str> =
        found.files.iter().filter(|file| file.now.is_none()).flat_map(|file| ancestors(file.path)).collect();
    for directory in &found.removed {
        if !restored.contains(directory.path.as_str()) {
            found.left.add(&format!("{}/", directory.path), "was removed: it was an empty directory", 0, 0);
        }
    }
    for (path, mode) in &now.directories {
        if before.directories.get(path).is_some_and(|was| was != mode) {
            let why = format!("has the permission bits {mode:04o} now: those of directories are not kept");
            found.left.add(&format!("{path}/"), &why, 0, 0);
        }
    }
}
