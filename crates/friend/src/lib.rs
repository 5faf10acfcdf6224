//! Other agents as friends: a second opinion, a review, or a change, from an agent that the user already has.
//!
//! A [`Friend`] is one file in [`friends`] behind one trait, with a record of what it can do. Whoever asks makes one
//! [`AskRequest`], which goes by reference to the friend, hears [`FriendEvent`]s while it runs, and gets one
//! [`FriendResult`].
//!
//! Invariants: a friend with read-only access changes nothing, by a tested recipe and by a look at the tree
//! afterwards; no answer is never taken for a good one; nothing that a friend started outlives its turn; a prompt
//! never travels in arguments. This crate knows neither relay's own agent nor how anything is shown; it never
//! prints and never reads the environment.
//!
//! | module | what it is for |
//! |---|---|
//! | `friend` | what every friend is: the trait [`Friend`], the request, events, answer and failures, and what it knows of the machine |
//! | `friends` | one file or folder each, with its recipe for every access level; `registry` finds one by name |
//! | `ask` | the way of a question: what is checked before anything is sent, what makes an answer one; `review` and `verdict`, `live_test` |
//! | `prompt` | what goes to a friend, how much of it, and the form its answer must have (`schema`) |
//! | `driver` | shared by all friends: finding the program, waiting with one clock, the Agent Client Protocol (`acp`), several friends at once (`parallel`) |
//! | `session` | conversations that go on by name |
//! | `tree_check` | whether read-only was read-only: the project before and after |
//! | `work` | a friend works in a scratch copy; what differs becomes a proposal |

pub mod ask;
pub mod driver;
pub mod friend;
pub mod friends;
pub mod prompt;
pub mod session;
pub mod tree_check;
pub mod work;

pub use ask::{AskError, FriendResult, ask};
pub use driver::parallel::run_parallel;
pub use friend::answer::{DeclinedAction, DeclinedActionKind, FriendAnswer, FriendUsage};
pub use friend::event::{EventSink, FriendEvent};
pub use friend::failure::{FriendFailure, TurnResult};
pub use friend::friend_context::FriendContext;
pub use friend::request::{
    AnswerFormat, AskDiff, AskRequest, PromptExchange, ReviewScope, TurnLimits, TurnMemory,
};
pub use friend::{Friend, FriendAbilities, FriendProbeReport, FriendSandbox, FriendTurn, SessionSupport};
pub use friends::FriendRegistry;
pub use work::fence::{CopySandbox, FriendFence};
pub use work::scratch::ScratchCopy;
pub use work::{WorkOptions, WorkOutcome, work};
