//! The programs of this repository that a command starts: proofs, generators, installers. Each is built from its own
//! package and takes the rest of the command line; `--help` is answered by it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::workspace;

/// A program that a command starts.
pub(crate) struct Program {
    /// The word after `cargo xtask`.
    pub(crate) command: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    package: &'static str,
    binary: &'static str,
    /// For measurements: it is built in release, and so are the binaries of these packages, which it expects beside it.
    release_with: Option<&'static [&'static str]>,
}

const fn proof(command: &'static str, package: &'static str, about: &'static str) -> Program {
    Program { command, about, package, binary: package, release_with: None }
}

/// Every program.
pub(crate) const ALL: &[Program] = &[
    proof(
        "docs",
        "relaycode-proof-reference",
        "Write the pages of docs/reference and docs/man from the code",
    ),
    proof(
        "corpus",
        "relaycode-proof-corpus",
        "Run real cases: correct, refused and WRONG per set and mutation",
    ),
    proof("fuzz", "relaycode-proof-fuzz", "Fuzz the change engine: no panic, no slow case, no law broken"),
    proof(
        "torture",
        "relaycode-proof-torture",
        "Kill, starve and race the binary, and check that no byte is lost",
    ),
    Program {
        release_with: Some(&["relaycode-relay", "relaycode-testkit"]),
        ..proof("bench", "relaycode-proof-bench", "Measure what users wait for against its targets")
    },
    proof("record", "relaycode-proof-film", "Record the session of `relay watch` that README shows"),
    Program {
        command: "agents",
        about: "Install the real agents that tests run against the scripted model server",
        package: "relaycode-testkit",
        binary: "relay-install-agents",
        release_with: None,
    },
];

/// The program that this command starts.
pub(crate) fn named(command: &str) -> Option<&'static Program> {
    ALL.iter().find(|program| program.command == command)
}

/// Runs the command's program, which must succeed.
pub(crate) fn succeed(command: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let program = named(command).with_context(|| format!("there is no command `{command}`"))?;
    let words: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    if program.run(&words)? == ExitCode::SUCCESS {
        return Ok(());
    }
    bail!("`cargo xtask {command} {}` failed", arguments.join(" "))
}

/// Runs the command's program, which must succeed, with relay, both as they lie beside xtask.
pub(crate) fn succeed_built(command: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let program = named(command).with_context(|| format!("there is no command `{command}`"))?;
    let beside = |name: &str| {
        let this = std::env::current_exe().context("cannot tell where this program is")?;
        anyhow::Ok(this.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
    };
    let mut run = Command::new(beside(program.binary)?);
    run.args(arguments).arg("--relay").arg(beside("relay")?);
    let folder = program.package.trim_start_matches("relaycode-proof-");
    run.env("CARGO_MANIFEST_DIR", workspace::root().join("proofs").join(folder));
    if run.status().with_context(|| format!("cannot run {}", program.binary))?.success() {
        return Ok(());
    }
    bail!("`cargo xtask {command} {}` failed", arguments.join(" "))
}

impl Program {
    /// Builds and runs it where the user is; its exit code is the command's.
    pub(crate) fn run(&self, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
        if let Some(beside) = self.release_with {
            let mut build = self.cargo("build");
            for package in beside {
                build.args(["--package", package]);
            }
            if !build.status().context("cannot run cargo")?.success() {
                bail!("{} does not build", self.package);
            }
        }
        let mut run = self.cargo("run");
        // An error is the end of a report, not of a search: where it was made says nothing.
        run.env("RUST_LIB_BACKTRACE", "0").args(["--bin", self.binary, "--"]).args(arguments);
        let status = run.status();
        let code = status.context("cannot run cargo")?.code();
        Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = workspace::cargo_here();
        cargo.args([subcommand, "--quiet", "--manifest-path"]).arg(workspace::root().join("Cargo.toml"));
        cargo.args(["--package", self.package]).args(self.release_with.map(|_| "--release"));
        cargo
    }
}
