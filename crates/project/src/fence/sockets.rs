//! Where services of the machine listen: what a command that may use one socket must not reach. Each can do as much as the user, or
//! more (Docker, D-Bus, an agent with keys).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::FencePlace;

/// Bytes of the kernel's list of sockets.
const MAX_LIST_BYTES: u64 = 4 << 20;
/// Sockets beside the directories that are there for them.
const MAX_SOCKETS: usize = 500;

/// Directories that are there for sockets, and every other socket that somebody listens at now.
pub(super) fn others(
    place: &FencePlace<'_>,
    allowed: &[PathBuf],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let own = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut closed: Vec<PathBuf> = own.into_iter().chain(["/run".into(), "/var/run".into()]).collect();
    // A directory around the project cannot be closed as a whole.
    closed.retain(|path| {
        path.canonicalize().is_ok_and(|path| path != Path::new("/") && !place.root.starts_with(path))
    });
    let list = fs::File::open("/proc/net/unix").map(|file| {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_LIST_BYTES), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let list = list.unwrap_or_default();
    let bound = list.lines().filter_map(|line| line.find(" /").map(|at| PathBuf::from(&line[at + 1..])));
    let elsewhere = bound.filter(|path| {
        !closed.iter().any(|directory| path.starts_with(directory))
            && !allowed.contains(path)
            && path.exists()
    });
    let elsewhere: Vec<PathBuf> = elsewhere.take(MAX_SOCKETS).collect();
    closed.extend(elsewhere);
    closed
}
