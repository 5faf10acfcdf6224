//! What people see and type at a terminal. Each view turns data into text for one [`look::Look`]; nothing here decides
//! anything, and views print nothing.
//!
//! Every foreign text goes through the look's `safe`, `code`, `excerpt`, `path` or `clip`; what does
//! not is relay's own words.

pub mod input;
pub mod layout;
pub mod live_line;
pub mod notify;
pub mod osc52;
#[cfg(test)]
mod tests;
pub mod views;

pub use layout::styled_text::{LIST_LIMIT, pluralize};
use layout::styled_text::{
    StyledText, headline_with_state, human_size, justified_line, labelled_line, line_counts,
};
