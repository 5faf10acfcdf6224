//! Servers of models on this machine: what they say they have.
//!
//! Three kinds are known, each at its usual port. They are only asked on this machine, unless `models.yml` names another
//! address. Nothing there is no error; what they answer is bounded and believed in nothing but names, windows and
//! abilities.

mod parse;
mod probe;
#[cfg(test)]
mod tests;

pub use probe::{DiscoveryResult, probe_all};

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalServerKind {
    /// Ollama: `/api/tags` and `/api/show`.
    Ollama,
    /// llama.cpp's server: `/v1/models` and `/props`.
    LlamaCpp,
    /// LM Studio: `/api/v0/models`, else `/v1/models`.
    LmStudio,
}

impl LocalServerKind {
    /// All of them.
    pub const ALL: [LocalServerKind; 3] =
        [LocalServerKind::Ollama, LocalServerKind::LlamaCpp, LocalServerKind::LmStudio];

    /// Its name in `models.yml`.
    pub fn name(self) -> &'static str {
        match self {
            LocalServerKind::Ollama => "ollama",
            LocalServerKind::LlamaCpp => "llama.cpp",
            LocalServerKind::LmStudio => "lm-studio",
        }
    }

    /// The wire that it speaks.
    pub fn api(self) -> &'static str {
        match self {
            LocalServerKind::Ollama => "ollama",
            LocalServerKind::LlamaCpp | LocalServerKind::LmStudio => "openai-completions",
        }
    }
}

/// A server to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryTarget {
    /// The provider that it is.
    pub provider: String,
    /// What kind of server.
    pub kind: LocalServerKind,
    /// Where.
    pub base_url: String,
}

/// A model that a server says it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredModel {
    /// The server's name for it.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// It can think.
    pub reasoning: Option<bool>,
    /// It can read images.
    pub images: Option<bool>,
    /// Tokens it can read and write together.
    pub context_window: Option<u64>,
}
