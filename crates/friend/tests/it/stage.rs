//! What the tests stand on: where the keeper is.

use std::path::PathBuf;

use relaycode_exec::Runner;

/// The example beside this test: `cargo test` and `cargo nextest` build it with the tests.
pub(crate) fn keeper() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let keeper = me.parent().unwrap().parent().unwrap().join("examples/keep_friend");
    assert!(keeper.exists(), "build it first: cargo build -p relaycode-friend --example keep_friend");
    keeper
}

pub(crate) fn runner() -> Runner {
    Runner::new(keeper())
}

#[test]
fn the_keeper_keeps() {
    let job = relaycode_exec::Job::argv(["true"], "/");
    assert!(runner().run(&job, &|| false, &mut |_| {}).unwrap().end.is_success());
}
