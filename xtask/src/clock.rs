//! Processor time of this process, for budgets and measurements that must not depend on how busy
//! the machine is.

use std::time::Duration;

/// Time that this process, all its threads included, has spent on a processor.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Neither part of a time that has passed is negative.
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Elsewhere: the time since the first call, which is never less.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
