//! `relay review`: every friend's verdict is one, or is none; no answer is never a pass.

use relaycode_testkit::model::ScriptedTurn;

use super::fixture::{all, blocking, each};

#[test]
fn every_friends_verdict_that_blocks_says_so_by_its_own_code() {
    each(all(), |stage| {
        let name = stage.name;
        // claude is given a tool to hand it in with.
        stage.says([match name {
            "claude" => ScriptedTurn::text("I hand it in.").tool("StructuredOutput", blocking()),
            _ => ScriptedTurn::text(blocking().to_string()),
        }]);
        let before = stage.tree();
        let ran = stage.run(&["review", "--to", name, "--verdict"]).ends(name, 20);
        assert!(
            ran.out.contains("iterate: It never ends.") && ran.out.contains("src/cart.rs:1"),
            "{name}: {ran:#?}"
        );
        assert!(ran.err.contains("main"), "{name} says the base: {ran:#?}");
        assert_eq!(stage.tree(), before, "{name}");
    });
}

#[test]
fn no_friends_review_passes_without_a_verdict() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says([ScriptedTurn::text("Looks good to me, ship it!").repeat(9)]);
        let ran = stage.run(&["review", "--to", name, "--verdict"]).ends(name, 11);
        assert!(!ran.out.contains("ship"), "{name}: {ran:#?}");
    });
}
