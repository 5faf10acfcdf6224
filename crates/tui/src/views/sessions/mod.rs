//! Conversations as people see them: the list, search results, one as text, and one as a tree.

pub mod hits;
pub mod list;
#[cfg(test)]
mod tests;
pub mod transcript;
pub mod tree;
pub(crate) mod tree_shape;
