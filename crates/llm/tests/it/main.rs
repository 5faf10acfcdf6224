//! Answers over real sockets: from servers that behave, and servers that do not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod all_wires;
mod chunking;
mod early_end;
mod failed_requests;
mod handover;
mod hostile;
mod loopback_server;
mod reader_leaves;
mod scripted_server;
mod status_codes;
mod streaming;
mod test_wire;
mod transport;
