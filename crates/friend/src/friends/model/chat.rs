//! One request to a model, streamed: what it is told, what is heard while it answers, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use relaycode_llm::failure::{FailureClass, ModelFailure as Refusal};
use relaycode_llm::message::{AssistantContent, AssistantMessage, Message, TextContent, UserMessage};
use relaycode_llm::models::RegisteredProvider;
use relaycode_llm::request::Auth;
use relaycode_llm::stream::retry::format_wait;
use relaycode_llm::stream::{StreamRestart, StreamTimeouts};
use relaycode_llm::{
    AnswerStream, CancelToken, ChatRequest, Model, ModelClient, SecretMask, StopReason, StreamEvent as Heard,
    StreamOptions, StreamStep, TokenUsage as Spent, wire,
};
use relaycode_project::access::Access;
use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::width::clip_for_message;

use super::deadline::run_until_expired;
use super::model_choice::ServerModelPick;
use super::unmask::SecretUnmasker;
use super::{ModelServer, failure, model_choice, probe};
use crate::driver::TurnClock;
use crate::{
    AskRequest, EventSink, FriendAnswer, FriendContext, FriendEvent, FriendFailure, FriendUsage,
    PromptExchange, TurnResult,
};

/// The envelope of a prompt tells friends to look into files; this one cannot.
const NO_HANDS: &str = "You are asked for advice by another coding agent. You have no tools: you cannot open files, run \
    commands or look anything up, whatever the request says. Answer from what you are given in this conversation alone. \
    Where something that you would need is missing, say what it is instead of guessing.";
const ANSWER_WITH_A_PATCH: &str = "You cannot change files yourself. Write the changes in exactly the format that the \
    request describes.";

/// How long the connection of an answer that is broken off may take to close.
const CLOSING: Duration = Duration::from_millis(30);
/// Beyond the turn's own limits, which count first.
const SLACK: Duration = Duration::from_secs(60);
/// Bytes that are a token at least; what is said again is cut generously rather than refused.
const TOKEN: usize = 3;
/// Cells of a tool's name in a message.
const SHOWN: usize = 60;
const OFFERED: usize = 3;

pub(super) struct ModelServerTurn<'a> {
    pub(super) server: &'a ModelServer,
    pub(super) request: &'a AskRequest,
    pub(super) world: &'a FriendContext<'a>,
    pub(super) prompt: &'a str,
    pub(super) earlier: &'a [PromptExchange],
}

