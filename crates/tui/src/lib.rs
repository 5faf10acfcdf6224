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
pub mod live_line;
pub mod log;
mod narrow;
pub mod notify;
pub mod osc52;
pub mod outcome;
pub mod question;
pub mod record;
pub mod recording;
pub mod recovery;
pub mod refusal;
pub mod rules;
pub mod sessions;
pub mod setup;
pub mod style;
mod styled_text;
#[cfg(test)]
mod tests;
pub mod trust;

pub use styled_text::{LIST_LIMIT, pluralize};
use styled_text::{StyledText, headline_with_state, human_size, justified_line, labelled_line, line_counts};
