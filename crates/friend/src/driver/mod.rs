//! How a friend is found, started, talked to and waited for; shared by all friends.

pub(crate) mod acp;
pub(crate) mod clock;
pub mod parallel;
pub(crate) mod program;
pub(crate) mod stderr_tail;
pub(crate) mod version;

pub(crate) use clock::{TICK, TurnClock};
pub(crate) use program::{FriendProgram, MAX_INVALID_LINES, ProgramProfile};
pub(crate) use stderr_tail::{StderrTail, describe_exit};
pub(crate) use version::FriendVersion;
