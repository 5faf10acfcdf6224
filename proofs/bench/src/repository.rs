//! Projects that are made for measurements, the same on every run.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;

/// A repository of `files` files of `size` bytes each, all tracked by git.
pub(super) fn fill(root: &Path, files: usize, size: usize) -> anyhow::Result<()> {
    git(root, &["init", "-q", "-b", "main", "."])?;
    write_sources(root, files, size)?;
    // No housekeeping in the background during a measurement.
    git(root, &["config", "gc.auto", "0"])?;
    git(root, &["config", "maintenance.auto", "false"])?;
    git(root, &["-c", "core.compression=0", "add", "."])?;
    let name = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(root, &[&name[..], &["commit", "-qm", "first"]].concat())
}

/// So many files of lines that look like code, fifty to a directory.
pub(super) fn write_sources(root: &Path, files: usize, size: usize) -> anyhow::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for at in 0..files {
        let folder = root.join(format!("part{:03}", at / 50));
        if at % 50 == 0 {
            fs::create_dir_all(&folder)?;
        }
        let mut content = Vec::with_capacity(size + 64);
        while content.len() < size {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            content.extend(format!("let value_{:016x} = compute({at});\n", state).bytes());
        }
        content.truncate(size);
        fs::write(folder.join(format!("file{at:05}.rs")), content)?;
    }
    Ok(())
}

pub(super) fn git(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.arg("-C").arg(root).args(words).output()?;
    if !output.status.success() {
        bail!("git {words:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
