//! What people see and type.

pub mod notify;
pub mod osc;
