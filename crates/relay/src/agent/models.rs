//! The model of a run and those that go on where it fails, each with its key.

use std::time::Duration;

use relaycode_agent::{AgentModel, AutoRetrySettings};
use relaycode_llm::models::RetrySettings;
use relaycode_llm::models::keys::KeySource;
use relaycode_llm::models::provider::Provider;
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

impl RunModels {
    /// The first of them of which nobody knows what it costs. A server on this machine costs nothing.
    pub(crate) fn unpriced(&self) -> Option<String> {
        let is_unpriced = |model: &&AgentModel| {
            let price = model.model.price;
            let is_local = Provider::by_id(&model.model.provider).is_some_and(|known| known.local.is_some());
            price.input == 0.0 && price.output == 0.0 && !is_local
        };
        std::iter::once(&self.first)
            .chain(&self.fallbacks)
            .find(is_unpriced)
            .map(|model| model.model.selector())
    }
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
    let (mut first, key_source, docs) = with_key(&chosen, wish, providers)?;
    first.promotion = find_promotion(&first, wish, providers, ctx);
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

/// The model that goes on when the window of this one is full, as `models.yml` says: of the same provider, and reading more.
fn find_promotion(
    from: &AgentModel,
    wish: &ModelWish<'_>,
    providers: &mut Providers,
    ctx: &mut CommandContext<'_>,
) -> Option<Box<AgentModel>> {
    let target = from.model.context_promotion_target.as_deref()?;
    let provider = &from.model.provider;
    let id = target.strip_prefix(&format!("{provider}/")).unwrap_or(target);
    let chosen = choose_model(Some(&format!("{provider}/{id}")), false, providers, ctx);
    let chosen = chosen.ok().filter(|chosen| chosen.entry.model.provider == *provider);
    let Some(chosen) = chosen.filter(|chosen| chosen.entry.model.id == id) else {
        let said = format!(
            "{provider} has no model `{id}`, so contextPromotionTarget of {} does nothing",
            from.model.id
        );
        ctx.eprint_remark(LogLevel::Warn, &said);
        return None;
    };
    if chosen.entry.model.context_window <= from.model.context_window {
        let said =
            format!("{id} reads no more than {}, so contextPromotionTarget does nothing", from.model.id);
        ctx.eprint_remark(LogLevel::Warn, &said);
        return None;
    }
    Some(Box::new(with_key(&chosen, wish, providers).ok()?.0))
}

/// The model for small tasks, if the user chose one and it has a key.
pub(crate) fn choose_small_model(
    providers: &mut Providers,
    ctx: &mut CommandContext<'_>,
) -> Option<AgentModel> {
    let is_chosen = providers.registry.file.roles.contains_key(&ModelRole::Smol);
    let chosen =
        is_chosen.then(|| choose_model(Some(ModelRole::Smol.name()), false, providers, ctx).ok())??;
    let wish = ModelWish {
        selector: None,
        thinking: None,
        session_model: None,
        session_thinking: Some(ThinkingLevel::Off),
    };
    with_key(&chosen, &wish, providers).ok().map(|(model, ..)| model)
}

fn with_key(
    chosen: &SelectedModel,
    wish: &ModelWish<'_>,
    providers: &Providers,
) -> CommandResult<(AgentModel, KeySource, &'static str)> {
    let model = chosen.entry.model.clone();
    let provider = providers.registry.provider(&model.provider);
    let provider = provider.ok_or_else(|| CommandFailure::unexpected("the provider is gone"))?;
    let mut keys = providers.keyring(None).auths(provider).map_err(|error| {
        CommandFailure::new(Exit::Usage, "key", error)
            .hint(format!("`relay keys set {}` stores one", provider.id))
    })?;
    let (auth, source) = keys.remove(0);
    let other_keys = keys.into_iter().map(|(auth, _)| auth).collect();
    let usual = if model.reasoning { ThinkingLevel::Medium } else { ThinkingLevel::Off };
    let thinking = wish.thinking.or(chosen.level).or(wish.session_thinking).unwrap_or(usual);
    Ok((AgentModel { model, auth, other_keys, thinking, promotion: None }, source, provider.docs))
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
