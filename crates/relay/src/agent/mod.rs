//! relay's own agent at the command line: what `relay run` gives it, and how what it does is shown.

pub(crate) mod attachments;
pub(crate) mod change_groups;
pub(crate) mod command_surroundings;
pub(crate) mod conversation;
pub(crate) mod event_printer;
mod first_start;
pub(crate) mod models;
pub(crate) mod open_agent;
pub(crate) mod options;
pub(crate) mod output_schema;
pub(crate) mod rpc_backend;
pub(crate) mod session_file;
mod slash;
pub(crate) mod terminal_host;
