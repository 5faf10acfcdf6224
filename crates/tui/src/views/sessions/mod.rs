//! Conversations as people see them: the list, what was found in them, one as text, and one as a tree.

pub mod hits;
pub mod list;
#[cfg(test)]
mod tests;
pub mod transcript;
pub mod tree;
