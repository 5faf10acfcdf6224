//! The models that relay knows by itself: the current ones of the large providers. Anything else goes into
//! `models.yml`.
//!
//! Looked up on 2026-11-15 in what the providers publish: Anthropic
//! <https://platform.claude.com/docs/en/models> and <https://platform.claude.com/docs/en/about-claude/pricing>; OpenAI
//! <https://developers.openai.com/api/docs/models>; Google <https://ai.google.dev/gemini-api/docs/pricing> and
//! <https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash>; xAI
//! <https://docs.x.ai/developers/grok-4-6>; DeepSeek <https://api-docs.deepseek.com/quick_start/pricing>.
//! Prices are those of ordinary requests with short prompts: several providers ask more above a length (Anthropic's
//! Haiku above 100 000 tokens, OpenAI's above 272 000, Google's Pro and xAI's above 200 000), so a long conversation
//! costs more than relay says. What could not be found is left out, not guessed.

use crate::models::model::{Model, ModelPrice};
use crate::models::provider::Provider;

#[derive(Debug)]
pub struct CatalogueModel {
    /// [`Provider::id`].
    pub provider: &'static str,
    /// The provider's name for it.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// It can think before it answers.
    pub reasoning: bool,
    /// It can read images.
    pub images: bool,
    /// Tokens it can read and write together.
    pub context_window: u64,
    /// Most tokens it can write.
    pub max_tokens: u64,
    /// US dollars per million tokens: input, output, cache read, cache write.
    pub price: [f64; 4],
}

const fn row(
    provider: &'static str,
    id: &'static str,
    name: &'static str,
    (context_window, max_tokens): (u64, u64),
    price: [f64; 4],
) -> CatalogueModel {
    CatalogueModel { provider, id, name, reasoning: true, images: true, context_window, max_tokens, price }
}

const fn without_images(row: &CatalogueModel) -> CatalogueModel {
    CatalogueModel { images: false, ..*row }
}

const ANTHROPIC: (u64, u64) = (1_000_000, 128_000);
const OPENAI: (u64, u64) = (1_050_000, 128_000);
const GOOGLE: (u64, u64) = (1_048_576, 65_536);
const DEEPSEEK: (u64, u64) = (1_000_000, 384_000);
/// xAI documents no separate limit for output; the window is one.
const XAI: (u64, u64) = (500_000, 500_000);

/// Of each provider, the default comes first.
#[rustfmt::skip]
pub static ALL: &[CatalogueModel] = &[
    row("anthropic", "claude-opus-5-5", "Claude Opus 5.5", ANTHROPIC, [4.0, 20.0, 0.2, 5.0]),
    row("anthropic", "claude-fable-5-1", "Claude Fable 5.1", ANTHROPIC, [10.0, 50.0, 0.25, 12.5]),
    row("anthropic", "claude-sonnet-5-5", "Claude Sonnet 5.5", ANTHROPIC, [2.0, 10.0, 0.1, 2.5]),
    row("anthropic", "claude-haiku-5-5", "Claude Haiku 5.5", ANTHROPIC, [0.1, 0.5, 0.01, 0.125]),
    row("anthropic", "claude-haiku-4-5-20251001", "Claude Haiku 4.5", (200_000, 64_000), [1.0, 5.0, 0.1, 1.25]),
    row("openai", "gpt-6.1-sol", "GPT-6.1 Sol", OPENAI, [2.0, 10.0, 0.1, 2.5]),
    row("openai", "gpt-6-astra", "GPT-6 Astra", OPENAI, [10.0, 50.0, 1.0, 12.5]),
    row("openai", "gpt-6-sol", "GPT-6 Sol", OPENAI, [2.0, 10.0, 0.2, 2.5]),
    row("openai", "gpt-6-luna", "GPT-6 Luna", OPENAI, [0.1, 0.5, 0.01, 0.125]),
    row("google", "gemini-3.8-flash", "Gemini 3.8 Flash", GOOGLE, [0.75, 3.75, 0.075, 0.0]),
    row("google", "gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", GOOGLE, [2.0, 12.0, 0.2, 0.0]),
    row("xai", "grok-4.6", "Grok 4.6", XAI, [2.0, 6.0, 0.5, 0.0]),
    without_images(&row("deepseek", "deepseek-v4-pro", "DeepSeek V4 Pro", DEEPSEEK, [0.435, 0.87, 0.003_625, 0.0])),
    without_images(&row("deepseek", "deepseek-v4-flash", "DeepSeek V4 Flash", DEEPSEEK, [0.14, 0.28, 0.0028, 0.0])),
];

impl CatalogueModel {
    /// This row's model at `provider`.
    pub(crate) fn to_model(&self, provider: &Provider) -> Model {
        let [input, output, cache_read, cache_write] = self.price;
        Model {
            id: self.id.to_string(),
            provider: provider.id.to_string(),
            name: self.name.to_string(),
            api: provider.api.to_string(),
            base_url: provider.base_url.to_string(),
            reasoning: self.reasoning,
            images: self.images,
            price: ModelPrice { input, output, cache_read, cache_write },
            context_window: self.context_window,
            max_tokens: self.max_tokens,
            compat: provider.compat(),
            ..Model::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_has_a_provider_and_sensible_numbers() {
        for row in ALL {
            let provider = Provider::by_id(row.provider).unwrap();
            let model = row.to_model(provider);
            assert!(model.max_tokens <= model.context_window && model.max_tokens > 0, "{}", row.id);
            let ModelPrice { input, output, cache_read, cache_write } = model.price;
            assert!(input > 0.0 && output > input && cache_read < input, "{}", row.id);
            assert!(cache_write == 0.0 || cache_write > input, "{}", row.id);
            assert!(
                ALL.iter().filter(|other| (other.provider, other.id) == (row.provider, row.id)).count() == 1
            );
        }
    }
}
