//! A model's answer in progress, pulled by its reader.
//!
//! Nothing happens in the background: [`AnswerStream::next`] connects, reads, waits and retries. So a slow
//! reader slows the provider, and one that goes away closes the connection. Between two calls nothing is
//! lost, even if a call is dropped before it finished. Invariant: one last event, whatever happens; deltas
//! wait no longer than [`StreamOptions::delta_interval`]; an answer of which something was seen is never
//! requested again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use relaycode_text::redact::Redactor;
use reqwest::Response;
use tokio::time::{Instant, sleep_until, timeout};

use crate::failure::classify::{self, MAX_ERROR_BODY as DOCUMENT_MOST};
use crate::failure::{FailureClass, ModelFailure, ModelResult};
use crate::message::{AssistantMessage, ToolCall};
use crate::request::{Auth, ChatRequest, WireCall, tool_names::ToolNames};
use crate::stream::retry::{RetryAttempt, RetryBudget, RetryCounter, RetryPhase};
use crate::stream::transport::{HttpRequest, ModelClient};
use crate::stream::{decoder::AnswerDecoder, event::StreamEvent};
use crate::{models::model::Model, wire::Wire};

pub mod assembly;
mod attempt;
pub mod cancel;
pub mod decoder;
pub mod event;
pub mod line_splitter;
mod options;
pub mod partial_json;
pub mod proxy;
pub mod retry;
pub mod sse;
pub mod transport;

use attempt::{BodyShape, StreamAttempt, detect_body_shape};
pub use options::{StreamOptions, StreamRestart, StreamTimeouts};

/// Most bytes of a whole answer on the wire.
pub const MAX_BODY_BYTES: usize = 256 << 20;

#[derive(Debug, Clone, PartialEq)]
pub enum StreamStep {
    /// Part of the answer.
    Event(StreamEvent),
    /// The request failed before anything was seen, and is retried after a wait that begins now. Attempts count from
    /// 1.
    Retrying { attempt: u32, max_attempts: u32, wait: Duration, failure: ModelFailure },
}

/// A model's answer in progress.
pub struct AnswerStream {
    /// `None` if the request cannot be made.
    context: Option<StreamContext>,
    options: StreamOptions,
    redactor: Redactor,
    decode: AnswerDecoder,
    retries: RetryCounter,
    state: StreamState,
    /// `start` was handed out.
    started: bool,
    last_delta: Option<Instant>,
    request_id: Option<String>,
}

struct StreamContext {
    client: ModelClient,
    wire: &'static dyn Wire,
    model: Model,
    auth: Auth,
    request: ChatRequest,
    names: ToolNames,
    http_request: Arc<HttpRequest>,
}

impl StreamContext {
    /// For the answer to one attempt.
    fn decoder(&self, options: &StreamOptions) -> AnswerDecoder {
        let call = WireCall { model: &self.model, auth: &self.auth, request: &self.request };
        let mut decoder = AnswerDecoder::new(self.wire, &call, now());
        decoder.assembly().set_secret_mask(options.secrets.clone());
        decoder.assembly().set_names(self.names.clone());
        decoder
    }
}

enum StreamState {
    Ready,
    Connecting(StreamAttempt, Pin<Box<dyn Future<Output = ModelResult<Response>> + Send>>),
    Open(StreamAttempt, Response),
    Backoff(Instant),
    Finished,
}

