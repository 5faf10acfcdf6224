//! What `ask`, `review`, `do` and `friends` share: whom they turn to, with what, and how it is heard.

pub(crate) mod arguments;
mod ask_failure;
pub(crate) mod circle;
mod failure;
pub(crate) mod listen;
pub(crate) mod seen;
mod stdin;
pub(crate) mod tell;
pub(crate) mod worked;
pub(crate) mod world;
