//! The same text once more.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};

on_each_desktop!(
    the_same_answer_again_is_said_once,
    a_declined_answer_can_be_taken_up_again,
    a_refused_answer_that_fits_now_is_applied,
    an_undone_answer_is_not_called_in,
);

fn the_same_answer_again_is_said_once(desktop: &Desktop) {
    let shop = Shop::auto();
    let answer = shop.edits(1, "one", "1");
    let watch = shop.watch(desktop, &[]);
    watch.copy(&answer);
    watch.expect("✓ applied 00000001");
    watch.copy_something_else();
    watch.copy(&answer);
    watch.expect("the same answer again: it was taken up before");
    watch.copy_something_else();
    watch.copy(&answer);
    watch.live("watching the clipboard");
    let said = watch.leave();
    assert_eq!(said.matches("the same answer again").count(), 1, "{said}");
    assert_eq!(said.matches("one becomes 1").count(), 1, "{said}");
    assert_eq!(shop.messages(), ["one becomes 1"]);
}

fn a_declined_answer_can_be_taken_up_again(desktop: &Desktop) {
    let shop = Shop::manual();
    let answer = shop.edits(1, "one", "1");
    let watch = shop.watch(desktop, &[]);
    watch.press("a");
    watch.live("there is nothing to take up again");
    watch.copy(&answer);
    watch.reply("apply? [y/N]", "n");
    watch.expect("✗ not applied");
    watch.copy_something_else();
    watch.copy(&answer);
    watch.expect("the same answer again: not taken · a takes it up again");
    watch.press("a");
    watch.expect("one becomes 1");
    watch.reply("apply? [y/N]", "y");
    watch.expect("✓ applied 00000001");
    watch.press("a");
    watch.live("there is nothing to take up again");
    watch.leave();
    assert_eq!(shop.cart(), CART.replace("one", "1"));
}

fn a_refused_answer_that_fits_now_is_applied(desktop: &Desktop) {
    let shop = Shop::auto();
    let answer = shop.edits(1, "zwei", "2");
    let watch = shop.watch(desktop, &[]);
    watch.copy(&answer);
    watch.expect("✗ refused: the edit does not match");
    watch.copy_something_else();
    watch.copy(&answer);
    watch.live("the same answer again: it still does not fit");
    // Somebody made it fit.
    shop.scene.project.put("src/cart.txt", CART.replace("two", "zwei").as_bytes());
    watch.copy_something_else();
    watch.copy(&answer);
    watch.expect("✓ applied 00000001");
    let said = watch.leave();
    assert_eq!(said.matches("✗ refused").count(), 1, "{said}");
    assert_eq!(shop.cart(), CART.replace("two", "2"));
}

fn an_undone_answer_is_not_called_in(desktop: &Desktop) {
    let shop = Shop::auto();
    let answer = shop.edits(1, "one", "1");
    let watch = shop.watch(desktop, &[]);
    watch.copy(&answer);
    watch.expect("✓ applied 00000001");
    watch.press("u");
    watch.expect("✓ undone: one becomes 1");
    watch.copy_something_else();
    watch.copy(&answer);
    watch.expect("✗ 00000001 was applied before; nothing was changed");
    watch.expect("it was applied and undone; `relay revert");
    watch.leave();
    assert_eq!(shop.cart(), CART);
}
