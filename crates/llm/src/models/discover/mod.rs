//! Model servers on this machine: which models they have.
//!
//! Three kinds are known, each at its usual port. Only this machine is asked, unless `models.yml` names
//! another address. A server that is not there is not an error; answers are bounded, and only names,
//! windows and abilities are taken from them.

mod parse;
mod probe;
#[cfg(test)]
mod tests;

pub use probe::{DiscoveryResult, probe_all};

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryTarget {
    pub provider: String,
    pub kind: LocalServerKind,
    pub base_url: String,
}

/// A model that a server reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredModel {
    /// The server's name for it.
    pub id: String,
    /// For people.
    pub name: Option<String>,
    /// It can think.
    pub reasoning: Option<bool>,
    /// It can read images.
    pub images: Option<bool>,
    /// Tokens it can read and write together.
    pub context_window: Option<u64>,
}
