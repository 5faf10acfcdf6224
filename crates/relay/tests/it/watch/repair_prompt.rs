//! A stale answer is refused, its repair prompt is copied, and the repaired one is applied under the same id.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};

on_each_desktop!(a_stale_answer_is_repaired);

fn a_stale_answer_is_repaired(desktop: &Desktop) {
    let shop = Shop::auto();
    let stale = shop.edits(1, "zwei", "2");
    let watch = shop.watch(desktop, &[]);
    watch.copy(&stale);
    watch.expect("✗ refused: the edit does not match");
    watch.expect("nothing was changed");
    watch.expect("looked for   zwei");
    watch.expect("c copies a repair prompt for your model; the same id may be sent again");
    assert_eq!(shop.cart(), CART);
    watch.press("c");
    watch.expect("✓ the repair prompt (");
    let repair = shop.scene.project.pipe(&["preview", "-", "--repair", "-q"], stale.as_bytes());
    assert_eq!((repair.code, desktop.paste().trim_end()), (3, repair.out.trim_end()), "{repair:?}");
    // It is relay's own copy: nothing is said about it.
    watch.copy(&shop.edits(1, "two", "2"));
    watch.expect("✓ applied 00000001");
    assert_eq!(shop.cart(), CART.replace("two", "2"));
    let said = watch.leave();
    assert!(said.ends_with("✓ no longer watching: 1 applied, 1 not applied"), "{said}");
}
