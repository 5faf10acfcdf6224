//! The person's side: streams and how they look, questions, signals, copying out.

pub(crate) mod console;
pub(crate) mod copy_out;
pub(crate) mod environment;
pub(crate) mod questions;
pub(crate) mod signals;
