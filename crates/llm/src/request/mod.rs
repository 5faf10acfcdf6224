//! What a model is asked: the conversation, the tools, and how to answer.

pub mod schema;
pub mod secret_mask;
pub mod secrets;
pub(crate) mod tool_names;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;
use crate::models::model::Model;

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// What the model is told first, whoever speaks.
    pub system: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<Tool>,
    /// Whether it must.
    pub tool_choice: ToolChoice,
    /// How much it thinks.
    pub thinking: ThinkingLevel,
    /// Tokens it may write; `None`: what the model can.
    pub max_tokens: Option<u64>,
    /// How it chooses its words.
    pub temperature: Option<f64>,
    /// How long the provider keeps what it read.
    pub cache: CacheRetention,
    /// The conversation's own name: lets a provider find its cache again.
    pub session_id: Option<String>,
    /// `flex`, `priority` and the like, where the provider has tiers.
    pub service_tier: Option<String>,
}

/// Something that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// Whether a model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must not.
    None,
    /// Any of them.
    Required,
    /// This one.
    Named(String),
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl ThinkingLevel {
    /// All of them, from least to most.
    pub const ALL: [ThinkingLevel; 7] = [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::Xhigh,
        ThinkingLevel::Max,
    ];

    /// Its name in selectors and files.
    pub fn name(self) -> &'static str {
        match self {
            ThinkingLevel::Off => "off",
            ThinkingLevel::Minimal => "minimal",
            ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::Xhigh => "xhigh",
            ThinkingLevel::Max => "max",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<ThinkingLevel> {
        ThinkingLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// How long a provider is asked to keep what it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheRetention {
    /// Not at all.
    None,
    /// As long as it does by itself.
    #[default]
    Short,
    /// Longer, where that can be asked for.
    Long,
}

/// How relay proves to a provider who it is.
#[derive(Clone, PartialEq, Eq)]
pub enum Auth {
    /// With a key.
    Key(String),
    /// Not at all: a server of one's own.
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
    /// Who is asked.
    pub model: &'a Model,
    /// With what proof.
    pub auth: &'a Auth,
    /// What.
    pub request: &'a ChatRequest,
}
