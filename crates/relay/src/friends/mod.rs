//! What `ask`, `review`, `do` and `friends` share: whom they turn to, with what, and how it is heard.

pub(crate) mod args;
pub(crate) mod ask_report;
pub(crate) mod event_printer;
pub(crate) mod friend_context;
mod friend_error;
pub(crate) mod group;
mod stdin_context;
pub(crate) mod tree_report;
pub(crate) mod work_report;
