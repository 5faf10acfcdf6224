//! The check for macOS: the binary, and with it every product crate, is type-checked and linted for
//! `aarch64-apple-darwin`, also on a machine that is no Mac. Nothing is linked or run.
//!
//! It needs two things that a machine may lack, and says by name which: the target's standard library, and zig, which
//! compiles the C of SQLite, the grammars and the TLS library with the headers of macOS.

use std::env::consts::OS;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::{run_cargo, seeded};
use crate::workspace;

const TARGET: &str = "aarch64-apple-darwin";

/// cc-rs names the target as Apple's clang knows it, which zig's does not: zig is told in its own words instead.
const COMPILER: &str = r#"#!/bin/sh
left=$#
while [ "$left" -gt 0 ]; do
  case $1 in
    --target=* | -mmacosx-version-min=*) ;;
    *) set -- "$@" "$1" ;;
  esac
  shift
  left=$((left - 1))
done
exec python3 -m ziglang cc -target aarch64-macos "$@"
"#;
const ARCHIVER: &str = "#!/bin/sh\nexec python3 -m ziglang ar \"$@\"\n";

/// Checks, or says by name why not.
pub(crate) fn run() -> anyhow::Result<()> {
    let missing = missing()?;
    if !missing.is_empty() {
        println!("   skipped, nothing was checked for macOS: {}", missing.join("; "));
        return Ok(());
    }
    let mut command = seeded();
    if OS != "macos" {
        let folder = scripts_folder()?;
        command.env("CC_aarch64_apple_darwin", write_script(&folder, "cc", COMPILER)?);
        command.env("AR_aarch64_apple_darwin", write_script(&folder, "ar", ARCHIVER)?);
    }
    // clippy is `cargo check` and more: code that only macOS compiles is linted nowhere else.
    run_cargo(command, &["clippy", "--target", TARGET, "--", "-D", "warnings"])
}

/// What the check needs and this machine has not, each with the way to get it.
fn missing() -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    let library = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(workspace::root())
        .output()
        .context("`rustc` could not be started")?;
    if !Path::new(String::from_utf8_lossy(&library.stdout).trim()).is_dir() {
        missing.push(format!("the target {TARGET} is not installed (`rustup target add {TARGET}`)"));
    }
    if OS != "macos" && !has_zig() {
        missing.push("`python3 -m ziglang` does not run (`pip install ziglang`)".to_string());
    }
    Ok(missing)
}

fn has_zig() -> bool {
    let mut version = Command::new("python3");
    version.args(["-m", "ziglang", "version"]).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// A folder of the build directory, so that nothing is left in the checkout.
fn scripts_folder() -> anyhow::Result<PathBuf> {
    let metadata = workspace::cargo().args(["metadata", "--format-version", "1", "--no-deps"]).output()?;
    if !metadata.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&metadata.stderr).trim());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let target =
        metadata["target_directory"].as_str().context("`cargo metadata` names no build directory")?;
    let folder = Path::new(target).join("macos");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

/// Written only if it is not there yet: another run may be using it.
fn write_script(folder: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    if fs::read_to_string(&path).ok().as_deref() != Some(text) {
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(path)
}
