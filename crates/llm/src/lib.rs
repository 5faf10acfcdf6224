//! Models: requests and streamed answers, whoever runs them.
//!
//! A [`ChatRequest`] is turned by a [`wire`] into one HTTP request, and the bytes that come back into one
//! sequence of [`StreamEvent`]s, the same for every provider. A wire is one file; a provider that speaks a
//! known wire is one row of data. Async where it speaks HTTP, plain code everywhere else. This crate knows
//! neither tools nor sessions, never prints, and never reads the environment: the caller passes what it
//! needs.
//!
//! | module | for |
//! |---|---|
//! | [`message`], [`request`] | what is sent and kept; schemas, tool names and secrets on the way out |
//! | [`wire`] | the protocols, one file or folder each behind the trait `Wire`; no I/O |
//! | [`stream`] | HTTP, frames, events, the message so far, retries; pulled by the reader |
//! | [`models`] | models and prices, providers, `models.yml`, selectors, local servers, keys |
//! | [`failure`] | failure classes, providers' errors, how long to wait |
//! | [`harmony`] | what models of OpenAI leak of their protocol |
//! | [`tokens`] | how many tokens a conversation has |
//! | `user_directory` | files that only the user can have written |
//!
//! One prompt, with tools, from the question to the last answer:
//!
//! ```no_run
//! use relaycode_llm::message::{ToolCall, ToolResultMessage, UserMessage};
//! use relaycode_llm::request::{Auth, Tool};
//! use relaycode_llm::{CancelToken, ChatRequest, FailureClass, Message, Model, ModelClient, ModelFailure};
//! use relaycode_llm::{StopReason, StreamEvent, StreamOptions, StreamStep};
//!
//! # fn run(call: &ToolCall) -> String { String::new() }
//! # fn shorten(messages: &mut Vec<Message>) {}
//! async fn prompt(model: &Model, auth: Auth, tools: Vec<Tool>, cancel: CancelToken, now: i64) -> Result<f64, ModelFailure> {
//!     let client = ModelClient::new(&Default::default())?;
//!     let question = Message::User(UserMessage::text("Mend the test that fails", now));
//!     let mut request = ChatRequest { messages: vec![question], tools, ..ChatRequest::default() };
//!     let mut spent = 0.0;
//!     loop {
//!         let options = StreamOptions { cancel: cancel.clone(), ..StreamOptions::default() };
//!         let mut stream = client.stream(model, auth.clone(), request.clone(), options);
//!         while let Some(step) = stream.next().await {
//!             match step {
//!                 StreamStep::Event(StreamEvent::TextDelta { delta, .. }) => print!("{delta}"),
//!                 StreamStep::Event(_) => {}
//!                 StreamStep::Retrying { attempt, max_attempts, wait, failure } => {
//!                     eprintln!("{failure}; attempt {attempt} of {max_attempts} in {wait:?}");
//!                 }
//!             }
//!         }
//!         let answer = stream.message().clone();
//!         spent += answer.usage.cost.total;
//!         match stream.failure() {
//!             None => {}
//!             Some(failure) if failure.class == FailureClass::ContextOverflow => {
//!                 shorten(&mut request.messages);
//!                 continue;
//!             }
//!             Some(failure) => return Err(failure.clone()),
//!         }
//!         let results: Vec<Message> = stream
//!             .tool_calls()
//!             .map(|(call, whole)| match whole {
//!                 true => ToolResultMessage::text(call, run(call), false, now),
//!                 false => ToolResultMessage::text(call, "the arguments are no whole JSON; call it again", true, now),
//!             })
//!             .map(Message::ToolResult)
//!             .collect();
//!         let over = answer.stop_reason != StopReason::ToolUse;
//!         request.messages.push(Message::Assistant(answer));
//!         request.messages.extend(results);
//!         if over {
//!             return Ok(spent);
//!         }
//!     }
//! }
//! ```

pub mod failure;
pub mod harmony;
pub mod message;
pub mod models;
pub mod request;
pub mod stream;
pub mod tokens;
mod user_directory;
pub mod wire;

pub use failure::{FailureClass, ModelFailure};
pub use message::{AssistantMessage, Message, StopReason, TokenUsage};
pub use models::model::Model;
pub use request::ChatRequest;
pub use request::secret_mask::SecretMask;
pub use stream::assembly::Assembly;
pub use stream::cancel::CancelToken;
pub use stream::decoder::AnswerDecoder;
pub use stream::event::StreamEvent;
pub use stream::transport::ModelClient;
pub use stream::{AnswerStream, StreamOptions, StreamStep};
pub use user_directory::{PrivateFileError, UserDirectory};

/// Most cells of foreign text in a message.
const DISPLAY_CELLS: usize = 80;

/// Foreign text for a message: one line, escaped, short.
fn display_text(text: &str) -> String {
    relaycode_text::width::clip_for_message(text, DISPLAY_CELLS)
}
