//! Bulk mode: copies are collected, and taken up together and in their order.

use serde_json::json;

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, LINTER, Shop};

on_each_desktop!(
    enough_copies_are_taken_up_in_their_order,
    too_few_copies_are_taken_up_after_a_while,
    a_key_takes_up_what_was_collected,
);

/// Collects three, or waits so long.
fn collecting(milliseconds: u64) -> Shop {
    Shop::with(&json!({
        "projectId": "shop",
        "watcher": {"enableBulkProcessing": true, "bulkSize": 3, "bulkTimeout": milliseconds},
        "patch": {"linter": LINTER},
    }))
}

const HOUR: u64 = 3_600_000;

fn enough_copies_are_taken_up_in_their_order(desktop: &Desktop) {
    let shop = collecting(HOUR);
    let watch = shop.watch(desktop, &[]);
    watch.copy(&shop.edits(1, "one", "1"));
    watch.live("1 of 3 collected");
    // This one only fits behind the first.
    watch.copy(&shop.edits(2, "1", "ONE"));
    watch.live("2 of 3 collected");
    assert_eq!(shop.cart(), CART, "nothing happens before there are enough");
    watch.copy(&shop.edits(3, "ONE", "Eins"));
    watch.expect("✓ applied 00000001");
    watch.expect("✓ applied 00000002");
    watch.expect("✓ applied 00000003");
    watch.expect("✓ 3 copies were taken up: 3 applied");
    assert_eq!(shop.cart(), CART.replace("one", "Eins"));
    watch.press("u");
    watch.expect("✓ undone: ONE becomes Eins");
    watch.leave();
    assert_eq!(shop.cart(), CART.replace("one", "ONE"));
}

fn too_few_copies_are_taken_up_after_a_while(desktop: &Desktop) {
    let shop = collecting(150);
    let watch = shop.watch(desktop, &[]);
    watch.copy(&shop.edits(1, "one", "1"));
    watch.expect("✓ applied 00000001");
    assert_eq!(shop.cart(), CART.replace("one", "1"));
    watch.leave();
}

fn a_key_takes_up_what_was_collected(desktop: &Desktop) {
    let shop = collecting(HOUR);
    let watch = shop.watch(desktop, &[]);
    watch.press("b");
    watch.copy(&shop.edits(1, "one", "1"));
    watch.live("1 of 3 collected · b takes them up now");
    watch.copy(&shop.edits(2, "zwei", "2"));
    watch.live("2 of 3 collected");
    watch.press("b");
    watch.expect("✓ applied 00000001");
    watch.expect("✗ refused: the edit does not match");
    watch.expect("✓ 2 copies were taken up: 1 applied, 1 not applied");
    assert_eq!(shop.cart(), CART.replace("one", "1"));
    // What was collected and not taken up is gone with the session.
    watch.copy(&shop.edits(3, "three", "3"));
    watch.live("1 of 3 collected");
    watch.leave();
    assert_eq!(shop.cart(), CART.replace("one", "1"));
}