impl ModelServerTurn<'_> {
    pub(super) async fn run(&self, hear: &mut EventSink<'_>) -> TurnResult {
        let friend = &self.server.provider;
        let provider =
            self.server.provider_entry().ok_or_else(|| self.server.failed("it is gone from models.yml"))?;
        let mut clock = TurnClock::new(friend, self.request.limits);
        let wanted = self.request.model.as_deref();
        let pick = model_choice::choose_model(self.server, provider, wanted, (&clock, self.world)).await?;
        let auth = self.auth(provider)?;
        let mut remarks: Vec<String> = pick.remark.clone().into_iter().collect();
        let request = self.request(&pick, &mut remarks);
        let servers = &self.server.config;
        let client = ModelClient::new(&servers.transport)
            .map_err(|refusal| failure::failure_from_llm(friend, &refusal))?;
        let cancel = CancelToken::default();
        let secrets = servers.secrets.clone();
        let long = self.request.limits.total.saturating_add(SLACK);
        let options = StreamOptions {
            cancel: cancel.clone(),
            budget: servers.registry.file.retry.budget(),
            // The turn's own clock decides; no attempt gives up before it.
            timeouts: StreamTimeouts { first_byte: long, idle: long, total: long },
            restart: if self.request.live_text { StreamRestart::BeforeText } else { StreamRestart::Always },
            secrets: secrets.clone().map(|secrets| secrets as Arc<dyn SecretMask + Send + Sync>),
            ..StreamOptions::default()
        };
        let mut stream = client.stream(&pick.model, auth, request, options);
        let mut ear = ModelEventForwarder {
            hear,
            unmasker: SecretUnmasker::new(secrets.as_deref()),
            transport: transport_name(&pick.model),
            text_blocks: 0,
        };
        let heard = self.read_stream(&mut stream, &pick, &mut clock, &mut ear).await;
        if let Err(failure) = heard {
            cancel.cancel();
            let _ = tokio::time::timeout(CLOSING, stream.finish()).await;
            return Err(failure);
        }
        ear.flush();
        match stream.failure() {
            Some(refusal) => Err(self.failure_for(refusal, &pick)),
            None => self.answer(stream.message(), &pick, remarks),
        }
    }

    /// The key, which a command may have to print.
    fn auth(&self, provider: &RegisteredProvider) -> TurnResult<Auth> {
        let auth = self.server.config.with_keyring(self.world, |keyring| keyring.auth(provider));
        auth.map(|(auth, _)| auth).map_err(|error| failure::missing_key(&provider.id, &error))
    }

    fn request(&self, pick: &ServerModelPick, remarks: &mut Vec<String>) -> ChatRequest {
        let system = match self.request.access {
            Access::ReadOnly => NO_HANDS.to_string(),
            _ => format!("{NO_HANDS} {ANSWER_WITH_A_PATCH}"),
        };
        let earlier = fit_exchanges(self.earlier, self.prompt.len() + system.len(), &pick.model);
        let left_out = self.earlier.len() - earlier.len();
        if left_out > 0 {
            let many = format!("the oldest {left_out} turns");
            let turns = if left_out == 1 { "the oldest turn" } else { &many };
            remarks.push(format!("{turns} of the session did not fit into what {} can read", pick.model.id));
        }
        let mut messages = Vec::new();
        for exchange in earlier {
            messages.push(Message::User(UserMessage::text(&exchange.asked, 0)));
            messages.push(Message::Assistant(past_answer(&exchange.answered, &pick.model)));
        }
        messages.push(Message::User(UserMessage::text(self.prompt, 0)));
        ChatRequest { system: Some(system), messages, thinking: pick.level, ..ChatRequest::default() }
    }

    /// Hears all of the answer. Fails only if it is broken off from here.
    async fn read_stream(
        &self,
        stream: &mut AnswerStream,
        pick: &ServerModelPick,
        clock: &mut TurnClock<'_>,
        ear: &mut ModelEventForwarder<'_, '_>,
    ) -> TurnResult<()> {
        while let Some(step) = run_until_expired(clock, self.world, stream.next()).await? {
            clock.mark_alive();
            match step {
                StreamStep::Event(event) => ear.forward_event(event),
                StreamStep::Retrying { attempt, max_attempts: of, wait, failure } => {
                    // Nobody waits for a server that is not running, nor for a time that is not left.
                    let is_network = failure.class == FailureClass::Network;
                    let gone = is_network && probe::nobody_listens(&pick.model.base_url);
                    if gone || wait >= clock.remaining() {
                        return Err(self.failure_for(&failure, pick));
                    }
                    clock.allow_silence(wait);
                    ear.restart();
                    let friend = &self.server.provider;
                    let said = failure::strip_friend_name(friend, &failure.message_with_wait());
                    let again = format!("{said}; attempt {attempt} of {of} in {}", format_wait(wait));
                    (ear.hear)(FriendEvent::Retrying(again));
                }
            }
        }
        Ok(())
    }

    fn failure_for(&self, refusal: &Refusal, pick: &ServerModelPick) -> FriendFailure {
        let mut refusal = refusal.clone();
        if refusal.class == FailureClass::NotFound {
            let registry = &self.server.config.registry;
            let known = registry.models_of(&self.server.provider).map(|known| known.model.id.as_str());
            let others = known.filter(|id| *id != pick.model.id);
            let more = match &pick.available {
                Some(names) => model_choice::available_models_hint(names),
                None => did_you_mean(&nearest_names(&pick.model.id, others, OFFERED)),
            };
            refusal.message = format!("{}{more}", refusal.message.trim_end_matches('.'));
        }
        failure::failure_from_llm(&self.server.provider, &refusal)
    }

    fn answer(
        &self,
        message: &AssistantMessage,
        pick: &ServerModelPick,
        mut remarks: Vec<String>,
    ) -> TurnResult {
        let secrets = self.server.config.secrets.as_deref();
        let text = message.text();
        let text = secrets.map_or_else(|| text.clone(), |secrets| secrets.unmask_text(&text).into_owned());
        let cut = message.stop_reason == StopReason::Length;
        let calls = message.tool_calls().map(|call| clip_for_message(&call.name, SHOWN));
        let calls: Vec<String> = calls.collect();
        if text.trim().is_empty() {
            let said = match (cut, calls.first()) {
                (true, _) => "it reached the most that it may write before it said anything".to_string(),
                (false, Some(call)) => format!("it only called a tool `{call}`, and it has none"),
                (false, None) if has_thinking(message) => "it only thought".to_string(),
                (false, None) => String::new(),
            };
            return Err(FriendFailure::NoAnswer { friend: self.server.provider.clone(), said });
        }
        if cut {
            remarks.push("the answer is cut off: it reached the most that it may write".to_string());
        }
        if !calls.is_empty() {
            let calls = calls.join(", ");
            remarks.push(format!("it called {calls}, which it was not offered; that was ignored"));
        }
        let model = if message.model.is_empty() { &pick.model.id } else { &message.model };
        Ok(FriendAnswer {
            text,
            model: Some(model.clone()),
            usage: Some(usage_from_llm(&message.usage)).filter(|usage| *usage != FriendUsage::default()),
            transport: transport_name(&pick.model),
            remarks,
            ..FriendAnswer::default()
        })
    }
}

