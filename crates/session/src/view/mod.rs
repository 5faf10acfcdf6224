//! What is made of a session for a model or for eyes: tree, context, outline.

pub mod context;
pub mod outline;
pub mod tree;
