//! Protocols that relay speaks as a client of another program.
//!
//! Everything is pulled over [`relaycode_exec::Live`]: no thread, no queue, no growth. What the other side sends
//! is foreign: lines are bounded, what is not understood is told and passed over, and every wait has a limit.
//! This crate knows no model and no friend; it never prints and never reads the environment.

pub mod acp;
pub mod claude_stdio;
pub mod jsonrpc;
pub mod line_process;
