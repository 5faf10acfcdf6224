//! What the shell of a session keeps from one command to the next, in private directories for temporary files that go with the
//! session.
//!
//! There are two: what a command in a fence leaves is read by commands in a fence alone. A function or a `PATH` of its making
//! would else run where a person allowed one command more.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Bytes of the variables and functions that are kept.
const MAX_STATE_BYTES: u64 = 1 << 20;
/// Bytes of a directory's name.
const MAX_DIRECTORY_BYTES: u64 = 4_096;
/// Beneath a directory for temporary files.
const OWN: &str = ".shell";

/// The directories, made when they are needed.
#[derive(Debug, Default)]
pub(crate) struct ShellSession {
    fenced: Option<ShellDirectory>,
    open: Option<ShellDirectory>,
    commands: u64,
}

/// A private directory for temporary files, and in it what the shell keeps. Goes with this value.
#[derive(Debug)]
pub(crate) struct ShellDirectory {
    path: PathBuf,
}

/// What became of variables and functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellStateEnd {
    Kept,
    /// The shell ended without saying what it had, or nothing was to be kept.
    Unchanged,
    TooLarge,
}

impl ShellSession {
    /// A number for a command, by which what it leaves is known.
    pub(crate) fn next_command(&mut self) -> u64 {
        self.commands += 1;
        self.commands
    }

    /// What a command left.
    pub(crate) fn take(&self, is_fenced: bool, command: u64) -> Option<(Option<PathBuf>, ShellStateEnd)> {
        let slot = if is_fenced { &self.fenced } else { &self.open };
        slot.as_ref().map(|directory| directory.take(command))
    }

    /// The directory for commands in a fence, or for those outside. `scratch` is where it is made.
    pub(crate) fn directory(&mut self, is_fenced: bool, scratch: &Path) -> io::Result<&ShellDirectory> {
        let slot = if is_fenced { &mut self.fenced } else { &mut self.open };
        // A command may have removed it.
        if slot.as_ref().is_some_and(|directory| !directory.path.is_dir()) {
            *slot = None;
        }
        match slot {
            Some(directory) => Ok(directory),
            None => Ok(slot.insert(ShellDirectory::make(scratch)?)),
        }
    }
}

impl ShellDirectory {
    fn make(scratch: &Path) -> io::Result<ShellDirectory> {
        let name = format!("relay-shell-{:016x}", RandomState::new().build_hasher().finish());
        let path = scratch.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(ShellDirectory { path })
    }

    /// For temporary files.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the shell reads and leaves what it keeps.
    pub(crate) fn prepare(&self, command: u64) -> io::Result<PathBuf> {
        let own = self.path.join(OWN);
        match fs::symlink_metadata(&own) {
            Ok(found) if found.is_dir() => {}
            // A command made it something else.
            Ok(_) => fs::remove_file(&own)?,
            Err(_) => {}
        }
        if !own.is_dir() {
            DirBuilder::new().mode(0o700).create(&own)?;
        }
        // Another command could have put a link there.
        let lists = ["names".to_string()];
        for name in lists.into_iter().chain(["state", "cwd"].map(|name| format!("{name}.{command}"))) {
            match fs::remove_file(own.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(own)
    }

    /// Whether the names of programs are theirs in the next command: no earlier one left a function or an alias, nor does a start-up
    /// file that is read then. A guess: a command can write here what it likes.
    pub(crate) fn has_plain_names(&self, startup: bool) -> bool {
        let Some(state) = read_regular(&self.path.join(OWN).join("state"), MAX_STATE_BYTES) else {
            return !startup;
        };
        let names = |line: &[u8]| line.starts_with(b"alias ") || line.trim_ascii_end().ends_with(b" ()");
        !state.split(|byte| *byte == b'\n').any(names)
    }

    /// Takes what the shell left: where it was, and whether its variables and functions are kept.
    pub(crate) fn take(&self, command: u64) -> (Option<PathBuf>, ShellStateEnd) {
        let own = self.path.join(OWN);
        let cwd = own.join(format!("cwd.{command}"));
        let directory = read_regular(&cwd, MAX_DIRECTORY_BYTES)
            .and_then(|name| name.strip_suffix(b"\n").map(<[u8]>::to_vec))
            .map(|name| PathBuf::from(OsString::from_vec(name)));
        let _ = fs::remove_file(&cwd);
        let new = own.join(format!("state.{command}"));
        let end = match fs::symlink_metadata(&new) {
            Ok(found) if found.is_file() && found.len() <= MAX_STATE_BYTES => {
                match fs::rename(&new, own.join("state")) {
                    Ok(()) => ShellStateEnd::Kept,
                    Err(_) => ShellStateEnd::Unchanged,
                }
            }
            Ok(_) => ShellStateEnd::TooLarge,
            Err(_) => ShellStateEnd::Unchanged,
        };
        (directory.filter(|path| path.is_absolute()), end)
    }
}

impl Drop for ShellDirectory {
    fn drop(&mut self) {
        // What cannot be removed lies in the system's directory for what may be removed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A small file that a command wrote: no link is followed, no pipe waited for.
fn read_regular(path: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);
    let file: File =
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn functions_and_aliases_of_earlier_commands_are_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let mut session = ShellSession::default();
        let shell = session.directory(true, scratch.path()).unwrap();
        let own = shell.prepare(1).unwrap();
        assert!(shell.has_plain_names(false) && !shell.has_plain_names(true));
        for (state, is_plain) in [
            ("declare -- a=\"1\"\n", true),
            ("ls () \n{ \n    touch x\n}\n", false),
            ("alias ls='rm'\n", false),
        ] {
            fs::write(own.join("state"), state).unwrap();
            assert_eq!(shell.has_plain_names(true), is_plain, "{state}");
        }
    }

    #[test]
    fn what_a_command_left_is_not_followed_and_not_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let mut session = ShellSession::default();
        let directory = session.directory(true, scratch.path()).unwrap();
        let own = directory.prepare(1).unwrap();
        assert_eq!(directory.take(1), (None, ShellStateEnd::Unchanged));
        symlink("/etc/hostname", own.join("cwd.1")).unwrap();
        symlink("/etc/hostname", own.join("state.1")).unwrap();
        assert_eq!(directory.take(1), (None, ShellStateEnd::TooLarge));
        symlink("/etc/hostname", own.join("cwd.2")).unwrap();
        directory.prepare(2).unwrap();
        assert!(fs::symlink_metadata(own.join("cwd.2")).is_err());
        fs::write(own.join("cwd.2"), "relative\n").unwrap();
        fs::write(own.join("state.2"), vec![b'x'; 1 + (1 << 20)]).unwrap();
        assert_eq!(directory.take(2), (None, ShellStateEnd::TooLarge));
        directory.prepare(3).unwrap();
        fs::write(own.join("cwd.3"), "/some\nwhere\n").unwrap();
        fs::write(own.join("state.3"), "a=1").unwrap();
        assert_eq!(directory.take(3), (Some("/some\nwhere".into()), ShellStateEnd::Kept));
        assert_eq!(fs::read_to_string(own.join("state")).unwrap(), "a=1");
        fs::remove_dir_all(directory.path()).unwrap();
        let path = session.directory(true, scratch.path()).unwrap().path().to_path_buf();
        assert!(path.is_dir());
        drop(session);
        assert!(!path.exists());
    }
}
