//! Safe text for terminals and pages.
//!
//! Everything that relay did not write itself (an answer, a path, a line of a file, a system error) goes
//! through [`escape`] before it reaches a terminal, or through [`html`] before it reaches a page. This crate
//! knows no files and no network, nor what the text means.
//!
//! | module | for |
//! |---|---|
//! | [`confusable`] | names that only look Latin |
//! | [`escape`] | making control and invisible characters visible |
//! | [`hidden`] | which characters a reader cannot see, and which of them are suspicious |
//! | [`html`] | text inside a page |
//! | [`nearest`] | "did you mean …?" |
//! | [`plural`] | a number and what it counts |
//! | [`redact`] | blacking out secrets before text is kept or sent |
//! | [`terminal_text`] | what a program printed for a terminal, without its control sequences |
//! | [`width`] | width in terminal cells, clipping, wrapping |
//! | [`yaml`] | settings that a user wrote, as nodes with line and column |

pub mod confusable;
pub mod escape;
pub mod hidden;
pub mod html;
pub mod nearest;
pub mod plural;
pub mod redact;
pub mod terminal_text;
pub mod width;
pub mod yaml;
