//! What of the user's home no command in a fence sees: keys, tokens, and what lets somebody be the user elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protected::SECRETS_IN_HOME;

/// What of relay's own directory is no secret: what commands keep there.
const RELAY_OPEN: &str = "cache";

/// Of the machine, where this user can read them.
const OF_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/var/lib/docker",
    "/var/lib/kubelet",
];

/// The secrets that exist.
pub(super) fn find(user_home: Option<&Path>, relay_home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    if let Some(home) = user_home {
        found.extend(SECRETS_IN_HOME.iter().map(|name| home.join(name)).filter(|path| path.exists()));
    }
    found.extend(entries_of(relay_home).filter(|path| !path.ends_with(RELAY_OPEN)));
    // A command sees its own layers where the caches are, and none of another project's.
    found.extend(relay_home.map(|home| home.join(super::caches::LAYERS)).filter(|path| path.exists()));
    let readable =
        |path: &&Path| if path.is_dir() { fs::read_dir(path).is_ok() } else { fs::File::open(path).is_ok() };
    found.extend(OF_MACHINE.iter().map(Path::new).filter(readable).map(Path::to_path_buf));
    found
}

/// The same without those that are in the open: of a directory that one of them lies in, everything beside it. These are named
/// without links.
pub(super) fn find_except(
    user_home: Option<&Path>,
    relay_home: Option<&Path>,
    open: &[PathBuf],
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = find(user_home, relay_home);
    while let Some(path) = waiting.pop() {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if open.contains(&real) {
            continue;
        }
        if open.iter().any(|open| open.starts_with(&real)) {
            waiting.extend(entries_of(Some(&path)));
        } else {
            found.push(path);
        }
    }
    found
}

fn entries_of(directory: Option<&Path>) -> impl Iterator<Item = PathBuf> + use<> {
    directory.map(fs::read_dir).into_iter().flatten().flatten().flatten().map(|entry| entry.path())
}
