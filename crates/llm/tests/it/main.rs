//! Answers over real sockets: servers that behave, and servers that do not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod carried;
mod cutting;
mod ending;
mod every;
mod hostile;
mod leaving;
mod refused;
mod scripted;
mod server;
mod statuses;
mod streamed;
mod ways;
mod wire;
