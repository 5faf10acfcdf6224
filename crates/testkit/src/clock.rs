//! Processor time of this process, for budgets and measurements that must not depend on how busy the
//! machine is.

use std::time::Duration;

/// Including all threads.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Never negative: it counts from the start of the process.
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// On other systems: the time since the first call, which is never less.
#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
