//! What the tests stand on: where the keeper is.

use std::path::PathBuf;

use relaycode_exec::Runner;

pub(crate) fn keeper() -> PathBuf {
    relaycode_testkit::process::keeper_path("relaycode-friend", "keep_friend")
}

pub(crate) fn runner() -> Runner {
    Runner::new(keeper())
}

#[test]
fn the_keeper_keeps() {
    let job = relaycode_exec::Job::argv(["true"], "/");
    assert!(runner().run(&job, &|| false, &mut |_| {}).unwrap().reason.is_success());
}
