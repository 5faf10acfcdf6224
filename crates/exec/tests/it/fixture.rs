//! What the tests stand on: where the keeper is, jobs, marks by which processes are found again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use relaycode_exec::{Deadlines, Job, JobOutcome, Runner};
use relaycode_testkit::process_table::find_processes;

pub(crate) fn keeper() -> PathBuf {
    relaycode_testkit::process::keeper_path("relaycode-exec", "keeper")
}

pub(crate) fn runner() -> Runner {
    Runner::new(keeper())
}

/// A command line with little patience. A test that goes wrong fails, and does not hang.
pub(crate) fn shell(line: &str) -> Job {
    let total = Some(Duration::from_secs(60));
    let deadlines = Deadlines { total, grace: Duration::from_millis(200), ..Deadlines::default() };
    Job { deadlines, ..Job::shell(line, "/") }
}

/// Runs a job to its end.
pub(crate) fn run(job: &Job) -> JobOutcome {
    runner().run(job, &|| false, &mut |_| {}).unwrap()
}

/// Waits until it is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !so() {
        assert!(Instant::now() < limit, "waited too long for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A variable that only the processes of one test have.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) const NAME: &'static str = "RELAY_TEST_MARK";

    pub(crate) fn new() -> Mark {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Mark(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst)))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// The job with the mark.
    pub(crate) fn on(&self, mut job: Job) -> Job {
        job.environment.set.push((Mark::NAME.into(), self.0.clone().into()));
        job
    }

    /// Who has the mark and lives.
    pub(crate) fn found(&self) -> Vec<i32> {
        let entry = format!("{}={}", Mark::NAME, self.0);
        let found = find_processes(|given| given.has_env(&entry));
        found.into_iter().map(|pid| pid.as_raw_nonzero().get()).collect()
    }

    /// Nobody has it.
    pub(crate) fn must_be_gone(&self) {
        let found = self.found();
        assert!(found.is_empty(), "still there: {found:?}");
    }
}
