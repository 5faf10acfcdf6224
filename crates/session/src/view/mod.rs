//! A session prepared for a model or for people: tree, context, outline.

pub mod context;
pub mod outline;
pub mod tree;
