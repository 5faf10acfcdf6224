//! What goes to a friend, how much of it, and the form its answer must have.

pub mod diff;
pub mod envelope;
pub mod limits;
pub mod schema;
pub mod user_context;
