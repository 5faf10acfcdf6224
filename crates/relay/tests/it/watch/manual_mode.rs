//! Manual mode: nothing happens without a yes.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};

on_each_desktop!(in_manual_mode_every_answer_is_asked_about);

fn in_manual_mode_every_answer_is_asked_about(desktop: &Desktop) {
    let shop = Shop::manual();
    let watch = shop.watch(desktop, &[]);
    watch.copy(&shop.edits(1, "one", "1"));
    watch.expect("one becomes 1");
    watch.reply("apply? [y/N]", "n");
    watch.expect("✗ not applied; nothing was changed");
    assert_eq!(shop.cart(), CART);
    watch.press("c");
    watch.live("there is nothing to copy");

    watch.copy(&shop.edits(2, "two", "2"));
    watch.reply("apply? [y/N]", "n two is a word here");
    watch.expect("✗ not applied");
    watch.press("c");
    watch.expect("✓ your reason (");
    assert!(desktop.paste().contains("two is a word here"), "{}", desktop.paste());
    assert_eq!(shop.cart(), CART);

    watch.copy(&shop.edits(3, "three", "3"));
    watch.reply("apply? [y/N]", "y");
    watch.expect("✓ applied 00000003");
    assert_eq!(shop.cart(), CART.replace("three", "3"));
    let said = watch.leave();
    assert!(said.ends_with("✓ no longer watching: 1 applied, 2 declined"), "{said}");
    assert_eq!(shop.messages(), ["three becomes 3"]);
}
