//! A model server that says what a script says: five wires in one process, on loopback, with every way in which a
//! provider fails. It is how tests talk to a model without a network.
//!
//! ```no_run
//! use relaycode_testkit::model::{Script, Server, Turn};
//! use serde_json::json;
//!
//! let server = Server::start(Script::new([
//!     Turn::status(429).header("retry-after", "1"),
//!     Turn::text("Let me look.").tool("read", json!({"path": "a.rs"})),
//!     Turn::text("It says hello."),
//! ]));
//! // … point a client at `server.url()`, then:
//! server.wait_for(|requests| requests.len() == 3);
//! ```
//!
//! Everything ends with the [`ScriptedServer`]: the port, the connections, the threads. `docs/scripted-model.md` says how a
//! script is written as JSON.

mod answer;
mod connection;
mod faults;
mod http;
mod lists;
mod request;
mod route;
mod script;
mod server;
mod turn;
mod wire;

pub use request::{RecordedRequest, RequestEnd, ServedBy};
pub use script::{Script, TurnSelection};
pub use server::{ConnectionCounts, ScriptedServer, ServerOptions};
pub use turn::{BodyPiece, ScriptedToolCall, ScriptedTurn, TurnDelay, TurnText, TurnUsage};
