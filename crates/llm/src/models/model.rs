//! A model: who runs it, where, over which wire, its abilities and its price.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::{TokenUsage, UsageCost};

#[derive(Clone, Default, PartialEq)]
pub struct Model {
    /// The provider's name for it.
    pub id: String,
    pub provider: String,
    /// For people.
    pub name: String,
    /// [`crate::wire::Wire::id`].
    pub api: String,
    /// Without the path that the wire adds.
    pub base_url: String,
    /// Added to every request.
    pub headers: BTreeMap<String, String>,
    /// It can think before it answers.
    pub reasoning: bool,
    /// It can read images.
    pub images: bool,
    pub price: ModelPrice,
    /// Tokens it can read and write together.
    pub context_window: u64,
    /// Most tokens it can write.
    pub max_tokens: u64,
    /// A model of the same provider that goes on when the window is full: its id, with or without the provider.
    pub context_promotion_target: Option<String>,
    /// How its server differs from the wire.
    pub compat: ServerCompat,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ModelPrice {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// How a server that speaks a known wire differs from it. `None` is decided by the server's address.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ServerCompat {
    /// It accepts `store`.
    pub supports_store: Option<bool>,
    /// It accepts the developer role.
    pub supports_developer_role: Option<bool>,
    /// It accepts `reasoning_effort`.
    pub supports_reasoning_effort: Option<bool>,
    /// It reports usage while streaming, on request.
    pub supports_usage_in_streaming: Option<bool>,
    /// It accepts `tool_choice`.
    pub supports_tool_choice: Option<bool>,
    /// It accepts `parallel_tool_calls`.
    pub supports_parallel_tool_calls: Option<bool>,
    /// It wants a list of tools, even an empty one, if the conversation has calls.
    pub requires_empty_tools: Option<bool>,
    /// `max_completion_tokens` or `max_tokens`.
    pub max_tokens_field: Option<MaxTokensField>,
    /// How thinking is requested.
    pub thinking_format: Option<ThinkingFormat>,
    /// The field for earlier thinking (`reasoning_content` …).
    pub reasoning_content_field: Option<String>,
    /// Earlier thinking is sent as text.
    pub requires_thinking_as_text: Option<bool>,
    /// A tool's result carries the tool's name.
    pub requires_tool_result_name: Option<bool>,
    /// A user's message must not follow a tool's result.
    pub requires_assistant_after_tool_result: Option<bool>,
    /// Ids of tool calls are exactly nine letters and digits.
    pub requires_mistral_tool_ids: Option<bool>,
    /// Strict schemas: for all tools or for none.
    pub tool_strict_mode: Option<StrictMode>,
    /// The key goes into an `Authorization: Bearer` header, whatever the wire does with it.
    pub auth_header: Option<bool>,
    /// The key may go over plain HTTP to another machine, where anybody on the way can read it.
    pub allow_plain_http: Option<bool>,
    /// Added to the body as it is.
    pub extra_body: Option<Map<String, Value>>,
    /// OpenRouter's provider routing, as it is.
    pub open_router_routing: Option<Value>,
    /// Vercel's gateway routing, as it is.
    pub vercel_gateway_routing: Option<Value>,
}

/// The name of the field for the longest answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_completion_tokens`
    MaxCompletionTokens,
    /// `max_tokens`
    MaxTokens,
}

/// How thinking is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingFormat {
    /// `reasoning_effort`
    Openai,
    /// `reasoning: {effort}`
    Openrouter,
    /// `thinking: {type}`
    Zai,
    /// `enable_thinking`
    Qwen,
    /// `chat_template_kwargs: {enable_thinking}`
    QwenChatTemplate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrictMode {
    AllStrict,
    None,
}

/// Of the headers only their names: their values may include a key.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("id", &self.id)
            .field("provider", &self.provider)
            .field("api", &self.api)
            .field("base_url", &self.base_url)
            .field("headers", &self.headers.keys())
            .field("reasoning", &self.reasoning)
            .field("images", &self.images)
            .field("price", &self.price)
            .field("context_window", &self.context_window)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// `provider/id`
    pub fn selector(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// From the token counts of an answer, with the total.
    pub fn fill_in_cost(&self, usage: &mut TokenUsage) {
        let money = |tokens: u64, price: f64| {
            #[expect(clippy::cast_precision_loss, reason = "no answer has 2^52 tokens")]
            let tokens = tokens as f64;
            tokens * price / 1_000_000.0
        };
        let mut cost = UsageCost {
            input: money(usage.input, self.price.input),
            output: money(usage.output, self.price.output),
            cache_read: money(usage.cache_read, self.price.cache_read),
            cache_write: money(usage.cache_write, self.price.cache_write),
            total: 0.0,
        };
        cost.total = cost.input + cost.output + cost.cache_read + cost.cache_write;
        usage.cost = cost;
        let tokens = [usage.input, usage.output, usage.cache_read, usage.cache_write];
        usage.total_tokens = tokens.into_iter().fold(0, u64::saturating_add);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A model that nobody runs.
    pub(crate) fn model() -> Model {
        Model {
            id: "m1".into(),
            provider: "example".into(),
            name: "Example".into(),
            api: "anthropic-messages".into(),
            base_url: "http://127.0.0.1:9".into(),
            headers: BTreeMap::new(),
            reasoning: true,
            images: true,
            price: ModelPrice { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 },
            context_window: 200_000,
            max_tokens: 8192,
            context_promotion_target: None,
            compat: ServerCompat::default(),
        }
    }

    #[test]
    fn what_headers_hold_is_not_in_debug_output() {
        let mut model = model();
        model.headers.insert("x-team-token".into(), "sekrit-value".into());
        let said = format!("{model:?}");
        assert!(said.contains("x-team-token") && !said.contains("sekrit"), "{said}");
    }

    #[test]
    fn tokens_are_paid_by_the_million() {
        let mut usage = TokenUsage { input: 1_000_000, output: 100_000, ..TokenUsage::default() };
        model().fill_in_cost(&mut usage);
        assert!((usage.cost.total - 4.5).abs() < 1e-9);
        assert_eq!(usage.total_tokens, 1_100_000);
    }
}
