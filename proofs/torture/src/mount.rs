//! Mounts that are always cleaned up: an ext4 in an image file, whose power can be cut, and a tmpfs of any
//! size.
//!
//! Invariant: dropping a [`Mount`] unmounts it and frees its loop device.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::snapshot;

/// A mounted file system.
pub(super) struct Mount {
    dir: PathBuf,
    /// The image and the options to mount it with again.
    image: Option<(PathBuf, String)>,
    mounted: bool,
}

/// How long somebody may keep a mount busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Within its namespace.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The first of these programs that is not installed.
pub(super) fn missing_tool(tools: &[&str]) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")]).collect();
    let found = |tool: &str| folders.iter().any(|folder| folder.join(tool).is_file());
    tools.iter().find(|tool| !found(tool)).map(|tool| format!("{tool} is not installed"))
}

impl Mount {
    /// A fresh ext4 with these mount options, its image beside the directory.
    pub(super) fn ext4(dir: &Path, options: &str) -> anyhow::Result<Mount> {
        fs::create_dir_all(dir)?;
        let image = dir.with_extension("img");
        let file = fs::File::create(&image).with_context(|| format!("cannot make {}", image.display()))?;
        file.set_len(64 << 20)?;
        system(Command::new("mkfs.ext4").args(["-q", "-F", "-b", "4096"]).arg(&image))?;
        let mut mount =
            Mount { dir: dir.to_path_buf(), image: Some((image, options.to_owned())), mounted: false };
        mount.mount_image()?;
        Ok(mount)
    }

    pub(super) fn tmpfs(dir: &Path, options: &str) -> anyhow::Result<Mount> {
        fs::create_dir_all(dir)?;
        system(Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(dir))?;
        Ok(Mount { dir: dir.to_path_buf(), image: None, mounted: true })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Brings the project of a room onto this file system; a link stands in its place.
    pub(super) fn carry_in(&self, room: &Path) -> anyhow::Result<()> {
        let (project, planted) = (room.join("project"), room.join("planted"));
        fs::rename(&project, &planted)?;
        snapshot::copy(&planted, &self.project())?;
        Ok(symlink(self.project(), project)?)
    }

    /// Copies the project back: the mount goes, its content stays with the case.
    pub(super) fn carry_out(&self, room: &Path) -> anyhow::Result<()> {
        fs::remove_file(room.join("project"))?;
        snapshot::copy(&self.project(), &room.join("project"))
    }

    /// Where a project is that was brought here.
    pub(super) fn project(&self) -> PathBuf {
        self.dir.join("project")
    }

    /// Mounts a tmpfs again with other options.
    pub(super) fn change(&self, options: &str) -> anyhow::Result<()> {
        // With both source and directory named, the current options are not passed again: in a namespace
        // some of them (owner ids) mean nothing.
        let options = format!("remount,{options}");
        system(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&self.dir))
    }

    /// Cuts the power: what the file system has not written is gone, its log included. Then mounts it
    /// again, as after a restart.
    pub(super) fn cut(&mut self) -> anyhow::Result<()> {
        system(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(&self.dir))?;
        self.unmount()?;
        self.mount_image()
    }

    fn mount_image(&mut self) -> anyhow::Result<()> {
        let (image, options) = self.image.as_ref().context("a tmpfs has no image")?;
        let options = if options.is_empty() { "loop".to_owned() } else { format!("loop,{options}") };
        system(Command::new("mount").args(["-t", "ext4", "-o", &options]).arg(image).arg(&self.dir))?;
        self.mounted = true;
        Ok(())
    }

    /// Whoever else looks at it for a moment, or is just ending in it, is waited for.
    fn unmount(&mut self) -> anyhow::Result<()> {
        let since = Instant::now();
        while self.mounted {
            match system(Command::new("umount").arg(&self.dir)) {
                Ok(()) => self.mounted = false,
                Err(error) if since.elapsed() > PATIENCE => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            // Somebody still has a file open in it: it goes when they do.
            let _ = system(Command::new("umount").arg("-l").arg(&self.dir));
        }
        if let Some((image, _)) = &self.image {
            let _ = fs::remove_file(image);
        }
        let _ = fs::remove_dir(&self.dir);
    }
}

/// The program must succeed.
fn system(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if output.status.success() {
        return Ok(());
    }
    bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim())
}
