//! Tests that need real agents. `cargo xtask test --real` runs them, and what stands in a module called `real` in the
//! tests of any other crate.

mod residents;
mod witnesses;
