//! How much thinking is requested of Anthropic's models.
//!
//! Up to 4.5 a budget of tokens; since 4.6 the model decides and an effort guides it, and from 4.7 on the
//! budget is refused, as is a temperature (platform.claude.com/docs/en/build-with-claude/adaptive-thinking
//! and `…/effort`). A forced call excludes thinking (`…/extended-thinking`): the force wins.

use serde_json::{Value, json};

use crate::request::{ThinkingLevel, ToolChoice, WireCall};

/// Least tokens of an answer beside its thinking.
const ANSWER_LEAST: u64 = 1024;

/// Smallest accepted budget.
const BUDGET_LEAST: u64 = 1024;

/// Output limit of a model whose own is unknown.
const MAX_TOKENS_USUAL: u64 = 4096;

/// What is requested.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ThinkingPlan {
    /// `max_tokens`
    pub max_tokens: u64,
    /// `thinking`, if it is sent at all.
    pub thinking: Option<Value>,
    /// `output_config.effort`
    pub effort: Option<&'static str>,
    pub temperature: bool,
    /// Thinking between calls must be requested.
    pub interleaves: bool,
    /// A tool may be forced.
    pub forces: bool,
}

pub(super) fn thinking_plan(call: &WireCall<'_>) -> ThinkingPlan {
    let model = call.model;
    let most = if model.max_tokens == 0 { MAX_TOKENS_USUAL } else { model.max_tokens };
    let max_tokens = call.request.max_tokens.unwrap_or(most).clamp(1, most);
    let generation = ClaudeGeneration::from_model_id(&model.id);
    let forced = matches!(call.request.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
        && !call.request.tools.is_empty();
    let mut plan = ThinkingPlan {
        max_tokens,
        thinking: None,
        effort: None,
        temperature: generation.takes_temperature(),
        interleaves: false,
        forces: generation != ClaudeGeneration::Always,
    };
    let level = if forced || !model.reasoning { ThinkingLevel::Off } else { call.request.thinking };
    if generation == ClaudeGeneration::Budget {
        let Some(budget) = budget(level) else { return plan };
        // Thinking must not use up the room for the answer.
        let room = max_tokens.saturating_add(budget).min(most);
        let budget = budget.min(room.saturating_sub(ANSWER_LEAST));
        if budget >= BUDGET_LEAST {
            plan.max_tokens = room;
            plan.thinking = Some(json!({"type": "enabled", "budget_tokens": budget}));
            plan.temperature = false;
            plan.interleaves = version(&model.id).is_some_and(|version| version >= 400);
        }
        return plan;
    }
    match (level, generation) {
        // Thinking cannot be turned off here; as little as possible.
        (ThinkingLevel::Off, ClaudeGeneration::Always) if model.reasoning => plan.effort = Some("low"),
        (ThinkingLevel::Off, ClaudeGeneration::Five) if model.reasoning => {
            plan.thinking = Some(json!({"type": "disabled"}));
        }
        (ThinkingLevel::Off, _) => {}
        (level, generation) => {
            plan.effort = Some(generation.effort(level));
            plan.temperature = false;
            // Later models hide their thinking unless asked.
            plan.thinking = Some(match generation {
                ClaudeGeneration::Adaptive => json!({"type": "adaptive"}),
                _ => json!({"type": "adaptive", "display": "summarized"}),
            });
        }
    }
    plan
}

/// Models with the same parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaudeGeneration {
    /// Up to 4.5, and models of others.
    Budget,
    /// 4.6
    Adaptive,
    /// 4.7 and 4.8
    Silent,
    /// 5 and later: they think unless told not to.
    Five,
    /// Those that always think.
    Always,
}

impl ClaudeGeneration {
    fn from_model_id(id: &str) -> ClaudeGeneration {
        if id.contains("claude-fable") || id.contains("claude-mythos") {
            return ClaudeGeneration::Always;
        }
        match version(id) {
            Some(500..) => ClaudeGeneration::Five,
            Some(407..) => ClaudeGeneration::Silent,
            Some(406) => ClaudeGeneration::Adaptive,
            _ => ClaudeGeneration::Budget,
        }
    }

    fn takes_temperature(self) -> bool {
        matches!(self, ClaudeGeneration::Budget | ClaudeGeneration::Adaptive)
    }

