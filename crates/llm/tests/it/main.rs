//! Answers over real sockets: servers that behave, and servers that do not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cutting;
mod ending;
mod refused;
mod scripted;
mod server;
mod streamed;
mod wire;
