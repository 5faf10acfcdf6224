//! Commands in the background: which there are, how far they are, what came of them, and what of it the model was not told yet.
//!
//! A job that ended stays for five minutes, and until the model heard of it. Everything ends with the session.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use relaycode_llm::CancelToken;
use serde::Serialize;

/// How long a job that ended is listed.
pub const RETENTION: Duration = Duration::from_secs(5 * 60);
/// Jobs at the same time, where nobody says.
pub const DEFAULT_MAX_RUNNING_JOBS: usize = 15;
/// Bounds of `agent.asyncMaxJobs`.
pub const MAX_JOBS: std::ops::RangeInclusive<usize> = 1..=100;
/// Characters of a command that a list shows.
const MAX_LABEL: usize = 120;

/// The jobs of a session.
#[derive(Debug)]
pub struct BackgroundJobs {
    table: Mutex<JobTable>,
    changed: Condvar,
}

#[derive(Debug)]
struct JobTable {
    jobs: Vec<BackgroundJob>,
    numbered: u64,
    max_running: usize,
    /// Jobs that somebody waits for, and how many do: they are not told by themselves meanwhile.
    watched: BTreeMap<String, usize>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct BackgroundJob {
    id: String,
    kind: &'static str,
    label: String,
    status: JobStatus,
    result: Option<Result<String, String>>,
    began: Instant,
    ended: Option<Instant>,
    cancel: CancelToken,
    /// The model knows how it ended.
    is_told: bool,
    /// So does the person.
    is_shown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum JobStatus {
    Running,
    Completed,
    Failed,
    Cancelled,
}

/// A job as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSnapshot {
    pub id: String,
    /// The tool that began it.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub status: JobStatus,
    pub label: String,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
}

/// What came of a wish to cancel a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobCancel {
    Cancelled,
    NotFound,
    AlreadyCompleted,
}

/// There are too many already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} commands run in the background already, which is the limit; wait for one with `job`, or cancel one"
)]
pub struct TooManyJobsError(usize);

impl Default for BackgroundJobs {
    fn default() -> BackgroundJobs {
        BackgroundJobs::new(DEFAULT_MAX_RUNNING_JOBS)
    }
}

impl JobStatus {
    pub fn name(self) -> &'static str {
        match self {
            JobStatus::Running => "running",
            JobStatus::Completed => "completed",
            JobStatus::Failed => "failed",
            JobStatus::Cancelled => "cancelled",
        }
    }
}

impl JobCancel {
    pub fn name(self) -> &'static str {
        match self {
            JobCancel::Cancelled => "cancelled",
            JobCancel::NotFound => "not_found",
            JobCancel::AlreadyCompleted => "already_completed",
        }
    }
}

impl BackgroundJobs {
    /// At most so many run at the same time, within [`MAX_JOBS`].
    pub fn new(max_running: usize) -> BackgroundJobs {
        let max_running = max_running.clamp(*MAX_JOBS.start(), *MAX_JOBS.end());
        let table = JobTable {
            jobs: Vec::new(),
            numbered: 0,
            max_running,
            watched: BTreeMap::new(),
            threads: Vec::new(),
        };
        BackgroundJobs { table: Mutex::new(table), changed: Condvar::new() }
    }

    /// Takes a job in that runs, or is about to. `cancel` ends it.
    ///
    /// # Errors
    /// If there are too many.
    pub(crate) fn register(
        &self,
        kind: &'static str,
        label: &str,
        began: Instant,
        cancel: CancelToken,
    ) -> Result<String, TooManyJobsError> {
        let mut table = self.table();
        let running = table.jobs.iter().filter(|job| job.status == JobStatus::Running).count();
        if running >= table.max_running {
            return Err(TooManyJobsError(running));
        }
        table.numbered += 1;
        let id = format!("{kind}-{}", table.numbered);
        table.jobs.push(BackgroundJob {
            id: id.clone(),
            kind,
            label: relaycode_text::width::clip_for_message(label, MAX_LABEL),
            status: JobStatus::Running,
            result: None,
            began,
            ended: None,
            cancel,
            is_told: false,
            is_shown: false,
        });
        Ok(id)
    }

    /// Keeps the thread of a job, so that the session waits for it at its end.
    pub(crate) fn keep_thread(&self, thread: JoinHandle<()>) {
        let mut table = self.table();
        table.threads.retain(|thread| !thread.is_finished());
        table.threads.push(thread);
    }

    /// A job ended. One that was cancelled stays so.
    pub(crate) fn complete(&self, id: &str, result: Result<String, String>) {
        let mut table = self.table();
        if let Some(job) = table.jobs.iter_mut().find(|job| job.id == id) {
            if job.status == JobStatus::Running {
                job.status = if result.is_ok() { JobStatus::Completed } else { JobStatus::Failed };
            }
            job.ended.get_or_insert_with(Instant::now);
            job.result = Some(result);
        }
        drop(table);
        self.changed.notify_all();
    }

    /// Ends a job. It need not be over when this returns.
    pub fn cancel(&self, id: &str) -> JobCancel {
        let mut table = self.table();
        let Some(job) = table.jobs.iter_mut().find(|job| job.id == id) else { return JobCancel::NotFound };
        if job.status != JobStatus::Running {
            return JobCancel::AlreadyCompleted;
        }
        job.status = JobStatus::Cancelled;
        job.ended = Some(Instant::now());
        // Whoever cancels it knows.
        job.is_told = true;
        job.cancel.cancel();
        drop(table);
        self.changed.notify_all();
        JobCancel::Cancelled
    }

