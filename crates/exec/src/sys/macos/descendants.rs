//! Who descends from a process, as far as macOS tells without `unsafe` code: whoever stayed in the process group of the
//! job. A descendant that left the group is not found.

use std::io;

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

use crate::keeper::own_children::OwnChildren;

/// Processes that lead, or may lead, the groups in which descendants are looked for.
#[derive(Debug, Clone)]
pub(crate) struct DescendantRoots {
    leaders: Vec<Pid>,
}

impl DescendantRoots {
    /// Those of a keeper: the group that its first child leads, and that child.
    pub(crate) fn of_keeper(_: Pid, child: Pid) -> DescendantRoots {
        DescendantRoots { leaders: vec![child] }
    }

    /// What a keeper that is gone left behind: the group of its session, the job's, and the job's process.
    pub(crate) fn of_lost_keeper(
        session: Option<i32>,
        job: Option<(i32, u64)>,
        _: u64,
        own: &OwnChildren,
    ) -> DescendantRoots {
        let numbers = [session, job.map(|(number, _)| number)];
        // A number that a child of relay's own has by now was given out again.
        let lost = numbers.into_iter().flatten().filter(|number| !own.contains(*number, *number));
        DescendantRoots { leaders: lost.filter_map(Pid::from_raw).collect() }
    }
}

/// Groups that have been met.
#[derive(Debug)]
pub(crate) struct DescendantSweep {
    unseen: Vec<Pid>,
    seen: usize,
}

impl DescendantSweep {
    /// Nobody has been met.
    pub(crate) fn new(roots: DescendantRoots) -> DescendantSweep {
        DescendantSweep { unseen: roots.leaders, seen: 0 }
    }

    /// Sends these signals to each group in which somebody lives and that was not met before. Says how many groups
    /// that were.
    pub(crate) fn sweep(&mut self, signals: &[Signal]) -> io::Result<usize> {
        let before = self.unseen.len();
        self.unseen.retain(|leader| !signal_group(*leader, signals));
        let found = before - self.unseen.len();
        self.seen += found;
        Ok(found)
    }

    /// Nobody is adopted here.
    pub(crate) fn reap_adopted(&self) -> usize {
        0
    }

    /// How many groups were met.
    pub(crate) fn seen_count(&self) -> usize {
        self.seen
    }
}

/// Signals a group, and the process that may lead it. Says whether there was anybody.
fn signal_group(leader: Pid, signals: &[Signal]) -> bool {
    if test_kill_process(leader).is_err() && test_kill_process_group(leader).is_err() {
        return false;
    }
    for signal in signals {
        // Either may be gone by now; who still lives in the end is counted.
        let _ = kill_process(leader, *signal);
        let _ = kill_process_group(leader, *signal);
    }
    true
}

/// Who the ancestors of a process are is not told here.
pub(crate) fn count_keeper_ancestors(_: &str) -> Option<u32> {
    None
}

/// Not known here.
pub(crate) fn process_start_time(_: i32) -> Option<u64> {
    None
}
