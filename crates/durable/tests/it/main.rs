//! The crate from outside: what every file system must do, the model against the machine's, and
//! the explorer against writers that are right and wrong.

mod contract;
mod explorer;
mod same_tree;
