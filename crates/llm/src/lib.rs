//! Models: what is said to them and what comes back, whoever runs them.
//!
//! A [`Request`] is turned by a [`wire`] into one HTTP request, and the bytes that come back into one
//! sequence of [`Event`]s, the same for every provider. A wire is one file; a provider that speaks a known
//! wire is one row of data. This crate knows neither tools nor sessions, never prints, and never reads
//! the environment: what it needs is handed to it.

pub mod ambient;
pub mod assembly;
pub mod cancel;
pub mod catalogue;
pub mod decode;
pub mod event;
pub mod failure;
pub mod hints;
pub mod keys;
pub mod lines;
pub mod message;
pub mod model;
pub mod models;
mod names;
mod nearest;
mod own;
pub mod partial;
pub mod provider;
pub mod proxy;
pub mod request;
pub mod retry;
pub mod schema;
pub mod secrets;
pub mod sse;
pub mod stream;
pub mod transport;
pub mod veil;
pub mod wire;
mod yaml;

pub use assembly::Assembly;
pub use cancel::Cancel;
pub use decode::Decode;
pub use event::Event;
pub use failure::{Class, Failure};
pub use message::{AssistantMessage, Message, StopReason, Usage};
pub use model::Model;
pub use own::{Home, OwnError};
pub use request::Request;
pub use stream::{Options, Step, Stream};
pub use transport::Client;
pub use veil::Veil;
