//! What people see and type at a terminal. Each view turns data into text for one [`look::Look`]; nothing here decides
//! anything, and views print nothing.
//!
//! Every foreign text goes through the look's `safe`, `code`, `excerpt`, `path` or `clip`; what does
//! not is relay's own words.

pub mod blame;
pub mod card;
pub mod clock;
pub mod commit;
pub mod config;
pub mod diff;
pub mod gate;
pub mod input;
pub mod live;
pub mod log;
pub mod look;
mod narrow;
pub mod notify;
pub mod osc;
pub mod outcome;
mod part;
pub mod question;
pub mod record;
pub mod recording;
pub mod recovery;
pub mod refusal;
pub mod sessions;
pub mod setup;
#[cfg(test)]
mod tests;
pub mod trust;
pub mod why;

pub use part::{LISTED, number};
use part::{Part, counts, headline, labelled, size, two_ended};
