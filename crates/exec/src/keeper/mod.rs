//! The process between relay and a job: relay's handle on it, the messages between them, and its own side.

pub(crate) mod handle;
pub(crate) mod own_children;
pub(crate) mod process;
pub(crate) mod protocol;
