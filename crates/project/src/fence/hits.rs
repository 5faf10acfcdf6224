//! Whether a command failed because of its fence, as far as what it printed tells.

use std::path::{Path, PathBuf};

use relaycode_exec::JobFence;

/// Lines of the end of an output that are looked at.
const LINES: usize = 60;

/// What of the fence a command ran into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenceHit {
    /// It wanted to write there.
    Write(PathBuf),
    /// It wanted to read a secret.
    Secret(PathBuf),
    Network,
    /// A socket that has a path.
    Socket,
}

impl FenceHit {
    /// A sentence of its own, without its full stop.
    pub fn sentence(&self) -> String {
        match self {
            FenceHit::Write(path) => {
                format!("it wanted to write to {}, which the fence does not allow", path.display())
            }
            FenceHit::Secret(path) => format!("it wanted to read {}, which the fence hides", path.display()),
            FenceHit::Network => "it wanted to use the network, which the fence does not allow".to_owned(),
            FenceHit::Socket => {
                "it wanted to talk to a service of this machine, which the fence does not allow".to_owned()
            }
        }
    }
}

/// What a system says of a write to what is read-only, and of what is closed.
const READ_ONLY_WORDS: &[&str] = &["Read-only file system", "EROFS", "os error 30"];
const DENIED_WORDS: &[&str] =
    &["Permission denied", "Operation not permitted", "EACCES", "EPERM", "os error 13", "os error 1)"];
const NETWORK_WORDS: &[&str] = &[
    "Network is unreachable",
    "ENETUNREACH",
    "Could not resolve host",
    "could not resolve host",
    "Couldn't resolve host",
    "Could not resolve hostname",
    "EAI_AGAIN",
    "Temporary failure in name resolution",
    "Name or service not known",
    "failed to lookup address",
    "ENOTFOUND",
    "network is unreachable",
];
const SOCKET_WORDS: &[&str] = &[
    "Cannot connect to the Docker daemon",
    "connect to the docker API",
    "docker.sock",
    "Could not open a connection to your authentication agent",
    "cannot open display",
    "Can't open display",
    "Failed to connect to bus",
];

/// What of its fence a command ran into, by the end of what it printed.
pub fn find_fence_hit(output: &str, fence: &JobFence) -> Option<FenceHit> {
    let lines: Vec<&str> = output.lines().rev().take(LINES).collect();
    let says = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    for line in &lines {
        if says(line, READ_ONLY_WORDS) {
            return Some(FenceHit::Write(
                paths_in(line).next().unwrap_or_else(|| PathBuf::from("a read-only place")),
            ));
        }
        if says(line, DENIED_WORDS) {
            let paths: Vec<PathBuf> = paths_in(line).collect();
            let within = |list: &[PathBuf]| {
                paths.iter().find(|path| list.iter().any(|place| path.starts_with(place))).cloned()
            };
            if let Some(path) = within(&fence.masked) {
                return Some(FenceHit::Secret(path));
            }
            let closed = within(&fence.read_only).or_else(|| closed_path(&paths, &fence.writable()));
            if let Some(path) = closed {
                return Some(FenceHit::Write(path));
            }
        }
        if fence.sockets.is_empty() && says(line, SOCKET_WORDS) {
            return Some(FenceHit::Socket);
        }
        if !fence.network && says(line, NETWORK_WORDS) {
            return Some(FenceHit::Network);
        }
    }
    None
}

/// The first that lies in none of the directories that can be written.
fn closed_path(paths: &[PathBuf], writable: &[PathBuf]) -> Option<PathBuf> {
    paths.iter().find(|path| !writable.iter().any(|place| path.starts_with(place))).cloned()
}

/// Absolute paths in a line, without what quotes and ends them.
fn paths_in(line: &str) -> impl Iterator<Item = PathBuf> {
    let ends = |c: char| c.is_whitespace() || "'\"`,;()[]{}<>".contains(c);
    line.split(ends)
        .map(|word| word.trim_end_matches([':', '.']))
        .filter(|word| word.len() > 1 && word.starts_with('/'))
        .map(|word| Path::new(word).to_path_buf())
}
