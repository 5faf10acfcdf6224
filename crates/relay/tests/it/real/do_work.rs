//! `relay do`: what a friend changed in its copy lands in the ledger, and comes back out byte for byte.

use super::fixture::{all, each};

#[test]
fn every_friends_work_lands_in_the_ledger_and_reverts_byte_for_byte() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says(stage.works());
        let before = stage.tree();
        let mut words = vec!["do", "Make it better.", "--to", name, "-y"];
        if name == super::fixture::OLLAMA {
            words.splice(2..2, ["old.txt", "src/cart.rs"]);
        }
        let ran = stage.run(&words).ends(name, 0);
        let now = (stage.text("src/new.txt"), stage.text("old.txt"), stage.text("src/cart.rs"));
        let cart = "fn total() -> u32 { loop {} }\n// better\n";
        let after = ("hello\n", "one\nzwei\nthree\n", cart);
        assert_eq!((now.0.as_str(), now.1.as_str(), now.2.as_str()), after, "{name}: {ran:#?}");

        let entries = stage.run(&["log", "--json"]).ends(name, 0).json()["entries"].clone();
        let entry = &entries[0];
        assert_eq!((entries.as_array().unwrap().len(), &entry["files"]), (1, &3.into()), "{name}: {entries}");
        assert!(entry["origin"].as_str().unwrap().contains(name), "{name}: {entries}");

        stage.run(&["revert", "-y"]).ends(name, 0);
        assert_eq!(stage.tree(), before, "{name}");
        println!("{name}: {:?}", ran.took);
    });
}
