//! One request to a model, streamed: what it is told, what is heard while it answers, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use relaycode_llm::failure::{Class, Failure as Refusal};
use relaycode_llm::message::{AssistantContent, AssistantMessage, Message, Text, UserMessage};
use relaycode_llm::models::Registered;
use relaycode_llm::request::Auth;
use relaycode_llm::retry::spoken;
use relaycode_llm::stream::Timeouts;
use relaycode_llm::{
    Cancel, Client, Event as Heard, Model, Options, Request, Step, StopReason, Stream, Usage as Spent, Veil,
    wire,
};
use relaycode_project::access::Access;
use relaycode_text::nearest::{meant, nearest};
use relaycode_text::width::shown;

use super::choose::{self, Pick};
use super::clock::during;
use super::veiled::Veiled;
use super::{ModelServer, failed, reach};
use crate::answer::{Answer, Usage};
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::Failure;
use crate::turn::{Exchange, Turn};
use crate::world::World;

/// The envelope of a prompt tells friends to look into files; this one cannot.
const NO_HANDS: &str = "You are asked for advice by another coding agent. You have no tools: you cannot open files, run \
    commands or look anything up, whatever the request says. Answer from what you are given in this conversation alone. \
    Where something that you would need is missing, say what it is instead of guessing.";
/// It cannot change anything either.
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
/// Models that a message offers.
const OFFERED: usize = 3;

/// A turn of a model server.
pub(super) struct Asking<'a> {
    pub(super) server: &'a ModelServer,
    pub(super) turn: &'a Turn,
    pub(super) world: &'a World<'a>,
    pub(super) prompt: &'a str,
    /// What was said before.
    pub(super) earlier: &'a [Exchange],
}

impl Asking<'_> {
    pub(super) async fn run(&self, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        let friend = &self.server.provider;
        let provider =
            self.server.registered().ok_or_else(|| self.server.failed("it is gone from models.yml"))?;
        let mut clock = Clock::new(friend, self.turn.limits);
        let pick =
            choose::pick(self.server, provider, self.turn.model.as_deref(), (&clock, self.world)).await?;
        let auth = self.auth(provider)?;
        let mut remarks: Vec<String> = pick.remark.clone().into_iter().collect();
        let request = self.request(&pick, &mut remarks);
        let servers = &self.server.servers;
        let client = Client::new(&servers.transport).map_err(|refusal| failed::meant(friend, &refusal))?;
        let cancel = Cancel::default();
        let secrets = servers.secrets.clone();
        let options = Options {
            cancel: cancel.clone(),
            budget: servers.registry.file.retry.budget(),
            timeouts: patient(self.turn),
            secrets: secrets.clone().map(|secrets| secrets as Arc<dyn Veil + Send + Sync>),
            ..Options::default()
        };
        let mut stream = client.stream(&pick.model, auth, request, options);
        let mut ear = Ear { hear, veiled: Veiled::new(secrets.as_deref()), way: way(&pick.model), texts: 0 };
        let heard = self.listen(&mut stream, &pick, &mut clock, &mut ear).await;
        if let Err(failure) = heard {
            cancel.cancel();
            let _ = tokio::time::timeout(CLOSING, stream.finish()).await;
            return Err(failure);
        }
        ear.end();
        match stream.failure() {
            Some(refusal) => Err(self.refused(refusal, &pick)),
            None => self.answer(stream.message(), &pick, remarks),
        }
    }

    /// The key, which a command may have to print.
    fn auth(&self, provider: &Registered) -> Result<Auth, Failure> {
        let auth = self.server.servers.with_keyring(self.world, |keyring| keyring.auth(provider));
        auth.map(|(auth, _)| auth).map_err(|error| failed::no_key(&provider.id, &error))
    }

    fn request(&self, pick: &Pick, remarks: &mut Vec<String>) -> Request {
        let system = match self.turn.access {
            Access::ReadOnly => NO_HANDS.to_string(),
            _ => format!("{NO_HANDS} {ANSWER_WITH_A_PATCH}"),
        };
        let earlier = fitting(self.earlier, self.prompt.len() + system.len(), &pick.model);
        let left_out = self.earlier.len() - earlier.len();
        if left_out > 0 {
            let turns = if left_out == 1 {
                "the oldest turn".to_string()
            } else {
                format!("the oldest {left_out} turns")
            };
            remarks.push(format!("{turns} of the session did not fit into what {} can read", pick.model.id));
        }
        let mut messages = Vec::new();
        for exchange in earlier {
            messages.push(Message::User(UserMessage::text(&exchange.asked, 0)));
            messages.push(Message::Assistant(said_before(&exchange.answered, &pick.model)));
        }
        messages.push(Message::User(UserMessage::text(self.prompt, 0)));
        Request { system: Some(system), messages, thinking: pick.level, ..Request::default() }
    }

    /// Hears all of the answer. Fails only if it is broken off from here.
    async fn listen(
        &self,
        stream: &mut Stream,
        pick: &Pick,
        clock: &mut Clock<'_>,
        ear: &mut Ear<'_, '_>,
    ) -> Result<(), Failure> {
        while let Some(step) = during(clock, self.world, stream.next()).await? {
            clock.lives();
            match step {
                Step::Event(event) => ear.event(event),
                Step::Retrying { attempt, of, wait, failure } => {
                    // Nobody waits for a server that is not running, nor for a time that is not left.
                    let gone = failure.class == Class::Network && reach::nobody_listens(&pick.model.base_url);
                    if gone || wait >= clock.left() {
                        return Err(self.refused(&failure, pick));
                    }
                    clock.waits(wait);
                    let said = failed::own_words(&self.server.provider, &failure.told());
                    let again = format!("{said}; attempt {attempt} of {of} in {}", spoken(wait));
                    (ear.hear)(Event::Retrying(again));
                }
            }
        }
        Ok(())
    }

    fn refused(&self, refusal: &Refusal, pick: &Pick) -> Failure {
        let mut refusal = refusal.clone();
        if refusal.class == Class::NotFound {
            let registry = &self.server.servers.registry;
            let known = registry.models_of(&self.server.provider).map(|known| known.model.id.as_str());
            let more = match &pick.has {
                Some(names) => choose::instead(Some(names)),
                None => meant(&nearest(&pick.model.id, known.filter(|id| *id != pick.model.id), OFFERED)),
            };
            refusal.message = format!("{}{more}", refusal.message.trim_end_matches('.'));
        }
        failed::meant(&self.server.provider, &refusal)
    }

    fn answer(
        &self,
        message: &AssistantMessage,
        pick: &Pick,
        mut remarks: Vec<String>,
    ) -> Result<Answer, Failure> {
        let secrets = self.server.servers.secrets.as_deref();
        let text = message.text();
        let text = secrets.map_or_else(|| text.clone(), |secrets| secrets.show_text(&text).into_owned());
        let cut = message.stop_reason == StopReason::Length;
        let calls: Vec<String> = message.tool_calls().map(|call| shown(&call.name, SHOWN)).collect();
        if text.trim().is_empty() {
            let said = match (cut, calls.first()) {
                (true, _) => "it reached the most that it may write before it said anything".to_string(),
                (false, Some(call)) => format!("it only called a tool `{call}`, and it has none"),
                (false, None) if thought(message) => "it only thought".to_string(),
                (false, None) => String::new(),
            };
            return Err(Failure::NoAnswer { friend: self.server.provider.clone(), said });
        }
        if cut {
            remarks.push("the answer is cut off: it reached the most that it may write".to_string());
        }
        if !calls.is_empty() {
            remarks
                .push(format!("it called {}, which it was not offered; that was ignored", calls.join(", ")));
        }
        let model = if message.model.is_empty() { &pick.model.id } else { &message.model };
        Ok(Answer {
            text,
            model: Some(model.clone()),
            usage: Some(used(&message.usage)).filter(|usage| *usage != Usage::default()),
            way: way(&pick.model),
            remarks,
            ..Answer::default()
        })
    }
}

