//! The model of a run and those that go on where it fails, each with its key.

use std::time::Duration;

use relaycode_agent::{AgentModel, AutoRetrySettings};
use relaycode_llm::models::RetrySettings;
use relaycode_llm::models::keys::KeySource;
use relaycode_llm::models::{ModelRole, SelectedModel};
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::stream::retry::RetryBudget;

use crate::commands::models::choose_model;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Providers};

/// What was chosen for a run.
pub(crate) struct RunModels {
    pub(crate) chosen: SelectedModel,
    pub(crate) first: AgentModel,
    pub(crate) key_source: KeySource,
    /// Where the provider's keys are made.
    pub(crate) docs: &'static str,
    pub(crate) fallbacks: Vec<AgentModel>,
    pub(crate) retry: AutoRetrySettings,
    pub(crate) request_budget: RetryBudget,
}

/// What the user and the session say about the model.
pub(crate) struct ModelWish<'a> {
    pub(crate) selector: Option<&'a str>,
    pub(crate) thinking: Option<ThinkingLevel>,
    /// What the session had: it goes on with that.
    pub(crate) session_model: Option<&'a str>,
    pub(crate) session_thinking: Option<ThinkingLevel>,
}

pub(crate) fn choose_models(
    wish: &ModelWish<'_>,
    providers: &mut Providers,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<RunModels> {
    providers.eprint_remarks(ctx);
    let chosen = match (wish.selector, wish.session_model) {
        (Some(selector), _) => choose_model(Some(selector), true, providers, ctx)?,
        (None, Some(model)) => match choose_model(Some(model), true, providers, ctx) {
            Ok(chosen) => chosen,
            Err(_) => {
                let said = format!("the session's model {model} is not there any more; another one goes on");
                ctx.eprint_remark(LogLevel::Warn, &said);
                choose_model(None, true, providers, ctx)?
            }
        },
        (None, None) => choose_model(None, true, providers, ctx)?,
    };
    let (first, key_source, docs) = with_key(&chosen, wish, providers)?;
    let mut fallbacks = Vec::new();
    let chain = providers.registry.file.fallback_chains.get(&ModelRole::Default).cloned().unwrap_or_default();
    for selector in chain {
        let next = choose_model(Some(&selector), false, providers, ctx)?;
        if next.entry.model.selector() != chosen.entry.model.selector() {
            fallbacks.push(with_key(&next, wish, providers)?.0);
        }
    }
    let file = &providers.registry.file;
    Ok(RunModels {
        retry: auto_retry(file.retry, file.reverts_fallback),
        request_budget: RetryBudget { max_retries: u32::MAX, ..file.retry.budget() },
        chosen,
        first,
        key_source,
        docs,
        fallbacks,
    })
}

fn with_key(
    chosen: &SelectedModel,
    wish: &ModelWish<'_>,
    providers: &Providers,
) -> CommandResult<(AgentModel, KeySource, &'static str)> {
    let model = chosen.entry.model.clone();
    let provider = providers.registry.provider(&model.provider);
    let provider = provider.ok_or_else(|| CommandFailure::unexpected("the provider is gone"))?;
    let (auth, source) = providers.keyring(None).auth(provider).map_err(|error| {
        CommandFailure::new(Exit::Usage, "key", error)
            .hint(format!("`relay keys set {}` stores one", provider.id))
    })?;
    let usual = if model.reasoning { ThinkingLevel::Medium } else { ThinkingLevel::Off };
    let thinking = wish.thinking.or(chosen.level).or(wish.session_thinking).unwrap_or(usual);
    Ok((AgentModel { model, auth, thinking }, source, provider.docs))
}

fn auto_retry(said: RetrySettings, reverts: Option<bool>) -> AutoRetrySettings {
    let usual = AutoRetrySettings::default();
    AutoRetrySettings {
        enabled: said.enabled.unwrap_or(usual.enabled),
        max_retries: said.max_retries.and_then(|many| many.try_into().ok()).unwrap_or(usual.max_retries),
        base_delay: said.base_delay_ms.map_or(usual.base_delay, Duration::from_millis),
        max_delay: said.max_delay_ms.map_or(usual.max_delay, Duration::from_millis),
        revert_fallback: reverts.unwrap_or(usual.revert_fallback),
    }
}
