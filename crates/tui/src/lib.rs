//! What people see and type at a terminal. Views turn data into text for one [`layout::style::OutputStyle`];
//! they print nothing. Nothing here decides anything or starts a process.
//!
//! Every foreign text goes through the style's `safe`, `code`, `excerpt`, `path` or `clip`; everything else is
//! relay's own words.
//!
//! | module | for |
//! |---|---|
//! | [`views`] | one view per file: card, refusal, gate, question, outcome, log, diff, sessions … |
//! | [`cards`] | what a tool's call looks like, from its data |
//! | [`conversation`] | events of the agent to lines: what is finished, once, and what may still change |
//! | [`question_panel`] | questions that wait for a person, their keys and answers |
//! | [`status`] | the status line |
//! | [`panels`] | what is to be done, what runs in the background, what waits to be said |
//! | [`completion`] | completing files, commands and their arguments in the prompt |
//! | [`editor`] | the prompt: text, cursor, chips, history, drafts |
//! | [`fuzzy`] | finding entries of a list by a few of their letters |
//! | [`keymap`] | which key does what |
//! | [`layout`] | what views are built from: the style of a stream, painted text, narrow terminals, times |
//! | [`completion`] | the list below the words being written: paths after `@`, commands after `/` |
//! | [`editor`] | the words being written: lines, keys, pastes, history |
//! | [`input`] | the terminal as input: keys, pastes, questions, modes |
//! | [`live_line`] | the status line that is redrawn in place |
//! | [`notify`] | notifying somebody who looks elsewhere: D-Bus, or an escape sequence |
//! | [`osc52`] | copying through the terminal |
//! | [`screen`] | drawing on the terminal: finished lines, live lines, full screens |
//! | [`highlight`] | code in colours, as a whole or line by line |
//! | [`markdown`] | answers as they stream in |
//! | [`image`] | pictures, drawn by the terminal or named |
//! | [`theme`] | colours and symbols of the conversation |
//! | [`picker`] | full-screen lists, and what full-screen views are built from |
//! | [`tree_view`], [`session_picker`], [`log_browser`], [`model_picker`], [`settings_view`] | full-screen views: the conversation's tree, sessions, changes, models, settings |
//! | [`pager`], [`help_view`] | long texts and diffs; keys and commands |
//! | `sys` | what differs by system: the desktop's notifications |

pub mod cards;
pub mod completion;
pub mod conversation;
pub mod editor;
pub mod fuzzy;
pub mod help_view;
pub mod highlight;
pub mod image;
pub mod input;
pub mod keymap;
pub mod layout;
pub mod live_line;
pub mod log_browser;
pub mod markdown;
pub mod model_picker;
pub mod notify;
pub mod osc52;
pub mod pager;
pub mod panels;
pub mod picker;
pub mod question_panel;
pub mod screen;
pub mod session_picker;
pub mod settings_view;
pub mod status;
mod sys;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod tree_view;
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
