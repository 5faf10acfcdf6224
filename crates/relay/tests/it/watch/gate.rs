//! The project's commands do not like a change that is on disk already.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};

on_each_desktop!(what_the_gate_does_not_like_is_put_back, with_y_it_is_put_back_without_asking);

fn what_the_gate_does_not_like_is_put_back(desktop: &Desktop) {
    let shop = Shop::auto();
    let watch = shop.watch(desktop, &[]);
    watch.copy(&shop.edits(1, "two", "BAD"));
    watch.expect("! sh check.sh went from 0 to 1 error");
    watch.expect("on disk, not kept yet");
    watch.reply("keep? [y/N]", "n");
    watch.expect("✗ not kept; everything was put back");
    watch.expect("c copies what the check said for your model");
    assert_eq!(shop.cart(), CART);
    watch.press("c");
    watch.expect("✓ what the check said (");
    let copied = desktop.paste();
    assert!(copied.contains("`sh check.sh` does not accept it"), "{copied}");
    assert!(copied.contains("src/cart.txt:2:BAD"), "{copied}");
    // Mended, under the same id.
    watch.copy(&shop.edits(1, "two", "2"));
    watch.expect("✓ applied 00000001");
    assert_eq!(shop.cart(), CART.replace("two", "2"));
    // A person may keep it all the same.
    watch.copy(&shop.edits(2, "three", "BAD"));
    watch.reply("keep? [y/N]", "y");
    watch.expect("✓ applied 00000002");
    assert_eq!(shop.cart(), CART.replace("two", "2").replace("three", "BAD"));
    watch.leave();
}

fn with_y_it_is_put_back_without_asking(desktop: &Desktop) {
    let shop = Shop::manual();
    let watch = shop.watch(desktop, &["-y"]);
    watch.copy(&shop.edits(1, "two", "BAD"));
    watch.expect("✗ not kept: sh check.sh went from 0 to 1 error");
    watch.expect("everything was put back");
    watch.press("c");
    watch.expect("✓ what the check said (");
    assert!(desktop.paste().contains("src/cart.txt:2:BAD"), "{}", desktop.paste());
    assert_eq!(shop.cart(), CART);
    watch.copy(&shop.edits(2, "two", "2"));
    watch.expect("✓ applied 00000002");
    assert_eq!(shop.cart(), CART.replace("two", "2"));
    let said = watch.leave();
    assert!(!said.contains("[y/N]"), "{said}");
}
