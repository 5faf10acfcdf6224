//! What a model is asked: the conversation, the tools, and how to answer.

pub mod schema;
pub mod secret_mask;
pub mod secrets;
pub(crate) mod tool_names;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::KeptTurns;
use crate::{message::Message, models::model::Model};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The system prompt.
    pub system: Option<String>,
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<Tool>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    pub thinking: ThinkingLevel,
    /// Output limit; `None`: the model's own.
    pub max_tokens: Option<u64>,
    pub temperature: Option<f64>,
    /// How long the provider keeps its prompt cache.
    pub cache: CacheRetention,
    /// The conversation's id: lets a provider find its cache again.
    pub session_id: Option<String>,
    /// `flex`, `priority` and the like, if the provider has tiers.
    pub service_tier: Option<String>,
    /// What earlier requests of the conversation made, to be used again. The request is the same without it.
    pub kept: KeptTurns,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    /// For the model.
    pub description: String,
    /// A JSON schema.
    pub parameters: Value,
}

/// Whether a model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// It must not.
    None,
    Required,
    Named(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// No thinking.
    #[default]
    Off,
    /// As little as possible.
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl ThinkingLevel {
    /// From least to most.
    pub const ALL: [ThinkingLevel; 7] =
        [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// In selectors and files; here in the order of the variants.
    pub fn name(self) -> &'static str {
        ["off", "minimal", "low", "medium", "high", "xhigh", "max"][self as usize]
    }

    pub fn from_name(name: &str) -> Option<ThinkingLevel> {
        ThinkingLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// How long a provider is asked to keep its prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheRetention {
    /// Not at all.
    None,
    /// The provider's default.
    #[default]
    Short,
    /// Longer, if that can be requested.
    Long,
}

/// How relay authenticates to a provider.
#[derive(Clone, PartialEq, Eq)]
pub enum Auth {
    Key(String),
    /// Not at all: the user's own server.
    None,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Auth::Key(_) => "Key(…)",
            Auth::None => "None",
        })
    }
}

/// A request on its way to a model.
#[derive(Debug, Clone, Copy)]
pub struct WireCall<'a> {
    pub model: &'a Model,
    pub auth: &'a Auth,
    pub request: &'a ChatRequest,
}
