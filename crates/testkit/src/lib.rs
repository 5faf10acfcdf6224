//! What tests of several crates share. Only ever a development dependency: nothing that is shipped
//! may use it.
//!
//! Everything random here is decided by a seed, so that any failure can be replayed.

pub mod crash;
pub mod fuzz;
pub mod random;
pub mod reverse;
pub mod tongue;
