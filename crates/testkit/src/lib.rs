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
#[cfg(unix)]
pub mod directory_tree;
#[cfg(target_os = "linux")]
pub mod display;
#[cfg(target_os = "linux")]
pub mod dunst;
mod expect;
pub mod fuzz;
pub mod git;
pub mod hostile_text;
#[cfg(target_os = "linux")]
pub mod missing;
pub mod model;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(target_os = "linux")]
pub mod process_table;
pub mod random;
pub mod reverse_change;
#[cfg(target_os = "linux")]
pub mod screen;
