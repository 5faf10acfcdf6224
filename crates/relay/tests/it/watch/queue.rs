//! Copies that come while a question is open wait for their turn.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};

on_each_desktop!(copies_wait_while_a_question_is_open);

fn copies_wait_while_a_question_is_open(desktop: &Desktop) {
    let shop = Shop::manual();
    let watch = shop.watch(desktop, &[]);
    watch.copy(&shop.edits(1, "one", "1"));
    watch.expect("one becomes 1");
    watch.expect("apply? [y/N]");
    for (answer, said) in [
        (shop.edits(2, "1", "ONE"), "(1 answer waiting)"),
        (shop.edits(3, "ONE", "Eins"), "(2 answers waiting)"),
    ] {
        watch.copy_and_let_it_be_read(&answer);
        watch.expect(said);
        watch.expect("apply? [y/N]");
    }
    assert!(!watch.said().contains("becomes ONE"), "{}", watch.said());
    watch.type_line("y");
    watch.expect("✓ applied 00000001");
    watch.expect("1 becomes ONE");
    watch.reply("apply? [y/N]", "y");
    watch.expect("✓ applied 00000002");
    watch.expect("ONE becomes Eins");
    watch.reply("apply? [y/N]", "y");
    watch.expect("✓ applied 00000003");
    let said = watch.leave();
    assert!(said.ends_with("✓ no longer watching: 3 applied"), "{said}");
    assert_eq!(shop.cart(), CART.replace("one", "Eins"));
}
