//! Safe text for terminals and pages.
//!
//! Everything that relay did not write itself (an answer, a path, a line of a file, what the system
//! said) goes through [`escape`] before it reaches a terminal, and through [`width`] where it has to
//! fit; before it reaches a page it goes through [`html`]. What is kept or sent goes through [`redact`]. Settings that a user wrote are read by [`yaml`]. This crate knows no files and no network.

pub mod escape;
pub mod hidden;
pub mod html;
pub mod nearest;
pub mod redact;
pub mod width;
pub mod yaml;