/// Hears what a model says, and says it on.
struct Ear<'h, 's> {
    hear: &'h mut dyn FnMut(Event),
    veiled: Veiled<'s>,
    way: &'static str,
    /// Pieces of text so far: a line end stands between two.
    texts: usize,
}

impl Ear<'_, '_> {
    fn event(&mut self, event: Heard) {
        match event {
            Heard::Start => {
                (self.hear)(Event::Ready { way: self.way });
            }
            Heard::TextStart { .. } => {
                self.texts += 1;
                if self.texts > 1 {
                    self.text("\n".to_string());
                }
            }
            Heard::TextDelta { delta, .. } => self.text(delta),
            Heard::ThinkingDelta { delta, .. } => (self.hear)(Event::Thinking(delta)),
            _ => {}
        }
    }

    fn text(&mut self, words: String) {
        let clear = self.veiled.more(words);
        if !clear.is_empty() {
            (self.hear)(Event::Text(clear));
        }
    }

    fn end(&mut self) {
        let rest = self.veiled.rest();
        if !rest.is_empty() {
            (self.hear)(Event::Text(rest));
        }
    }
}

/// The turn's own clock decides; no attempt gives up before it.
fn patient(turn: &Turn) -> Timeouts {
    let long = turn.limits.total.saturating_add(SLACK);
    Timeouts { first_byte: long, idle: long, total: long }
}

/// By which wire it is reached.
fn way(model: &Model) -> &'static str {
    wire::by_id(&model.api).map_or("http", |wire| wire.id())
}

/// The latest turns that fit into what a model can read, beside a prompt of so many bytes and an answer.
fn fitting<'e>(earlier: &'e [Exchange], prompt: usize, model: &Model) -> &'e [Exchange] {
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

fn said_before(text: &str, model: &Model) -> AssistantMessage {
    AssistantMessage {
        content: vec![AssistantContent::Text(Text { text: text.to_string(), text_signature: None })],
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

fn thought(message: &AssistantMessage) -> bool {
    message.content.iter().any(|content| matches!(content, AssistantContent::Thinking(_)))
}

fn used(spent: &Spent) -> Usage {
    Usage { input: spent.input + spent.cache_read + spent.cache_write, output: spent.output }
}
