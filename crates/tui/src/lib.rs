//! What people see and type at a terminal. Views turn data into text for one [`layout::style::OutputStyle`];
//! they print nothing. Nothing here decides anything or starts a process.
//!
//! Every foreign text goes through the style's `safe`, `code`, `excerpt`, `path` or `clip`; everything else is
//! relay's own words.
//!
//! | module | for |
//! |---|---|
//! | [`views`] | one view per file: card, refusal, gate, question, outcome, log, diff, sessions … |
//! | [`completion`] | completing files, commands and their arguments in the prompt |
//! | [`editor`] | the prompt: text, cursor, chips, history, drafts |
//! | [`fuzzy`] | finding entries of a list by a few of their letters |
//! | [`keymap`] | which key does what |
//! | [`layout`] | what views are built from: the style of a stream, painted text, narrow terminals, times |
//! | [`input`] | the terminal as input: keys, pastes, questions, modes |
//! | [`live_line`] | the status line that is redrawn in place |
//! | [`notify`] | notifying somebody who looks elsewhere: D-Bus, or an escape sequence |
//! | [`osc52`] | copying through the terminal |
//! | [`screen`] | drawing on the terminal: finished lines, live lines, full screens |
//! | [`theme`] | colours and symbols of the conversation |
//! | `sys` | what differs by system: the desktop's notifications |

pub mod completion;
pub mod editor;
pub mod fuzzy;
pub mod input;
pub mod keymap;
pub mod layout;
pub mod live_line;
pub mod notify;
pub mod osc52;
pub mod screen;
mod sys;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod views;

pub use input::{PromptAnswer, Terminal, TerminalEvent, TypedWords, WordsAnswer};
pub use layout::clock;
pub use layout::style::{Glyph, OutputStyle, PaintRole, StreamWidth};
pub use layout::styled_text::{LIST_LIMIT, more_line};
pub use relaycode_text::plural::pluralize;
pub use views::diff::DiffLayout;
pub use views::outcome;

use relaycode_text::width::cells;

use layout::narrow;
use layout::styled_text::{
    StyledText, headline_with_state, human_size, justified_line, labelled_line, line_counts,
};
