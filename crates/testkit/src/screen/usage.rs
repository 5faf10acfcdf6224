//! What a process uses, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// The time on a processor of all threads that still run, to the nanosecond.
pub(super) fn cpu_time(pid: Pid) -> io::Result<Duration> {
    let (mut nanoseconds, mut threads) = (0, 0);
    for thread in fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()))? {
        // A thread may end while we look.
        let Ok(counted) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds += number(&counted, "")?;
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
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let line = line.ok_or_else(|| io::Error::other("the process has ended"))?;
    Ok(number(line, "VmRSS:")? * 1024)
}

/// The first number behind `prefix`.
fn number(line: &str, prefix: &str) -> io::Result<u64> {
    let word = line.trim_start_matches(prefix).split_whitespace().next().unwrap_or_default();
    word.parse().map_err(io::Error::other)
}
