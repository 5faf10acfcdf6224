//! Where a run of the proofs takes place: the binary under test, the seed, the effort, and the scratch
//! directories in memory and on the disk of the build.
//!
//! Invariant: everything lies beneath its own two directories, and nothing else is written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use relaycode_testkit::checkout;

use super::scenario::ScenarioId;
use super::snapshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// A spread sample, in minutes.
    Quick,
    /// Every case.
    Full,
}

/// Where and how a run takes place.
pub(super) struct World {
    /// The binary under test.
    pub(super) relay: PathBuf,
    /// Determines every scenario.
    pub(super) seed: u64,
    pub(super) effort: Effort,
    /// Continue where an earlier run stopped.
    pub(super) resume: bool,
    /// A layer stops after this many failures: they are rarely independent.
    pub(super) failures: usize,
    /// This process is root of its own namespace, and may mount.
    pub(super) in_namespace: bool,
    /// `target/torture`: progress, and the directories of failed cases.
    pub(super) out: PathBuf,
    /// Scratch in memory if there is a tmpfs, else the same as `disk`.
    pub(super) memory: PathBuf,
    /// Scratch on the file system of the build directory.
    pub(super) disk: PathBuf,
}

/// The usual place of a tmpfs that everybody may write to.
const MEMORY: &str = "/dev/shm";
/// Least free bytes for using memory.
const MEMORY_NEEDED: u64 = 256 << 20;

impl World {
    /// Creates the scratch directories; builds the binary unless one is named.
    pub(super) fn new(
        relay: Option<&Path>,
        seed: u64,
        effort: Effort,
        resume: bool,
    ) -> anyhow::Result<World> {
        let out = target_dir()?.join("torture");
        let relay = match relay {
            Some(path) => path.canonicalize().with_context(|| format!("no binary at {}", path.display()))?,
            None => checkout::built_relay()?,
        };
        let disk = out.join(format!("work-{}", std::process::id()));
        fs::create_dir_all(&disk).with_context(|| format!("cannot make {}", disk.display()))?;
        let memory = match memory() {
            Some(base) => base.join(format!("relay-torture-{}", std::process::id())),
            None => disk.join("memory"),
        };
        fs::create_dir_all(&memory).with_context(|| format!("cannot make {}", memory.display()))?;
        Ok(World { relay, seed, effort, resume, failures: 20, in_namespace: false, out, memory, disk })
    }

    pub(super) fn full(&self) -> bool {
        self.effort == Effort::Full
    }

    /// Number `number` of this run's seed.
    pub(super) fn scenario(&self, number: u64) -> ScenarioId {
        ScenarioId { seed: self.seed, number }
    }

    /// One of two values, by effort.
    pub(super) fn choose<T>(&self, quick: T, full: T) -> T {
        if self.full() { full } else { quick }
    }

    /// Runs a case in its room, or, where it is about a real disk, in a directory of this name there: what fails is
    /// copied to the room.
    pub(super) fn on_disk_if<T>(
        &self,
        on_disk: bool,
        name: &str,
        room: &Path,
        run: impl FnOnce(&Path) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if !on_disk {
            return run(room);
        }
        let place = World::fresh(&self.disk, name)?;
        let outcome = run(&place);
        if outcome.is_err() {
            snapshot::copy(&place, &room.join("on-disk"))?;
        }
        fs::remove_dir_all(&place)?;
        outcome
    }

    /// A fresh scratch directory of this name beneath `base`.
    pub(super) fn fresh(base: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let path = base.join(name);
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // What failed was copied to `out/kept`; the rest is scratch.
        let _ = fs::remove_dir_all(&self.memory);
        let _ = fs::remove_dir_all(&self.disk);
    }
}

fn memory() -> Option<PathBuf> {
    let base = PathBuf::from(MEMORY);
    let space = rustix::fs::statvfs(&base).ok()?;
    (space.f_bavail.saturating_mul(space.f_frsize) >= MEMORY_NEEDED).then_some(base)
}

/// The build directory of this program.
fn target_dir() -> anyhow::Result<PathBuf> {
    let exe = std::env::current_exe().context("cannot tell where this program is")?;
    exe.parent()
        .and_then(Path::parent)
        .map(Path::to_path_buf)
        .with_context(|| format!("{} is in no build directory", exe.display()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A world for tests that run no binary.
    pub(crate) fn scratch(name: &str) -> World {
        let base = std::env::temp_dir().join(format!("relay-torture-test-{name}-{}", std::process::id()));
        let (out, memory, disk) = (base.join("out"), base.join("memory"), base.join("disk"));
        for dir in [&out, &memory, &disk] {
            fs::create_dir_all(dir).unwrap();
        }
        World {
            relay: PathBuf::from("relay"),
            seed: 1,
            effort: Effort::Quick,
            resume: false,
            failures: 20,
            in_namespace: false,
            out,
            memory,
            disk,
        }
    }
}
