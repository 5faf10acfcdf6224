//! Whatever an answer says of its project: between the clipboard and the question its files are read for one plan.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop};
use crate::fixture::scratch_project::edit;

on_each_desktop!(an_answer_is_planned_once_on_its_way_to_the_question);

fn an_answer_is_planned_once_on_its_way_to_the_question(desktop: &Desktop) {
    let shop = Shop::manual();
    let opened = OpenCounter::new(&shop.scene.project.path("src"));
    let watch = shop.watch(desktop, &[]);
    let decline = || {
        watch.reply("apply? [y/N]", "n");
        watch.expect("✗ not applied; nothing was changed");
    };
    opened.take("cart.txt");
    watch.copy(&shop.edits(1, "two", "2"));
    decline();
    let once = opened.take("cart.txt");
    assert!(once > 0);
    // It does not say for which project it is: whether it fits is the plan that is shown.
    watch.copy(&edit("src/cart.txt", "two", "2"));
    decline();
    assert_eq!(opened.take("cart.txt"), once, "an answer that names no project");
    // It did not fit before, and does now.
    let late = shop.edits(2, "zwei", "2");
    watch.copy(&late);
    watch.expect("✗ refused: ");
    fs::write(shop.scene.project.path("src/cart.txt"), CART.replace("two", "zwei")).unwrap();
    watch.copy_something_else();
    opened.take("cart.txt");
    watch.copy(&late);
    decline();
    assert_eq!(opened.take("cart.txt"), once, "the same answer again");
    watch.leave();
}

/// Counts how often the files of a directory are opened.
struct OpenCounter {
    events: OwnedFd,
}

impl OpenCounter {
    fn new(folder: &Path) -> OpenCounter {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        // With what closes them: two events that are equal and adjacent would be reported as one.
        add_watch(&events, folder, WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE).unwrap();
        OpenCounter { events }
    }

    /// How often since this was asked last.
    fn take(&self, name: &str) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut count = 0;
        while let Ok(event) = reader.next() {
            let named = event.file_name().is_some_and(|file| file.to_str() == Ok(name));
            count += usize::from(named && event.events().contains(ReadFlags::OPEN));
        }
        count
    }
}
