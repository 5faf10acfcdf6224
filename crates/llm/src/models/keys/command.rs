//! Commands that print keys: `apiKey: "!pass show anthropic"` in the user's own `models.yml`.
//!
//! Each runs at most once per process, under the keeper, with a deadline, outside of the project, and its
//! output is bounded and never shown.

use std::sync::{Mutex, PoisonError};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use relaycode_exec::{CaptureLimits, Deadlines, ExitReason, Job, JobOutput, Runner};

use super::ApiKey;

/// It may ask for a passphrase in its own window.
const DEADLINE: Duration = Duration::from_secs(30);
/// Most bytes of output.
const PRINTED: usize = 16 << 10;

/// Runs commands that print keys, each once.
#[derive(Debug)]
pub struct KeyCommands {
    runner: Runner,
    directory: PathBuf,
    results: Mutex<BTreeMap<String, Result<ApiKey, String>>>,
}

impl KeyCommands {
    /// `directory` is not the project: a program named without a path must not come from there.
    pub fn new(runner: Runner, directory: PathBuf) -> KeyCommands {
        KeyCommands { runner, directory, results: Mutex::default() }
    }

    /// The trimmed output of the command.
    ///
    /// # Errors
    /// The rest of a sentence that begins with "the command".
    pub fn key(&self, command: &str) -> Result<ApiKey, String> {
        let mut known = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let result = known.entry(command.to_string()).or_insert_with(|| self.run(command));
        result.clone()
    }

    fn run(&self, command: &str) -> Result<ApiKey, String> {
        let mut job = Job::shell(command, &self.directory);
        job.output = JobOutput::Separate;
        job.deadlines = Deadlines { total: Some(DEADLINE), ..Deadlines::default() };
        job.capture = CaptureLimits { head: PRINTED, tail: 0, spill: None };
        let finished =
            self.runner.run(&job, &|| false, &mut |_| {}).map_err(|error| format!("cannot run: {error}"))?;
        match finished.reason {
            ExitReason::Exited(0) => {}
            ExitReason::Exited(code) => return Err(format!("ended with code {code}")),
            ExitReason::DeadlinePassed => return Err(format!("took longer than {} s", DEADLINE.as_secs())),
            _ => return Err("was ended".to_string()),
        }
        if finished.stdout.dropped > 0 || !finished.stdout.tail.is_empty() {
            return Err(format!("printed more than {PRINTED} bytes"));
        }
        let text = String::from_utf8(finished.stdout.head)
            .map_err(|_| "printed something that is no text".to_string())?;
        ApiKey::new(&text).map_err(|why| format!("printed something that {why}"))
    }
}