impl AnswerStream {
    pub(crate) fn new(
        client: ModelClient,
        wire: &'static dyn Wire,
        model: &Model,
        auth: Auth,
        mut request: ChatRequest,
        options: StreamOptions,
    ) -> AnswerStream {
        if let Some(mask) = &options.secrets {
            mask.mask_request(&mut request);
        }
        let names = ToolNames::fit_request(&mut request);
        // A server may repeat what it was sent.
        let mut known: Vec<String> = model.headers.values().cloned().collect();
        if let Auth::Key(key) = &auth {
            known.push(key.clone());
        }
        let redactor = Redactor::with_values(&known);
        let call = WireCall { model, auth: &auth, request: &request };
        let http_request = transport::check_key(&auth, &model.provider)
            .and_then(|()| wire.request(&call))
            .map(|post| transport::with_bearer(post, &call))
            .and_then(|post| HttpRequest::new(post, model, wire.framing()))
            .and_then(|http_request| transport::check_plain_http(http_request, &call));
        match http_request {
            Ok(http_request) => {
                let (model, http_request) = (model.clone(), Arc::new(http_request));
                let context = StreamContext { client, wire, model, auth, request, names, http_request };
                AnswerStream {
                    decode: context.decoder(&options),
                    retries: RetryCounter::new(options.budget),
                    context: Some(context),
                    redactor,
                    state: StreamState::Ready,
                    started: false,
                    last_delta: None,
                    request_id: None,
                    options,
                }
            }
            Err(failure) => {
                AnswerStream { options, ..AnswerStream::failed(model, redact_failure(redactor, failure)) }
            }
        }
    }

    /// An answer that cannot be requested.
    pub(crate) fn failed(model: &Model, failure: ModelFailure) -> AnswerStream {
        AnswerStream {
            decode: AnswerDecoder::failed(model, now(), failure),
            retries: RetryCounter::new(RetryBudget::NONE),
            context: None,
            redactor: Redactor::default(),
            options: StreamOptions::default(),
            state: StreamState::Finished,
            started: false,
            last_delta: None,
            request_id: None,
        }
    }

    /// `None` after the last event. May be dropped before it finishes: nothing is lost.
    pub async fn next(&mut self) -> Option<StreamStep> {
        loop {
            if let Some(event) = self.next_ready_event() {
                return Some(StreamStep::Event(event));
            }
            if let StreamState::Finished = self.state {
                return None;
            }
            if let Some(step) = self.advance().await {
                return Some(step);
            }
        }
    }

    /// Reads to the end and returns the message. Its stop reason and [`AnswerStream::failure`] tell whether
    /// it is complete.
    pub async fn finish(&mut self) -> &AssistantMessage {
        while self.next().await.is_some() {}
        self.message()
    }

    pub fn message(&mut self) -> &AssistantMessage {
        self.decode.assembly().message()
    }

    /// Why the answer is incomplete, after the last event.
    pub fn failure(&self) -> Option<&ModelFailure> {
        self.decode.failure()
    }

    /// Indices of tool calls that must not be run, since their arguments are incomplete:
    /// [`crate::Assembly::malformed_calls`].
    pub fn malformed_calls(&mut self) -> &[usize] {
        self.decode.assembly().malformed_calls()
    }

    /// After the last event: the tools that it wants to run, each with whether its arguments are complete.
    /// An incomplete one is answered with an error and not run.
    pub fn tool_calls(&mut self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.decode.assembly().tool_calls()
    }

    /// The provider's own id for the request, once it has answered.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// The next event that need not wait.
    fn next_ready_event(&mut self) -> Option<StreamEvent> {
        loop {
            let due = self.flush_at().is_some_and(|at| at <= Instant::now());
            let assembly = self.decode.assembly();
            if assembly.withholds_events() {
                return None;
            }
            let event = if due || assembly.is_finished() {
                assembly.take_event()
            } else {
                assembly.take_ready_event()
            }?;
            if event == StreamEvent::Start && std::mem::replace(&mut self.started, true) {
                // A retry starts too; the reader has been told.
                continue;
            }
            if event.is_delta() {
                self.last_delta = Some(Instant::now());
            }
            return Some(event);
        }
    }

    /// When a waiting delta must be handed out; at once if it is the first.
    fn flush_at(&mut self) -> Option<Instant> {
        let assembly = self.decode.assembly();
        if !assembly.has_events() || assembly.withholds_events() {
            return None;
        }
        Some(self.last_delta.map_or_else(Instant::now, |last| last + self.options.delta_interval))
    }

