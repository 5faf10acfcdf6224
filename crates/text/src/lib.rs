//! Safe text for terminals and pages.
pub mod hidden;
