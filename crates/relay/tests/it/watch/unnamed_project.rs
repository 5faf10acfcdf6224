//! Answers that do not say for which project they are.

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop, answer};
use crate::fixture::scratch_project::{edit, whole};

on_each_desktop!(
    an_answer_that_names_no_project_is_at_most_asked_about,
    a_name_without_the_key_is_asked_about
);

fn an_answer_that_names_no_project_is_at_most_asked_about(desktop: &Desktop) {
    let shop = Shop::auto();
    let watch = shop.watch(desktop, &["-y"]);
    let greeting = watch.said();
    // Neither new files nor edits of files that are not here.
    watch.copy(&whole("src/new.txt", "new\n"));
    watch.live("copied: code that says no project and changes no file of this one");
    watch.copy_something_else();
    watch.copy(&edit("src/cart.txt", "zwei", "2"));
    watch.live("copied: code that says no project");
    let first = |said: &str| said.lines().next().unwrap().to_string();
    assert_eq!(watch.said().lines().count(), greeting.lines().count(), "{}", watch.said());
    assert_eq!(first(&watch.said()), first(&greeting));
    // One that fits is asked about, also with `-y`.
    watch.copy(&edit("src/cart.txt", "two", "2"));
    watch.expect("M  src/cart.txt");
    watch.expect("! the answer does not carry this project's key");
    watch.reply("apply? [y/N]", "n");
    watch.expect("✗ not applied; nothing was changed");
    watch.copy(&edit("src/cart.txt", "two", "two and a half"));
    watch.reply("apply? [y/N]", "y");
    watch.expect("✓ applied");
    assert_eq!(shop.cart(), CART.replace("two", "two and a half"));
    assert_eq!(shop.scene.latest()["decidedBy"], "terminal");
    watch.leave();
}

fn a_name_without_the_key_is_asked_about(desktop: &Desktop) {
    let shop = Shop::auto();
    let watch = shop.watch(desktop, &["-y"]);
    let blocks = edit("src/cart.txt", "two", "2");
    watch.copy(&answer("shop", 1, "no key", &blocks));
    watch.expect("! the answer does not carry this project's key");
    watch.reply("apply? [y/N]", "n");
    watch.expect("✗ not applied; nothing was changed");
    // The key of another checkout: said once, then only in the live line.
    watch.copy(&answer("shop.k3yk3yk3yk", 2, "another key", &blocks));
    watch.expect("! an answer for another checkout of shop was copied: left alone");
    watch.copy(&answer("shop.k3yk3yk3yk", 3, "another key", &blocks));
    watch.live("copied: an answer for another checkout of this project");
    let said = watch.leave();
    assert_eq!(said.matches("an answer for another checkout").count(), 1, "{said}");
    assert_eq!(shop.cart(), CART);
}