struct ModelEventForwarder<'h, 's> {
    hear: &'h mut dyn FnMut(FriendEvent),
    unmasker: SecretUnmasker<'s>,
    transport: &'static str,
    /// Pieces of text so far: a line end stands between two.
    text_blocks: usize,
}

impl ModelEventForwarder<'_, '_> {
    fn forward_event(&mut self, event: Heard) {
        match event {
            Heard::Start => (self.hear)(FriendEvent::Ready { transport: self.transport }),
            Heard::TextStart { .. } => {
                self.text_blocks += 1;
                if self.text_blocks > 1 {
                    self.text("\n".to_string());
                }
            }
            Heard::TextDelta { delta, .. } => self.text(delta),
            Heard::ThinkingDelta { delta, .. } => (self.hear)(FriendEvent::Thinking(delta)),
            _ => {}
        }
    }

    fn text(&mut self, words: String) {
        let clear = self.unmasker.push(words);
        self.forward_text(clear);
    }

    /// The answer begins anew.
    fn restart(&mut self) {
        self.unmasker.finish();
        if std::mem::take(&mut self.text_blocks) > 0 {
            (self.hear)(FriendEvent::AnswerRestarted);
        }
    }

    fn flush(&mut self) {
        let rest = self.unmasker.finish();
        self.forward_text(rest);
    }

    fn forward_text(&mut self, text: String) {
        if !text.is_empty() {
            (self.hear)(FriendEvent::Text(text));
        }
    }
}

fn transport_name(model: &Model) -> &'static str {
    wire::by_id(&model.api).map_or("http", |wire| wire.id())
}

/// The latest turns that fit into what a model can read, beside a prompt of so many bytes and an answer.
fn fit_exchanges<'e>(earlier: &'e [PromptExchange], prompt: usize, model: &Model) -> &'e [PromptExchange] {
    let window = usize::try_from(model.context_window).unwrap_or(usize::MAX);
    let answer = usize::try_from(model.max_tokens).unwrap_or(usize::MAX).min(window / 4);
    let mut room = (window - answer).saturating_mul(TOKEN).saturating_sub(prompt);
    let mut from = earlier.len();
    while from > 0 && earlier[from - 1].len() <= room {
        from -= 1;
        room -= earlier[from].len();
    }
    &earlier[from..]
}

fn past_answer(text: &str, model: &Model) -> AssistantMessage {
    AssistantMessage {
        content: vec![AssistantContent::Text(TextContent { text: text.to_string(), text_signature: None })],
        api: model.api.clone(),
        provider: model.provider.clone(),
        model: model.id.clone(),
        response_id: None,
        usage: Spent::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
    }
}

fn has_thinking(message: &AssistantMessage) -> bool {
    message.content.iter().any(|content| matches!(content, AssistantContent::Thinking(_)))
}

fn usage_from_llm(spent: &Spent) -> FriendUsage {
    FriendUsage { input: spent.input + spent.cache_read + spent.cache_write, output: spent.output }
}