    /// One step: connected, failed, more bytes, time passed.
    async fn advance(&mut self) -> Option<StreamStep> {
        let cancel = self.options.cancel.clone();
        if cancel.is_cancelled() {
            return self.abort().await;
        }
        let flush_at = self.flush_at();
        let cancelled = cancel.cancelled();
        let provider = self.context.as_ref().map_or("", |asking| &asking.model.provider);
        match &mut self.state {
            StreamState::Finished => None,
            StreamState::Ready => {
                self.connect();
                None
            }
            StreamState::Backoff(until) => {
                let until = *until;
                tokio::select! {
                    biased;
                    () = cancelled => self.abort().await,
                    () = sleep_until(until) => {
                        self.state = StreamState::Ready;
                        None
                    }
                }
            }
            StreamState::Connecting(attempt, connecting) => {
                let deadline = attempt.deadline();
                let result = tokio::select! {
                    biased;
                    () = cancelled => return self.abort().await,
                    result = connecting => result,
                    () = sleep_until(deadline) => Err(attempt.timeout_failure(provider)),
                };
                self.handle_response(result).await
            }
            StreamState::Open(attempt, response) => {
                let deadline = attempt.deadline();
                let chunk = tokio::select! {
                    biased;
                    () = cancelled => return self.abort().await,
                    () = sleep_until(flush_at.unwrap_or(deadline)), if flush_at.is_some() => return None,
                    chunk = response.chunk() => chunk.map_err(ChunkError::Network),
                    () = sleep_until(deadline) => Err(ChunkError::TimedOut(attempt.timeout_failure(provider))),
                };
                match chunk {
                    Ok(chunk) => self.handle_chunk(chunk).await,
                    Err(ChunkError::TimedOut(failure)) => self.fail(RetryPhase::Stream, failure).await,
                    Err(ChunkError::Network(error)) => {
                        let failure = self.context.as_ref().map_or_else(ModelFailure::cut_off, |asking| {
                            transport::network_failure(provider, &asking.http_request.url, &error)
                        });
                        self.fail(RetryPhase::Stream, failure).await
                    }
                }
            }
        }
    }

    fn connect(&mut self) {
        let Some(asking) = &self.context else {
            self.state = StreamState::Finished;
            return;
        };
        let attempt = StreamAttempt::new(self.options.timeouts);
        let sending = asking.client.clone().send(asking.http_request.clone());
        self.state = StreamState::Connecting(attempt, Box::pin(sending));
    }

    async fn handle_response(&mut self, result: ModelResult<Response>) -> Option<StreamStep> {
        let before = std::mem::replace(&mut self.state, StreamState::Finished);
        match (result, before) {
            (Ok(response), StreamState::Connecting(attempt, _)) => {
                self.request_id = classify::request_id(response.headers());
                self.state = StreamState::Open(attempt, response);
                None
            }
            (Ok(_), _) => None,
            (Err(failure), before) => {
                // A pending connection ends here, not after the last event.
                drop(before);
                self.fail(RetryPhase::Request, failure).await
            }
        }
    }

