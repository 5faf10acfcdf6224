//! What every command is given, read from the machine, the environment and the project.

pub(crate) mod command_fence;
pub(crate) mod context;
pub(crate) mod desktop;
pub(crate) mod home;
pub(crate) mod path_args;
pub(crate) mod programs;
pub(crate) mod project;
pub(crate) mod providers;
