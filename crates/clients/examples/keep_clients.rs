//! The keeper for the processes of the tests. In the product relay itself is the keeper.

use std::process::ExitCode;

fn main() -> ExitCode {
    relaycode_exec::run_keeper()
}
