//! `relay record` of a real agent: what it did is taken back byte for byte.

use std::fs;
use std::process::Command;

use relaycode_testkit::agents::{ALL, Absent, Scratch};
use relaycode_testkit::model::{Script, Server, Turn};

#[test]
fn what_a_real_agent_does_is_taken_back() {
    for agent in ALL {
        let shell = "printf 'two\\n' >> kept.txt; rm gone.txt; mkdir -p new; printf 'n' > new/file";
        let turns = vec![agent.runs(Turn::text("I change it."), shell), Turn::text("It is changed.")];
        let server = Server::start(Script::new(turns));
        let scratch = Scratch::new();
        let settled = scratch.settle(*agent, &server.url());
        let Ok(resident) = settled.inspect_err(Absent::skip) else { continue };
        let name = agent.name();
        fs::write(scratch.project().join("kept.txt"), "one\n").unwrap();
        fs::write(scratch.project().join("gone.txt"), b"\0gone").unwrap();
        let relay = |words: &[&str]| -> Command {
            let mut command = resident.command(env!("CARGO_BIN_EXE_relay"));
            command.args(words).env("RELAY_HOME", scratch.home().join("relay"));
            command
        };
        let mut command = relay(&["record", "--"]);
        command.arg(name).args(agent.arguments());
        let ran = scratch.finish(&mut command, "Change it, please.\n");
        assert_eq!(ran.code, Some(0), "{name}: {ran:#?}");
        assert!(ran.errors.contains("recorded") && ran.errors.contains("3 files"), "{name}: {ran:#?}");
        assert_eq!(fs::read_to_string(scratch.project().join("kept.txt")).unwrap(), "one\ntwo\n", "{name}");
        let reverted = scratch.finish(&mut relay(&["revert", "-y"]), "");
        assert_eq!(reverted.code, Some(0), "{name}: {reverted:#?}");
        assert_eq!(fs::read(scratch.project().join("kept.txt")).unwrap(), b"one\n", "{name}");
        assert_eq!(fs::read(scratch.project().join("gone.txt")).unwrap(), b"\0gone", "{name}");
        assert!(!scratch.project().join("new").exists(), "{name}");
        assert_eq!(scratch.left_running(), [], "{name}");
    }
}
