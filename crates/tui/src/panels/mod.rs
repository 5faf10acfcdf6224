//! Quiet panels between the conversation and the editor: what is to be done, what runs in the background, what waits to be said.
//! Each folds to one line.

mod jobs;
mod queued;
#[cfg(test)]
mod tests;
mod todo;

pub use jobs::{JobRow, JobsPanel};
pub use queued::QueuedWords;
pub(crate) use todo::todo_lines;
pub use todo::{TodoPanel, todo_progress};
