//! Where things are in relay's home: sessions by directory, blobs, breadcrumbs, prompt history.
//!
//! The name of a project's directory cannot be decoded (`/a-b` and `/a/b` share one): listing compares the
//! directory in the header. Everything created here is private to the user.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use relaycode_durable::fs::DirMode;
use relaycode_durable::{Fs, FsDir};
use sha2::{Digest, Sha256};

use crate::truncate::truncate_str;

/// Extension of a session file.
pub const EXTENSION: &str = ".jsonl";
pub const SESSIONS_DIR: &str = "sessions";
/// Images and other large pieces.
pub const BLOBS_DIR: &str = "blobs";
/// Which session each terminal had last.
pub const TERMINALS_DIR: &str = "terminal-sessions";
pub const HISTORY_FILE: &str = "history.db";
/// Longest file name, in bytes.
const MAX_NAME: usize = 255;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeLayout {
    home: PathBuf,
}

impl HomeLayout {
    /// `home` need not exist yet.
    pub fn new(home: impl Into<PathBuf>) -> HomeLayout {
        HomeLayout { home: home.into() }
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn sessions_dir(&self) -> PathBuf {
        self.home.join(SESSIONS_DIR)
    }

    /// The sessions about `cwd` (and about other directories with the same encoded name).
    pub fn project_dir(&self, cwd: &Path) -> PathBuf {
        self.sessions_dir().join(encode_project_dir(cwd))
    }

    /// For a new session.
    pub fn session_path(&self, cwd: &Path, began: Timestamp, id: &str) -> PathBuf {
        self.project_dir(cwd).join(session_file_name(began, id))
    }

    /// Images and other large pieces.
    pub fn blobs_dir(&self) -> PathBuf {
        self.home.join(BLOBS_DIR)
    }

    /// Which session each terminal had last.
    pub fn terminals_dir(&self) -> PathBuf {
        self.home.join(TERMINALS_DIR)
    }

    /// Created if needed.
    pub fn create_project_dir(&self, fs: &dyn Fs, cwd: &Path) -> io::Result<FsDir> {
        let sessions = self.create_dir(fs, SESSIONS_DIR)?;
        create_dir_in(fs, &sessions, &encode_project_dir(cwd))
    }

    /// Opens a directory of the home; creates both if needed, private.
    pub fn create_dir(&self, fs: &dyn Fs, name: &str) -> io::Result<FsDir> {
        create_dir_in(fs, &self.create_home(fs)?, name)
    }

    fn create_home(&self, fs: &dyn Fs) -> io::Result<FsDir> {
        match fs.open_root(&self.home) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        // Only the last directory is created: `~` exists, `~/.relaycode` may not.
        let (Some(above), Some(name)) = (self.home.parent(), self.home.file_name().and_then(|n| n.to_str()))
        else {
            return Err(io::ErrorKind::NotFound.into());
        };
        create_dir_in(fs, &fs.open_root(above)?, name)
    }
}

/// The directory of a file, and its name there.
pub(crate) fn open_parent<'p>(fs: &dyn Fs, path: &'p Path) -> io::Result<(FsDir, &'p str)> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((fs.open_root(above)?, name))
}

/// Opens a directory in another one; made private if it is missing.
pub(crate) fn create_dir_in(fs: &dyn Fs, at: &FsDir, name: &str) -> io::Result<FsDir> {
    match fs.make_dir(at, name, DirMode::Private) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs.open_dir(at, name)
}

/// The name of the directory for the sessions about `cwd`.
///
/// ```
/// # use std::path::Path;
/// assert_eq!(relaycode_session::home::layout::encode_project_dir(Path::new("/home/me/shop")), "--home-me-shop--");
/// ```
pub fn encode_project_dir(cwd: &Path) -> String {
    let text = cwd.to_string_lossy();
    let plain = |c: char| if matches!(c, '/' | '\\' | ':') || c.is_control() { '-' } else { c };
    let plain: String = text.strip_prefix('/').unwrap_or(&text).chars().map(plain).collect();
    let name = format!("--{plain}--");
    if name.len() <= MAX_NAME && matches!(text, std::borrow::Cow::Borrowed(_)) {
        return name;
    }
    // Too long, or not text: a hash distinguishes what the shortened name does not.
    let hash = short_hash(cwd);
    let room = MAX_NAME - hash.len() - "-----".len();
    format!("--{}-{hash}--", truncate_str(&plain, room))
}

