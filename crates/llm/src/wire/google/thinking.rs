//! How much thinking is requested of Google's models.
//!
//! ai.google.dev/gemini-api/docs/thinking: a level since Gemini 3, a budget of tokens for 2.5; never both.
//! Not every model can turn thinking off: then it is asked for the least it can do.

use serde_json::{Value, json};

use crate::{models::model::Model, request::ThinkingLevel};

/// `thinkingConfig`, if anything is to be sent.
pub(super) fn config(model: &Model, level: ThinkingLevel) -> Option<Value> {
    if !model.reasoning {
        return None;
    }
    let shown = level != ThinkingLevel::Off;
    match version(&model.id) {
        Some(300..) => Some(json!({"includeThoughts": shown, "thinkingLevel": word(&model.id, level)})),
        Some(205) => Some(json!({"includeThoughts": shown, "thinkingBudget": budget(&model.id, level)})),
        // Names like `gemini-flash-latest`: the model decides how much.
        _ if shown => Some(json!({"includeThoughts": true})),
        _ => None,
    }
}

/// The model checks the signatures of calls.
pub(super) fn is_signed(model: &Model) -> bool {
    version(&model.id).is_some_and(|version| version >= 300)
}

fn word(id: &str, level: ThinkingLevel) -> &'static str {
    let version = version(id).unwrap_or_default();
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal if id.contains("flash") && version <= 301 => "minimal",
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        // The first of the third generation has no middle level.
        ThinkingLevel::Medium if version == 300 && id.contains("pro") => "high",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => "high",
    }
}

fn budget(id: &str, level: ThinkingLevel) -> u32 {
    let pro = id.contains("pro");
    match level {
        ThinkingLevel::Off if pro => 128,
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 512,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => 24_576,
        ThinkingLevel::Xhigh | ThinkingLevel::Max if pro => 32_768,
        ThinkingLevel::Xhigh | ThinkingLevel::Max => 24_576,
    }
}

/// The version in a Gemini model's id, 2.5 as 205.
fn version(id: &str) -> Option<u32> {
    let (_, name) = id.rsplit_once("gemini-")?;
    let word = name.split('-').next()?;
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    (major < 100 && minor < 100).then_some(major * 100 + minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str, level: ThinkingLevel) -> Value {
        let model = Model { id: id.into(), ..crate::models::model::tests::model() };
        config(&model, level).unwrap_or_default()
    }

    #[test]
    fn each_generation_is_asked_in_its_own_way() {
        let level = |shown: bool, word: &str| json!({"includeThoughts": shown, "thinkingLevel": word});
        let budget = |shown: bool, tokens: u32| json!({"includeThoughts": shown, "thinkingBudget": tokens});
        assert_eq!(asked("gemini-3-pro-preview", ThinkingLevel::Medium), level(true, "high"));
        assert_eq!(asked("gemini-3.1-pro-preview", ThinkingLevel::Medium), level(true, "medium"));
        assert_eq!(asked("gemini-3-pro-preview", ThinkingLevel::Off), level(false, "low"));
        assert_eq!(asked("gemini-3-flash-preview", ThinkingLevel::Off), level(false, "minimal"));
        assert_eq!(asked("google/gemini-3.8-flash", ThinkingLevel::Minimal), level(true, "low"));
        assert_eq!(asked("gemini-2.5-pro", ThinkingLevel::Off), budget(false, 128));
        assert_eq!(asked("gemini-2.5-pro", ThinkingLevel::Max), budget(true, 32_768));
        assert_eq!(asked("gemini-2.5-flash", ThinkingLevel::Off), budget(false, 0));
        assert_eq!(asked("gemini-2.5-flash", ThinkingLevel::Max), budget(true, 24_576));
        assert_eq!(asked("gemini-flash-latest", ThinkingLevel::High), json!({"includeThoughts": true}));
        assert_eq!(asked("gemini-flash-latest", ThinkingLevel::Off), Value::Null);
        let plain =
            Model { reasoning: false, id: "gemini-2.0-flash".into(), ..crate::models::model::tests::model() };
        assert_eq!(config(&plain, ThinkingLevel::High), None);
    }
}