    /// More of the body, or its end.
    async fn handle_chunk(&mut self, chunk: Option<Bytes>) -> Option<StreamStep> {
        let (StreamState::Open(attempt, _), Some(asking)) = (&mut self.state, &self.context) else {
            return None;
        };
        let provider = &asking.model.provider;
        let result = match (&chunk, &mut attempt.shape) {
            (Some(chunk), BodyShape::Document(kept)) => {
                let room = DOCUMENT_MOST - kept.len();
                kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() >= room { Err(transport::document_failure(provider, kept)) } else { Ok(()) }
            }
            (None, BodyShape::Document(kept)) => Err(transport::document_failure(provider, kept)),
            (None, _) => self.decode.end(),
            (Some(chunk), look) => {
                if let BodyShape::Unknown = look {
                    *look = detect_body_shape(chunk, asking.wire.framing());
                }
                match look {
                    BodyShape::Document(_) if chunk.trim_ascii_start().starts_with(b"<") => {
                        Err(transport::web_page_failure(provider))
                    }
                    BodyShape::Document(kept) => {
                        kept.extend_from_slice(&chunk[..chunk.len().min(DOCUMENT_MOST)]);
                        Ok(())
                    }
                    BodyShape::Unknown | BodyShape::Stream => self.decode.feed(chunk),
                }
            }
        };
        attempt.record_bytes(chunk.as_ref().map_or(0, Bytes::len), self.options.timeouts);
        let too_much = attempt.received > MAX_BODY_BYTES;
        if let Err(failure) = result {
            return self.fail(RetryPhase::Stream, failure).await;
        }
        if self.decode.assembly().is_finished() {
            self.close().await;
        } else if too_much {
            let message = format!("{provider} sent more than {} MB for one answer", MAX_BODY_BYTES >> 20);
            return self.fail(RetryPhase::Stream, ModelFailure::too_large(message)).await;
        }
        None
    }

    /// The answer is over. If the body is too, the connection can be reused; otherwise it is closed.
    async fn close(&mut self) {
        if let StreamState::Open(_, mut response) = std::mem::replace(&mut self.state, StreamState::Finished)
        {
            let _ = timeout(Duration::ZERO, response.chunk()).await;
            drop(response);
            yield_to_connection().await;
        }
    }

    /// Retries or ends. Either way the connection is closed first.
    async fn fail(&mut self, phase: RetryPhase, failure: ModelFailure) -> Option<StreamStep> {
        self.state = StreamState::Finished;
        yield_to_connection().await;
        let failure = match &self.context {
            Some(asking) => failure.with_provider_name(&asking.model.provider),
            None => failure,
        };
        let mut failure = redact_failure(self.redactor.clone(), failure);
        if failure.request_id.is_none() {
            failure.request_id.clone_from(&self.request_id);
        }
        let too_late = match self.options.restart {
            StreamRestart::BeforeOutput => self.decode.assembly().has_output(),
            StreamRestart::BeforeText => self.decode.assembly().has_text(),
            StreamRestart::Always => false,
        };
        let too_late = too_late || (self.options.has_other_keys && failure.class == FailureClass::RateLimit);
        let (Some(asking), false) = (&self.context, too_late) else {
            self.decode.fail(failure);
            return None;
        };
        match self.retries.next_attempt(phase, &failure, random_fraction()) {
            Ok(again) => {
                self.decode = asking.decoder(&self.options);
                self.state = StreamState::Backoff(Instant::now() + again.wait);
                let RetryAttempt { attempt, max_attempts, wait } = again;
                Some(StreamStep::Retrying { attempt, max_attempts, wait, failure })
            }
            Err(failure) => {
                self.decode.fail(failure);
                None
            }
        }
    }

    /// Cancelled: the connection is closed before the last event is handed out.
    async fn abort(&mut self) -> Option<StreamStep> {
        self.state = StreamState::Finished;
        self.decode.fail(ModelFailure::new(FailureClass::Aborted, "the answer was broken off"));
        yield_to_connection().await;
        None
    }
}

/// Another task drives the connection: it must run to close it.
async fn yield_to_connection() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

/// Why no more bytes come.
enum ChunkError {
    Network(reqwest::Error),
    TimedOut(ModelFailure),
}

/// Without the key, whoever repeated it.
fn redact_failure(mut redactor: Redactor, mut failure: ModelFailure) -> ModelFailure {
    failure.message = redactor.redact_text(&failure.message).into_owned();
    failure
}

/// A random number between 0 and 1.
fn random_fraction() -> f64 {
    let drawn = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(drawn >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
