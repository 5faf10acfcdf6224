//! The Agent Client Protocol, as its client: an agent is a child that is told a prompt and asks back.
//!
//! [`Agent`] speaks; whoever uses it decides, by a [`Decide`]: what is heard, what may be done, what is read and
//! written on the agent's behalf. Nothing is decided here, and what nobody allowed is refused: a request that is
//! not known, an option that is not there, a path that leads elsewhere ([`Beneath`]).

mod agent;
mod beneath;
mod decide;
mod session;
mod tool;
mod update;

pub use agent::{Agent, Broken, Ended, Patience};
pub use beneath::Beneath;
pub use decide::{Decide, Permission, Refused, Verdict};
pub use session::{Capabilities, Introduced, Session, Stop};
pub use tool::ToolCall;
pub use update::Update;

/// The version of the protocol that is spoken here.
pub const VERSION: u64 = 1;
