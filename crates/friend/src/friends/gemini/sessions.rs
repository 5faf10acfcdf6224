//! What Gemini remembers, kept so that taking a session up does not destroy it.
//!
//! Gemini names the file of a session by the minute and the beginning of its id, and begins that file anew before it
//! looks for the session that it is to take up: within a minute it would write over what it is to remember. So the
//! file of a session that is to be remembered gets the name of a minute long ago. Every other file, which each run
//! leaves, goes after a day.

use std::fs::DirEntry;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// Projects, and sessions of one, that are looked at.
const MOST_ENTRIES: usize = 10_000;

const KEPT: &str = "session-2000-01-01T00-00";

/// How long a session that nobody takes up is kept.
const PINNED_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

/// How long everything else is kept: as long as a turn can take, and more.
const UNPINNED_AGE: Duration = Duration::from_secs(24 * 3600);

/// Keeps the session of this id, if there is one.
pub(super) fn pin_session_file(dir: &Path, id: &str) -> io::Result<()> {
    let Some(beginning) = id.get(..8) else { return Ok(()) };
    let ending = format!("-{beginning}.jsonl");
    each_project(dir, |files, chats| {
        let kept = chats.join(format!("{KEPT}{ending}"));
        let of_it = files.into_iter().filter(|file| file.file_name().to_string_lossy().ends_with(&ending));
        let largest = of_it.max_by_key(|file| file.metadata().map_or(0, |meta| meta.len()));
        match largest {
            Some(file) if !kept.exists() => fs::rename(file.path(), &kept),
            _ => Ok(()),
        }
    })
}

/// Removes what nobody will take up. What cannot be removed stays.
pub(super) fn remove_stale(dir: &Path) {
    let _ = each_project(dir, |files, _| {
        for file in files {
            let kept = file.file_name().to_string_lossy().starts_with(KEPT);
            let most = if kept { PINNED_AGE } else { UNPINNED_AGE };
            let age = file.metadata().and_then(|meta| meta.modified());
            let age = age.ok().and_then(|then| SystemTime::now().duration_since(then).ok());
            if age.is_some_and(|age| age > most) {
                let _ = fs::remove_file(file.path());
            }
        }
        Ok(())
    });
}

/// Shows the files of the sessions of each project, and where they are.
fn each_project(dir: &Path, mut see: impl FnMut(Vec<DirEntry>, &Path) -> io::Result<()>) -> io::Result<()> {
    let projects = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        projects => projects?,
    };
    for project in projects.take(MOST_ENTRIES) {
        let chats = project?.path().join("chats");
        let Ok(files) = fs::read_dir(&chats) else { continue };
        let session = |file: &DirEntry| file.file_name().to_string_lossy().starts_with("session-");
        see(files.flatten().take(MOST_ENTRIES).filter(session).collect(), &chats)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuller_of_two_files_of_a_session_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let chats = folder.path().join("project/chats");
        fs::create_dir_all(&chats).unwrap();
        fs::write(chats.join("session-2026-11-16T01-02-cedff53c.jsonl"), "full").unwrap();
        fs::write(chats.join("session-2026-11-16T01-03-cedff53c.jsonl"), "").unwrap();
        fs::write(chats.join("session-2026-11-16T01-03-00000000.jsonl"), "another").unwrap();
        for _ in 0..2 {
            pin_session_file(folder.path(), "cedff53c-6c2b-43e6-9640-709590ef86eb").unwrap();
            let kept = chats.join("session-2000-01-01T00-00-cedff53c.jsonl");
            assert_eq!(fs::read_to_string(kept).unwrap(), "full");
        }
        remove_stale(folder.path());
        assert_eq!(fs::read_dir(&chats).unwrap().count(), 3, "nothing is old");
        pin_session_file(&folder.path().join("missing"), "cedff53c").unwrap();
    }
}
