//! A model's answer while it comes, pulled by whoever reads it.
//!
//! Nothing happens in the background: [`Stream::next`] connects, reads, waits and asks again. So a reader that is slow slows
//! the provider, and one that goes away closes the connection. Between two calls nothing is lost, also if a call is
//! dropped before it was through.
//! Invariant: one last event, whatever happens; deltas wait no longer than [`Options::delta_interval`]; an answer of which
//! something was seen is never asked for again.

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use relaycode_text::redact::Redactor;
use reqwest::Response;
use tokio::time::{Instant, sleep_until, timeout};

use crate::decode::Decode;
use crate::event::Event;
use crate::failure::classify::{self, BODY_MOST as DOCUMENT_MOST};
use crate::failure::{Class, Failure};
use crate::message::{AssistantMessage, ToolCall};
use crate::model::Model;
use crate::names::Names;
use crate::request::{Auth, Call, Request};
use crate::retry::{Budget, Phase, Retries};
use crate::transport::{self, Client, Letter};
use crate::wire::Wire;

mod attempt;
mod options;

use attempt::{Attempt, Look, look_at};
pub use options::{Options, Timeouts};

/// Bytes that a whole answer may have on the wire.
pub const BODY_MOST: usize = 256 << 20;

/// What comes out of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Something happened in the answer.
    Event(Event),
    /// It failed before anything was seen of it, and is asked for again after a wait that begins now.
    Retrying {
        /// Which retry it is, from 1.
        attempt: u32,
        /// Of how many.
        of: u32,
        /// How long is waited before it.
        wait: Duration,
        /// Why.
        failure: Failure,
    },
}

/// A model's answer while it comes.
pub struct Stream {
    /// What is needed to ask; `None` if it cannot be asked.
    asking: Option<Asking>,
    options: Options,
    redactor: Redactor,
    decode: Decode,
    retries: Retries,
    state: State,
    /// `start` was handed out.
    started: bool,
    last_delta: Option<Instant>,
    request_id: Option<String>,
}

struct Asking {
    client: Client,
    wire: &'static dyn Wire,
    model: Model,
    auth: Auth,
    request: Request,
    names: Names,
    letter: Arc<Letter>,
}

enum State {
    Ready,
    Connecting(Attempt, Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>),
    Open(Attempt, Response),
    Waiting(Instant),
    Over,
}

impl Stream {
    pub(crate) fn new(
        client: Client,
        wire: &'static dyn Wire,
        model: &Model,
        auth: Auth,
        mut request: Request,
        options: Options,
    ) -> Stream {
        if let Some(veil) = &options.secrets {
            veil.hide(&mut request);
        }
        let names = Names::fit(&mut request);
        // A server may repeat what it was sent.
        let mut known: Vec<String> = model.headers.values().cloned().collect();
        if let Auth::Key(key) = &auth {
            known.push(key.clone());
        }
        let redactor = Redactor::with_values(&known);
        let call = Call { model, auth: &auth, request: &request };
        let letter = transport::check_key(&auth, &model.provider)
            .and_then(|()| wire.request(&call))
            .map(|post| transport::with_bearer(post, &call))
            .and_then(|post| Letter::new(post, model, wire.framing()))
            .and_then(|letter| transport::check_way(letter, &call));
        match letter {
            Ok(letter) => Stream {
                decode: Decode::new(wire, &call, now())
                    .with_veil(options.secrets.clone())
                    .with_names(names.clone()),
                retries: Retries::new(options.budget),
                asking: Some(Asking {
                    client,
                    wire,
                    model: model.clone(),
                    auth,
                    request,
                    names,
                    letter: Arc::new(letter),
                }),
                redactor,
                state: State::Ready,
                started: false,
                last_delta: None,
                request_id: None,
                options,
            },
            Err(failure) => Stream { options, ..Stream::failed(model, clean(redactor, failure)) },
        }
    }

    /// An answer that cannot be asked for.
    pub(crate) fn failed(model: &Model, failure: Failure) -> Stream {
        Stream {
            decode: Decode::failed(model, now(), failure),
            retries: Retries::new(Budget::NONE),
            asking: None,
            redactor: Redactor::default(),
            options: Options::default(),
            state: State::Over,
            started: false,
            last_delta: None,
            request_id: None,
        }
    }

