//! A fence at the best level that this machine allows. The whole list of attempts is `proofs/fence`.

use std::fs;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use relaycode_exec::{
    FENCE_FAILED_CODE, FenceAccess, FenceChannel, FenceLevel, FenceReport, FenceSpec, probe_fence,
};
use tempfile::TempDir;

use crate::fixture::{Mark, keeper, until};

/// A project, a place outside of it, and the best level here; nothing where there is none.
struct Fenced {
    base: TempDir,
    level: FenceLevel,
}

impl Fenced {
    fn new() -> Option<Fenced> {
        let base = tempfile::tempdir().unwrap();
        for name in ["project/.git/hooks", "outside", "temp"] {
            fs::create_dir_all(base.path().join(name)).unwrap();
        }
        let probe = probe_fence(&keeper(), base.path());
        if probe.level == FenceLevel::Open {
            println!("skipped: no fence here: {:?}", probe.reasons);
            return None;
        }
        Some(Fenced { base, level: probe.level })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    fn spec(&self, words: &[&str]) -> FenceSpec {
        let project = self.path("project");
        FenceSpec {
            level: self.level,
            access: FenceAccess::Workspace,
            read_only: vec![project.join(".git/hooks"), project.join(".envrc")],
            masked: vec![self.path("outside")],
            directories: vec![project.clone()],
            temp: self.path("temp").into(),
            network: false,
            directory: project.into(),
            words: words.iter().map(Into::into).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        }
    }

    fn run(&self, line: &str) -> (ExitStatus, FenceReport) {
        let mut channel = FenceChannel::new(&self.spec(&["/bin/sh", "-c", line])).unwrap();
        let status = channel.command(&keeper()).stderr(Stdio::null()).status().unwrap();
        (status, channel.report().unwrap())
    }
}

#[test]
fn a_command_in_a_fence_reaches_nothing_outside() {
    let Some(fenced) = Fenced::new() else { return };
    let outside = fenced.path("outside");
    let socket = UnixListener::bind(outside.join("socket")).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut sleeper = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let place = outside.display();
    fenced.run(&format!("echo mine > {place}/file"));
    fenced.run(&format!("kill -9 {}", sleeper.id()));
    fenced.run(&format!("perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(\"{place}/socket\")'"));
    assert!(!outside.join("file").exists());
    assert!(sleeper.try_wait().unwrap().is_none());
    assert!(socket.accept().is_err());
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();

    let (status, _) = fenced.run("echo inside > new && echo temporary > ${TMPDIR:-/tmp}/new");
    assert!(status.success());
    assert_eq!(fs::read_to_string(fenced.path("project/new")).unwrap(), "inside\n");
    assert_eq!(fs::read_to_string(fenced.path("temp/new")).unwrap(), "temporary\n");
}

#[test]
fn the_end_of_the_command_is_seen_as_it_was() {
    let Some(fenced) = Fenced::new() else { return };
    assert_eq!(fenced.run("exit 7").0.code(), Some(7));
    assert_eq!(fenced.run("kill -TERM $$").0.signal(), Some(15));
    assert_eq!(fenced.run("kill -KILL $$").0.signal(), Some(9));
    if fenced.level == FenceLevel::Namespaces {
        assert_eq!(fenced.run("exit 7").1, FenceReport::Exited(7));
        assert_eq!(fenced.run("kill -KILL $$").1, FenceReport::Signalled(9));
    }
}

#[test]
fn a_program_that_is_not_there_is_a_failure_of_its_own() {
    let Some(fenced) = Fenced::new() else { return };
    let mut channel = FenceChannel::new(&fenced.spec(&["/nowhere/program"])).unwrap();
    let status = channel.command(&keeper()).status().unwrap();
    assert_eq!(status.code(), Some(i32::from(FENCE_FAILED_CODE)));
    let FenceReport::Failed { step, .. } = channel.report().unwrap() else {
        panic!("{:?}", channel.report())
    };
    assert_eq!(step, "start the program");
}

#[test]
fn what_cannot_be_protected_is_named() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    let mut channel = FenceChannel::new(&fenced.spec(&["/bin/sleep", "60"])).unwrap();
    let mut child = channel.command(&keeper()).spawn().unwrap();
    let mut unprotected = Vec::new();
    until("the fence stands", || match channel.report() {
        Ok(FenceReport::Entered { unprotected: named }) => {
            unprotected = named;
            true
        }
        _ => false,
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(unprotected, [fenced.path("project/.envrc")]);
}

#[test]
fn nothing_outlives_the_command_or_the_stage_outside() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    let line = "setsid sleep 300 & setsid sh -c 'sleep 300; :' &";
    let start = |more: &str| {
        let mark = Mark::new();
        let mut spec = fenced.spec(&["/bin/sh", "-c", &format!("{line} {more}")]);
        spec.environment.push((Mark::NAME.into(), mark.value().into()));
        let channel = FenceChannel::new(&spec).unwrap();
        (channel.command(&keeper()).spawn().unwrap(), mark)
    };
    let (mut ended, mark) = start("sleep 0.1");
    assert!(ended.wait().unwrap().success());
    mark.must_be_gone();

    let (mut killed, mark) = start("sleep 300");
    until("it runs", || mark.found().len() >= 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    until("all are gone", || mark.found().is_empty());
}

#[test]
fn with_the_network_allowed_sockets_with_a_path_are_still_refused() {
    let Some(fenced) = Fenced::new() else { return };
    let (tcp, unix) = (
        std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
        UnixListener::bind(fenced.path("project/socket")).unwrap(),
    );
    tcp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let line = format!(
        "use IO::Socket::INET; use IO::Socket::UNIX; IO::Socket::UNIX->new('socket'); \
         IO::Socket::INET->new('127.0.0.1:{}') or die",
        tcp.local_addr().unwrap().port()
    );
    let spec = FenceSpec { network: true, ..fenced.spec(&["/usr/bin/perl", "-e", &line]) };
    let status = FenceChannel::new(&spec).unwrap().command(&keeper()).status().unwrap();
    assert!(status.success());
    assert!(tcp.accept().is_ok() && unix.accept().is_err());
}

#[test]
fn variables_of_the_command_are_not_the_stages() {
    let Some(fenced) = Fenced::new() else { return };
    let library = Path::new("/nowhere/library.so");
    let mut spec = fenced.spec(&["/bin/sh", "-c", "test \"$LD_PRELOAD\" = /nowhere/library.so"]);
    spec.environment.push(("LD_PRELOAD".into(), library.into()));
    let channel = FenceChannel::new(&spec).unwrap();
    let command = channel.command(&keeper());
    assert!(command.get_envs().all(|(name, _)| name != "LD_PRELOAD"));
    let mut command = command;
    let output = command.output().unwrap();
    assert!(output.status.success());
    // The loader complains once, in the command, and not in a stage before it.
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("cannot be preloaded").count(), 1);
}
