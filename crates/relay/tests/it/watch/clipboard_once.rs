//! `relay apply` and `relay preview` without an argument take the clipboard once.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};
use crate::fixture::scratch_project::Ran;

on_each_desktop!(
    the_clipboard_is_taken_where_nothing_else_is_named,
    a_clipboard_without_an_answer_says_what_is_there,
);

/// `apply` and `preview` both end so, and nothing is changed.
#[track_caller]
fn assert_neither(shop: &Shop, relay: impl Fn(&[&str]) -> Ran, code: i32, said: &str) {
    for command in ["apply", "preview"] {
        let ran = relay(&[command]);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{command}: {ran:?}");
        assert!(ran.err.starts_with(&format!("✗ {said}")), "{command}: {ran:?}");
        let object = relay(&[command, "--json", "-q"]).json();
        assert_eq!((&object["ok"], &object["code"]), (&false.into(), &code.into()), "{command}: {object}");
    }
    assert_eq!(shop.cart(), CART);
}

fn the_clipboard_is_taken_where_nothing_else_is_named(desktop: &Desktop) {
    let shop = Shop::auto();
    desktop.copy(&shop.edits(1, "one", "1"));
    let ran = shop.relay(desktop, &["preview"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("one becomes 1"), "{ran:?}");
    assert_eq!(shop.cart(), CART);
    let ran = shop.relay(desktop, &["apply"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("✓ applied 00000001"), "{ran:?}");
    assert_eq!(shop.cart(), CART.replace("one", "1"));
    assert_eq!(shop.scene.latest()["origin"], "clipboard");
    let ran = shop.relay(desktop, &["apply"]);
    assert_eq!(ran.code, 8, "{ran:?}");
    shop.scene.assert_settled();
}

fn a_clipboard_without_an_answer_says_what_is_there(desktop: &Desktop) {
    let shop = Shop::auto();
    let relay = |args: &[&str]| shop.relay(desktop, args);
    assert_neither(&shop, relay, 3, "the clipboard is empty");
    desktop.copy_as("image/png", b"\x89PNG\r\n\x1a\n and so on");
    assert_neither(&shop, relay, 3, "there is no text on the clipboard");
    desktop.copy(&shop.scene.relay(&["prompt"]).out);
    assert_neither(&shop, relay, 3, "this is the prompt that relay prints, not an answer to it");
    assert_eq!(shop.relay(desktop, &["prompt", "--copy"]).code, 0);
    assert_neither(&shop, relay, 3, "what is on the clipboard was copied there by relay itself");
    desktop.copy("Sure, I can help you with that.");
    assert_neither(&shop, relay, 3, "no file changes found in this text");
    shop.scene.assert_settled();
    shop.assert_nothing_runs(desktop);
}

#[test]
fn without_a_desktop_there_is_no_clipboard_to_take() {
    let shop = Shop::auto();
    let said = "no answer was given, and the clipboard cannot be read: there is no desktop here";
    assert_neither(&shop, |args| shop.scene.relay(args), 2, said);
    let ran = shop.scene.relay(&["prompt", "--copy"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = shop.scene.relay(&["watch"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.starts_with("✗ there is nothing to watch: there is no desktop here"), "{ran:?}");
}
