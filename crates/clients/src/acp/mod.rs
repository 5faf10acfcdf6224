//! The Agent Client Protocol, client side: an agent is a child process that gets a prompt and asks back.
//!
//! [`AcpAgent`] speaks the protocol; an [`AcpHandler`] decides what may be done and what is read and
//! written on the agent's behalf. Nothing is decided here, and what the handler did not allow is refused:
//! an unknown request, an option that was not offered, a path that leads elsewhere ([`ConfinedDir`]).

mod agent;
mod confined_dir;
mod handler;
mod session;
mod tool_call;
mod update;

pub use agent::{AcpAgent, AcpError, AcpPromptResult, AcpWaitLimits};
pub use confined_dir::ConfinedDir;
pub use handler::{AcpHandler, AcpPermissionDecision, AcpPermissionRequest, AcpRefusal};
pub use session::{AcpClientCapabilities, AcpInitializeResponse, AcpSession, AcpStopReason};
pub use tool_call::AcpToolCall;
pub use update::AcpSessionUpdate;

pub const PROTOCOL_VERSION: u64 = 1;
