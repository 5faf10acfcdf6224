//! `relay models test [SELECTOR]`: one tiny request.

use std::time::{Duration, Instant};

use relaycode_llm::message::UserMessage;
use relaycode_llm::models::SelectedModel;
use relaycode_llm::models::keys::KeySource;
use relaycode_llm::request::{CacheRetention, ThinkingLevel};
use relaycode_llm::stream::StreamTimeouts;
use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::{
    AnswerStream, AssistantMessage, ChatRequest, FailureClass, Message, ModelFailure, StreamEvent,
    StreamOptions, StreamStep,
};
use serde_json::json;

use super::choose_model;
use crate::wiring::providers::{new_runtime, wait_for_stop};
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, Providers, SignalGuard, json, providers, render,
    start_spinner,
};

/// Tokens that the answer may have.
const MAX_ANSWER_TOKENS: u64 = 64;
/// What is asked.
const QUESTION: &str = "Answer with the one word: ready";
/// How long it may take.
const TEST_TIMEOUTS: StreamTimeouts = StreamTimeouts {
    first_byte: Duration::from_secs(60),
    idle: Duration::from_secs(30),
    total: Duration::from_secs(120),
};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModelsTestArgs {
    /// Which model; the role `default` if none is named
    #[arg(value_name = "MODEL")]
    selector: Option<String>,

    /// Do not ask the model servers on this machine what they have
    #[arg(long)]
    no_discover: bool,
}

/// How it went.
pub(crate) struct ModelTestResult {
    pub(crate) message: AssistantMessage,
    pub(crate) first_event: Duration,
    pub(crate) total: Duration,
}

impl ModelsTestArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let mut providers = Providers::open(ctx)?;
        let chosen = choose_model(self.selector.as_deref(), !self.no_discover, &mut providers, ctx)?;
        providers.eprint_remarks(ctx);
        let model = &chosen.entry.model;
        let provider = providers.registry.provider(&model.provider);
        let provider = provider.ok_or_else(|| CommandFailure::unexpected("the provider is gone"))?;
        let (auth, source) = providers
            .keyring(None)
            .auth(provider)
            .map_err(|error| CommandFailure::new(Exit::Usage, "key", error))?;
        let options =
            StreamOptions { budget: RetryBudget::NONE, timeouts: TEST_TIMEOUTS, ..StreamOptions::default() };
        let stream = providers::new_client()?.stream(model, auth, test_request(&chosen), options);
        let spinner = start_spinner(ctx, &format!("asking {}", model.selector()));
        let held = SignalGuard::acquire()?;
        let ended = new_runtime()?.block_on(async {
            tokio::select! {
                ended = run_request(stream) => Some(ended),
                // Dropping the stream closes the connection.
                () = wait_for_stop(&held) => None,
            }
        });
        drop(spinner);
        let outcome = ended
            .ok_or_else(CommandFailure::interrupted)?
            .map_err(|failure| model_failure(&chosen, provider.docs, &source, &failure))?;
        let exit = ctx.print_result(Exit::Done, json!({
            "model": model.selector(), "provider": model.provider, "key": render::models::key_source_json(Some(&source)),
            "answer": outcome.message.text(), "stopReason": outcome.message.stop_reason,
            "firstMs": json::millis(outcome.first_event), "totalMs": json::millis(outcome.total),
            "usage": outcome.message.usage,
        }));
        ctx.print_info(&render::models::test_summary(&chosen, &outcome, &ctx.style()));
        Ok(exit)
    }
}

fn test_request(chosen: &SelectedModel) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User(UserMessage::text(QUESTION, 0))],
        thinking: chosen.level.unwrap_or(ThinkingLevel::Off),
        max_tokens: Some(MAX_ANSWER_TOKENS.min(chosen.entry.model.max_tokens)),
        cache: CacheRetention::None,
        ..ChatRequest::default()
    }
}

async fn run_request(mut stream: AnswerStream) -> Result<ModelTestResult, ModelFailure> {
    let began = Instant::now();
    let mut first = None;
    while let Some(step) = stream.next().await {
        let StreamStep::Event(event) = step else { continue };
        first.get_or_insert_with(|| began.elapsed());
        if let StreamEvent::Done { message, .. } = event {
            let total = began.elapsed();
            return Ok(ModelTestResult { message: *message, first_event: first.unwrap_or(total), total });
        }
    }
    Err(stream.failure().cloned().unwrap_or_else(ModelFailure::cut_off))
}

/// What went wrong, and what to do about it: beside what the message says already.
pub(crate) fn model_failure(
    chosen: &SelectedModel,
    docs: &str,
    source: &KeySource,
    failure: &ModelFailure,
) -> CommandFailure {
    let model = &chosen.entry.model;
    let provider = &model.provider;
    let again = || "try again in a minute".to_string();
    let reachable = || {
        format!(
            "try again; if it stays so, is {} the right address, and reachable from here?",
            model.base_url
        )
    };
    let faulty = || format!("try again; if it stays so, the fault is with {provider}");
    let slow =
        || failure.retry_after.map_or_else(again, |wait| format!("try again in {} s", wait.as_secs().max(1)));
    let (exit, kind, hint) = match failure.class {
        FailureClass::Auth => {
            let at = if docs.is_empty() { String::new() } else { format!("; get another at {docs}") };
            let hint = format!("in use: {}{at}", render::models::key_source_text(source));
            (Exit::FriendFailed, "auth", Some(hint))
        }
        FailureClass::Forbidden => {
            let hint = format!("the key is known but may not use {}; see your account", model.id);
            (Exit::FriendFailed, "forbidden", Some(hint))
        }
        FailureClass::NotFound => {
            let hint = format!("`relay models show {}` shows the name and the address", model.selector());
            (Exit::FriendFailed, "notFound", Some(hint))
        }
        FailureClass::BadRequest | FailureClass::ContextOverflow => (Exit::FriendFailed, "badRequest", None),
        FailureClass::Quota => (Exit::FriendFailed, "quota", None),
        FailureClass::RateLimit => (Exit::FriendFailed, "rateLimit", Some(slow())),
        FailureClass::Overloaded => (Exit::FriendFailed, "overloaded", Some(slow())),
        FailureClass::Server => (Exit::FriendFailed, "server", Some(faulty())),
        FailureClass::Network => (Exit::NoAnswer, "network", Some(reachable())),
        FailureClass::Timeout if failure.status.is_some() => (Exit::TimedOut, "timeout", Some(again())),
        FailureClass::Timeout => (Exit::TimedOut, "timeout", Some(reachable())),
        FailureClass::Malformed => (Exit::FriendFailed, "malformed", Some(faulty())),
        FailureClass::TooLarge => (Exit::FriendFailed, "malformed", None),
        FailureClass::Refused => (Exit::FriendFailed, "refused", None),
        FailureClass::Config => (Exit::Usage, "config", None),
        FailureClass::Aborted => (Exit::Interrupted, "interrupted", None),
    };
    let id = failure.request_id.as_ref().map(|id| format!(" (request {id})")).unwrap_or_default();
    let told = CommandFailure::new(exit, kind, format!("{failure}{id}")).place(model.selector());
    CommandFailure { hint, ..told }
}
