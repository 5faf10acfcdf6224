//! The process between relay and a job: relay's handle on it, the messages between them, its own side, and who
//! descends from it.

#[cfg_attr(not(target_os = "linux"), path = "descendants_group.rs")]
pub(crate) mod descendants;
pub(crate) mod handle;
pub(crate) mod process;
pub(crate) mod protocol;
