//! A wire for tests: `{"text": …}` and `{"call": …}` are deltas, `{"error": …}` fails, `[DONE]` ends.

use std::collections::BTreeMap;
use std::time::Duration;

use relaycode_llm::assembly::{Assembly, Kind};
use relaycode_llm::failure::classify;
use relaycode_llm::model::{Compat, Price};
use relaycode_llm::request::{Auth, Call};
use relaycode_llm::retry::Budget;
use relaycode_llm::stream::Timeouts;
use relaycode_llm::transport::Settings;
use relaycode_llm::wire::{Frame, Framing, Post, Reader, Wire};
use relaycode_llm::{Client, Event, Failure, Model, Options, Request, Step, StopReason, Stream};
use serde_json::Value;

pub(crate) struct Plain;

impl Wire for Plain {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn request(&self, call: &Call<'_>) -> Result<Post, Failure> {
        let headers = match call.auth {
            Auth::Key(key) => vec![("authorization".to_owned(), format!("Bearer {key}"))],
            Auth::None => Vec::new(),
        };
        let body = call.request.system.clone().unwrap_or_default().into_bytes();
        Ok(Post { url: format!("{}/answer", call.model.base_url), headers, body })
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self, _: &Call<'_>) -> Box<dyn Reader> {
        Box::new(Plainly { text: None, call: None })
    }
}

struct Plainly {
    text: Option<usize>,
    call: Option<usize>,
}

impl Reader for Plainly {
    fn frame(&mut self, frame: &Frame<'_>, into: &mut Assembly) -> Result<(), Failure> {
        into.start();
        if frame.data == "[DONE]" {
            into.done(StopReason::Stop);
            return Ok(());
        }
        let value: Value =
            serde_json::from_str(frame.data).map_err(|_| Failure::malformed("a frame is no JSON"))?;
        if value.get("error").is_some() {
            return Err(classify::in_stream_json("plain", &value));
        }
        if let Some(text) = value["text"].as_str() {
            let at = match self.text {
                Some(at) => at,
                None => *self.text.insert(into.open(Kind::Text)?),
            };
            into.delta(at, text)?;
        }
        if let Some(json) = value["call"].as_str() {
            let at = match self.call {
                Some(at) => at,
                None => *self.call.insert(into.open(Kind::ToolCall { id: "1".into(), name: "t".into() })?),
            };
            into.delta(at, json)?;
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
        price: Price::default(),
        context_window: 1000,
        max_tokens: 100,
        compat: Compat::default(),
    }
}

/// Hands out every delta, and asks again after a millisecond.
pub(crate) fn options() -> Options {
    Options {
        budget: Budget { base_delay: Duration::from_millis(1), ..Budget::default() },
        delta_interval: Duration::ZERO,
        ..Options::default()
    }
}

pub(crate) fn once() -> Options {
    Options { budget: Budget::NONE, ..options() }
}

/// Gives up soon.
pub(crate) fn hasty() -> Options {
    let soon = Duration::from_millis(150);
    Options { timeouts: Timeouts { first_byte: soon, idle: soon, ..Timeouts::default() }, ..once() }
}

pub(crate) fn ask(url: &str, options: Options) -> Stream {
    ask_with(&Settings::default(), url, Auth::None, Request::default(), options)
}

pub(crate) fn ask_with(
    settings: &Settings,
    url: &str,
    auth: Auth,
    request: Request,
    options: Options,
) -> Stream {
    Client::new(settings).unwrap().stream_over(&Plain, &model(url), auth, request, options)
}

/// Every step, in short.
pub(crate) async fn steps(stream: &mut Stream) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(step) = stream.next().await {
        out.push(short(&step));
    }
    out
}

pub(crate) fn short(step: &Step) -> String {
    match step {
        Step::Retrying { attempt, of, .. } => format!("retry {attempt}/{of}"),
        Step::Event(Event::TextDelta { delta, .. } | Event::ToolcallDelta { delta, .. }) => {
            format!("+{delta}")
        }
        Step::Event(event) => {
            let value = serde_json::to_value(event).unwrap();
            let reason = value["reason"].as_str().map(|reason| format!(" {reason}")).unwrap_or_default();
            format!("{}{reason}", value["type"].as_str().unwrap())
        }
    }
}

pub(crate) fn retries(steps: &[String]) -> usize {
    steps.iter().filter(|step| step.starts_with("retry")).count()
}
