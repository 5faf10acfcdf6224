//! Themes and their parts.
