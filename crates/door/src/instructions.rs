//! What a model is told, so that its answer can come in.

use jiff::Timestamp;
use relaycode_change::prompt::{self, PromptError, PromptFile, PromptOptions, PromptStrategy};
use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::LedgerError;
use relaycode_project::{checkout::CheckoutError, config};

use crate::door::Door;

/// What a model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInstructions {
    /// The project's name with this checkout's key, as an answer has to give it.
    pub keyed_project_id: String,
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
    pub fn instructions(&self, files: &[(RelPath, String)]) -> Result<ModelInstructions, InstructionsError> {
        let named = self.make_keyed_id()?;
        let config = self.config();
        let shown: Vec<PromptFile<'_>> = files.iter().map(|(path, text)| PromptFile { path, text }).collect();
        let text = prompt::render(&PromptOptions {
            project_id: &named,
            strategy: match config.watcher.preferred_strategy {
                config::PreferredStrategy::Auto => PromptStrategy::Auto,
                config::PreferredStrategy::Replace => PromptStrategy::Replace,
                config::PreferredStrategy::NewUnified => PromptStrategy::NewUnified,
                config::PreferredStrategy::MultiSearchReplace => PromptStrategy::MultiSearchReplace,
            },
            min_files: config.patch.min_file_changes,
            max_files: config.patch.max_file_changes,
            files: &shown,
        })?;
        let bytes: Vec<(RelPath, Vec<u8>)> =
            files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        let now = u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
        self.ledger.remember_shown(&bytes, now)?;
        Ok(ModelInstructions { keyed_project_id: named, text })
    }

    fn make_keyed_id(&self) -> Result<String, CheckoutError> {
        let id = self.project_id();
        // Without a directory of the user's there is no key, and every answer is asked about.
        if !self.has_home() {
            return Ok(id);
        }
        Ok(format!("{id}.{}", self.checkout().get_or_create_key(&self.root)?.as_str()))
    }
}
