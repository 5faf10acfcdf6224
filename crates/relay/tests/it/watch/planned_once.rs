//! Whatever an answer says of its project: between the clipboard and the question its files are read for one plan.

use std::fs;

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};
use crate::fixture::open_counter::OpenCounter;
use crate::fixture::scratch_project::edit;

on_each_desktop!(an_answer_is_planned_once_on_its_way_to_the_question);

fn an_answer_is_planned_once_on_its_way_to_the_question(desktop: &Desktop) {
    let shop = Shop::manual();
    let opened = OpenCounter::new(&shop.scene.project.path("src"), "cart.txt");
    let watch = shop.watch(desktop, &[]);
    let decline = || {
        watch.reply("apply? [y/N]", "n");
        watch.expect("✗ not applied; nothing was changed");
    };
    opened.take();
    watch.copy(&shop.edits(1, "two", "2"));
    decline();
    let once = opened.take();
    assert!(once > 0);
    // It does not say for which project it is: whether it fits is the plan that is shown.
    watch.copy(&edit("src/cart.txt", "two", "2"));
    decline();
    assert_eq!(opened.take(), once, "an answer that names no project");
    // It did not fit before, and does now.
    let late = shop.edits(2, "zwei", "2");
    watch.copy(&late);
    watch.expect("✗ refused: ");
    fs::write(shop.scene.project.path("src/cart.txt"), CART.replace("two", "zwei")).unwrap();
    watch.copy_something_else();
    opened.take();
    watch.copy(&late);
    decline();
    assert_eq!(opened.take(), once, "the same answer again");
    watch.leave();
}
