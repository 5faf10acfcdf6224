//! The Python client, by its own tests, against this binary.

use std::path::Path;
use std::process::Command;

use relaycode_testkit::missing;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};

/// If this variable is `1`, the test fails without Python instead of being skipped.
const REQUIRE: &str = "RELAY_REQUIRE_PYTHON";

#[test]
fn every_command_and_every_event_through_the_python_client() {
    let Ok(python) = missing::find("python3") else {
        return missing::skip("no python3", REQUIRE);
    };
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("unused")]));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/tests");
    let ran = Command::new(python)
        .args(["-B", "-m", "unittest", "discover", "-s", "."])
        .current_dir(tests)
        .env("RELAY_BINARY", env!("CARGO_BIN_EXE_relay"))
        .env("RELAY_SCRIPTED_MODEL_URL", server.url())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    println!("{}", said.lines().rev().take(4).collect::<Vec<_>>().join(" "));
    assert!(ran.status.success() && !said.contains("skipped"), "{said}");
}
