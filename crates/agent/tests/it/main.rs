//! The agent against the scripted model server, with tools that exist only here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod all_wires;
mod clients;
mod fixture;
mod hostile_calls;
mod limits;
mod queues;
mod resume;
mod retries;
mod rewind;
