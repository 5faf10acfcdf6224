//! Tests of the door through its public API.

mod guarded;
