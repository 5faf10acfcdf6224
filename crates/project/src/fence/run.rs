//! A job in its fence, at the best level that the machine allows.

use std::path::Path;

use relaycode_exec::{ExecError, FenceLevel, Job, JobOutcome, Runner, probe_fence};

/// Runs a job in its fence. The strongest level is tried with the job itself: a fence that cannot be built has not run anything.
/// `program` enters fences, `scratch` is a directory for temporary files.
///
/// # Errors
/// As [`Runner::run`]; [`ExecError::Fence`] where there is no fence.
pub fn run_fenced(
    runner: &Runner,
    job: &mut Job,
    (program, scratch): (&Path, &Path),
    stop: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(&[u8]),
) -> Result<JobOutcome, ExecError> {
    let first = runner.run(job, stop, watch);
    let (Err(ExecError::Fence { .. }), Some(fence)) = (&first, &mut job.fence) else { return first };
    if fence.level == FenceLevel::Rules || probe_fence(program, scratch).level != FenceLevel::Rules {
        return first;
    }
    fence.level = FenceLevel::Rules;
    runner.run(job, stop, watch)
}
