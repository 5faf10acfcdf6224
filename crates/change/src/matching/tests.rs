//! The ladder at work on whole files.
