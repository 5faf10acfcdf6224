//! How much thinking is asked of OpenAI's models: the words that each family takes.
//!
//! <https://platform.openai.com/docs/guides/reasoning>: `none` since gpt-5.1, `minimal` with gpt-5 alone, `xhigh` since
//! gpt-5.2 and with the largest codex; the o series and open models take `low`, `medium`, `high`. A model that cannot
//! leave thinking out is asked for the least it can do.

use crate::request::Level;

/// The word for a level; `None` where nothing is said and the server decides.
pub(crate) fn effort(id: &str, level: Level) -> Option<&'static str> {
    // Gateways put the maker's name before the model's.
    let family = Family::of(id.rsplit('/').next().unwrap_or(id));
    Some(match level {
        Level::Off => return family.least(),
        Level::Minimal if family == Family::Gpt5 => "minimal",
        Level::Minimal | Level::Low => "low",
        Level::Medium => "medium",
        Level::Xhigh | Level::Max if family.has_xhigh() => "xhigh",
        Level::High | Level::Xhigh | Level::Max => "high",
    })
}

/// Models that take the same words.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    /// o1, o3, o4 and those made for code: no way to leave thinking out.
    Always,
    /// gpt-5
    Gpt5,
    /// gpt-5.1
    Gpt51,
    /// The largest codex of gpt-5.1.
    CodexMax,
    /// gpt-5.2 and later.
    Later,
    /// Anything else.
    Other,
}

impl Family {
    fn of(id: &str) -> Family {
        if ["o1", "o3", "o4"].iter().any(|series| id == *series || id.starts_with(&format!("{series}-"))) {
            return Family::Always;
        }
        let Some(version) = id.strip_prefix("gpt-5") else { return Family::Other };
        let code = id.contains("codex");
        match version.strip_prefix('.').map(|minor| minor.split('-').next().unwrap_or_default()) {
            None if code => Family::Always,
            None => Family::Gpt5,
            Some("1") if id.contains("codex-max") => Family::CodexMax,
            Some("1") if code => Family::Always,
            Some("1") => Family::Gpt51,
            Some(_) => Family::Later,
        }
    }

    fn least(self) -> Option<&'static str> {
        match self {
            Family::Gpt51 | Family::Later | Family::CodexMax => Some("none"),
            Family::Gpt5 => Some("minimal"),
            Family::Always => Some("low"),
            Family::Other => None,
        }
    }

    fn has_xhigh(self) -> bool {
        matches!(self, Family::Later | Family::CodexMax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_asked_in_its_own_words() {
        let words = |id: &str| Level::ALL.map(|level| effort(id, level).unwrap_or("-")).join(" ");
        assert_eq!(words("o3"), "low low low medium high high high");
        assert_eq!(words("gpt-5"), "minimal minimal low medium high high high");
        assert_eq!(words("gpt-5-mini"), words("gpt-5"));
        assert_eq!(words("gpt-5-codex"), words("o3"));
        assert_eq!(words("gpt-5.1"), "none low low medium high high high");
        assert_eq!(words("gpt-5.1-codex-max"), "none low low medium high xhigh xhigh");
        assert_eq!(words("openai/gpt-5.2"), "none low low medium high xhigh xhigh");
        assert_eq!(words("gpt-oss-120b"), "- low low medium high high high");
        assert_eq!(words("o3x"), words("other"));
    }
}
