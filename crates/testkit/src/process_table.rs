//! Who runs on this machine, known by what it was started with.

use std::fs::{self, File};
use std::io::{self, Read};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::process::{CLEANUP_TIMEOUT, poll_until, wait_ready};

/// A program takes far less to replace another, also one that has to wait for its turn on the processor.
const REPLACED: Duration = Duration::from_secs(10);

/// Most that is read of what a process was given: no test gives as much.
const MOST: usize = 256 * 1024;

/// Which of the fields behind the name says where the code begins: the last thing that a new program gets.
const CODE: usize = 23;

/// Which say where the arguments begin and end.
const ARGUMENTS: usize = 45;

/// The same of the environment.
const ENVIRONMENT: usize = 47;

/// What a process was started with; every entry ends with a zero byte.
#[derive(Debug, Default)]
pub struct ProcessStart {
    /// Its environment.
    pub environment: Vec<u8>,
    /// Its arguments.
    pub arguments: Vec<u8>,
}

impl ProcessStart {
    /// What this process was given; nothing when it has ended, or is none of ours.
    pub fn of_pid(pid: Pid) -> ProcessStart {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        let of = |name: &str| at_once(&format!("{folder}/{name}")).unwrap_or_default();
        let look = || {
            let given = ProcessStart { environment: of("environ"), arguments: of("cmdline") };
            let lacks = given.environment.is_empty() || given.arguments.is_empty();
            // Who has no program at all is dead, or part of the kernel.
            let settled = !lacks || fs::read_link(format!("{folder}/exe")).is_err() || given.all(&of("stat"));
            settled.then_some(given)
        };
        poll_until(REPLACED, look).unwrap_or_default()
    }

    /// Whether what is empty here is empty by this status, too. While one program takes another's place, the kernel
    /// shows nothing of either.
    fn all(&self, status: &[u8]) -> bool {
        let status = String::from_utf8_lossy(status);
        // The name, in parentheses, may hold anything.
        let fields: Vec<&str> = status.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let none = |first: usize| field(CODE) != "0" && field(first) == field(first + 1);
        (!self.arguments.is_empty() || none(ARGUMENTS)) && (!self.environment.is_empty() || none(ENVIRONMENT))
    }

    /// Whether its environment has this entry, `NAME=value`.
    pub fn has_env(&self, entry: &str) -> bool {
        self.environment.split(|byte| *byte == 0).any(|have| have == entry.as_bytes())
    }

    /// Whether this text is anywhere in it.
    pub fn contains_text(&self, text: &str) -> bool {
        let within = |all: &[u8]| all.windows(text.len()).any(|part| part == text.as_bytes());
        within(&self.environment) || within(&self.arguments)
    }
}

/// What is in a file of the kernel's. Were it read in parts, another program might be there before the last.
fn at_once(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MOST];
    let read = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Who lives and was given such things, but for this process itself.
pub fn find_processes(such: impl Fn(&ProcessStart) -> bool) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = numbers.filter_map(Pid::from_raw).filter(|pid| *pid != getpid());
    others.filter(|pid| such(&ProcessStart::of_pid(*pid))).collect()
}

/// Kills everybody who was given such things and lives now, and waits until they are gone; how many they were.
pub fn kill_matching(such: impl Fn(&ProcessStart) -> bool) -> usize {
    let killed = |pid: &Pid| {
        let Ok(handle) = pidfd_open(*pid, PidfdFlags::empty()) else { return false };
        // Looked at again: by now the number may be somebody else's.
        such(&ProcessStart::of_pid(*pid))
            && pidfd_send_signal(&handle, Signal::KILL).is_ok()
            && wait_ready(&handle, PollFlags::IN, CLEANUP_TIMEOUT)
    };
    find_processes(&such).iter().filter(|pid| killed(pid)).count()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{ProcessStart, find_processes, kill_matching};
    use crate::process::{ChildGuard, GENEROUS_TIMEOUT, poll_until};

    #[test]
    fn who_was_given_no_environment_is_not_waited_for() {
        let mut command = Command::new("/bin/sleep");
        let program = ChildGuard::start(command.env_clear().arg("300")).unwrap();
        let sleeps = |given: &ProcessStart| given.arguments == b"/bin/sleep\x00300\0";
        poll_until(GENEROUS_TIMEOUT, || find_processes(sleeps).contains(&program.pid()).then_some(()))
            .unwrap();
        let status = std::fs::read(format!("/proc/{}/stat", program.pid().as_raw_nonzero())).unwrap();
        let given = ProcessStart::of_pid(program.pid());
        assert!(given.environment.is_empty() && given.all(&status), "{given:?}");
    }

    #[test]
    fn only_such_are_killed_and_they_are_gone_at_once() {
        let start = |word: &str| {
            let mark = format!("RELAY_TEST_KILLED={word} {}", std::process::id());
            let (name, value) = mark.split_once('=').unwrap();
            let mut command = Command::new("/bin/sleep");
            (ChildGuard::start(command.env(name, value).arg("300")).unwrap(), mark)
        };
        let ((mut one, mark), (mut other, _)) = (start("one"), start("other"));
        poll_until(GENEROUS_TIMEOUT, || {
            (find_processes(|given| given.has_env(&mark)) == [one.pid()]).then_some(())
        })
        .unwrap();
        assert_eq!(kill_matching(|given| given.has_env(&mark)), 1);
        assert!(
            one.wait_exit(std::time::Duration::ZERO).is_some()
                && other.wait_exit(std::time::Duration::ZERO).is_none()
        );
        assert_eq!(kill_matching(|given| given.has_env(&mark)), 0);
    }

    #[test]
    fn whoever_becomes_one_program_after_another_is_seen_at_every_look() {
        let mark = format!("RELAY_TEST_BECOMES={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let again =
            "n=$((n - 1)); if [ $n -gt 0 ]; then export n; exec /bin/sh -c \"$again\"; fi; exec sleep 300";
        let mut command = Command::new("/bin/sh");
        command.env(name, value).env("n", "300").env("again", again).args(["-c", again]);
        let program = ChildGuard::start(&mut command).unwrap();
        let last = || find_processes(|given| given.has_env(&mark) && given.arguments.starts_with(b"sleep\0"));
        let seen = || {
            assert_eq!(find_processes(|given| given.has_env(&mark)), [program.pid()]);
            (!last().is_empty()).then_some(())
        };
        assert!(poll_until(GENEROUS_TIMEOUT, seen).is_some());
    }
}