    /// All jobs, oldest first.
    pub fn list(&self) -> Vec<JobSnapshot> {
        self.list_at(Instant::now())
    }

    pub(crate) fn list_at(&self, now: Instant) -> Vec<JobSnapshot> {
        let mut table = self.table();
        table.evict(now);
        table.jobs.iter().map(|job| job.snapshot(now)).collect()
    }

    /// Waits until one of these jobs does not run any more; `false`: `cancelled` says that nobody waits, or the time is over.
    /// `tick` is called now and then. None of them is told by itself meanwhile.
    pub(crate) fn wait_for_any(
        &self,
        ids: &[String],
        most: Duration,
        cancelled: &dyn Fn() -> bool,
        tick: (Duration, &mut dyn FnMut()),
    ) -> bool {
        let until = Instant::now() + most;
        let (every, call) = tick;
        let mut next_call = Instant::now();
        let mut table = self.table();
        for id in ids {
            *table.watched.entry(id.clone()).or_default() += 1;
        }
        let ended = loop {
            let runs =
                |id: &String| table.jobs.iter().any(|job| job.id == *id && job.status == JobStatus::Running);
            if !ids.iter().all(runs) {
                break true;
            }
            let now = Instant::now();
            if now >= until || cancelled() {
                break false;
            }
            if now >= next_call {
                next_call = now + every;
                drop(table);
                call();
                table = self.table();
                continue;
            }
            let wait = (until - now).min(next_call - now).min(WAIT_TICK);
            table = self.changed.wait_timeout(table, wait).unwrap_or_else(PoisonError::into_inner).0;
        };
        for id in ids {
            if let Some(count) = table.watched.get_mut(id) {
                *count -= 1;
                if *count == 0 {
                    table.watched.remove(id);
                }
            }
        }
        ended
    }

    /// The model was told how these ended.
    pub(crate) fn acknowledge(&self, ids: &[String]) {
        for job in self.table().jobs.iter_mut().filter(|job| ids.contains(&job.id)) {
            job.is_told |= job.status != JobStatus::Running;
            // The call that told the model is shown.
            job.is_shown |= job.is_told;
        }
    }

    /// Jobs that ended and of which the model does not know yet. It is taken to know from now on.
    pub fn take_finished(&self) -> Vec<JobSnapshot> {
        let now = Instant::now();
        let mut table = self.table();
        table.evict(now);
        let JobTable { jobs, watched, .. } = &mut *table;
        let news = jobs.iter_mut().filter(|job| {
            job.status != JobStatus::Running
                && job.result.is_some()
                && !job.is_told
                && !watched.contains_key(&job.id)
        });
        news.map(|job| {
            job.is_told = true;
            job.snapshot(now)
        })
        .collect()
    }

    /// Whether [`take_unshown`](BackgroundJobs::take_unshown) has something.
    pub fn has_unshown(&self) -> bool {
        self.table().jobs.iter().any(BackgroundJob::is_unshown)
    }

    /// Jobs that ended by themselves and of which the person did not hear. They are taken to know from now on; what the model
    /// knows is another matter.
    pub fn take_unshown(&self) -> Vec<JobSnapshot> {
        let now = Instant::now();
        let mut table = self.table();
        let news = table.jobs.iter_mut().filter(|job| job.is_unshown());
        news.map(|job| {
            job.is_shown = true;
            job.snapshot(now)
        })
        .collect()
    }

    /// Cancels what runs and waits until it is over; the lines of those commands. Whoever cancels knows, the model does not yet.
    pub(crate) fn cancel_all(&self) -> Vec<String> {
        let mut labels = Vec::new();
        for job in self.table().jobs.iter_mut().filter(|job| job.status == JobStatus::Running) {
            (job.status, job.ended) = (JobStatus::Cancelled, Some(Instant::now()));
            labels.push(job.label.clone());
        }
        self.end_all();
        labels
    }

    /// Ends every job and waits until all are over.
    pub fn end_all(&self) {
        let threads = {
            let mut table = self.table();
            table.jobs.iter().for_each(|job| job.cancel.cancel());
            std::mem::take(&mut table.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }

    fn table(&self) -> MutexGuard<'_, JobTable> {
        // Every change of a job is whole at each moment.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How soon a waiter notices that nobody waits any more.
const WAIT_TICK: Duration = Duration::from_millis(50);

impl JobTable {
    fn evict(&mut self, now: Instant) {
        let is_old = |ended: Option<Instant>| {
            ended.is_some_and(|ended| now.saturating_duration_since(ended) >= RETENTION)
        };
        self.jobs.retain(|job| !job.is_told || !is_old(job.ended));
    }
}

impl BackgroundJob {
    fn is_unshown(&self) -> bool {
        !self.is_shown && self.result.is_some() && self.status != JobStatus::Cancelled
    }

    fn snapshot(&self, now: Instant) -> JobSnapshot {
        let took = self.ended.unwrap_or(now).saturating_duration_since(self.began);
        let (result_text, error_text) = match &self.result {
            Some(Ok(text)) => (Some(text.clone()), None),
            Some(Err(text)) => (None, Some(text.clone())),
            None => (None, None),
        };
        JobSnapshot {
            id: self.id.clone(),
            kind: self.kind,
            status: self.status,
            label: self.label.clone(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            result_text,
            error_text,
        }
    }
}
