//! Protocols that relay speaks as a client of another program.
//!
//! Everything is pulled over [`relaycode_exec::LiveJob`]: no thread, no queue, no growth. The other side is
//! foreign: lines are bounded, what is not understood is reported and skipped, and every wait has a limit.
//! This crate knows no model and no friend; it never prints and never reads the environment.
//!
//! | module | for |
//! |---|---|
//! | [`line_process`] | a child process that speaks in lines |
//! | [`jsonrpc`] | JSON-RPC in both directions, with or without the member `jsonrpc` |
//! | [`acp`] | the Agent Client Protocol; the caller decides about permissions, reads and writes |
//! | [`claude_stdio`] | the control protocol of Claude Code on its standard streams |

pub mod acp;
pub mod claude_stdio;
pub mod jsonrpc;
pub mod line_process;
