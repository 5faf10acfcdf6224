//! `--limit text=8M,files=500`: raising (or lowering) what relay is willing to read and plan.

use std::fmt::Display;

use relaycode_change::proposal::limits::PlanLimits;

use crate::CommandFailure;

/// Changed limits, as given on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LimitOverrides(Vec<(String, usize)>);

/// The names, as they stand in help and in messages.
const LIMIT_NAMES: &str = "text (bytes of the answer), files, file (bytes of one file), hunks, total (bytes of all files), work (steps)";

impl LimitOverrides {
    /// Reads `name=number,…`; a number may end in K, M or G.
    pub(crate) fn parse(text: &str) -> Result<LimitOverrides, String> {
        let mut changed = Vec::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (name, number) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not name=number; the names are {LIMIT_NAMES}"))?;
            let name = name.trim();
            limit_mut(&mut PlanLimits::default(), name)
                .ok_or_else(|| format!("there is no limit `{name}`; the names are {LIMIT_NAMES}"))?;
            changed.push((name.to_string(), parse_number(number.trim())?));
        }
        Ok(LimitOverrides(changed))
    }

    /// What is configured, with these changes.
    pub(crate) fn change_limits(&self, mut limits: PlanLimits) -> PlanLimits {
        for (name, number) in &self.0 {
            if let Some(limit) = limit_mut(&mut limits, name) {
                *limit = *number;
            }
        }
        limits
    }
}

fn limit_mut<'l>(limits: &'l mut PlanLimits, name: &str) -> Option<&'l mut usize> {
    match name {
        "text" => Some(&mut limits.text_bytes),
        "files" => Some(&mut limits.files),
        "file" => Some(&mut limits.file_bytes),
        "hunks" => Some(&mut limits.hunks),
        "total" => Some(&mut limits.total_bytes),
        "work" => Some(&mut limits.work),
        _ => None,
    }
}

fn parse_number(text: &str) -> Result<usize, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is not a number such as 500 or 8M"))
}

/// The answer is over the limit `name`.
pub(crate) fn limit_failure(name: &str, message: impl Display) -> CommandFailure {
    let example = if name == "text" { "8M" } else { "5000" };
    CommandFailure::refused("limit", message)
        .hint(format!(
            "raise it with `--limit {name}={example}`, or with `limits.{name}` in the configuration, if the answer really \
             is that large"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_by_name() {
        let limits = LimitOverrides::parse("text=8M, files=500,file=64k").unwrap();
        let limits = limits.change_limits(PlanLimits::default());
        assert_eq!(limits.text_bytes, 8 << 20);
        assert_eq!((limits.files, limits.file_bytes), (500, 64 << 10));
        assert_eq!(limits.hunks, PlanLimits::default().hunks);
    }

    #[test]
    fn anything_else_is_explained() {
        for (text, part) in [
            ("text", "is not name=number"),
            ("bytes=3", "there is no limit `bytes`"),
            ("files=many", "is not a number"),
            ("files=0", "is not a number"),
            ("text=99999999999999G", "is not a number"),
            ("text=é", "is not a number"),
        ] {
            let error = LimitOverrides::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
