//! Reading a response (stub).

use crate::limits::Limits;
use crate::proposal::Proposal;

/// A response that cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// Over [`Limits::text_bytes`].
    #[error("the answer has {bytes} bytes; the limit `text` is {most}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
}

/// Reads a response.
///
/// # Errors
/// [`ResponseError`] when it cannot be read at all; single blocks that cannot be read are listed in
/// [`Proposal::unread`].
pub fn read(text: &str, limits: &Limits) -> Result<Proposal, ResponseError> {
    let _ = (text, limits);
    Ok(Proposal::default())
}

/// Prints (placeholder until the reader is merged).
pub fn print(_proposal: &Proposal) -> String {
    String::new()
}
