//! What `ask`, `review`, `do` and `friends` share: whom they turn to, with what, and how it is heard.

pub(crate) mod arguments;
pub(crate) mod failure;
pub(crate) mod listen;
pub(crate) mod world;
