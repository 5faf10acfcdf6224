//! What bash really starts and writes, against what the engine lists: the list must hold all of it.
//!
//! Only lines that the engine allows are run: they start nothing but recording stubs. With `RELAY_LINES_ANY=1` all
//! lines that it calls understood are, which is for a fence: `RELAY_LINES=30000 RELAY_LINES_ANY=1` in front of
//! `relaycode-proof-fence run 1 TEST-PROGRAM permission_bash`.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use relaycode_project::permissions::{
    CommandArgument, LineReading, LineTarget, PathUseKind, PermissionRequest, read_line,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::permission_lines::{LineMaker, engine, wanted_lines};

/// A line that takes longer is ended; what it started until then counts.
const PATIENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };
/// What bash calls for a program that is not there, handed over as an exported function.
const NOT_FOUND: &str = "() { printf '%s\\0' \"$1\" >> \"$RECORD\"; }";

/// Where lines are run: an empty project, stubs for programs, and the record of what was started.
struct BashPlace {
    dir: tempfile::TempDir,
}

impl BashPlace {
    fn new() -> BashPlace {
        let place = BashPlace { dir: tempfile::TempDir::new().unwrap() };
        fs::create_dir(place.path("stubs")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A program that only records its name, for those that are started without a search by the shell.
    fn add_stub(&self, name: &str) {
        let file = self.path("stubs").join(name);
        if !file.exists() {
            fs::write(&file, format!("#!/bin/sh\nprintf '%s\\0' '{name}' >> \"$RECORD\"\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Runs a line in an empty project: the programs that it started, and the files that are there then.
    fn run(&self, line: &str) -> (BTreeSet<String>, BTreeSet<PathBuf>) {
        let (project, record) = (self.path("project"), self.path("record"));
        let _ = fs::remove_dir_all(&project);
        fs::create_dir(&project).unwrap();
        fs::write(&record, "").unwrap();
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", line]).current_dir(&project).process_group(0).env_clear();
        bash.env("PATH", self.path("stubs")).env("HOME", &project).env("RECORD", &record);
        bash.env("BASH_FUNC_command_not_found_handle%%", NOT_FOUND);
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = bash.spawn().unwrap();
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&PATIENCE)).unwrap();
        let _ = kill_process_group(pid, Signal::KILL);
        child.wait().unwrap();
        let record = String::from_utf8_lossy(&fs::read(&record).unwrap()).into_owned();
        let started = record.split_terminator('\0').map(str::to_string).collect();
        (started, files_beneath(&project))
    }
}

fn files_beneath(directory: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_beneath(&entry.path())),
            false => drop(files.insert(entry.path())),
        }
    }
    files
}

/// Names of programs that a line may start; `None`: one is not known.
fn listed_programs(reading: &LineReading) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for command in &reading.commands {
        match command.words.first() {
            Some(CommandArgument::Exact(name)) => drop(names.insert(name.clone())),
            Some(CommandArgument::OneOf(several)) => names.extend(several.iter().cloned()),
            _ => return None,
        }
    }
    Some(names)
}

fn may_write(reading: &LineReading, file: &Path) -> bool {
    let writes = reading.paths.iter().filter(|used| used.kind != PathUseKind::Read);
    writes.into_iter().any(|used| match &used.target {
        LineTarget::Path(path) => path == file,
        LineTarget::Pattern(_) | LineTarget::Unknown => true,
        LineTarget::Beneath(directory) => file.starts_with(directory),
    })
}

/// Lines run at the same time.
const THREADS: usize = 4;

/// Runs its share of the lines; what bash did that is not listed.
fn find_gaps(thread: usize, wanted: usize, seen: &Mutex<HashSet<String>>) -> Vec<String> {
    let place = BashPlace::new();
    let project = place.path("project");
    let mut engine = engine(&project);
    engine.place.home = Some(project.clone());
    engine.place.temporary = vec![project];
    let maker = LineMaker::new();
    let any = std::env::var_os("RELAY_LINES_ANY").is_some();
    let (mut ran, mut gaps) = (0, Vec::new());
    for number in (thread as u64..).step_by(THREADS) {
        if ran == wanted {
            println!("{ran} of the lines up to {number} run by bash, {} gaps", gaps.len());
            break;
        }
        let line = maker.joined(number);
        let reading = read_line(&line, &engine.place);
        let allowed = || engine.decide(&PermissionRequest::Line(line.clone())).is_allowed();
        if line.contains('\0') || !reading.unclear.is_empty() || (!any && !allowed()) {
            continue;
        }
        let Some(programs) = listed_programs(&reading) else { continue };
        // These would not start a stub, or end more than the line.
        if programs.iter().any(|name| name.contains('/') || name.is_empty() || name == "kill") {
            continue;
        }
        if !seen.lock().unwrap().insert(line.clone()) {
            continue;
        }
        ran += 1;
        programs.iter().for_each(|name| place.add_stub(name));
        let (started, files) = place.run(&line);
        let unlisted: Vec<&String> = started.difference(&programs).collect();
        let unforeseen: Vec<&PathBuf> = files.iter().filter(|file| !may_write(&reading, file)).collect();
        if !unlisted.is_empty() || !unforeseen.is_empty() {
            gaps.push(format!("{line:?} started {unlisted:?} and wrote {unforeseen:?}"));
            println!("{}", gaps[gaps.len() - 1]);
        }
    }
    gaps
}

#[test]
fn bash_starts_and_writes_nothing_that_is_not_listed() {
    let (share, seen) = (wanted_lines(60).div_ceil(THREADS), &Mutex::new(HashSet::new()));
    let gaps: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || find_gaps(thread, share, seen))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}
