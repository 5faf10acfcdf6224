//! How test drivers fail: the test that uses them fails, and says why.

use std::fmt::Display;

/// The value, or the end of the test.
#[track_caller]
#[expect(clippy::panic, reason = "a driver that does not work fails the test that it drives")]
pub(crate) fn expect_ok<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}"),
    }
}
