//! What is to be seen from outside: files to the last attribute, listeners, a process, a setting of the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;

use crate::{World, WorldUser};

/// Harmless, and of the whole machine.
pub(crate) const KERNEL_SETTING: &str = "/proc/sys/kernel/printk_ratelimit_burst";

/// What it is without us.
const USUAL_SETTING: &str = "10";

/// A process that was sent a signal may stop a moment later.
const MOMENT: Duration = Duration::from_millis(50);

/// A look at everything that no attempt may change.
pub(crate) struct WorldTraces {
    files: BTreeMap<String, String>,
    victim: Option<String>,
    shared: Option<String>,
}

impl WorldTraces {
    /// Looks before. Memory to share is made only where an attempt is about it.
    pub(crate) fn before(world: &World, shared: bool) -> anyhow::Result<WorldTraces> {
        if shared {
            let key = world.place.shared_key();
            let make = format!("my $i = shmget({key}, 64, 0600 | 01000) // die; shmwrite($i, 'clean', 0, 5)");
            perl(world.user, &make)?;
        }
        Ok(WorldTraces {
            files: files(world)?,
            victim: Some(victim(world).context("the victim does not live")?),
            shared: shared.then(|| read_shared(world)),
        })
    }

    /// What is different now, and what anybody received.
    pub(crate) fn changes(&self, world: &mut World) -> anyhow::Result<Vec<String>> {
        std::thread::sleep(MOMENT);
        let mut changes = Vec::new();
        let now = files(world)?;
        for name in self.files.keys().chain(now.keys()).collect::<std::collections::BTreeSet<_>>() {
            if self.files.get(name) != now.get(name) {
                changes.push(format!("{name}: {:?} is {:?}", self.files.get(name), now.get(name)));
            }
        }
        if !matches!(world.victim.try_wait(), Ok(None)) || victim(world) != self.victim {
            changes.push("the process outside".to_owned());
        }
        let mut bytes = [0; 64];
        let heard = [
            ("tcp", world.tcp.accept().is_ok()),
            ("udp", world.udp.recv(&mut bytes).is_ok()),
            ("unix", world.unix.accept().is_ok()),
            ("unix datagram", world.datagram.recv(&mut bytes).is_ok()),
            ("abstract unix", world.abstract_unix.accept().is_ok()),
            ("fifo", world.fifo.read(&mut bytes).is_ok_and(|count| count > 0)),
        ];
        changes.extend(heard.iter().filter(|(_, heard)| *heard).map(|(name, _)| (*name).to_owned()));
        if let Some(shared) = &self.shared {
            if *shared != read_shared(world) {
                changes.push("shared memory".to_owned());
            }
            let key = world.place.shared_key();
            perl(world.user, &format!("shmctl(shmget({key}, 0, 0), 0, 0)"))?;
        }
        if fs::read_to_string(KERNEL_SETTING)?.trim() != USUAL_SETTING {
            changes.push("a setting of the kernel".to_owned());
            fs::write(KERNEL_SETTING, USUAL_SETTING)?;
        }
        Ok(changes)
    }
}

/// Every file that nobody may change: all but the project and the temporary directory, and what is read-only in the project.
fn files(world: &World) -> anyhow::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for name in ["outside", "home", "project/.git/hooks", "project/.git/config", "project/.relaycode/lock"] {
        describe(&world.place.base.join(name), &mut files)?;
    }
    let project = fs::metadata(world.project()).map(|found| found.ino());
    files.insert("the project itself".to_owned(), format!("{project:?}"));
    Ok(files)
}

/// With the time of its last change of any kind, which nobody can set.
fn describe(path: &Path, files: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    // A pipe would wait for whoever opens it.
    let text = if found.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
    let flags = if found.is_file() { fs::File::open(path).ok() } else { None };
    let described = format!(
        "{} {:o} {}:{} links {} written {}.{} changed {}.{} flags {:?} attributes {:?} {}",
        found.ino(),
        found.mode(),
        found.uid(),
        found.gid(),
        found.nlink(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        flags.and_then(|file| rustix::fs::ioctl_getflags(file).ok()),
        attributes(path),
        if text.len() < 4_096 { String::from_utf8_lossy(&text).into_owned() } else { text.len().to_string() }
    );
    files.insert(path.display().to_string(), described);
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            describe(&entry?.path(), files)?;
        }
    }
    Ok(())
}

/// The names of its extended attributes, ended by zeros.
fn attributes(path: &Path) -> String {
    let mut names = [0; 1_024];
    let count = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or(0);
    String::from_utf8_lossy(&names[..count]).into_owned()
}

/// State, priority, limits and processors.
fn victim(world: &World) -> Option<String> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", world.place.victim)).ok();
    let (stat, limits, status) = (read("stat")?, read("limits")?, read("status")?);
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let processors = status.lines().find(|line| line.starts_with("Cpus_allowed:"))?;
    // It sleeps or wakes up: both are life. Stopped, traced and dead are not.
    let lives = matches!(*fields.first()?, "S" | "R" | "D");
    Some(format!("{lives} {} {limits} {processors}", fields.get(16)?))
}

fn read_shared(world: &World) -> String {
    let key = world.place.shared_key();
    let code = format!("my $b; shmread(shmget({key}, 0, 0), $b, 0, 5); print $b");
    perl(world.user, &code).unwrap_or_default()
}

fn perl(user: WorldUser, code: &str) -> anyhow::Result<String> {
    let mut command = Command::new("/usr/bin/perl");
    command.args(["-e", code]);
    user.start_as(&mut command);
    let output = command.output()?;
    anyhow::ensure!(output.status.success(), "perl: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
