//! What a process uses, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// What a process uses at a moment, or has used up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Time on a processor of all threads that still run, to the nanosecond.
    pub processor: Duration,
    /// Time that these threads could have run, and waited for a processor that others kept busy.
    pub waited: Duration,
    /// Memory, with what of its files is in it, in bytes.
    pub memory: u64,
    /// Memory of its own, in bytes.
    pub own_memory: u64,
    /// How often one of the threads that still run slept and was woken.
    pub wakeups: u64,
    /// Threads.
    pub threads: usize,
    /// Open files.
    pub descriptors: usize,
    /// Processes that it started and has not waited for.
    pub children: usize,
}

/// What the process uses.
pub(super) fn usage(pid: Pid) -> io::Result<ProcessUsage> {
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    let (mut wakeups, mut threads, mut children) = (0, 0, 0);
    for thread in fs::read_dir(format!("{folder}/task"))? {
        let thread = thread?.path();
        // A thread may end while we look.
        let Ok(status) = fs::read_to_string(thread.join("status")) else { continue };
        wakeups += field(&status, "voluntary_ctxt_switches:")?;
        threads += 1;
        let started = fs::read_to_string(thread.join("children")).unwrap_or_default();
        children += started.split_whitespace().count();
    }
    let status = fs::read_to_string(format!("{folder}/status"))?;
    Ok(ProcessUsage {
        processor: scheduled(pid, 0)?,
        waited: scheduled(pid, 1)?,
        memory: field(&status, "VmRSS:")? * 1024,
        own_memory: field(&status, "RssAnon:")? * 1024,
        wakeups,
        threads,
        descriptors: fs::read_dir(format!("{folder}/fd"))?.count(),
        children,
    })
}

/// The time on a processor of all threads that still run, to the nanosecond.
pub(super) fn cpu_time(pid: Pid) -> io::Result<Duration> {
    scheduled(pid, 0)
}

/// One of the times that the scheduler keeps: running, waiting to run. The sum of all threads that still run.
fn scheduled(pid: Pid, column: usize) -> io::Result<Duration> {
    let (mut nanoseconds, mut threads) = (0, 0);
    for thread in fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()))? {
        // A thread may end while we look.
        let Ok(counted) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds += number(counted.split(' ').nth(column).unwrap_or_default(), "")?;
        threads += 1;
    }
    if threads == 0 {
        return Err(io::Error::other("the process has ended, or the kernel does not count"));
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The memory in use, in bytes.
pub(super) fn rss(pid: Pid) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()))?;
    Ok(field(&status, "VmRSS:")? * 1024)
}

/// The number of a line of a process's status.
fn field(status: &str, name: &str) -> io::Result<u64> {
    let line = status.lines().find(|line| line.starts_with(name));
    number(line.ok_or_else(|| io::Error::other("the process has ended"))?, name)
}

/// The first number behind `prefix`.
fn number(line: &str, prefix: &str) -> io::Result<u64> {
    let word = line.trim_start_matches(prefix).split_whitespace().next().unwrap_or_default();
    word.parse().map_err(io::Error::other)
}
