//! Which sessions there are: listing, resolving what a person typed, full-text search.

pub mod list;
pub mod resolve;
pub mod search;
