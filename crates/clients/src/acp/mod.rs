//! The Agent Client Protocol, as its client: an agent is a child that is told a prompt and asks back.
//!
//! [`AcpAgent`] speaks; whoever uses it decides, by a [`AcpHandler`]: what is heard, what may be done, what is read and
//! written on the agent's behalf. Nothing is decided here, and what nobody allowed is refused: a request that is
//! not known, an option that is not there, a path that leads elsewhere ([`ConfinedDir`]).

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

/// The version of the protocol that is spoken here.
pub const PROTOCOL_VERSION: u64 = 1;
