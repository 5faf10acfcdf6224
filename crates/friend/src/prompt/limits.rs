//! How much goes to a friend at most. Exact at the byte; text counts as UTF-8.

/// Bytes of the context that the user gives.
pub const CONTEXT_BYTES: usize = 200_000;
/// Bytes of a difference.
pub const DIFF_BYTES: usize = 300_000;
/// Bytes of the whole prompt.
pub const PROMPT_BYTES: usize = 500_000;
/// How many files are named when a difference is too large.
pub const NAMED_FILES: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}{} is too large: {size} bytes, {most} at most{}", compared(*what, since.as_deref()), named(largest))]
pub struct PromptSizeError {
    /// What is too large.
    pub what: PromptSizeLimit,
    /// Bytes that it has.
    pub size: u64,
    /// Bytes that it may have.
    pub most: usize,
    /// The largest files in it with their bytes, largest first; only for differences and prompts with one.
    pub largest: Vec<(String, u64)>,
    /// What the difference in it was compared with, if that was a matter of choice. Foreign text.
    pub since: Option<String>,
}

/// What can be too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSizeLimit {
    Context,
    Diff,
    Prompt,
}

impl PromptSizeLimit {
    pub fn max_bytes(self) -> usize {
        match self {
            PromptSizeLimit::Context => CONTEXT_BYTES,
            PromptSizeLimit::Diff => DIFF_BYTES,
            PromptSizeLimit::Prompt => PROMPT_BYTES,
        }
    }

    /// Checks that `size` bytes are not too many.
    ///
    /// # Errors
    /// If they are.
    pub fn check(self, size: u64, files: impl FnOnce() -> Vec<(String, u64)>) -> Result<(), PromptSizeError> {
        let most = self.max_bytes();
        if size <= most as u64 {
            return Ok(());
        }
        Err(PromptSizeError { what: self, size, most, largest: files(), since: None })
    }
}

impl std::fmt::Display for PromptSizeLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PromptSizeLimit::Context => "the context",
            PromptSizeLimit::Diff => "the difference",
            PromptSizeLimit::Prompt => "the prompt with all that goes with it",
        })
    }
}

fn compared(what: PromptSizeLimit, since: Option<&str>) -> String {
    match (what, since) {
        (_, None) | (PromptSizeLimit::Context, _) => String::new(),
        (PromptSizeLimit::Diff, Some(base)) => format!(" since {base}"),
        (PromptSizeLimit::Prompt, Some(base)) => format!(", the difference since {base} among it,"),
    }
}

fn named(largest: &[(String, u64)]) -> String {
    if largest.is_empty() {
        return String::new();
    }
    let files: Vec<String> = largest.iter().map(|(path, bytes)| format!("{path} ({bytes})")).collect();
    format!("; the largest files: {}", files.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact_at_the_byte() {
        for (what, most) in [
            (PromptSizeLimit::Context, 200_000),
            (PromptSizeLimit::Diff, 300_000),
            (PromptSizeLimit::Prompt, 500_000),
        ] {
            assert_eq!(what.check(most, Vec::new), Ok(()));
            let over = what.check(most + 1, || vec![("a.rs".to_string(), 9)]).unwrap_err();
            assert_eq!((over.size, over.most as u64), (most + 1, most));
            assert!(over.to_string().contains("a.rs (9)"), "{over}");
        }
    }
}
