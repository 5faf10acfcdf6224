//! Who descends from a process, found by the parent links of `/proc`.
//!
//! A signal goes to a process through a handle that was opened before its links were read. So a number
//! that is given to a stranger in between is never hit. Names of processes are hostile: they may hold
//! blanks, brackets and newlines.
//!
//! In a sandbox with process numbers of its own, `/proc` may still be that of the outside: its numbers mean others
//! there. Then nobody is looked for.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, kill_process, pidfd_open, pidfd_send_signal,
    waitpid,
};

use crate::KEEPER_ARGUMENT;
use crate::keeper::own_children::OwnChildren;

/// How often one sweep begins anew because it found somebody. A parent with a higher number than its
/// child takes one more; so many of them in a row do not happen by themselves, and whoever sweeps to
/// the end sweeps again.
const MOST_PASSES: usize = 16;

/// Ancestors that are looked at.
const MOST_ANCESTORS: usize = 10_000;

/// By what descendants are recognised. Whoever descends from one of them is one as well.
#[derive(Debug, Clone, Default)]
pub(crate) struct DescendantRoots {
    /// Their parent is this one.
    parent: Option<i32>,
    /// Children of that parent that are none: those it started itself.
    own: OwnChildren,
    /// No child of that parent counts that began earlier.
    since: u64,
    /// They are in the session of this one.
    session: Option<i32>,
    /// It is this process itself, which began at this time.
    process: Option<(i32, u64)>,
}

impl DescendantRoots {
    /// Those of a keeper, whose child everybody becomes in the end: its first child needs no mention.
    pub(crate) fn of_keeper(keeper: Pid, _: Pid) -> DescendantRoots {
        DescendantRoots { parent: Some(Pid::as_raw(Some(keeper))), ..DescendantRoots::default() }
    }

    /// What a keeper that is gone, and began at this time, left behind: those that this process adopted, those in the
    /// keeper's session, and the job's process.
    pub(crate) fn of_lost_keeper(
        session: Option<i32>,
        job: Option<(i32, u64)>,
        since: u64,
        own: &OwnChildren,
    ) -> DescendantRoots {
        let parent = Some(Pid::as_raw(Some(getpid())));
        DescendantRoots { parent, own: own.clone(), since, session, process: job }
    }

    fn is_adopted(&self, number: i32, links: &ProcStat) -> bool {
        self.parent == Some(links.parent)
            && links.start_time >= self.since
            && !self.own.contains(number, links.session)
    }
}

/// Descendants that have been met.
#[derive(Debug)]
pub(crate) struct DescendantSweep {
    roots: DescendantRoots,
    seen: HashSet<i32>,
}

/// What one line of `/proc/<pid>/stat` says.
#[derive(Debug, PartialEq, Eq)]
struct ProcStat {
    state: u8,
    parent: i32,
    session: i32,
    start_time: u64,
}

impl DescendantSweep {
    /// Nobody has been met.
    pub(crate) fn new(roots: DescendantRoots) -> DescendantSweep {
        DescendantSweep { roots, seen: HashSet::new() }
    }

    /// Looks for descendants that were not met before and sends each of them these signals, at once, as
    /// it is found: the kernel lists processes by rising number, so that a pass runs after those that
    /// multiply and overtakes them. Says how many of them lived.
    pub(crate) fn sweep(&mut self, signals: &[Signal]) -> io::Result<usize> {
        let mut living = 0;
        for _ in 0..MOST_PASSES {
            let before = self.seen.len();
            living += self.sweep_once(signals)?;
            if self.seen.len() == before {
                break;
            }
        }
        Ok(living)
    }

    /// Waits for those that were met, are children of this process, and are dead. Says how many of them are not.
    pub(crate) fn reap_adopted(&self) -> usize {
        let waits = |number: &&i32| {
            let ended = Pid::from_raw(**number).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
            matches!(ended, Some(Ok(None)))
        };
        self.seen.iter().filter(waits).count()
    }

    /// How many were met, the dead included.
    pub(crate) fn seen_count(&self) -> usize {
        self.seen.len()
    }

