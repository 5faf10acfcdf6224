//! `relay sessions`.

pub(crate) mod commands;
pub(crate) mod list;
