//! Where the tests find the keeper.

use std::path::PathBuf;

use relaycode_exec::Runner;

pub(crate) fn keeper() -> PathBuf {
    relaycode_testkit::process::keeper_path("relaycode-clients", "keep_clients")
}

pub(crate) fn runner() -> Runner {
    Runner::new(keeper())
}

#[test]
fn the_keeper_keeps() {
    let job = relaycode_exec::Job::argv(["true"], "/");
    assert!(runner().run(&job, &|| false, &mut |_| {}).unwrap().reason.is_success());
}
