//! How an answer is streamed: timeouts, retries, delivery.

use std::{sync::Arc, time::Duration};

use crate::request::secret_mask::SecretMask;
use crate::stream::{cancel::CancelToken, retry::RetryBudget};

#[derive(Clone)]
pub struct StreamOptions {
    pub cancel: CancelToken,
    /// How often it is retried.
    pub budget: RetryBudget,
    pub timeouts: StreamTimeouts,
    /// How long deltas are collected before they are handed out.
    pub delta_interval: Duration,
    /// What the model must not see.
    pub secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
    /// There is another key to ask with: a limit of requests is not waited for.
    pub has_other_keys: bool,
    /// How far an answer may have come and still be asked for again when it breaks off.
    pub restart: StreamRestart,
}

/// How far an answer may have come and still be asked for again. Whoever reads it is told ([`super::StreamStep::Retrying`]), and
/// it begins from its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamRestart {
    /// Nothing of it was handed out.
    #[default]
    BeforeOutput,
    /// Only thinking was: the reader does not show it.
    BeforeText,
    /// Whatever came: the reader shows an answer only when it is complete.
    Always,
}

impl Default for StreamOptions {
    fn default() -> StreamOptions {
        StreamOptions {
            cancel: CancelToken::default(),
            budget: RetryBudget::default(),
            timeouts: StreamTimeouts::default(),
            delta_interval: Duration::from_millis(50),
            secrets: None,
            has_other_keys: false,
            restart: StreamRestart::default(),
        }
    }
}

/// How long an answer may take; connecting is
/// [`crate::stream::transport::ClientSettings::connect_timeout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamTimeouts {
    /// From the request to the first byte of the answer. A local model may have to be loaded first.
    pub first_byte: Duration,
    /// Between two chunks.
    pub idle: Duration,
    /// For one whole attempt.
    pub total: Duration,
}

impl Default for StreamTimeouts {
    fn default() -> StreamTimeouts {
        StreamTimeouts {
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(2 * 3600),
        }
    }
}
