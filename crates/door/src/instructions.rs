//! What a model is told, so that its answer can come in.

use jiff::Timestamp;
use relaycode_change::path::RelPath;
use relaycode_change::prompt::{self, About, PromptError, Shown, Strategy};
use relaycode_ledger::LedgerError;
use relaycode_project::checkout::CheckoutError;
use relaycode_project::config;

use crate::door::Door;

/// What a model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// The project's name with this checkout's key, as an answer has to give it.
    pub named: String,
    /// The instructions, with the files that are handed along.
    pub text: String,
}

/// Why there are no instructions.
#[derive(Debug, thiserror::Error)]
pub enum InstructionsError {
    /// The files are more than they take.
    #[error(transparent)]
    TooMuch(#[from] PromptError),
    /// The key of this checkout cannot be kept.
    #[error(transparent)]
    Key(#[from] CheckoutError),
    /// What is handed along cannot be remembered.
    #[error(transparent)]
    Remember(#[from] LedgerError),
}

impl Door {
    /// What a model is told, with these files and their texts. What was shown is remembered, so that an answer can
    /// still be merged when a file has moved on.
    ///
    /// # Errors
    /// When they are too much, or what belongs to them cannot be kept.
    pub fn instructions(&self, files: &[(RelPath, String)]) -> Result<Instructions, InstructionsError> {
        let named = self.named_with_key()?;
        let config = self.config();
        let shown: Vec<Shown<'_>> = files.iter().map(|(path, text)| Shown { path, text }).collect();
        let text = prompt::text(&About {
            named: &named,
            strategy: match config.watcher.preferred_strategy {
                config::Strategy::Auto => Strategy::Auto,
                config::Strategy::Replace => Strategy::Replace,
                config::Strategy::NewUnified => Strategy::NewUnified,
                config::Strategy::MultiSearchReplace => Strategy::MultiSearchReplace,
            },
            min_files: config.patch.min_file_changes,
            max_files: config.patch.max_file_changes,
            files: &shown,
        })?;
        let bytes: Vec<(RelPath, Vec<u8>)> =
            files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        let now = u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
        self.ledger.remember_shown(&bytes, now)?;
        Ok(Instructions { named, text })
    }

    fn named_with_key(&self) -> Result<String, CheckoutError> {
        let id = self.project_id();
        // Without a directory of the user's there is no key, and every answer is asked about.
        if !self.has_home() {
            return Ok(id);
        }
        Ok(format!("{id}.{}", self.checkout().need_key(&self.root)?.as_str()))
    }
}
