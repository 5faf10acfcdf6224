//! The keeper for this crate's tests: what `relay __keep` is for relay.

fn main() -> std::process::ExitCode {
    relaycode_exec::run_keeper()
}