    /// What comes next; `None` behind the last event. May be dropped before it is through: nothing is lost.
    pub async fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(event) = self.event() {
                return Some(Step::Event(event));
            }
            if let State::Over = self.state {
                return None;
            }
            if let Some(step) = self.advance().await {
                return Some(step);
            }
        }
    }

    /// Reads to the end, and gives the message that came of it. Whether it is whole says its stop reason, and
    /// [`Stream::failure`].
    pub async fn finish(&mut self) -> &AssistantMessage {
        while self.next().await.is_some() {}
        self.message()
    }

    /// The message so far.
    pub fn message(&mut self) -> &AssistantMessage {
        self.decode.assembly().message()
    }

    /// Why the answer is not whole, once the last event is there.
    pub fn failure(&self) -> Option<&Failure> {
        self.decode.failure()
    }

    /// Places of tool calls that must not be run, since their arguments are not whole:
    /// [`crate::Assembly::malformed`].
    pub fn malformed(&mut self) -> &[usize] {
        self.decode.assembly().malformed()
    }

    /// The tools that it wants to be run, once the last event is there, each with whether its arguments are whole. One that
    /// is not is answered with an error and not run.
    pub fn calls(&mut self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.decode.assembly().calls()
    }

    /// The provider's own name for the request, once it has answered.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// The next event that need not wait.
    fn event(&mut self) -> Option<Event> {
        loop {
            let due = self.flush_at().is_some_and(|at| at <= Instant::now());
            let assembly = self.decode.assembly();
            if assembly.keeps_back() {
                return None;
            }
            let event = if due || assembly.is_over() { assembly.take() } else { assembly.take_settled() }?;
            if event == Event::Start && std::mem::replace(&mut self.started, true) {
                // A second attempt starts too; whoever reads this has been told.
                continue;
            }
            if event.is_delta() {
                self.last_delta = Some(Instant::now());
            }
            return Some(event);
        }
    }

    /// When a delta that waits must go; at once if it is the first.
    fn flush_at(&mut self) -> Option<Instant> {
        let assembly = self.decode.assembly();
        if !assembly.has_waiting() || assembly.keeps_back() {
            return None;
        }
        Some(self.last_delta.map_or_else(Instant::now, |last| last + self.options.delta_interval))
    }

    /// One thing happens: connected, failed, more bytes, time passed.
    async fn advance(&mut self) -> Option<Step> {
        let cancel = self.options.cancel.clone();
        if cancel.is_cancelled() {
            return self.abort().await;
        }
        let flush_at = self.flush_at();
        let cancelled = cancel.cancelled();
        let provider = self.asking.as_ref().map_or("", |asking| &asking.model.provider);
        match &mut self.state {
            State::Over => None,
            State::Ready => {
                self.connect();
                None
            }
            State::Waiting(until) => {
                let until = *until;
                tokio::select! {
                    biased;
                    () = cancelled => self.abort().await,
                    () = sleep_until(until) => {
                        self.state = State::Ready;
                        None
                    }
                }
            }
            State::Connecting(attempt, connecting) => {
                let deadline = attempt.deadline();
                let result = tokio::select! {
                    biased;
                    () = cancelled => return self.abort().await,
                    result = connecting => result,
                    () = sleep_until(deadline) => Err(attempt.too_late(provider)),
                };
                self.connected(result).await
            }
            State::Open(attempt, response) => {
                let deadline = attempt.deadline();
                let chunk = tokio::select! {
                    biased;
                    () = cancelled => return self.abort().await,
                    () = sleep_until(flush_at.unwrap_or(deadline)), if flush_at.is_some() => return None,
                    chunk = response.chunk() => chunk.map_err(Broken::Network),
                    () = sleep_until(deadline) => Err(Broken::Late(attempt.too_late(provider))),
                };
                match chunk {
                    Ok(chunk) => self.chunk(chunk).await,
                    Err(Broken::Late(failure)) => self.fail(Phase::Stream, failure).await,
                    Err(Broken::Network(error)) => {
                        let failure = match &self.asking {
                            Some(asking) => {
                                transport::network(&asking.model.provider, &asking.letter.url, &error)
                            }
                            None => Failure::cut_off(),
                        };
                        self.fail(Phase::Stream, failure).await
                    }
                }
            }
        }
    }

    fn connect(&mut self) {
        let Some(asking) = &self.asking else {
            self.state = State::Over;
            return;
        };
        let attempt = Attempt::new(self.options.timeouts);
        let sending = asking.client.clone().send(asking.letter.clone());
        self.state = State::Connecting(attempt, Box::pin(sending));
    }

    async fn connected(&mut self, result: Result<Response, Failure>) -> Option<Step> {
        let before = std::mem::replace(&mut self.state, State::Over);
        match (result, before) {
            (Ok(response), State::Connecting(attempt, _)) => {
                self.request_id = classify::request_id(response.headers());
                self.state = State::Open(attempt, response);
                None
            }
            (Ok(_), _) => None,
            (Err(failure), before) => {
                // What is still connecting ends here, not behind the last event.
                drop(before);
                self.fail(Phase::Request, failure).await
            }
        }
    }

    /// More of the body, or its end.
    async fn chunk(&mut self, chunk: Option<Bytes>) -> Option<Step> {
        let (State::Open(attempt, _), Some(asking)) = (&mut self.state, &self.asking) else { return None };
        let provider = &asking.model.provider;
        let result = match (&chunk, &mut attempt.look) {
            (Some(chunk), Look::Document(kept)) => {
                let room = DOCUMENT_MOST - kept.len();
                kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() >= room { Err(transport::document(provider, kept)) } else { Ok(()) }
            }
            (None, Look::Document(kept)) => Err(transport::document(provider, kept)),
            (None, _) => self.decode.end(),
            (Some(chunk), look) => {
                if let Look::Unknown = look {
                    *look = look_at(chunk, asking.wire.framing());
                }
                match look {
                    Look::Document(_) if chunk.trim_ascii_start().starts_with(b"<") => {
                        Err(transport::web_page(provider))
                    }
                    Look::Document(kept) => {
                        kept.extend_from_slice(&chunk[..chunk.len().min(DOCUMENT_MOST)]);
                        Ok(())
                    }
                    Look::Unknown | Look::Stream => self.decode.feed(chunk),
                }
            }
        };
        attempt.came(chunk.as_ref().map_or(0, Bytes::len), self.options.timeouts);
        let too_much = attempt.received > BODY_MOST;
        if let Err(failure) = result {
            return self.fail(Phase::Stream, failure).await;
        }
        if self.decode.assembly().is_over() {
            self.close().await;
        } else if too_much {
            let message = format!("{provider} sent more than {} MB for one answer", BODY_MOST >> 20);
            return self.fail(Phase::Stream, Failure::new(Class::TooLarge, message)).await;
        }
        None
    }

    /// The answer is over. If the body is too, the connection can be used again; else it is closed.
    async fn close(&mut self) {
        if let State::Open(_, mut response) = std::mem::replace(&mut self.state, State::Over) {
            let _ = timeout(Duration::ZERO, response.chunk()).await;
            drop(response);
            let_go().await;
        }
    }

    /// It failed: it is asked for again, or this is the end. Either way its connection is closed first.
    async fn fail(&mut self, phase: Phase, failure: Failure) -> Option<Step> {
        self.state = State::Over;
        let_go().await;
        let failure = match &self.asking {
            Some(asking) => failure.named(&asking.model.provider),
            None => failure,
        };
        let mut failure = clean(self.redactor.clone(), failure);
        if failure.request_id.is_none() {
            failure.request_id.clone_from(&self.request_id);
        }
        let (Some(asking), false) = (&self.asking, self.decode.assembly().has_said()) else {
            self.decode.fail(failure);
            return None;
        };
        match self.retries.next(phase, &failure, chance()) {
            Ok(again) => {
                let call = Call { model: &asking.model, auth: &asking.auth, request: &asking.request };
                self.decode = Decode::new(asking.wire, &call, now())
                    .with_veil(self.options.secrets.clone())
                    .with_names(asking.names.clone());
                self.state = State::Waiting(Instant::now() + again.wait);
                Some(Step::Retrying { attempt: again.attempt, of: again.of, wait: again.wait, failure })
            }
            Err(failure) => {
                self.decode.fail(failure);
                None
            }
        }
    }

    /// Somebody broke it off: the connection is closed before the last event is handed out.
    async fn abort(&mut self) -> Option<Step> {
        self.state = State::Over;
        self.decode.fail(Failure::new(Class::Aborted, "the answer was broken off"));
        let_go().await;
        None
    }
}

/// What drives a connection is another task: it must run to close it.
async fn let_go() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

/// Why no more bytes come.
enum Broken {
    Network(reqwest::Error),
    Late(Failure),
}

/// Without the key, whoever repeated it.
fn clean(mut redactor: Redactor, mut failure: Failure) -> Failure {
    failure.message = redactor.text(&failure.message).into_owned();
    failure
}

/// A number between 0 and 1 that nobody knows before.
fn chance() -> f64 {
    let drawn = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(drawn >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}
