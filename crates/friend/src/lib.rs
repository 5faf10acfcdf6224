//! Other agents as friends: a second opinion, a review, or a change, from an agent that the user already has.
//!
//! A [`Friend`] is one file in [`friends`] behind one trait, with a record of what it can do. Whoever asks makes
//! a [`Turn`], hears [`Event`]s while it runs, and gets an [`Answer`] or a [`Failure`] that says what happened.
//!
//! Invariants: a friend with read-only access changes nothing, by a tested recipe and by a look at the tree
//! afterwards; no answer is never taken for a good one; nothing that a friend started outlives its turn; a prompt
//! never travels in arguments. This crate knows neither relay's own agent nor how anything is shown; it never
//! prints and never reads the environment.

pub mod answer;
pub mod ask;
mod by_acp;
mod clock;
pub mod context;
pub mod depth;
pub mod diff;
pub mod difference;
pub mod envelope;
pub mod event;
pub mod failure;
pub mod friend;
pub mod friends;
mod last_words;
pub mod limits;
pub mod live_test;
mod program;
pub mod review;
pub mod schema;
pub mod scratch;
pub mod session;
pub mod several;
pub mod tree;
pub mod turn;
pub mod verdict;
mod version;
pub mod work;
pub mod world;

pub use answer::Answer;
pub use ask::{AskError, Asked, Asking, Terms, ask};
pub use event::Event;
pub use failure::Failure;
pub use friend::{Abilities, Friend};
pub use friends::Friends;
pub use review::{Reviewed, Reviewing, review};
pub use scratch::Scratch;
pub use several::several;
pub use turn::{Memory, Task, Turn};
pub use work::{Worked, Working, work};
pub use world::World;
