//! What a revert does to directories: those that its transactions removed are made again, also empty ones, and those that
//! got other permission bits get the earlier ones back. What stands in the way of either is said.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt;

use relaycode_durable::name_text;

use crate::disk::{PathEntry, PathResolver, if_directory};
use crate::record::{DirectoryModeChange, Record, RecordOmission, RemovedDirectory};
use crate::revert::RevertPlan;
use crate::{IoContext, LedgerResult};

/// Adds what becomes of directories to a plan that takes back `records`, which are given newest first.
pub(super) fn plan_directories(
    plan: &mut RevertPlan,
    records: &[Record],
    paths: &PathResolver<'_>,
) -> LedgerResult<()> {
    // What the oldest of them found.
    let mut wanted: BTreeMap<&str, Option<u32>> = BTreeMap::new();
    let mut modes: BTreeMap<&str, DirectoryModeChange> = BTreeMap::new();
    for record in records {
        for removed in &record.removed_directories {
            wanted.insert(&removed.path, Some(removed.mode));
        }
        for made in &record.made_directories {
            wanted.insert(made, None);
        }
        for change in &record.directory_modes {
            modes.entry(&change.path).or_insert_with(|| change.clone()).before = change.before;
        }
    }
    let going = plan.changes.iter().filter(|change| change.after.is_none() || change.renamed_from.is_some());
    let freed: HashSet<&str> = going.map(|change| change.old_path().as_str()).collect();
    let mut unrestored = Vec::new();
    for (path, mode) in &wanted {
        let Some(mode) = mode else { continue };
        match paths.entry_at(path).context("look at", path)? {
            PathEntry::Other("a directory") => continue,
            PathEntry::Nothing => {}
            _ if is_freed(path, &freed) => {}
            _ => {
                unrestored.push(omission(path, "was removed, and something else stands there now"));
                continue;
            }
        }
        plan.directories_to_make.push(RemovedDirectory { path: (*path).to_string(), mode: *mode });
    }
    for (path, change) in modes {
        if wanted.contains_key(path) {
            continue;
        }
        match paths.directory_mode(path).context("look at", path)? {
            None => unrestored.push(omission(path, "got other permission bits, and is gone now")),
            Some(now) if now == change.before => {}
            Some(now) if now == change.after => plan.directory_modes.push(DirectoryModeChange {
                path: path.to_string(),
                before: now,
                after: change.before,
            }),
            Some(now) => {
                let note = format!("{path}/ keeps the permission bits {now:04o} that it was given later");
                plan.notes.push(note);
            }
        }
    }
    plan.unrestored.extend(unrestored);
    if plan.changes.is_empty() {
        // Then those go that are empty already, innermost first.
        let mut going: HashSet<String> = HashSet::new();
        for path in std::mem::take(&mut plan.made_directories_to_remove) {
            if is_empty_but_for(&path, &going, paths).context("look at", &path)? {
                going.insert(path.clone());
                plan.made_directories_to_remove.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a directory is there, with nothing in it but directories that go.
fn is_empty_but_for(path: &str, going: &HashSet<String>, paths: &PathResolver<'_>) -> io::Result<bool> {
    let Some(dir) = if_directory(paths.open_directory(path))? else { return Ok(false) };
    let mut stays = false;
    paths.fs().for_each_entry(&dir, &mut |name, _| {
        stays |= !going.contains(&format!("{path}/{}", name_text(name.as_bytes())));
    })?;
    Ok(!stays)
}

/// Whether what stands at a path, or above it, goes.
fn is_freed(path: &str, freed: &HashSet<&str>) -> bool {
    crate::disk::paths::ancestors(path).chain([path]).any(|above| freed.contains(above))
}

fn omission(path: &str, reason: &str) -> RecordOmission {
    RecordOmission { path: format!("{path}/"), reason: reason.to_string() }
}
