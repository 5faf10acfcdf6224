//! Where the repository is, what `cargo metadata` says about it, and its Rust sources.
//!
//! Everything a tidy rule looks at is read once, here; the rules themselves are pure.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// Folders whose `.rs` files are data or output, not sources of ours.
const NOT_SOURCES: &[&str] = &["target", "cases", "fixtures", "snapshots"];

/// The repository as the rules see it.
pub(crate) struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Our crates and everything they depend on, on every platform.
    pub(crate) metadata: Metadata,
    /// Every Rust source of ours, sorted by path.
    pub(crate) sources: Vec<Source>,
}

/// One Rust source.
pub(crate) struct Source {
    /// Relative to the root, `/` between components.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

impl Workspace {
    /// Reads the repository that this program was started for.
    pub(crate) fn read() -> anyhow::Result<Workspace> {
        let root = root();
        let mut sources = Vec::new();
        for folder in ["crates", "xtask"] {
            collect(&root, &root.join(folder), &mut sources)?;
        }
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        let metadata = MetadataCommand::new()
            .cargo_path(cargo_path())
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--locked".to_owned()])
            .exec()
            .context("`cargo metadata --locked` failed")?;
        Ok(Workspace { root, metadata, sources })
    }

    /// The crates that are ours.
    pub(crate) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }
}

impl Source {
    /// Whether it holds nothing but tests: `tests.rs`, or anything below a `tests` folder.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|part| part == "tests")
    }
}

/// The folder of the workspace's `Cargo.toml`, wherever xtask was started. What cargo says at run
/// time goes first: a build folder may be shared by several checkouts.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// The cargo that started xtask, to be run in the root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(cargo_path());
    command.current_dir(root());
    command
}

/// Builds relay in the way this program was built, and names the binary.
pub(crate) fn built_relay() -> anyhow::Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", "relaycode-relay", "--bin", "relay"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if !cargo.status().context("cannot run cargo")?.success() {
        bail!("relay does not build");
    }
    let exe = std::env::current_exe().context("cannot tell where this program is")?;
    Ok(exe.with_file_name(format!("relay{}", std::env::consts::EXE_SUFFIX)))
}

fn cargo_path() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && !NOT_SOURCES.contains(&&*name) {
            collect(root, &path, sources)?;
        } else if kind.is_file() && name.ends_with(".rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            sources.push(Source { path: relative(root, &path), text });
        }
    }
    Ok(())
}

/// `path` below `root`, with `/` on every system.
fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