fn short_hash(path: &Path) -> String {
    Sha256::digest(path.as_os_str().as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn session_file_name(began: Timestamp, id: &str) -> String {
    let time = format!("{began:.3}").replace([':', '.'], "-");
    format!("{time}_{id}{EXTENSION}")
}

/// `None` if it is not the name of a session file.
pub fn id_in_name(name: &str) -> Option<&str> {
    let (time, id) = name.strip_suffix(EXTENSION)?.split_once('_')?;
    let is_time = time.len() >= "2026-02-16T10-20-30".len()
        && time.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'T' | b'Z'));
    (is_time && !id.is_empty()).then_some(id)
}

/// RFC 3339; `None` if the name does not say.
pub fn time_in_name(name: &str) -> Option<String> {
    id_in_name(name)?;
    let (date, time) = name.split_once('_')?.0.split_once('T')?;
    let mut parts = time.trim_end_matches('Z').splitn(4, '-');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let fraction = parts.next().map(|fraction| format!(".{fraction}")).unwrap_or_default();
    let text = format!("{date}T{hour}:{minute}:{second}{fraction}Z");
    text.parse::<Timestamp>().ok().map(|_| text)
}

/// Whether two directories are the same for sessions: the present `cwd`, and the one in a header.
pub fn same_directory(cwd: &Path, recorded: &str) -> bool {
    let trimmed = |text: &str| {
        let short = text.trim_end_matches('/');
        if short.is_empty() { "/".to_string() } else { short.to_string() }
    };
    trimmed(&cwd.to_string_lossy()) == trimmed(recorded)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::fs::PermissionsExt;

    use relaycode_durable::RealFs;

    use super::*;

    #[test]
    fn names_are_those_of_the_format() {
        assert_eq!(encode_project_dir(Path::new("/projects/pi")), "--projects-pi--");
        assert_eq!(encode_project_dir(Path::new(r"C:\work\a")), "--C--work-a--");
        assert_eq!(encode_project_dir(Path::new("/a-b")), encode_project_dir(Path::new("/a/b")));
        let began: Timestamp = "2026-02-16T10:20:30Z".parse().unwrap();
        let name = session_file_name(began, "1f9d2a6b");
        assert_eq!(name, "2026-02-16T10-20-30-000Z_1f9d2a6b.jsonl");
        assert_eq!(id_in_name(&name), Some("1f9d2a6b"));
        assert_eq!(time_in_name(&name).as_deref(), Some("2026-02-16T10:20:30.000Z"));
        for other in ["notes.jsonl", "2026_x.jsonl", "2026-02-16T10-20-30-000Z_.jsonl", "a_b"] {
            assert_eq!(id_in_name(other), None, "{other}");
        }
    }

    #[test]
    fn long_and_undecodable_directories_get_a_name_of_their_own() {
        let long = |end: &str| encode_project_dir(Path::new(&format!("/{}{end}", "é".repeat(400))));
        assert!(long("a").len() <= MAX_NAME && long("a") != long("b"), "{}", long("a"));
        let odd = |byte: u8| encode_project_dir(Path::new(OsStr::from_bytes(&[b'/', b'a', byte])));
        assert_ne!(odd(0xff), odd(0xfe));
        assert_eq!(encode_project_dir(Path::new("/a\nb")), "--a-b--");
    }

    #[test]
    fn what_is_made_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let layout = HomeLayout::new(dir.path().join("home"));
        layout.create_project_dir(&RealFs::default(), Path::new("/shop")).unwrap();
        layout.create_project_dir(&RealFs::default(), Path::new("/shop")).unwrap();
        for path in
            [layout.home().to_path_buf(), layout.sessions_dir(), layout.project_dir(Path::new("/shop"))]
        {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{path:?}");
        }
    }
}
