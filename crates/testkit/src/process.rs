//! Programs that a test starts: none outlives its value, and no wait is without a limit.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::expect::expect_ok;
use crate::missing;

/// Far more than anything that goes well takes.
pub const GENEROUS_TIMEOUT: Duration = Duration::from_secs(60);

/// For everything that was broken off to be gone, on a busy machine. The promise is less, and is measured
/// (`cargo xtask bench`).
pub const CLEANUP_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a program may take to exit after it was asked to.
const GRACE: Duration = Duration::from_secs(3);

/// Time between two checks of something that cannot be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A program that ends with this value at the latest: first asked, then killed.
#[derive(Debug)]
pub struct ChildGuard {
    child: Child,
    status: Option<ExitStatus>,
}

impl ChildGuard {
    pub fn start(command: &mut Command) -> io::Result<ChildGuard> {
        Ok(ChildGuard { child: command.spawn()?, status: None })
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// For its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// `None` if it still runs after `limit`.
    pub fn wait_exit(&mut self, limit: Duration) -> Option<ExitStatus> {
        if self.status.is_none() {
            let handle = pidfd_open(self.pid(), PidfdFlags::empty()).ok()?;
            if wait_ready(&handle, PollFlags::IN, limit) {
                self.status = self.child.wait().ok();
            }
        }
        self.status
    }

    /// Sends it a signal, unless it has exited.
    pub fn signal(&mut self, signal: Signal) {
        if self.wait_exit(Duration::ZERO).is_none() {
            let _ = kill_process(self.pid(), signal);
        }
    }

    pub fn end(&mut self) {
        self.signal(Signal::TERM);
        // A stopped process would never get the signal.
        self.signal(Signal::CONT);
        if self.wait_exit(GRACE).is_none() {
            self.signal(Signal::KILL);
            self.wait_exit(GRACE);
        }
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether one of `flags` (or the end) came within `limit`.
pub fn wait_ready(file: &impl AsFd, flags: PollFlags, limit: Duration) -> bool {
    let began = Instant::now();
    loop {
        let left = limit.saturating_sub(began.elapsed());
        let wait = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(file, flags)], Some(&wait)) {
            Ok(count) => return count > 0,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// The first line of its piped output; empty if there is none within `limit`.
pub fn first_line(program: &mut ChildGuard, limit: Duration) -> String {
    let began = Instant::now();
    let mut said = Vec::new();
    let Some(output) = program.child().stdout.as_mut() else { return String::new() };
    while !said.ends_with(b"\n") {
        // Byte by byte: what follows belongs to somebody else.
        let mut byte = [0];
        let came = wait_ready(output, PollFlags::IN, limit.saturating_sub(began.elapsed()));
        if !came || output.read_exact(&mut byte).is_err() {
            return String::new();
        }
        said.push(byte[0]);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// The keeper for the tests of a crate.
#[track_caller]
pub fn keeper_path(package: &str, example: &str) -> PathBuf {
    example_path(package, example)
}

/// An example of a crate for its tests: `cargo test` and `cargo nextest` build it with them.
#[track_caller]
pub fn example_path(package: &str, example: &str) -> PathBuf {
    let me = expect_ok(env::current_exe(), "this test has no name");
    let path = me.parent().and_then(Path::parent).unwrap_or(Path::new("/")).join("examples").join(example);
    assert!(path.exists(), "build it first: cargo build -p {package} --example {example}");
    path
}

/// A program with its own process ids, by `unshare` with these options; if that is not allowed, the test
/// reports that it is skipped.
pub fn unshare_command(options: &[&str], program: &str) -> Option<Command> {
    let with = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rpf", "--kill-child"]).args(options).arg(program);
        command
    };
    let works = with("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !works {
        missing::skip(&format!("no `unshare -rpf {}`", options.join(" ")), "RELAY_REQUIRE_NAMESPACES");
    }
    works.then(|| with(program))
}

/// Calls `look` until it returns something; `None` after `limit`.
pub fn poll_until<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let found = look();
        if found.is_some() || began.elapsed() > limit {
            return found;
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// The output of a successful program, given `input`; `None` if it failed or took longer than `limit`.
pub fn output(command: &mut Command, input: &[u8], limit: Duration) -> io::Result<Option<Vec<u8>>> {
    let mut written = tempfile::tempfile()?;
    command.stdin(temp_file_with(input)?).stdout(written.try_clone()?).stderr(Stdio::null());
    let mut program = ChildGuard::start(command)?;
    if !program.wait_exit(limit).is_some_and(|status| status.success()) {
        return Ok(None);
    }
    written.rewind()?;
    let mut bytes = Vec::new();
    written.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A file without a name: a program may read it as slowly as it likes, or not at all.
pub fn temp_file_with(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
