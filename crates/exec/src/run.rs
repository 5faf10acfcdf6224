//! relay's side: start a keeper, hand it the job, read what the job prints, and learn how it ended.

use std::path::PathBuf;

use crate::job::Job;
use crate::outcome::{ExecError, Finished};

/// Starts jobs. Holds which program the keeper is.
#[derive(Debug, Clone)]
pub struct Runner {
    keeper: PathBuf,
}

impl Runner {
    /// Jobs run under this program: relay itself.
    pub fn new(keeper: PathBuf) -> Runner {
        Runner { keeper }
    }

    /// Runs a job to its end. `stop` is asked often; when it says yes, the job is ended. `watch` is
    /// shown what the job prints as it comes.
    ///
    /// # Errors
    /// If it could not be started. A job that fails is no error.
    pub fn run(
        &self,
        job: &Job,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<Finished, ExecError> {
        let _ = (job, stop, watch, &self.keeper);
        Err(ExecError::System { action: "run a process", source: std::io::ErrorKind::Unsupported.into() })
    }
}
