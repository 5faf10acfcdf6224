//! A wire for tests: `{"text": …}` and `{"call": …}` are deltas, `{"error": …}` fails, `[DONE]` ends.

use std::collections::BTreeMap;
use std::time::Duration;

use relaycode_llm::failure::classify;
use relaycode_llm::models::model::{ModelPrice, ServerCompat};
use relaycode_llm::request::{Auth, WireCall};
use relaycode_llm::stream::StreamTimeouts;
use relaycode_llm::stream::assembly::{AnswerPieceKind, Assembly};
use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::wire::{AnswerFrame, Framing, Wire, WireHttpRequest, WireReader};
use relaycode_llm::{
    AnswerStream, ChatRequest, Model, ModelClient, ModelFailure, StopReason, StreamEvent, StreamOptions,
    StreamStep,
};
use serde_json::Value;

pub(crate) struct Plain;

impl Wire for Plain {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn request(&self, call: &WireCall<'_>) -> Result<WireHttpRequest, ModelFailure> {
        let headers = match call.auth {
            Auth::Key(key) => vec![("authorization".to_owned(), format!("Bearer {key}"))],
            Auth::None => Vec::new(),
        };
        let body = call.request.system.clone().unwrap_or_default().into_bytes();
        Ok(WireHttpRequest { url: format!("{}/answer", call.model.base_url), headers, body })
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self, _: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(Plainly { text: None, call: None })
    }
}

struct Plainly {
    text: Option<usize>,
    call: Option<usize>,
}

impl WireReader for Plainly {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> Result<(), ModelFailure> {
        into.start();
        if frame.data == "[DONE]" {
            into.finish(StopReason::Stop);
            return Ok(());
        }
        let value: Value =
            serde_json::from_str(frame.data).map_err(|_| ModelFailure::malformed("a frame is no JSON"))?;
        if value.get("error").is_some() {
            return Err(classify::from_stream_json("plain", &value));
        }
        if let Some(text) = value["text"].as_str() {
            let at = match self.text {
                Some(at) => at,
                None => *self.text.insert(into.open(AnswerPieceKind::Text)?),
            };
            into.append_delta(at, text)?;
        }
        if let Some(json) = value["call"].as_str() {
            let at = match self.call {
                Some(at) => at,
                None => *self
                    .call
                    .insert(into.open(AnswerPieceKind::ToolCall { id: "1".into(), name: "t".into() })?),
            };
            into.append_delta(at, json)?;
        }
        Ok(())
    }
}

pub(crate) fn model(url: &str) -> Model {
    Model {
        id: "m1".into(),
        provider: "plain".into(),
        name: "Plain".into(),
        api: "plain".into(),
        base_url: url.into(),
        headers: BTreeMap::new(),
        reasoning: false,
        images: false,
        price: ModelPrice::default(),
        context_window: 1000,
        max_tokens: 100,
        context_promotion_target: None,
        compat: ServerCompat::default(),
    }
}

/// Delivers every delta, and retries after a millisecond.
pub(crate) fn options() -> StreamOptions {
    StreamOptions {
        budget: RetryBudget { base_delay: Duration::from_millis(1), ..RetryBudget::default() },
        delta_interval: Duration::ZERO,
        ..StreamOptions::default()
    }
}

pub(crate) fn once() -> StreamOptions {
    StreamOptions { budget: RetryBudget::NONE, ..options() }
}

/// Short timeouts.
pub(crate) fn hasty() -> StreamOptions {
    let soon = Duration::from_millis(150);
    StreamOptions {
        timeouts: StreamTimeouts { first_byte: soon, idle: soon, ..StreamTimeouts::default() },
        ..once()
    }
}

pub(crate) fn ask(url: &str, options: StreamOptions) -> AnswerStream {
    ask_with(&ClientSettings::default(), url, Auth::None, ChatRequest::default(), options)
}

pub(crate) fn ask_with(
    settings: &ClientSettings,
    url: &str,
    auth: Auth,
    request: ChatRequest,
    options: StreamOptions,
) -> AnswerStream {
    ModelClient::new(settings).unwrap().stream_over(&Plain, &model(url), auth, request, options)
}

/// Every step, summarised.
pub(crate) async fn steps(stream: &mut AnswerStream) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(step) = stream.next().await {
        out.push(short(&step));
    }
    out
}

pub(crate) fn short(step: &StreamStep) -> String {
    match step {
        StreamStep::Retrying { attempt, max_attempts: of, .. } => format!("retry {attempt}/{of}"),
        StreamStep::Event(
            StreamEvent::TextDelta { delta, .. } | StreamEvent::ToolcallDelta { delta, .. },
        ) => {
            format!("+{delta}")
        }
        StreamStep::Event(event) => {
            let value = serde_json::to_value(event).unwrap();
            let reason = value["reason"].as_str().map(|reason| format!(" {reason}")).unwrap_or_default();
            format!("{}{reason}", value["type"].as_str().unwrap())
        }
    }
}

pub(crate) fn retries(steps: &[String]) -> usize {
    steps.iter().filter(|step| step.starts_with("retry")).count()
}
