//! Directories outside of a project that tools write: caches, installed toolchains' packages, build output. A command sees the
//! user's own, and what it writes goes into a layer per project beneath relay's own directory: nothing that it unpacked or
//! downloaded is ever run or believed outside of a fence.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use relaycode_exec::FenceLayer;
use sha2::{Digest, Sha256};

use super::{FencePlace, make_private};
use crate::user_files::hex;

/// Where layers are, in relay's own directory.
pub(super) const LAYERS: &str = "cache/fence";

/// Digits of a project's name.
const NAME_DIGITS: usize = 16;

/// By the variable that says where it is, else from the home directory. With neither it is only there if the variable is set.
const CACHES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("CARGO_TARGET_DIR", ""),
    ("XDG_CACHE_HOME", ".cache"),
    ("npm_config_cache", ".npm"),
    ("BUN_INSTALL", ".bun"),
    ("PNPM_HOME", ".local/share/pnpm"),
    ("YARN_CACHE_FOLDER", ".yarn"),
    ("DENO_DIR", ""),
    ("PIP_CACHE_DIR", ""),
    ("UV_CACHE_DIR", ""),
    ("GOPATH", "go"),
    ("GOCACHE", ""),
    ("GRADLE_USER_HOME", ".gradle"),
    ("", ".m2"),
    ("", ".ivy2"),
    ("", ".sbt"),
    ("NUGET_PACKAGES", ".nuget"),
    ("GEM_HOME", ".gem"),
    ("BUNDLE_USER_HOME", ".bundle"),
    ("COMPOSER_HOME", ".composer"),
    ("MIX_HOME", ".mix"),
    ("PUB_CACHE", ".pub-cache"),
    ("STACK_ROOT", ".stack"),
    ("CABAL_DIR", ".cabal"),
    ("CCACHE_DIR", ".ccache"),
    // Several versions of a tool side by side: what is installed into one brings new programs to all.
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("SDKMAN_DIR", ".sdkman"),
];

/// A tool fails where it has no place for these: with none of the user's it gets one of its own.
const NEEDED: &[&str] = &["XDG_CACHE_HOME", "npm_config_cache"];

/// The layers, and variables for what the user does not have.
pub(super) fn find(
    place: &FencePlace<'_>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> (Vec<FenceLayer>, Vec<(OsString, OsString)>) {
    let (mut layers, mut environment): (Vec<FenceLayer>, Vec<(OsString, OsString)>) = Default::default();
    let Some(kept_in) = place.relay_home.map(|home| kept_in(home, place.root)) else {
        return (layers, environment);
    };
    for (name, from_home) in CACHES {
        let set = Some(*name).filter(|name| !name.is_empty()).and_then(variable).map(PathBuf::from);
        let usual = place.user_home.filter(|_| !from_home.is_empty()).map(|home| home.join(from_home));
        let Some(directory) = set.filter(|path| path.is_absolute()).or(usual) else { continue };
        let directory = directory.canonicalize().unwrap_or(directory);
        if directory.starts_with(place.root) || place.root.starts_with(&directory) {
            // In the project it is the command's to write already; and a layer around the project would hide what is written.
            continue;
        }
        let layer =
            kept_in.join(directory.to_string_lossy().trim_start_matches('/').replace(['/', ',', ':'], "_"));
        if directory.is_dir() {
            if make_private(&layer) {
                layers.push(FenceLayer { directory: directory.into(), kept_in: layer.into() });
            }
        } else if NEEDED.contains(name) {
            environment.push(((*name).into(), place.temp.join(format!("cache-{name}")).into()));
        }
    }
    (layers, environment)
}

/// Where a project's layers are.
fn kept_in(relay_home: &Path, root: &Path) -> PathBuf {
    let digest = hex(&Sha256::digest(root.as_os_str().as_bytes()));
    relay_home.join(LAYERS).join(digest.get(..NAME_DIGITS).unwrap_or(&digest))
}
