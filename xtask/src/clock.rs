//! Processor time of this process, for budgets and measurements that must not depend on how busy
//! the machine is.

use std::time::Duration;

/// Time that this process, all its threads included, has spent on a processor.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    // The clock exists on every system this is compiled for; without it budgets would end at once.
    nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID.now().map_or(Duration::MAX, Duration::from)
}

/// Elsewhere: the time since the first call, which is never less.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
