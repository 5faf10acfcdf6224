//! Programs that a test needs and that may not be installed.
//!
//! A test that cannot run says so by name, past the output capture of the test harness. Where everything
//! was installed on purpose, [`REQUIRE`] is set, and then it fails instead: nothing is skipped silently.

use std::env;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::thread;

/// If this variable is `1`, a test that lacks a program fails instead of being skipped.
pub const REQUIRE: &str = "RELAY_REQUIRE_DESKTOP";

/// The same for tests that lack a browser.
pub const REQUIRE_BROWSER: &str = "RELAY_REQUIRE_BROWSER";

/// A program that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub &'static str);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {}", self.0)
    }
}

impl std::error::Error for Missing {}

impl Missing {
    /// Reports that the running test is skipped, or fails it if skipping is not allowed.
    pub fn skip(&self) {
        let require = if self.0 == crate::browser::PROGRAM { REQUIRE_BROWSER } else { REQUIRE };
        skip(&self.to_string(), require);
    }
}

/// Reports that the running test is skipped because `want` is missing; fails it if the variable `require`
/// is `1`.
pub fn skip(want: &str, require: &str) {
    let thread = thread::current();
    let line = format!("skipped: {}: {want}\n", thread.name().unwrap_or("a test"));
    assert!(env::var_os(require).is_none_or(|value| value != "1"), "{require}=1, but {line}");
    // Not `eprintln!`: the harness would capture it, because the test passes.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Unwraps a `Result<_, Missing>`; if something is missing, the test reports that it is skipped, and
/// returns.
///
/// ```no_run
/// # use relaycode_testkit::{display::X11, or_skip};
/// # fn test() {
/// let desktop = or_skip!(X11::start());
/// # }
/// ```
#[macro_export]
macro_rules! or_skip {
    ($started:expr) => {
        match $started {
            Ok(started) => started,
            Err(missing) => {
                $crate::missing::Missing::skip(&missing);
                return;
            }
        }
    };
}

pub fn find(program: &'static str) -> Result<PathBuf, Missing> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or(Missing(program))
}
