//! `relay record` of a real agent: what it did is taken back byte for byte.

use std::fs;

use relaycode_testkit::model::ScriptedTurn;

use super::fixture::{each, programs};

#[test]
fn what_a_real_agent_does_is_taken_back() {
    each(programs(), |stage| {
        let (name, agent) = (stage.name, stage.agent());
        let shell = "printf 'four\\n' >> old.txt; rm gone.bin; mkdir -p new; printf 'n' > new/file; chmod 700 src/cart.rs";
        stage.says([
            agent.shell_call_turn(ScriptedTurn::text("I change it."), shell),
            ScriptedTurn::text("It is changed."),
        ]);
        fs::write(stage.scratch.project().join("gone.bin"), b"\0gone").unwrap();
        let before = stage.tree();
        let words: Vec<&str> = ["record", "--", name].iter().chain(agent.arguments()).copied().collect();
        let ran = stage.run_with(&words, "Change it, please.\n").ends(name, 0);
        assert!(ran.err.contains("recorded") && ran.err.contains("4 files"), "{name}: {ran:#?}");
        assert_eq!(stage.text("old.txt"), "one\ntwo\nthree\nfour\n", "{name}");
        println!("{name}: {:?}", ran.took);
        stage.run(&["revert", "-y"]).ends(name, 0);
        let mut after = stage.tree();
        // Git's own files are git's; opencode, left to itself, notes there by what name it knows a repository.
        after.remove(".git/opencode");
        assert_eq!(after, before, "{name}: {ran:#?}");
    });
}
