//! How an answer is streamed: how long it may take, how often it is asked for, how it is handed out.

use std::sync::Arc;
use std::time::Duration;

use crate::request::secret_mask::SecretMask;
use crate::stream::cancel::CancelToken;
use crate::stream::retry::RetryBudget;

/// How an answer is streamed.
#[derive(Clone)]
pub struct StreamOptions {
    /// Breaks it off.
    pub cancel: CancelToken,
    /// How often it is asked for again.
    pub budget: RetryBudget,
    /// How long it may take.
    pub timeouts: StreamTimeouts,
    /// How long deltas are gathered before they are handed out.
    pub delta_interval: Duration,
    /// What the model is not to see.
    pub secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
}

impl Default for StreamOptions {
    fn default() -> StreamOptions {
        StreamOptions {
            cancel: CancelToken::default(),
            budget: RetryBudget::default(),
            timeouts: StreamTimeouts::default(),
            delta_interval: Duration::from_millis(50),
            secrets: None,
        }
    }
}

/// How long an answer may take; connecting is [`crate::stream::transport::Settings::connect_timeout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamTimeouts {
    /// From the request to the first byte of the answer. A model on one's own machine may have to be loaded first.
    pub first_byte: Duration,
    /// Between two pieces of it.
    pub idle: Duration,
    /// For one attempt as a whole.
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