    fn sweep_once(&mut self, signals: &[Signal]) -> io::Result<usize> {
        let ours = Pid::as_raw(Some(getpid()));
        if fs::read_link("/proc/self")?.to_str() != Some(&ours.to_string()) {
            return Err(io::Error::other("/proc is not of this sandbox"));
        }
        let mut living = 0;
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(number) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            if self.seen.contains(&number) {
                continue;
            }
            let Some(pid) = Pid::from_raw(number) else { continue };
            let handle = PidHandle::open(pid);
            let Some(links) = read_proc_stat(number) else { continue };
            if number == ours || !self.is_descendant(number, &links) {
                continue;
            }
            self.seen.insert(number);
            // A dead first thread may have living ones beside it: the signal goes to all the same.
            for signal in signals {
                handle.send(*signal);
            }
            living += usize::from(!matches!(links.state, b'Z' | b'X'));
        }
        Ok(living)
    }

    fn is_descendant(&self, number: i32, links: &ProcStat) -> bool {
        let roots = &self.roots;
        self.seen.contains(&links.parent)
            || roots.is_adopted(number, links)
            || roots.session.is_some_and(|leader| leader == links.session && leader != number)
            || roots.process == Some((number, links.start_time))
    }
}

/// Sends signals to one process and no other.
enum PidHandle {
    Pidfd(rustix::fd::OwnedFd),
    /// Kernels before 5.3 have no handles.
    BarePid(Pid),
    Gone,
}

impl PidHandle {
    fn open(pid: Pid) -> PidHandle {
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => PidHandle::Pidfd(handle),
            Err(rustix::io::Errno::SRCH) => PidHandle::Gone,
            Err(_) => PidHandle::BarePid(pid),
        }
    }

    fn send(&self, signal: Signal) {
        // It may be gone, or belong to somebody else; who still lives in the end is counted.
        let _ = match self {
            PidHandle::Pidfd(handle) => pidfd_send_signal(handle, signal),
            PidHandle::BarePid(pid) => kill_process(*pid, signal),
            PidHandle::Gone => Ok(()),
        };
    }
}

/// How many keepers with this label are among the ancestors of this process; `None` where `/proc` does not say.
pub(crate) fn count_keeper_ancestors(label: &str) -> Option<u32> {
    let mut count = 0;
    let mut next = getppid();
    // As many as there may be processes: a chain that is read while it changes might have no end.
    for _ in 0..MOST_ANCESTORS {
        let Some(ancestor) = next else { break };
        let number = Pid::as_raw(Some(ancestor));
        let line = fs::read(format!("/proc/{number}/cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0).skip(1);
        let is_keeper = words.next() == Some(KEEPER_ARGUMENT.as_bytes());
        count += u32::from(is_keeper && words.next() == Some(label.as_bytes()));
        next = Pid::from_raw(read_proc_stat(number)?.parent);
    }
    Some(count)
}

/// When a process began, as the system counts.
pub(crate) fn process_start_time(number: i32) -> Option<u64> {
    read_proc_stat(number).map(|links| links.start_time)
}

fn read_proc_stat(number: i32) -> Option<ProcStat> {
    parse_proc_stat(&fs::read(format!("/proc/{number}/stat")).ok()?)
}

/// `pid (name) state parent group session … since …`. The name may hold anything, also `) R 1`; after it
/// there are no brackets.
fn parse_proc_stat(stat: &[u8]) -> Option<ProcStat> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let since = fields.nth(15)?.parse().ok()?;
    Some(ProcStat { state, parent, session, start_time: since })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_blanks_and_newlines_misleads_nobody() {
        for name in ["sh", "a) S 1 1 1 (b", ") (", "(((", "a\n) Z 0", ")"] {
            let line = format!("77 ({name}) T 5 6 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 991 12 3 184\n");
            let expected = ProcStat { state: b'T', parent: 5, session: 7, start_time: 991 };
            assert_eq!(parse_proc_stat(line.as_bytes()), Some(expected), "{name:?}");
        }
        assert_eq!(parse_proc_stat(b"77 (sh"), None);
        assert_eq!(parse_proc_stat(b""), None);
    }

    #[test]
    fn this_process_began_at_some_time() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(process_start_time(me).is_some());
        assert_eq!(process_start_time(me), process_start_time(me));
    }
}
