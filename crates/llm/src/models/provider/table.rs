//! The providers, one row each; the address for people beside them says where a key comes from.
//!
//! Where addresses and names of variables come from, as of November 2026. The provider's own documentation: DeepSeek
//! (api-docs.deepseek.com), GitHub Models (docs.github.com/rest/models), Groq (console.groq.com/docs/openai), LM Studio
//! (lmstudio.ai/docs), Ollama (docs.ollama.com), OpenRouter (openrouter.ai/docs), Together
//! (docs.together.ai/docs/inference/openai-compatibility), xAI (docs.x.ai/api/integrations), Z.ai (docs.z.ai; the name of
//! its variable from others). The pages that the wires name: Anthropic, Google, OpenAI. What several programs that speak
//! with them agree on, their own pages not having been at hand: Cerebras, Fireworks, llama.cpp, Mistral, Moonshot, Vercel.
//! Not verified with the providers: anybody who finds a row wrong overrides it with `baseUrl` in
//! models.yml.

use super::Provider;
use crate::models::{discover::LocalServerKind, model::ThinkingFormat};

const fn row(
    id: &'static str,
    name: &'static str,
    api: &'static str,
    base_url: &'static str,
    variables: &'static [&'static str],
    docs: &'static str,
) -> Provider {
    Provider { id, name, api, base_url, variables, docs, thinking: None, local: None }
}

const fn thinking(provider: &Provider, format: ThinkingFormat) -> Provider {
    Provider { thinking: Some(format), ..*provider }
}

const fn local(
    id: &'static str,
    name: &'static str,
    api: &'static str,
    url: &'static str,
    kind: LocalServerKind,
) -> Provider {
    Provider { local: Some(kind), ..row(id, name, api, url, &[], "") }
}

const COMPLETIONS: &str = "openai-completions";

/// In order of preference.
#[rustfmt::skip]
pub static ALL: &[Provider] = &[
    row("anthropic", "Anthropic", "anthropic-messages", "https://api.anthropic.com",
        &["ANTHROPIC_API_KEY"], "https://platform.claude.com/settings/keys"),
    row("openai", "OpenAI", "openai-responses", "https://api.openai.com/v1",
        &["OPENAI_API_KEY"], "https://platform.openai.com/api-keys"),
    row("google", "Google Gemini", "google-generative-ai", "https://generativelanguage.googleapis.com/v1beta",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"], "https://aistudio.google.com/apikey"),
    row("xai", "xAI", COMPLETIONS, "https://api.x.ai/v1",
        &["XAI_API_KEY"], "https://console.x.ai"),
    row("deepseek", "DeepSeek", COMPLETIONS, "https://api.deepseek.com",
        &["DEEPSEEK_API_KEY"], "https://platform.deepseek.com/api_keys"),
    row("mistral", "Mistral", COMPLETIONS, "https://api.mistral.ai/v1",
        &["MISTRAL_API_KEY"], "https://console.mistral.ai/api-keys"),
    thinking(&row("zai", "Z.ai", COMPLETIONS, "https://api.z.ai/api/paas/v4",
        &["ZAI_API_KEY"], "https://z.ai/manage-apikey/apikey-list"), ThinkingFormat::Zai),
    row("moonshot", "Moonshot", COMPLETIONS, "https://api.moonshot.ai/v1",
        &["MOONSHOT_API_KEY"], "https://platform.moonshot.ai/console/api-keys"),
    row("groq", "Groq", COMPLETIONS, "https://api.groq.com/openai/v1",
        &["GROQ_API_KEY"], "https://console.groq.com/keys"),
    row("cerebras", "Cerebras", COMPLETIONS, "https://api.cerebras.ai/v1",
        &["CEREBRAS_API_KEY"], "https://cloud.cerebras.ai"),
    row("together", "Together", COMPLETIONS, "https://api.together.ai/v1",
        &["TOGETHER_API_KEY"], "https://api.together.ai/settings/api-keys"),
    row("fireworks", "Fireworks", COMPLETIONS, "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"], "https://app.fireworks.ai/settings/users/api-keys"),
    thinking(&row("openrouter", "OpenRouter", COMPLETIONS, "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"], "https://openrouter.ai/settings/keys"), ThinkingFormat::Openrouter),
    row("vercel-gateway", "Vercel AI Gateway", COMPLETIONS, "https://ai-gateway.vercel.sh/v1",
        &["AI_GATEWAY_API_KEY"], "https://vercel.com/docs/ai-gateway"),
    row("github-models", "GitHub Models", COMPLETIONS, "https://models.github.ai/inference",
        &["GITHUB_MODELS_TOKEN", "GITHUB_TOKEN"], "https://github.com/settings/tokens"),
    local("ollama", "Ollama", "ollama", "http://127.0.0.1:11434", LocalServerKind::Ollama),
    local("llama.cpp", "llama.cpp", COMPLETIONS, "http://127.0.0.1:8080/v1", LocalServerKind::LlamaCpp),
    local("lm-studio", "LM Studio", COMPLETIONS, "http://127.0.0.1:1234/v1", LocalServerKind::LmStudio),
];
