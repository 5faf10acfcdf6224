//! Tests of the change engine through its public API: a folder of small cases, laws that hold for
//! any input, and a few seconds of fuzzing.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its own files should stop there")]

mod apply_and_reverse;
mod corpus;
mod costly;
mod fuzzing;
