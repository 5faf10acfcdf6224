//! Why a model gave no whole answer. The [`FailureClass`] decides what may be done about it: whether relay tries again, and what
//! the user is told to do.

use std::fmt;
use std::time::Duration;

use crate::stream::retry::format_wait;

pub mod classify;
mod provider_errors;
pub mod retry_hints;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The provider does not know the key.
    Auth,
    /// The key may not do this.
    Forbidden,
    /// The provider has no such model or address.
    NotFound,
    /// The provider does not understand the request.
    BadRequest,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The account is used up, and waiting does not help.
    Quota,
    /// Too many requests for now.
    RateLimit,
    /// The provider has too much to do.
    Overloaded,
    /// The provider failed.
    Server,
    /// The connection could not be made, or broke.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// What came is not what the wire says.
    Malformed,
    /// What came is more than is taken.
    TooLarge,
    /// The provider declined to answer this.
    Refused,
    /// relay's own settings for this provider cannot work.
    Config,
    /// Somebody broke it off.
    Aborted,
}

impl FailureClass {
    /// Trying the same again may help.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            FailureClass::RateLimit
                | FailureClass::Overloaded
                | FailureClass::Server
                | FailureClass::Network
                | FailureClass::Timeout
                | FailureClass::Malformed
        )
    }
}

/// Why a model gave no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFailure {
    /// What kind.
    pub class: FailureClass,
    /// What happened, for people. Never holds a key.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The provider's own name for the request, for its support.
    pub request_id: Option<String>,
}

impl ModelFailure {
    /// A failure of a kind, without more.
    pub fn new(class: FailureClass, message: impl Into<String>) -> ModelFailure {
        ModelFailure { class, message: message.into(), status: None, retry_after: None, request_id: None }
    }

    /// What happened, and how long the provider asks to wait where its words do not say so.
    pub fn message_with_wait(&self) -> String {
        let wait = self.retry_after.filter(|wait| !wait.is_zero()).map(format_wait);
        match wait.filter(|wait| !self.message.contains(wait.as_str())) {
            Some(wait) => format!("{}. It asks to wait {wait}", self.message.trim_end_matches('.')),
            None => self.message.clone(),
        }
    }

    /// What came is not what the wire says.
    pub fn malformed(message: impl Into<String>) -> ModelFailure {
        ModelFailure::new(FailureClass::Malformed, message)
    }

    /// The connection ended before the answer did.
    pub fn cut_off() -> ModelFailure {
        ModelFailure::new(
            FailureClass::Network,
            "the provider broke off: the connection ended before the answer did",
        )
    }

    /// Says who it is: what reads an answer knows no more than that it is a provider's.
    #[must_use]
    pub(crate) fn with_provider_name(mut self, provider: &str) -> ModelFailure {
        if let Some(rest) = self.message.strip_prefix("the provider") {
            self.message = format!("{provider}{rest}");
        }
        self
    }
}

impl fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelFailure {}

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
