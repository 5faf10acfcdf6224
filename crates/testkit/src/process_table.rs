//! Processes of this machine, recognised by what they were started with.

use std::fs::{self, File};
use std::io::{self, Read};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::process::{CLEANUP_TIMEOUT, poll_until, wait_ready};

/// An exec takes far less, also on a busy machine.
const REPLACED: Duration = Duration::from_secs(10);

/// Most bytes read of a process's arguments or environment: no test uses as many.
const MOST: usize = 256 * 1024;

/// The field after the name that says where the code begins: the last thing that a new program gets.
const CODE: usize = 23;

/// The fields that say where the arguments begin and end.
const ARGUMENTS: usize = 45;

/// The same for the environment.
const ENVIRONMENT: usize = 47;

/// Every entry ends with a zero byte.
#[derive(Debug, Default)]
pub struct ProcessStart {
    pub environment: Vec<u8>,
    pub arguments: Vec<u8>,
}

impl ProcessStart {
    /// Empty if the process has exited or is not ours.
    pub fn of_pid(pid: Pid) -> ProcessStart {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        let of = |name: &str| at_once(&format!("{folder}/{name}")).unwrap_or_default();
        let look = || {
            let given = ProcessStart { environment: of("environ"), arguments: of("cmdline") };
            let lacks = given.environment.is_empty() || given.arguments.is_empty();
            // A process without a program is dead, or part of the kernel.
            let settled = !lacks || fs::read_link(format!("{folder}/exe")).is_err() || given.all(&of("stat"));
            settled.then_some(given)
        };
        poll_until(REPLACED, look).unwrap_or_default()
    }

    /// Whether everything empty here is also empty according to this status. During an exec the kernel
    /// shows neither program.
    fn all(&self, status: &[u8]) -> bool {
        let status = String::from_utf8_lossy(status);
        // The name, in parentheses, may hold anything.
        let fields: Vec<&str> = status.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let none = |first: usize| field(CODE) != "0" && field(first) == field(first + 1);
        (!self.arguments.is_empty() || none(ARGUMENTS)) && (!self.environment.is_empty() || none(ENVIRONMENT))
    }

    /// `entry` is `NAME=value`.
    pub fn has_env(&self, entry: &str) -> bool {
        self.environment.split(|byte| *byte == 0).any(|have| have == entry.as_bytes())
    }

    /// Whether this text is anywhere in it.
    pub fn contains_text(&self, text: &str) -> bool {
        let within = |all: &[u8]| all.windows(text.len()).any(|part| part == text.as_bytes());
        within(&self.environment) || within(&self.arguments)
    }
}

/// Reads a kernel file in one call: between two, another program might take its place.
fn at_once(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MOST];
    let read = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Living processes that match, except this one.
pub fn find_processes(such: impl Fn(&ProcessStart) -> bool) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = numbers.filter_map(Pid::from_raw).filter(|pid| *pid != getpid());
    others.filter(|pid| such(&ProcessStart::of_pid(*pid))).collect()
}

/// Kills all living processes that match, and waits until they are gone; returns how many there were.
pub fn kill_matching(such: impl Fn(&ProcessStart) -> bool) -> usize {
    let killed = |pid: &Pid| {
        let Ok(handle) = pidfd_open(*pid, PidfdFlags::empty()) else { return false };
        // Checked again: by now the pid may be somebody else's.
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
