//! A key, which is never shown.

use std::fmt;

/// Bytes of a key.
const LONGEST: usize = 8 << 10;
/// Of a key this long or longer the last characters may be shown.
const LONG: usize = 20;
/// How many of them.
const TAIL: usize = 4;

/// A key. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a text is no key. Never says what the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It has a line end or another control character in it.
    #[error("has a line end or another control character in it; was more than the key copied?")]
    Control,
    /// It has a blank in it.
    #[error("has a blank in it; was more than the key copied?")]
    Blank,
    /// It has a character in it that no header can carry.
    #[error("has a character in it that no key has; was something else copied?")]
    Foreign,
    /// It is too long.
    #[error("has more than {LONGEST} bytes")]
    Long,
}

impl ApiKey {
    /// The key in `text`, without blanks and line ends around it.
    ///
    /// # Errors
    /// If that cannot be a key.
    pub fn new(text: &str) -> Result<ApiKey, ApiKeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ApiKeyError::Empty);
        }
        if text.len() > LONGEST {
            return Err(ApiKeyError::Long);
        }
        if text.chars().any(char::is_control) {
            return Err(ApiKeyError::Control);
        }
        if text.chars().any(char::is_whitespace) {
            return Err(ApiKeyError::Blank);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ApiKeyError::Foreign);
        }
        Ok(ApiKey(text.to_string()))
    }

    /// The key itself, for the request alone.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What may be shown of it: its last characters if it is long, nothing otherwise.
    pub fn tail(&self) -> Option<&str> {
        // All of it is ASCII.
        (self.0.len() >= LONG).then(|| &self.0[self.0.len() - TAIL..])
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
