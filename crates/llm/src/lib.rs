//! Models: what is said to them and what comes back, whoever runs them.
//!
//! A [`ChatRequest`] is turned by a [`wire`] into one HTTP request, and the bytes that come back into one
//! sequence of [`StreamEvent`]s, the same for every provider. A wire is one file; a provider that speaks a known
//! wire is one row of data. This crate knows neither tools nor sessions, never prints, and never reads
//! the environment: what it needs is handed to it.
//!
//! One prompt, with tools, from the question to the last answer:
//!
//! ```no_run
//! use relaycode_llm::message::{ToolCall, ToolResultMessage, UserMessage};
//! use relaycode_llm::request::{Auth, Tool};
//! use relaycode_llm::{Cancel, Class, Client, Event, Failure, Message, Model, Options, Request, Step, StopReason};
//!
//! # fn run(call: &ToolCall) -> String { String::new() }
//! # fn shorten(messages: &mut Vec<Message>) {}
//! async fn prompt(model: &Model, auth: Auth, tools: Vec<Tool>, cancel: Cancel, now: i64) -> Result<f64, Failure> {
//!     let client = Client::new(&Default::default())?;
//!     let question = Message::User(UserMessage::text("Mend the test that fails", now));
//!     let mut request = Request { messages: vec![question], tools, ..Request::default() };
//!     let mut spent = 0.0;
//!     loop {
//!         let options = Options { cancel: cancel.clone(), ..Options::default() };
//!         let mut stream = client.stream(model, auth.clone(), request.clone(), options);
//!         while let Some(step) = stream.next().await {
//!             match step {
//!                 Step::StreamEvent(Event::TextDelta { delta, .. }) => print!("{delta}"),
//!                 Step::StreamEvent(_) => {}
//!                 Step::Retrying { attempt, of, wait, failure } => {
//!                     eprintln!("{failure}; attempt {attempt} of {of} in {wait:?}");
//!                 }
//!             }
//!         }
//!         let answer = stream.message().clone();
//!         spent += answer.usage.cost.total;
//!         match stream.failure() {
//!             None => {}
//!             Some(failure) if failure.class == Class::ContextOverflow => {
//!                 shorten(&mut request.messages);
//!                 continue;
//!             }
//!             Some(failure) => return Err(failure.clone()),
//!         }
//!         let results: Vec<Message> = stream
//!             .calls()
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
pub mod message;
pub mod models;
pub mod request;
pub mod stream;
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

/// Cells of foreign text in a message.
const DISPLAY_CELLS: usize = 80;

/// Foreign text for a message: one line, visible, short.
fn display_text(text: &str) -> String {
    relaycode_text::width::clip_for_message(text, DISPLAY_CELLS)
}
