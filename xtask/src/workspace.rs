//! Where the repository is, and what `cargo metadata` says about it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use cargo_metadata::{Metadata, MetadataCommand};

/// The folder of the workspace's `Cargo.toml`, wherever xtask was started.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The workspace and everything it depends on, on every platform, exactly as locked.
pub(crate) fn metadata() -> anyhow::Result<Metadata> {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .context("`cargo metadata --locked` failed; is Cargo.lock up to date?")
}
