//! Each friend with a program that plays its part.

pub(crate) mod acp;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod model;
pub(crate) mod model_failures;
pub(crate) mod unknown_version;
