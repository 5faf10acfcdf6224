//! What the tools share is shared between threads, and bounded.

use super::*;

#[test]
fn it_can_be_used_from_several_threads() {
    fn is_sync<T: Sync>() {}
    is_sync::<ToolWorkspace>();
}

#[test]
fn limit_30_shown_files() {
    let mut files = ShownFiles::default();
    for at in 0..=MAX_SHOWN_FILES {
        files.show(Path::new(&format!("/{at}")), b"x\n", &["x"], [0]);
    }
    assert!(files.get(Path::new("/0")).is_none());
    assert!(files.get(Path::new("/1")).is_some());
    // The one that was used last stays.
    files.show(Path::new("/1"), b"x\n", &["x"], [0]);
    files.show(Path::new("/new"), b"x\n", &["x"], [0]);
    assert!(files.get(Path::new("/1")).is_some() && files.get(Path::new("/2")).is_none());
}
