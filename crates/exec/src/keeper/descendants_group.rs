//! Who descends from a process, where there is no `/proc` and no subreaper: whoever stayed in the
//! process group of the job.
//!
//! A descendant that left its group is not found here. This is what systems other than Linux get; the
//! promise "every descendant is ended" is Linux's.

use std::io;

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

/// By what descendants are recognised.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Roots {
    /// Not used here.
    pub(crate) parent: Option<i32>,
    /// Not used here.
    pub(crate) session: Option<i32>,
    /// The job's process, which leads its group.
    pub(crate) process: Option<(i32, u64)>,
}

/// A process group.
#[derive(Debug)]
pub(crate) struct Kin {
    group: Option<Pid>,
    met: usize,
}

impl Kin {
    /// Nobody has been met.
    pub(crate) fn of(roots: Roots) -> Kin {
        Kin { group: roots.process.and_then(|(number, _)| Pid::from_raw(number)), met: 0 }
    }

    /// Sends these signals to the group, the first time. Says whether there was anybody.
    pub(crate) fn sweep(&mut self, signals: &[Signal]) -> io::Result<usize> {
        let Some(group) = self.group else { return Ok(0) };
        if self.met > 0 || (test_kill_process(group).is_err() && test_kill_process_group(group).is_err()) {
            return Ok(0);
        }
        self.met = 1;
        for signal in signals {
            let _ = kill_process(group, *signal);
            let _ = kill_process_group(group, *signal);
        }
        Ok(1)
    }

    /// Whether the group was met.
    pub(crate) fn met(&self) -> usize {
        self.met
    }
}

/// Times of processes are not known here.
pub(crate) fn since(_: i32) -> Option<u64> {
    None
}
