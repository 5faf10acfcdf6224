//! `relay models test [SELECTOR]`: one tiny request.

use std::time::{Duration, Instant};

use relaycode_llm::failure::{Class, Failure as ModelFailure};
use relaycode_llm::keys::Source;
use relaycode_llm::message::{Message, UserMessage};
use relaycode_llm::models::Chosen;
use relaycode_llm::request::{CacheTime, Level};
use relaycode_llm::retry::Budget;
use relaycode_llm::stream::Timeouts;
use relaycode_llm::{AssistantMessage, Event, Options, Request, Step, Stream};
use serde_json::json;

use super::choose;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::json;
use crate::providers::{self, Providers, asked, interrupted, runtime, spinner};
use crate::show;
use crate::signals::Held;

/// Tokens that the answer may have.
const ANSWER: u64 = 64;
/// What is asked.
const QUESTION: &str = "Answer with the one word: ready";
/// How long it may take.
const TIMES: Timeouts = Timeouts {
    first_byte: Duration::from_secs(60),
    idle: Duration::from_secs(30),
    total: Duration::from_secs(120),
};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Test {
    /// Which model; the role `default` if none is named
    #[arg(value_name = "MODEL")]
    selector: Option<String>,

    /// Do not ask the model servers on this machine what they have
    #[arg(long)]
    no_discover: bool,
}

/// How it went.
pub(crate) struct Outcome {
    pub(crate) message: AssistantMessage,
    pub(crate) first: Duration,
    pub(crate) total: Duration,
}

impl Test {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut providers = Providers::open(context)?;
        let chosen = choose(self.selector.as_deref(), !self.no_discover, &mut providers, context)?;
        providers.remark(context);
        let model = &chosen.known.model;
        let provider = providers.registry.provider(&model.provider);
        let provider = provider.ok_or_else(|| Failure::unexpected("the provider is gone"))?;
        let (auth, source) = providers
            .keyring(None)
            .auth(provider)
            .map_err(|error| Failure::new(Exit::Usage, "key", error))?;
        let options = Options { budget: Budget::NONE, timeouts: TIMES, ..Options::default() };
        let stream = providers::client()?.stream(model, auth, request(&chosen), options);
        let spinner = spinner(context, &format!("asking {}", model.selector()));
        let held = Held::begin()?;
        let ended = runtime()?.block_on(async {
            tokio::select! {
                ended = ask(stream) => Some(ended),
                // Dropping the stream closes the connection.
                () = asked(&held) => None,
            }
        });
        drop(spinner);
        let outcome = ended
            .ok_or_else(interrupted)?
            .map_err(|failure| failed(&chosen, provider.docs, &source, &failure))?;
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "models", "model": model.selector(),
            "provider": model.provider, "key": show::models::key_object(Some(&source)),
            "answer": outcome.message.text(), "stopReason": outcome.message.stop_reason,
            "firstMs": json::ms(outcome.first), "totalMs": json::ms(outcome.total),
            "usage": outcome.message.usage,
        }));
        let look = context.look();
        context.say(&show::models::tested(&chosen, &outcome, &look));
        Ok(Exit::Done)
    }
}

fn request(chosen: &Chosen) -> Request {
    Request {
        messages: vec![Message::User(UserMessage::text(QUESTION, 0))],
        thinking: chosen.level.unwrap_or(Level::Off),
        max_tokens: Some(ANSWER.min(chosen.known.model.max_tokens)),
        cache: CacheTime::None,
        ..Request::default()
    }
}

async fn ask(mut stream: Stream) -> Result<Outcome, ModelFailure> {
    let began = Instant::now();
    let mut first = None;
    while let Some(step) = stream.next().await {
        let Step::Event(event) = step else { continue };
        first.get_or_insert_with(|| began.elapsed());
        if let Event::Done { message, .. } = event {
            let total = began.elapsed();
            return Ok(Outcome { message: *message, first: first.unwrap_or(total), total });
        }
    }
    Err(stream.failure().cloned().unwrap_or_else(ModelFailure::cut_off))
}

/// What went wrong, and what to do about it: beside what the message says already.
fn failed(chosen: &Chosen, docs: &str, source: &Source, failure: &ModelFailure) -> Failure {
    let model = &chosen.known.model;
    let provider = &model.provider;
    let exit = match failure.class {
        Class::Timeout => Exit::OutOfTime,
        Class::Network => Exit::NoAnswer,
        Class::Config => Exit::Usage,
        Class::Aborted => Exit::Interrupted,
        _ => Exit::Friend,
    };
    let hint = match failure.class {
        Class::Auth => {
            let at = if docs.is_empty() { String::new() } else { format!("; get another at {docs}") };
            Some(format!("in use: {}{at}", show::models::source(source)))
        }
        Class::Forbidden => Some(format!("the key is known but may not use {}; see your account", model.id)),
        Class::NotFound => {
            Some(format!("`relay models show {}` shows the name and the address", model.selector()))
        }
        Class::RateLimit | Class::Overloaded => Some(match failure.retry_after {
            Some(wait) => format!("try again in {} s", wait.as_secs().max(1)),
            None => "try again in a minute".to_string(),
        }),
        Class::Server | Class::Malformed => {
            Some(format!("try again; if it stays so, the fault is with {provider}"))
        }
        Class::Timeout if failure.status.is_some() => Some("try again in a minute".to_string()),
        Class::Network | Class::Timeout => Some(format!(
            "try again; if it stays so, is {} the right address, and reachable from here?",
            model.base_url
        )),
        _ => None,
    };
    let kind = match failure.class {
        Class::Auth => "auth",
        Class::Forbidden => "forbidden",
        Class::NotFound => "notFound",
        Class::BadRequest | Class::ContextOverflow => "badRequest",
        Class::Quota => "quota",
        Class::RateLimit => "rateLimit",
        Class::Overloaded => "overloaded",
        Class::Server => "server",
        Class::Network => "network",
        Class::Timeout => "timeout",
        Class::Malformed | Class::TooLarge => "malformed",
        Class::Refused => "refused",
        Class::Config => "config",
        Class::Aborted => "interrupted",
    };
    let place = model.selector();
    let id = failure.request_id.as_ref().map(|id| format!(" (request {id})")).unwrap_or_default();
    let told = Failure::new(exit, kind, format!("{failure}{id}")).at(place);
    match hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}
