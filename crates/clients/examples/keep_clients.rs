//! The keeper of the tests' processes. In relay it is relay itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    relaycode_exec::run_keeper()
}
