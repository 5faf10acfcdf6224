//! What only the machine's file system can show; what it shares with the model is in the contract tests.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::fs::{is_link, is_not_regular, is_too_long};

fn both() -> [RealFs; 2] {
    [RealFs::default(), RealFs::without_openat2()]
}

#[test]
fn a_way_out_of_the_root_is_refused_with_and_without_openat2() {
    for fs in both() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("outside/secret")).unwrap();
        std::fs::create_dir_all(place.path().join("root/a/b")).unwrap();
        let absolute = place.path().join("outside");
        symlink(&absolute, place.path().join("root/absolute")).unwrap();
        symlink("../outside", place.path().join("root/relative")).unwrap();
        symlink("../../outside", place.path().join("root/a/deep")).unwrap();
        symlink("loop", place.path().join("root/loop")).unwrap();
        symlink("b", place.path().join("root/a/harmless")).unwrap();
        let root = fs.open_root(&place.path().join("root")).unwrap();
        for path in ["absolute", "absolute/secret", "relative", "relative/secret", "a/deep", "a/deep/secret"]
        {
            assert!(is_link(&fs.open_dir(&root, path).unwrap_err()), "{path} {fs:?}");
        }
        for path in ["loop", "loop/x", "a/harmless"] {
            assert!(is_link(&fs.open_dir(&root, path).unwrap_err()), "{path} {fs:?}");
        }
        for path in ["..", "../outside", "a/../../outside", "/", absolute.to_str().unwrap(), ""] {
            assert!(fs.open_dir(&root, path).is_err(), "{path:?} {fs:?}");
        }
        let deep = fs.open_dir(&root, "a/b").unwrap();
        assert_eq!(fs.list(&deep).unwrap(), []);
    }
}

#[test]
fn sockets_and_devices_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path().join("socket")).unwrap();
    let fs = RealFs::default();
    let dir = fs.open_root(place.path()).unwrap();
    assert_eq!(fs.stat(&dir, "socket").unwrap().kind, FsKind::Other);
    assert!(is_not_regular(&fs.read(&dir, "socket", 10).unwrap_err()));
    assert!(is_not_regular(&fs.open_append(&dir, "socket").unwrap_err()));
    assert!(is_not_regular(&fs.try_lock(&dir, "socket").unwrap_err()));
    let devices = fs.open_root(Path::new("/dev")).unwrap();
    assert!(is_not_regular(&fs.read(&devices, "null", 10).unwrap_err()));
}

#[test]
fn names_that_are_not_text_are_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("text"), "").unwrap();
    // Some systems refuse such a name.
    let _ = std::fs::write(place.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "");
    let fs = RealFs::default();
    let dir = fs.open_root(place.path()).unwrap();
    assert_eq!(fs.list(&dir).unwrap(), [("text".to_string(), FsKind::File)]);
    assert_eq!(fs.list(&dir).unwrap().len(), 1, "a directory can be listed again");
}

#[test]
fn exact_modes_are_not_subject_to_the_umask() {
    let place = tempfile::tempdir().unwrap();
    let fs = RealFs::default();
    let dir = fs.open_root(place.path()).unwrap();
    fs.make_dir(&dir, "open", DirMode::Exact(0o777)).unwrap();
    let mode = std::fs::metadata(place.path().join("open")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o777);
}

#[test]
fn a_second_name_is_counted() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("one"), "x").unwrap();
    std::fs::hard_link(place.path().join("one"), place.path().join("two")).unwrap();
    let fs = RealFs::default();
    let dir = fs.open_root(place.path()).unwrap();
    assert_eq!(fs.stat(&dir, "one").unwrap().links, 2);
    fs.rename(&dir, "one", &dir, "two", RenameMode::Replace).unwrap();
    assert_eq!(fs.stat(&dir, "one").unwrap().links, 2, "two names of one file: nothing happens");
}

