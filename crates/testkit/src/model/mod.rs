//! A model server that follows a script: five wires in one process, on loopback, with every way in which a
//! provider fails. This is how tests talk to a model without a network.
//!
//! ```no_run
//! use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
//! use serde_json::json;
//!
//! let server = ScriptedServer::start(Script::new([
//!     ScriptedTurn::status(429).header("retry-after", "1"),
//!     ScriptedTurn::text("Let me look.").tool("read", json!({"path": "a.rs"})),
//!     ScriptedTurn::text("It says hello."),
//! ]));
//! // … point a client at `server.url()`, then:
//! server.wait_for(|requests| requests.len() == 3);
//! ```
//!
//! Everything ends with the [`ScriptedServer`]: the port, the connections, the threads.
//! `docs/scripted-model.md` describes scripts in JSON.

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
