//! The agent against the scripted model server, with tools that exist only here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod all_wires;
mod clients;
mod compaction;
mod fixture;
mod goal;
mod harmony_leaks;
mod hostile_calls;
mod limits;
mod modes;
mod queues;
mod resume;
mod retries;
mod rewind;
mod stream_rules;
mod titles;
