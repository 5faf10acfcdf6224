//! The protocol of `relay rpc`: one JSON object per line, commands in, frames out.
//!
//! Invariants: the types of this module are the protocol, and its schema, its reference and the Python client are written from
//! them ([`reference`]). Every command is answered, with its id as far as one can be read. Nothing that the program does or does
//! not do lets relay wait or grow without end: lines, waiting frames, requests to the program and questions all have a limit.
//!
//! | module | for |
//! |---|---|
//! | `server` | [`RpcServer`]: the loop, the agent and its thread, moves between sessions |
//! | `commands` | the commands, one type each, one list |
//! | [`frame`], [`error`] | what relay writes |
//! | `input` | what the program writes: bounded lines, requests |
//! | `outbox` | frames on their way out, bounded |
//! | `event_pump` | the agent's events, and a place to replay them from |
//! | `client_requests` | what relay asks the program: host tools, virtual files, hooks |
//! | `gates`, `hooks` | what the program decides: [`GateBoard`]; what it may say no to |
//! | `host`, `host_tools`, `host_files` | the program as the agent's host |
//! | [`backend`] | what whoever wires relay brings |
//! | [`reference`] | all of it as data: schema, tables |

pub mod backend;
mod client_requests;
mod commands;
pub mod error;
mod event_pump;
pub mod frame;
mod gates;
mod hooks;
mod host;
mod host_files;
mod host_tools;
mod input;
mod outbox;
pub mod reference;
mod server;

pub use backend::{ChangeStep, ChangeStepData, ExportData, OpenedAgent, RpcBackend, SessionTarget};
pub use error::{RpcError, RpcErrorCode};
pub use gates::{GateBoard, GateEnd, GateKind, GateRequest};
pub use input::MAX_LINE_BYTES;
pub use outbox::MAX_WAITING_BYTES;
pub use server::{RpcServer, RpcServerSeed, RpcStop, ServeEnd};

/// Grows when a program that knows an older one would be wrong about a frame.
pub const PROTOCOL_VERSION: u32 = 1;
