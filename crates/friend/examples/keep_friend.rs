//! The keeper of the tests' processes, and the stage of their fences. In relay both are relay itself.

use std::env::args_os;
use std::process::ExitCode;

use relaycode_exec::{FENCE_ARGUMENT, run_fence, run_keeper};

fn main() -> ExitCode {
    let arguments: Vec<_> = args_os().skip(1).collect();
    match arguments.first() {
        Some(first) if first == FENCE_ARGUMENT => run_fence(&arguments[1..]),
        _ => run_keeper(),
    }
}
