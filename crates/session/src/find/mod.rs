//! Which sessions there are: listing, which one is meant, words in them.

pub mod list;
pub mod resolve;
pub mod search;
