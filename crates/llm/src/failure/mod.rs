//! Why a model gave no complete answer. The [`FailureClass`] decides what can be done about it: whether
//! relay retries, and what the user is told to do.

use std::time::Duration;

use crate::stream::retry::format_wait;

pub mod classify;
mod provider_errors;
pub mod retry_hints;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The provider does not accept the key.
    Auth,
    /// The key may not do this.
    Forbidden,
    /// No such model or address.
    NotFound,
    /// The provider does not understand the request.
    BadRequest,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The account is used up; waiting does not help.
    Quota,
    /// Too many requests for now.
    RateLimit,
    /// The provider is too busy.
    Overloaded,
    /// The provider failed.
    Server,
    /// Could not connect, or the connection broke.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The answer violates the wire's format.
    Malformed,
    /// The answer exceeds our limits.
    TooLarge,
    /// The provider declined to answer this.
    Refused,
    /// relay's own settings for this provider cannot work.
    Config,
    /// Cancelled by the user.
    Aborted,
}

impl FailureClass {
    /// A retry may help.
    pub fn is_transient(self) -> bool {
        use FailureClass::{Malformed, Network, Overloaded, RateLimit, Server, Timeout};
        matches!(self, RateLimit | Overloaded | Server | Network | Timeout | Malformed)
    }
}

/// What a step towards an answer gives, or why there is none.
pub type ModelResult<T = ()> = Result<T, ModelFailure>;

/// Why a model gave no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFailure {
    pub class: FailureClass,
    /// For people. Never contains a key.
    pub message: String,
    /// If there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The provider's own id for the request, for its support.
    pub request_id: Option<String>,
}

impl ModelFailure {
    pub fn new(class: FailureClass, message: impl Into<String>) -> ModelFailure {
        ModelFailure { class, message: message.into(), status: None, retry_after: None, request_id: None }
    }

    /// The message, with the requested wait unless the provider's words contain it.
    pub fn message_with_wait(&self) -> String {
        let wait = self.retry_after.filter(|wait| !wait.is_zero()).map(format_wait);
        match wait.filter(|wait| !self.message.contains(wait.as_str())) {
            Some(wait) => format!("{}. It asks to wait {wait}", self.message.trim_end_matches('.')),
            None => self.message.clone(),
        }
    }

    /// relay's own settings for this provider cannot work.
    pub fn config(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::Config, message)
    }

    /// The answer exceeds our limits.
    pub fn too_large(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::TooLarge, message)
    }

    /// The provider declined to answer this.
    pub fn refused(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::Refused, message)
    }

    /// Could not connect, or the connection broke.
    pub fn network(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::Network, message)
    }

    /// The answer violates the wire's format.
    pub fn malformed(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::Malformed, message)
    }

    /// The connection ended before the answer did.
    pub fn cut_off() -> ModelFailure {
        ModelFailure::network("the provider broke off: the connection ended before the answer did")
    }

    /// Readers of an answer only know that it is "the provider".
    #[must_use]
    pub(crate) fn with_provider_name(mut self, provider: &str) -> ModelFailure {
        if let Some(rest) = self.message.strip_prefix("the provider") {
            self.message = format!("{provider}{rest}");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_told_once() {
        let mut failure =
            ModelFailure::new(FailureClass::RateLimit, "example takes no more requests for now.");
        assert_eq!(failure.message_with_wait(), failure.message);
        failure.retry_after = Some(Duration::from_secs(20));
        assert_eq!(
            failure.message_with_wait(),
            "example takes no more requests for now. It asks to wait 20 s"
        );
        failure.message = "example takes no more requests for now: try again in 20 s".into();
        assert_eq!(failure.message_with_wait(), failure.message);
    }
}
