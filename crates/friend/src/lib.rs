//! Other agents as friends: a second opinion, a review, or a change, from an agent that the user already has.
//!
//! A [`Friend`] is one file in [`friends`] behind one trait, with a record of what it can do. Whoever asks makes
//! a [`FriendTurn`], hears [`FriendEvent`]s while it runs, and gets an [`FriendAnswer`] or a [`FriendFailure`] that says what happened.
//!
//! Invariants: a friend with read-only access changes nothing, by a tested recipe and by a look at the tree
//! afterwards; no answer is never taken for a good one; nothing that a friend started outlives its turn; a prompt
//! never travels in arguments. This crate knows neither relay's own agent nor how anything is shown; it never
//! prints and never reads the environment.

mod acp;
pub mod answer;
pub mod ask;
pub mod changes;
mod clock;
pub mod depth;
pub mod diff;
pub mod envelope;
pub mod event;
pub mod failure;
pub mod friend;
pub mod friend_context;
pub mod friends;
pub mod limits;
pub mod live_test;
pub mod parallel;
mod program;
pub mod review;
pub mod schema;
pub mod scratch;
pub mod session;
mod stderr_tail;
pub mod tree_check;
pub mod turn;
pub mod user_context;
pub mod verdict;
mod version;
pub mod work;

pub use answer::FriendAnswer;
pub use ask::{AskError, AskOptions, AskOutcome, AskRequest, ask};
pub use event::FriendEvent;
pub use failure::FriendFailure;
pub use friend::{Friend, FriendAbilities};
pub use friend_context::FriendContext;
pub use friends::FriendRegistry;
pub use parallel::run_parallel;
pub use review::{ReviewOutcome, ReviewRequest, review};
pub use scratch::ScratchCopy;
pub use turn::{FriendTurn, TurnMemory, TurnTask};
pub use work::{WorkOutcome, WorkRequest, work};