#[test]
fn files_are_read_whole_whatever_length_the_system_says() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("empty"), "").unwrap();
    std::fs::write(place.path().join("five"), "12345").unwrap();
    let fs = RealFs::default();
    let dir = fs.open_root(place.path()).unwrap();
    assert_eq!(fs.read(&dir, "empty", 0).unwrap().0, b"");
    assert_eq!(fs.read(&dir, "five", 5).unwrap().0, b"12345");
    assert!(is_too_long(&fs.read(&dir, "five", 4).unwrap_err()));
    // Such files have bytes, and a length of 0.
    if let Ok(text) = std::fs::read("/proc/version") {
        let odd = fs.open_root(Path::new("/proc")).unwrap();
        assert_eq!(fs.read(&odd, "version", 1 << 20).unwrap().0, text);
        assert_eq!(fs.read(&odd, "version", text.len() as u64).unwrap().0, text);
        assert!(is_too_long(&fs.read(&odd, "version", text.len() as u64 - 1).unwrap_err()));
    }
}

#[test]
fn a_lock_that_was_dropped_is_free_while_programs_are_started() {
    let home = tempfile::tempdir().unwrap();
    let fs = RealFs::default();
    let dir = fs.open_root(home.path()).unwrap();
    let starter = std::thread::spawn(|| {
        for _ in 0..100 {
            std::process::Command::new("true").status().unwrap();
        }
    });
    while !starter.is_finished() {
        let lock = fs.try_lock(&dir, "lock").unwrap();
        assert!(lock.is_some(), "somebody else has the lock");
    }
    starter.join().unwrap();
}

#[test]
fn names_that_are_no_text_are_seen_and_looked_at() {
    let place = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"n\xff");
    std::fs::write(place.path().join(name), "abc").unwrap();
    let fs = RealFs::default();
    let root = fs.open_root(place.path()).unwrap();
    let mut seen = Vec::new();
    fs.for_each_entry(&root, &mut |name, kind| seen.push((name.to_os_string(), kind))).unwrap();
    assert_eq!(seen, [(name.to_os_string(), FsKind::File)]);
    assert_eq!(fs.list(&root).unwrap(), []);
    let stamp = fs.stamp(&root, name).unwrap();
    assert_eq!(stamp.stat.len, 3);
    std::fs::set_permissions(place.path().join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    let later = fs.stamp(&root, name).unwrap();
    assert!(later.changed >= stamp.changed && later.modified == stamp.modified);
    for name in ["", ".", "..", "a/b"] {
        assert!(fs.stamp(&root, OsStr::new(name)).is_err(), "{name:?}");
    }
}

#[test]
fn a_shared_file_is_one_of_its_own_or_is_not_made() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a"), "abc").unwrap();
    let fs = RealFs::default();
    let root = fs.open_root(place.path()).unwrap();
    if fs.reflink(&root, "a", &root, "b").unwrap() {
        std::fs::write(place.path().join("a"), "xyz").unwrap();
        assert_eq!(std::fs::read(place.path().join("b")).unwrap(), b"abc");
    } else {
        assert!(!place.path().join("b").exists());
    }
    assert!(fs.reflink(&root, "none", &root, "c").is_err());
}

#[test]
fn a_lock_is_held_by_whoever_has_its_descriptor() {
    let place = tempfile::tempdir().unwrap();
    let fs = RealFs::default();
    let root = fs.open_root(place.path()).unwrap();
    let lock = fs.try_lock(&root, "lock").unwrap().unwrap();
    let shared = lock.descriptor().unwrap().try_clone_to_owned().unwrap();
    // As if its owner had been killed: nothing lets go of it.
    std::mem::forget(lock);
    assert!(fs.try_lock(&root, "lock").unwrap().is_none());
    rustix::fs::flock(&shared, FlockOperation::Unlock).unwrap();
    assert!(fs.try_lock(&root, "lock").unwrap().is_some());
}
