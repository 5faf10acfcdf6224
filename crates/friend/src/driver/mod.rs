//! How a friend is found, started, talked to and waited for; shared by all friends.

pub(crate) mod acp;
pub(crate) mod clock;
pub mod parallel;
pub(crate) mod program;
pub(crate) mod stderr_tail;
pub(crate) mod version;
