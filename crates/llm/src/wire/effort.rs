//! How much thinking is requested of OpenAI's models: the words that each family accepts.
//!
//! <https://platform.openai.com/docs/guides/reasoning>: `none` since gpt-5.1, `minimal` only with gpt-5,
//! `xhigh` since gpt-5.2 and with the largest codex; the o series and open models accept `low`, `medium`,
//! `high`. A model that always thinks is asked for the least it can do.

use crate::request::ThinkingLevel;

/// `None` if nothing is sent and the server decides.
pub(crate) fn reasoning_effort(id: &str, level: ThinkingLevel) -> Option<&'static str> {
    // Gateways put the vendor's name before the model's.
    let family = OpenAiFamily::from_model_id(id.rsplit('/').next().unwrap_or(id));
    Some(match level {
        ThinkingLevel::Off => return family.least(),
        ThinkingLevel::Minimal if family == OpenAiFamily::Gpt5 => "minimal",
        ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::Xhigh | ThinkingLevel::Max if family.has_xhigh() => "xhigh",
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => "high",
    })
}

/// Models that accept the same words.
#[derive(Clone, Copy, PartialEq)]
enum OpenAiFamily {
    /// o1, o3, o4 and those made for code: they always think.
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

impl OpenAiFamily {
    fn from_model_id(id: &str) -> OpenAiFamily {
        if ["o1", "o3", "o4"].iter().any(|series| id == *series || id.starts_with(&format!("{series}-"))) {
            return OpenAiFamily::Always;
        }
        let Some(version) = id.strip_prefix("gpt-5") else { return OpenAiFamily::Other };
        let code = id.contains("codex");
        match version.strip_prefix('.').map(|minor| minor.split('-').next().unwrap_or_default()) {
            None if code => OpenAiFamily::Always,
            None => OpenAiFamily::Gpt5,
            Some("1") if id.contains("codex-max") => OpenAiFamily::CodexMax,
            Some("1") if code => OpenAiFamily::Always,
            Some("1") => OpenAiFamily::Gpt51,
            Some(_) => OpenAiFamily::Later,
        }
    }

    fn least(self) -> Option<&'static str> {
        match self {
            OpenAiFamily::Gpt51 | OpenAiFamily::Later | OpenAiFamily::CodexMax => Some("none"),
            OpenAiFamily::Gpt5 => Some("minimal"),
            OpenAiFamily::Always => Some("low"),
            OpenAiFamily::Other => None,
        }
    }

    fn has_xhigh(self) -> bool {
        matches!(self, OpenAiFamily::Later | OpenAiFamily::CodexMax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_asked_in_its_own_words() {
        let words =
            |id: &str| ThinkingLevel::ALL.map(|level| reasoning_effort(id, level).unwrap_or("-")).join(" ");
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
