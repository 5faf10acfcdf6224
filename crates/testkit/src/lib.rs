//! What tests of several crates share. Only ever a development dependency: nothing that is shipped
//! may use it.
//!
//! Everything random here is decided by a seed, so that any failure can be replayed.

#[cfg(target_os = "linux")]
pub mod agents;
#[cfg(target_os = "linux")]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod bus;
pub mod checkout;
pub mod clock;
pub mod crash;
#[cfg(target_os = "linux")]
pub mod display;
#[cfg(target_os = "linux")]
pub mod dunst;
pub mod fuzz;
pub mod git;
#[cfg(target_os = "linux")]
pub mod missing;
pub mod model;
mod must;
#[cfg(target_os = "linux")]
pub mod process;
pub mod random;
pub mod reverse;
#[cfg(target_os = "linux")]
pub mod running;
#[cfg(target_os = "linux")]
pub mod screen;
pub mod tongue;
#[cfg(unix)]
pub mod tree;
