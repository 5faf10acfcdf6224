//! Tests that need real agents. `cargo xtask test --real` runs them, and those in a module called `real` of
//! any other crate.

mod residents;
mod witnesses;
