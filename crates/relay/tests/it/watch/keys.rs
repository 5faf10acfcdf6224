//! The keys of a session.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop, Watch};
use crate::fixture::keyed_project::executable;
use crate::fixture::scratch_project::whole;

on_each_desktop!(every_key_does_what_the_help_says, leaving_at_once_leaves_nothing);

fn every_key_does_what_the_help_says(desktop: &Desktop) {
    let shop = Shop::auto();
    shop.scene.project.put("pager.sh", b"#!/bin/sh\nwc -l < \"$1\" | sed 's/.*/paged & lines/'\n");
    executable(&shop.scene.project.path("pager.sh"));
    let pager = shop.scene.project.path("pager.sh").to_str().unwrap().to_string();
    let watch = Watch::start(&shop.scene, desktop, &[], &[("RELAY_PAGER", &pager)]);
    watch.press("x");
    watch.live("? explains the keys");
    watch.press("?");
    watch.expect("p  copy the prompt for your model; P shows it");
    watch.expect("q  leave");
    for (key, said) in [
        ("d", "there is no diff to show yet"),
        ("u", "there is nothing to undo"),
        ("c", "there is nothing to copy"),
        ("a", "there is nothing to take up again"),
    ] {
        watch.press(key);
        watch.live(said);
    }
    // Arrows and other sequences are nothing, and no letters of theirs either.
    watch.press("\x1b[A\x1b[3~");
    watch.press("P");
    watch.expect("paged ");

    watch.copy(&shop.edits(1, "two", "2"));
    watch.expect("✓ applied 00000001");
    watch.press("d");
    watch.expect("-two");
    watch.expect("+2");
    watch.press("s");
    watch.expect("2 -two");
    watch.expect("2 +2");
    watch.press("l");
    watch.expect("1   00000001");
    let long: String = (0..60).map(|line| format!("{line}\n")).collect();
    watch.copy(&shop.answer(2, "many lines", &whole("src/long.txt", &long)));
    watch.expect("✓ applied 00000002");
    watch.press("d");
    watch.expect("paged 6");
    watch.press("s");
    watch.expect("paged 6");
    watch.press("u");
    watch.expect("✓ undone: many lines");
    watch.expect("U brings it back · u again: \"two becomes 2\"");
    watch.press("u");
    watch.expect("✓ undone: two becomes 2");
    watch.live("2 applied · 2 undone");
    watch.press("U");
    watch.expect("✓ brought back: two becomes 2");
    watch.expect("u takes it out again · U again: \"many lines\"");
    watch.live("2 applied · 1 undone");
    watch.press("u");
    watch.expect("✓ undone: two becomes 2");
    watch.press("l");
    watch.expect("undoes: two becomes 2");
    watch.press("u");
    watch.live("there is nothing to undo");
    let said = watch.leave();
    assert!(said.ends_with("✓ no longer watching: 2 applied, 2 undone"), "{said}");
    assert!(!said.contains("this session applied nothing"), "{said}");
    assert_eq!(shop.cart(), CART);
}

fn leaving_at_once_leaves_nothing(desktop: &Desktop) {
    let shop = Shop::auto();
    let tree = shop.scene.project.tree();
    // What was there before relay came is not looked at.
    desktop.copy(&shop.edits(1, "one", "1"));
    let said = shop.watch(desktop, &[]).leave();
    assert!(said.ends_with("✓ no longer watching"), "{said}");
    assert_eq!(shop.scene.project.tree(), tree);
    // A change of an earlier session is undone only after a yes.
    assert_eq!(shop.relay(desktop, &["apply"]).code, 0);
    let watch = shop.watch(desktop, &[]);
    watch.press("u");
    watch.reply("undo \"one becomes 1\" from before this session (now)? [y/N]", "n");
    watch.live("nothing was undone");
    assert_eq!(shop.cart(), CART.replace("one", "1"));
    watch.press("u");
    watch.reply("undo \"one becomes 1\" from before this session (now)? [y/N]", "y");
    watch.expect("✓ undone: one becomes 1");
    watch.leave();
    assert_eq!(shop.scene.project.tree(), tree);
}
