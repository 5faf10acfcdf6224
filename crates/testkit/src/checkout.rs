//! The checkout that a program of `proofs/` was started for, and relay as built there.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the workspace's `Cargo.toml`. Cargo's value at run time comes first: a build folder may be
/// shared by several checkouts. Every package but xtask lies two folders below it.
pub fn root() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or(package)
}

/// Builds relay in the profile of this program, and returns the binary.
pub fn built_relay() -> io::Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", "relaycode-relay", "--bin", "relay"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if !cargo.status()?.success() {
        return Err(io::Error::other("relay does not build"));
    }
    Ok(env::current_exe()?.with_file_name(format!("relay{}", env::consts::EXE_SUFFIX)))
}

/// Builds the tests of this name of a package, and returns their program.
pub fn built_test(package: &str, test: &str) -> io::Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args([
        "test",
        "--quiet",
        "--no-run",
        "--message-format=json",
        "--package",
        package,
        "--test",
        test,
    ]);
    let built = cargo.stderr(Stdio::inherit()).output()?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["profile"]["test"] == true && message["target"]["name"] == test;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    });
    let program = programs.next_back().filter(|_| built.status.success());
    program.ok_or_else(|| io::Error::other(format!("the tests of {package} do not build")))
}

fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo says about this program is none of its business: build scripts that look at it would run again.
    for (name, _) in env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|about| name.to_string_lossy().starts_with(about)) {
            cargo.env_remove(name);
        }
    }
    cargo.current_dir(root());
    cargo
}
