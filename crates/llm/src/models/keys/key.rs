//! A key, which is never shown.

use std::fmt;

use super::MAX_KEYS;

/// Most bytes of a key.
const LONGEST: usize = 8 << 10;
/// The last characters of a key this long may be shown.
const LONG: usize = 20;
const TAIL: usize = 4;

/// Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a text is not a key. Never shows the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    #[error("is empty")]
    Empty,
    /// It contains a line end or another control character.
    #[error("has a line end or another control character in it; was more than the key copied?")]
    Control,
    #[error("has a blank in it; was more than the key copied?")]
    Blank,
    /// It contains a character that no header can carry.
    #[error("has a character in it that no key has; was something else copied?")]
    Foreign,
    #[error("has more than {LONGEST} bytes")]
    Long,
    #[error("is one too many: {MAX_KEYS} are possible")]
    TooMany,
}

impl ApiKey {
    /// Trims blanks and line ends.
    pub fn new(text: &str) -> Result<ApiKey, ApiKeyError> {
        let text = text.trim();
        Err(match text {
            "" => ApiKeyError::Empty,
            _ if text.len() > LONGEST => ApiKeyError::Long,
            _ if text.chars().any(char::is_control) => ApiKeyError::Control,
            _ if text.chars().any(char::is_whitespace) => ApiKeyError::Blank,
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => ApiKeyError::Foreign,
            _ => return Ok(ApiKey(text.to_string())),
        })
    }

    /// Only for the request.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What may be shown: the last characters of a long key, otherwise nothing.
    pub fn tail(&self) -> Option<&str> {
        // It is all ASCII.
        (self.0.len() >= LONG).then(|| &self.0[self.0.len() - TAIL..])
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