    fn effort(self, level: ThinkingLevel) -> &'static str {
        match level {
            ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::Xhigh if self != ClaudeGeneration::Adaptive => "xhigh",
            ThinkingLevel::High | ThinkingLevel::Xhigh => "high",
            ThinkingLevel::Max => "max",
        }
    }
}

/// By level; nothing for none.
fn budget(level: ThinkingLevel) -> Option<u64> {
    const TOKENS: [u64; 7] = [0, 1024, 4096, 10_240, 20_480, 32_768, 63_999];
    Some(TOKENS[level as usize]).filter(|tokens| *tokens > 0)
}

/// The version in a Claude model's id, 4.6 as 406; `None` for the models of others.
fn version(id: &str) -> Option<u32> {
    let (_, name) = id.rsplit_once("claude-")?;
    let words = name.split(['-', '.', '@', ':']);
    // Dates are longer than versions.
    let mut numbers = words.filter(|word| word.len() <= 2).filter_map(|word| word.parse::<u32>().ok());
    let major = numbers.next()?;
    Some(major * 100 + numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Auth, ChatRequest};

    fn plan_of(id: &str, level: ThinkingLevel) -> ThinkingPlan {
        let mut model = crate::models::model::tests::model();
        id.clone_into(&mut model.id);
        model.max_tokens = 64_000;
        let request = ChatRequest { thinking: level, max_tokens: Some(8000), ..ChatRequest::default() };
        thinking_plan(&WireCall { model: &model, auth: &Auth::None, request: &request })
    }

    #[test]
    fn versions_are_found_in_names_of_all_times() {
        for (id, expected) in [
            ("claude-3-7-sonnet-20250219", Some(307)),
            ("claude-sonnet-4-20250514", Some(400)),
            ("claude-opus-4-5-20251101", Some(405)),
            ("anthropic/claude-opus-4.7", Some(407)),
            ("anthropic.claude-opus-4-6-v1", Some(406)),
            ("claude-haiku-5-5", Some(505)),
            ("claude-mythos-preview", None),
            ("glm-4.6", None),
        ] {
            assert_eq!(version(id), expected, "{id}");
        }
    }

    #[test]
    fn older_models_get_a_budget_beside_the_answer() {
        let plan = plan_of("claude-sonnet-4-5", ThinkingLevel::High);
        assert_eq!(plan.max_tokens, 28_480);
        assert_eq!(plan.thinking, Some(json!({"type": "enabled", "budget_tokens": 20_480})));
        assert!(!plan.temperature && plan.interleaves);
        let most = plan_of("claude-sonnet-4-5", ThinkingLevel::Max);
        assert_eq!(most.max_tokens, 64_000);
        assert_eq!(most.thinking, Some(json!({"type": "enabled", "budget_tokens": 62_976})));
        assert_eq!(plan_of("claude-sonnet-4-5", ThinkingLevel::Off).thinking, None);
    }

    #[test]
    fn newer_models_get_an_effort() {
        let asked = |id: &str, level: ThinkingLevel| {
            let plan = plan_of(id, level);
            (plan.thinking.unwrap_or_default(), plan.effort, plan.temperature)
        };
        let summarised = json!({"type": "adaptive", "display": "summarized"});
        assert_eq!(
            asked("claude-opus-4-6", ThinkingLevel::Xhigh),
            (json!({"type": "adaptive"}), Some("high"), false)
        );
        assert_eq!(asked("claude-opus-4-6", ThinkingLevel::Off), (Value::Null, None, true));
        assert_eq!(
            asked("claude-opus-4-7", ThinkingLevel::Xhigh),
            (summarised.clone(), Some("xhigh"), false)
        );
        assert_eq!(asked("claude-opus-4-7", ThinkingLevel::Off), (Value::Null, None, false));
        assert_eq!(asked("claude-sonnet-5", ThinkingLevel::Off), (json!({"type": "disabled"}), None, false));
        assert_eq!(asked("claude-fable-5", ThinkingLevel::Off), (Value::Null, Some("low"), false));
        assert_eq!(asked("claude-mythos-preview", ThinkingLevel::Max), (summarised, Some("max"), false));
    }
}
