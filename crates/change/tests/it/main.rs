//! Tests of the change engine through its public API: a folder of small cases, laws that hold for
//! any input, and a few seconds of fuzzing.

mod corpus;
mod fuzzing;
mod laws;
