//! Tests of the door through its public API.

#![expect(clippy::unwrap_used, reason = "a test whose own paths are wrong should stop there")]

mod changed_meanwhile;
mod commands_of_a_turn;
mod guarded;
