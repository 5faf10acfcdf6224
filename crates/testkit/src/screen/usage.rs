//! What a process uses, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// At a moment, or up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time of all threads that still run, to the nanosecond.
    pub processor: Duration,
    /// How long these threads waited for a busy processor.
    pub waited: Duration,
    /// Resident bytes, with its files.
    pub memory: u64,
    /// Private bytes.
    pub own_memory: u64,
    /// How often a thread that still runs slept and was woken.
    pub wakeups: u64,
    pub threads: usize,
    /// Open files.
    pub descriptors: usize,
    /// Processes that it started and has not waited for.
    pub children: usize,
}

pub(super) fn usage(pid: Pid) -> io::Result<ProcessUsage> {
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    let (mut wakeups, mut threads, mut children) = (0, 0, 0);
    for thread in fs::read_dir(format!("{folder}/task"))? {
        let thread = thread?.path();
        // A thread may exit meanwhile.
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

/// Of all threads that still run, to the nanosecond.
pub(super) fn cpu_time(pid: Pid) -> io::Result<Duration> {
    scheduled(pid, 0)
}

/// One of the scheduler's times (running, waiting to run), summed over all threads that still run.
fn scheduled(pid: Pid, column: usize) -> io::Result<Duration> {
    let (mut nanoseconds, mut threads) = (0, 0);
    for thread in fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()))? {
        // A thread may exit meanwhile.
        let Ok(counted) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds += number(counted.split(' ').nth(column).unwrap_or_default(), "")?;
        threads += 1;
    }
    if threads == 0 {
        return Err(io::Error::other("the process has ended, or the kernel does not count"));
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// In bytes.
pub(super) fn rss(pid: Pid) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()))?;
    Ok(field(&status, "VmRSS:")? * 1024)
}

/// A number from a process's status.
fn field(status: &str, name: &str) -> io::Result<u64> {
    let line = status.lines().find(|line| line.starts_with(name));
    number(line.ok_or_else(|| io::Error::other("the process has ended"))?, name)
}

/// The first number after `prefix`.
fn number(line: &str, prefix: &str) -> io::Result<u64> {
    let word = line.trim_start_matches(prefix).split_whitespace().next().unwrap_or_default();
    word.parse().map_err(io::Error::other)
}
