//! What every implementation of the trait must do, each method with its success and its errors.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use relaycode_durable::fs::{DirMode, FileMode, is_link, is_not_regular, is_too_long};
use relaycode_durable::{Fs, FsDir, FsKind, RealFs, RenameMode};
use relaycode_proof_crashfs::ModelFs;
use rustix::io::Errno;

/// An empty directory on some file system, and how to put a link and a pipe there.
struct Place {
    fs: Arc<dyn Fs>,
    root: PathBuf,
    link: Link,
    pipe: Box<dyn Fn(&str)>,
    /// What holds it.
    _held: Option<tempfile::TempDir>,
}

/// Makes a link of that name to that target.
type Link = Box<dyn Fn(&str, &str)>;

fn real(fs: RealFs) -> Place {
    let held = tempfile::tempdir().unwrap();
    let (links, pipes) = (held.path().to_owned(), held.path().to_owned());
    Place {
        fs: Arc::new(fs),
        root: held.path().to_owned(),
        link: Box::new(move |name, target| std::os::unix::fs::symlink(target, links.join(name)).unwrap()),
        pipe: Box::new(move |name| {
            let made = std::process::Command::new("mkfifo").arg(pipes.join(name)).status().unwrap();
            assert!(made.success());
        }),
        _held: Some(held),
    }
}

fn model() -> Place {
    let model = Arc::new(ModelFs::new());
    model.mkdir("work").unwrap();
    let (links, pipes) = (model.clone(), model.clone());
    Place {
        fs: model,
        root: "/work".into(),
        link: Box::new(move |name, target| links.link(&format!("work/{name}"), target).unwrap()),
        pipe: Box::new(move |name| pipes.pipe(&format!("work/{name}")).unwrap()),
        _held: None,
    }
}

/// Runs a check on every implementation.
fn on_all(check: impl Fn(&dyn Fs, &FsDir, &Place)) {
    for (name, place) in [
        ("Real", real(RealFs::default())),
        ("Real without openat2", real(RealFs::without_openat2())),
        ("Model", model()),
    ] {
        println!("on {name}");
        let dir = place.fs.open_root(&place.root).unwrap();
        check(&*place.fs, &dir, &place);
    }
}

fn put(fs: &dyn Fs, dir: &FsDir, name: &str, bytes: &[u8]) {
    let file = fs.create(dir, name, FileMode::Private).unwrap();
    fs.write(&file, bytes).unwrap();
}

fn text(fs: &dyn Fs, dir: &FsDir, name: &str) -> String {
    String::from_utf8(fs.read(dir, name, 1000).unwrap().0).unwrap()
}

fn kind<T>(result: std::io::Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("it must fail"),
        Err(error) => error.kind(),
    }
}

fn errno<T>(result: std::io::Result<T>) -> i32 {
    match result {
        Ok(_) => panic!("it must fail"),
        Err(error) => error.raw_os_error().unwrap_or_else(|| panic!("without a number: {error}")),
    }
}

#[test]
fn names_that_are_no_names_are_refused_everywhere() {
    on_all(|fs, dir, _| {
        for name in ["", ".", "..", "a/b", "/", "a\0b"] {
            let refused = ErrorKind::InvalidInput;
            assert_eq!(kind(fs.make_dir(dir, name, DirMode::Usual)), refused, "{name:?}");
            assert_eq!(kind(fs.remove_dir(dir, name)), refused, "{name:?}");
            assert_eq!(kind(fs.stat(dir, name)), refused, "{name:?}");
            assert_eq!(kind(fs.read(dir, name, 1)), refused, "{name:?}");
            assert_eq!(kind(fs.read_range(dir, name, 0, 1)), refused, "{name:?}");
            assert_eq!(kind(fs.attributes(dir, name)), refused, "{name:?}");
            assert_eq!(kind(fs.create(dir, name, FileMode::Private)), refused, "{name:?}");
            assert_eq!(kind(fs.open_append(dir, name)), refused, "{name:?}");
            assert_eq!(kind(fs.rename(dir, name, dir, "x", RenameMode::Replace)), refused, "{name:?}");
            assert_eq!(kind(fs.rename(dir, "x", dir, name, RenameMode::Replace)), refused, "{name:?}");
            assert_eq!(kind(fs.remove_file(dir, name)), refused, "{name:?}");
            assert_eq!(kind(fs.try_lock(dir, name)), refused, "{name:?}");
        }
        let long = "x".repeat(256);
        assert_eq!(errno(fs.create(dir, &long, FileMode::Private)), Errno::NAMETOOLONG.raw_os_error());
    });
}

#[test]
fn what_is_absent_is_not_found() {
    on_all(|fs, dir, place| {
        let absent = ErrorKind::NotFound;
        assert_eq!(kind(fs.open_root(&place.root.join("absent"))), absent);
        assert_eq!(kind(fs.open_dir(dir, "absent")), absent);
        assert_eq!(kind(fs.open_dir(dir, "absent/deeper")), absent);
        assert_eq!(kind(fs.remove_dir(dir, "absent")), absent);
        assert_eq!(kind(fs.stat(dir, "absent")), absent);
        assert_eq!(kind(fs.read(dir, "absent", 1)), absent);
        assert_eq!(kind(fs.read_range(dir, "absent", 0, 1)), absent);
        assert_eq!(kind(fs.attributes(dir, "absent")), absent);
        assert_eq!(kind(fs.remove_file(dir, "absent")), absent);
        for how in [RenameMode::Replace, RenameMode::NoReplace, RenameMode::Exchange] {
            assert_eq!(kind(fs.rename(dir, "absent", dir, "new", how)), absent, "{how:?}");
        }
        put(fs, dir, "file", b"");
        assert_eq!(kind(fs.rename(dir, "file", dir, "absent", RenameMode::Exchange)), absent);
    });
}

#[test]
fn directories_are_made_opened_listed_and_removed() {
    on_all(|fs, dir, place| {
        fs.make_dir(dir, "private", DirMode::Private).unwrap();
        fs.make_dir(dir, "exact", DirMode::Exact(0o751)).unwrap();
        fs.make_dir(dir, "usual", DirMode::Usual).unwrap();
        assert_eq!(fs.stat(dir, "private").unwrap().mode, 0o700);
        assert_eq!(fs.stat(dir, "exact").unwrap().mode & 0o777, 0o751);
        assert_eq!(kind(fs.make_dir(dir, "usual", DirMode::Usual)), ErrorKind::AlreadyExists);
        let usual = fs.open_dir(dir, "usual").unwrap();
        fs.make_dir(&usual, "deep", DirMode::Usual).unwrap();
        let deep = fs.open_dir(dir, "usual/deep").unwrap();
        put(fs, &deep, "file", b"x");
        assert_eq!(kind(fs.open_dir(dir, "usual/deep/file")), ErrorKind::NotADirectory);
        assert_eq!(kind(fs.open_dir(dir, "usual/deep/file/on")), ErrorKind::NotADirectory);
        assert_eq!(kind(fs.open_root(&place.root.join("usual/deep/file"))), ErrorKind::NotADirectory);
        assert_eq!(fs.stat_dir(&deep).unwrap().ino, fs.stat(&usual, "deep").unwrap().ino);
        assert_eq!(fs.stat_dir(&deep).unwrap().kind, FsKind::Dir);
        assert_eq!(fs.stat_dir(&deep).unwrap().dev, fs.stat_dir(dir).unwrap().dev);
        put(fs, dir, "a-file", b"");
        (place.link)("link", "usual");
        (place.pipe)("pipe");
        let names = ["a-file", "exact", "link", "pipe", "private", "usual"];
        let kinds = [FsKind::File, FsKind::Dir, FsKind::Link, FsKind::Other, FsKind::Dir, FsKind::Dir];
        let expected: Vec<_> = names.iter().map(ToString::to_string).zip(kinds).collect();
        assert_eq!(fs.list(dir).unwrap(), expected);
        assert_eq!(kind(fs.remove_dir(dir, "usual")), ErrorKind::DirectoryNotEmpty);
        assert_eq!(kind(fs.remove_dir(dir, "a-file")), ErrorKind::NotADirectory);
        assert_eq!(kind(fs.remove_dir(dir, "link")), ErrorKind::NotADirectory);
        fs.remove_dir(dir, "private").unwrap();
        assert_eq!(kind(fs.stat(dir, "private")), ErrorKind::NotFound);
    });
}

#[test]
fn nothing_is_made_in_a_directory_that_was_removed() {
    on_all(|fs, dir, _| {
        fs.make_dir(dir, "gone", DirMode::Usual).unwrap();
        let gone = fs.open_dir(dir, "gone").unwrap();
        fs.remove_dir(dir, "gone").unwrap();
        put(fs, dir, "file", b"");
        assert_eq!(kind(fs.create(&gone, "file", FileMode::Private)), ErrorKind::NotFound);
        assert_eq!(kind(fs.open_append(&gone, "file")), ErrorKind::NotFound);
        assert_eq!(kind(fs.try_lock(&gone, "file")), ErrorKind::NotFound);
        assert_eq!(kind(fs.make_dir(&gone, "dir", DirMode::Usual)), ErrorKind::NotFound);
        assert_eq!(kind(fs.rename(dir, "file", &gone, "file", RenameMode::Replace)), ErrorKind::NotFound);
        assert_eq!(fs.list(&gone).unwrap(), []);
        fs.sync_dir(&gone).unwrap();
    });
}

#[test]
fn files_are_created_written_and_read() {
    on_all(|fs, dir, _| {
        let file = fs.create(dir, "file", FileMode::Private).unwrap();
        fs.write(&file, b"hello ").unwrap();
        fs.write(&file, b"").unwrap();
        fs.write(&file, b"world").unwrap();
        let (bytes, stat) = fs.read(dir, "file", 11).unwrap();
        assert_eq!(bytes, b"hello world");
        assert_eq!((stat.kind, stat.len, stat.mode, stat.links), (FsKind::File, 11, 0o600, 1));
        assert!(!stat.immutable);
        assert_eq!(stat.ino, fs.stat_file(&file).unwrap().ino);
        assert_eq!(stat, fs.stat(dir, "file").unwrap());
        assert!(is_too_long(&fs.read(dir, "file", 10).unwrap_err()));
        assert_eq!(fs.read_range(dir, "file", 6, 3).unwrap(), b"wor");
        assert_eq!(fs.read_range(dir, "file", 9, 100).unwrap(), b"ld");
        assert_eq!(fs.read_range(dir, "file", 50, 100).unwrap(), b"");
        assert_eq!(kind(fs.create(dir, "file", FileMode::Private)), ErrorKind::AlreadyExists);
        let program = fs.create(dir, "program", FileMode::Usual { executable: true }).unwrap();
        assert_eq!(fs.stat_file(&program).unwrap().mode & 0o100, 0o100);
        let plain = fs.create(dir, "plain", FileMode::Usual { executable: false }).unwrap();
        assert_eq!(fs.stat_file(&plain).unwrap().mode & 0o111, 0);
        fs.sync_file(&file).unwrap();
        fs.sync_dir(dir).unwrap();
        fs.sync_all(dir).unwrap();
        assert!(fs.free_bytes(dir).unwrap() > 0);
    });
}

#[test]
fn an_open_file_stays_whatever_becomes_of_its_name() {
    on_all(|fs, dir, _| {
        let file = fs.create(dir, "file", FileMode::Private).unwrap();
        fs.remove_file(dir, "file").unwrap();
        fs.write(&file, b"still").unwrap();
        let stat = fs.stat_file(&file).unwrap();
        assert_eq!((stat.len, stat.links), (5, 0));
        fs.sync_file(&file).unwrap();
        put(fs, dir, "file", b"another");
        assert_ne!(fs.stat(dir, "file").unwrap().ino, stat.ino);
    });
}

#[test]
fn appending_truncating_and_writing_on() {
    on_all(|fs, dir, _| {
        let log = fs.open_append(dir, "log").unwrap();
        assert_eq!(fs.stat_file(&log).unwrap().mode, 0o600);
        fs.write(&log, b"one").unwrap();
        let other = fs.open_append(dir, "log").unwrap();
        fs.write(&other, b"two").unwrap();
        fs.write(&log, b"three").unwrap();
        assert_eq!(text(fs, dir, "log"), "onetwothree");
        fs.truncate(&log, 3).unwrap();
        fs.write(&other, b"!").unwrap();
        assert_eq!(text(fs, dir, "log"), "one!");
        let file = fs.create(dir, "file", FileMode::Private).unwrap();
        fs.write(&file, b"abc").unwrap();
        fs.truncate(&file, 1).unwrap();
        fs.write(&file, b"d").unwrap();
        assert_eq!(text(fs, dir, "file"), "a\0\0d", "a new file is written where it was left");
        fs.truncate(&file, 6).unwrap();
        assert_eq!(text(fs, dir, "file"), "a\0\0d\0\0");
        assert_eq!(kind(fs.open_append(dir, ".")), ErrorKind::InvalidInput);
        fs.make_dir(dir, "dir", DirMode::Usual).unwrap();
        assert_eq!(kind(fs.open_append(dir, "dir")), ErrorKind::IsADirectory);
    });
}

#[test]
fn modes_owners_and_attributes_are_set_on_open_files() {
    on_all(|fs, dir, _| {
        let file = fs.create(dir, "file", FileMode::Private).unwrap();
        fs.set_mode(&file, 0o4751).unwrap();
        assert_eq!(fs.stat(dir, "file").unwrap().mode, 0o4751);
        let stat = fs.stat_file(&file).unwrap();
        fs.set_owner(&file, stat.uid, stat.gid).unwrap();
        assert_eq!(fs.stat_file(&file).unwrap().uid, stat.uid);
        assert_eq!(fs.attributes(dir, "file").unwrap(), []);
        assert_eq!(errno(fs.set_attribute(&file, "no-such.kind", b"")), Errno::OPNOTSUPP.raw_os_error());
        match fs.set_attribute(&file, "user.note", b"\0value") {
            // Some file systems have none.
            Err(error) => assert_eq!(error.raw_os_error(), Some(Errno::OPNOTSUPP.raw_os_error())),
            Ok(()) => {
                fs.set_attribute(&file, "user.other", b"").unwrap();
                let mut found = fs.attributes(dir, "file").unwrap();
                found.sort();
                let expected =
                    [("user.note".to_string(), b"\0value".to_vec()), ("user.other".to_string(), vec![])];
                assert_eq!(found, expected);
            }
        }
    });
}

#[test]
fn links_are_never_followed() {
    on_all(|fs, dir, place| {
        fs.make_dir(dir, "dir", DirMode::Usual).unwrap();
        fs.make_dir(&fs.open_dir(dir, "dir").unwrap(), "sub", DirMode::Usual).unwrap();
        put(fs, dir, "file", b"secret");
        (place.link)("to-dir", "dir");
        (place.link)("to-file", "file");
        (place.link)("to-nothing", "nothing");
        assert!(is_link(&fs.open_dir(dir, "to-dir").unwrap_err()));
        assert!(is_link(&fs.open_dir(dir, "to-dir/sub").unwrap_err()));
        assert!(is_link(&fs.open_dir(dir, "to-nothing").unwrap_err()));
        for name in ["to-dir", "to-file", "to-nothing"] {
            assert!(is_link(&fs.read(dir, name, 100).unwrap_err()), "{name}");
            assert!(is_link(&fs.read_range(dir, name, 0, 100).unwrap_err()), "{name}");
            assert!(is_link(&fs.attributes(dir, name).unwrap_err()), "{name}");
            assert!(is_link(&fs.open_append(dir, name).unwrap_err()), "{name}");
            assert!(is_link(&fs.try_lock(dir, name).unwrap_err()), "{name}");
            assert_eq!(kind(fs.create(dir, name, FileMode::Private)), ErrorKind::AlreadyExists, "{name}");
            assert_eq!(kind(fs.make_dir(dir, name, DirMode::Private)), ErrorKind::AlreadyExists, "{name}");
            assert_eq!(fs.stat(dir, name).unwrap().kind, FsKind::Link, "{name}");
        }
        fs.rename(dir, "to-file", dir, "moved", RenameMode::NoReplace).unwrap();
        assert_eq!(fs.stat(dir, "moved").unwrap().kind, FsKind::Link);
        fs.remove_file(dir, "moved").unwrap();
        fs.remove_file(dir, "to-dir").unwrap();
        assert_eq!(text(fs, dir, "file"), "secret");
        assert_eq!(fs.stat(dir, "dir").unwrap().kind, FsKind::Dir);
        // Only the root may be reached through one.
        (place.link)("root", "dir");
        fs.open_root(&place.root.join("root")).unwrap();
    });
}

#[test]
fn only_regular_files_are_read_and_pipes_do_not_hang() {
    on_all(|fs, dir, place| {
        fs.make_dir(dir, "dir", DirMode::Usual).unwrap();
        (place.pipe)("pipe");
        for name in ["dir", "pipe"] {
            assert!(is_not_regular(&fs.read(dir, name, 10).unwrap_err()), "{name}");
            assert!(is_not_regular(&fs.read_range(dir, name, 0, 10).unwrap_err()), "{name}");
            assert!(is_not_regular(&fs.attributes(dir, name).unwrap_err()), "{name}");
        }
        assert!(is_not_regular(&fs.open_append(dir, "pipe").unwrap_err()));
        assert!(is_not_regular(&fs.try_lock(dir, "pipe").unwrap_err()));
        assert_eq!(fs.stat(dir, "pipe").unwrap().kind, FsKind::Other);
        fs.remove_file(dir, "pipe").unwrap();
        assert_eq!(kind(fs.remove_file(dir, "dir")), ErrorKind::IsADirectory);
    });
}

#[test]
fn renames_replace_refuse_or_exchange() {
    on_all(|fs, dir, _| {
        fs.make_dir(dir, "sub", DirMode::Usual).unwrap();
        let sub = fs.open_dir(dir, "sub").unwrap();
        put(fs, dir, "a", b"a");
        put(fs, &sub, "b", b"b");
        let (first, second) = (fs.stat(dir, "a").unwrap().ino, fs.stat(&sub, "b").unwrap().ino);
        assert_eq!(kind(fs.rename(dir, "a", &sub, "b", RenameMode::NoReplace)), ErrorKind::AlreadyExists);
        assert_eq!(kind(fs.rename(dir, "a", dir, "a", RenameMode::NoReplace)), ErrorKind::AlreadyExists);
        fs.rename(dir, "a", dir, "a", RenameMode::Replace).unwrap();
        fs.rename(dir, "a", &sub, "b", RenameMode::Exchange).unwrap();
        assert_eq!((text(fs, dir, "a"), text(fs, &sub, "b")), ("b".into(), "a".into()));
        assert_eq!((fs.stat(dir, "a").unwrap().ino, fs.stat(&sub, "b").unwrap().ino), (second, first));
        fs.rename(dir, "a", &sub, "c", RenameMode::NoReplace).unwrap();
        assert_eq!(kind(fs.stat(dir, "a")), ErrorKind::NotFound);
        fs.rename(&sub, "b", &sub, "c", RenameMode::Replace).unwrap();
        assert_eq!(text(fs, &sub, "c"), "a");
        assert_eq!(kind(fs.stat(&sub, "b")), ErrorKind::NotFound);
    });
}

#[test]
fn renames_of_directories() {
    on_all(|fs, dir, _| {
        for name in ["full", "empty", "other"] {
            fs.make_dir(dir, name, DirMode::Usual).unwrap();
        }
        let full = fs.open_dir(dir, "full").unwrap();
        put(fs, &full, "file", b"x");
        put(fs, dir, "file", b"y");
        let replace = RenameMode::Replace;
        assert_eq!(kind(fs.rename(dir, "file", dir, "empty", replace)), ErrorKind::IsADirectory);
        assert_eq!(kind(fs.rename(dir, "empty", dir, "file", replace)), ErrorKind::NotADirectory);
        assert_eq!(kind(fs.rename(dir, "empty", dir, "full", replace)), ErrorKind::DirectoryNotEmpty);
        for how in [RenameMode::Replace, RenameMode::NoReplace] {
            let inside = fs.rename(dir, "full", &full, "inside", how);
            assert_eq!(errno(inside), Errno::INVAL.raw_os_error(), "{how:?}");
        }
        assert_eq!(kind(fs.rename(&full, "file", dir, "full", replace)), ErrorKind::DirectoryNotEmpty);
        assert_eq!(
            errno(fs.rename(&full, "file", dir, "full", RenameMode::Exchange)),
            Errno::INVAL.raw_os_error()
        );
        fs.rename(dir, "full", dir, "empty", replace).unwrap();
        assert_eq!(text(fs, &full, "file"), "x", "an open directory moves along");
        assert_eq!(text(fs, &fs.open_dir(dir, "empty").unwrap(), "file"), "x");
        // A file and a directory may change places.
        fs.rename(dir, "empty", dir, "file", RenameMode::Exchange).unwrap();
        assert_eq!(text(fs, dir, "empty"), "y");
        let other = fs.open_dir(dir, "other").unwrap();
        fs.rename(dir, "file", &other, "moved", RenameMode::NoReplace).unwrap();
        assert_eq!(text(fs, &fs.open_dir(dir, "other/moved").unwrap(), "file"), "x");
    });
}

#[test]
fn a_directory_keeps_its_birth_time_under_another_name() {
    on_all(|fs, dir, _| {
        fs.make_dir(dir, "one", DirMode::Usual).unwrap();
        let one = fs.open_dir(dir, "one").unwrap();
        let born = fs.birth_time(&one).unwrap();
        put(fs, &one, "file", b"x");
        fs.rename(dir, "one", dir, "two", RenameMode::NoReplace).unwrap();
        assert_eq!(fs.birth_time(&fs.open_dir(dir, "two").unwrap()).unwrap(), born);
    });
}

#[test]
fn a_lock_is_held_by_one_and_let_go_when_dropped() {
    on_all(|fs, dir, place| {
        let again = fs.open_root(&place.root).unwrap();
        let held = fs.try_lock(dir, "lock").unwrap().expect("it is free");
        assert_eq!(fs.stat(dir, "lock").unwrap().mode, 0o600);
        assert!(fs.try_lock(dir, "lock").unwrap().is_none());
        assert!(fs.try_lock(&again, "lock").unwrap().is_none());
        let other = fs.try_lock(dir, "other").unwrap();
        assert!(other.is_some(), "another lock is another lock");
        drop(held);
        let held = fs.try_lock(&again, "lock").unwrap();
        assert!(held.is_some());
        // The lock is the file's, not the name's.
        fs.rename(dir, "lock", dir, "moved", RenameMode::NoReplace).unwrap();
        assert!(fs.try_lock(dir, "moved").unwrap().is_none());
        assert!(fs.try_lock(dir, "lock").unwrap().is_some());
        fs.make_dir(dir, "dir", DirMode::Usual).unwrap();
        assert_eq!(kind(fs.try_lock(dir, "dir")), ErrorKind::IsADirectory);
    });
}

#[test]
fn a_lock_of_what_is_there_makes_nothing() {
    on_all(|fs, dir, place| {
        assert_eq!(kind(fs.try_lock_existing(dir, "file")), ErrorKind::NotFound);
        assert_eq!(kind(fs.stat(dir, "file")), ErrorKind::NotFound);
        let held = fs.try_lock(dir, "file").unwrap();
        assert!(held.is_some() && fs.try_lock_existing(dir, "file").unwrap().is_none());
        drop(held);
        assert!(fs.try_lock_existing(dir, "file").unwrap().is_some());
        (place.link)("link", "file");
        assert!(is_link(&fs.try_lock_existing(dir, "link").unwrap_err()));
    });
}

#[test]
fn an_open_file_is_read_on_whatever_becomes_of_its_name() {
    on_all(|fs, dir, place| {
        put(fs, dir, "file", b"one two");
        let file = fs.open_file(dir, "file").unwrap();
        assert_eq!(fs.read_at(&file, 4, 100).unwrap(), b"two");
        assert_eq!(fs.read_at(&file, 0, 3).unwrap(), b"one");
        assert_eq!(fs.read_at(&file, 99, 3).unwrap(), b"");
        put(fs, dir, "other", b"other");
        fs.rename(dir, "other", dir, "file", RenameMode::Replace).unwrap();
        assert_eq!(fs.read_at(&file, 0, 100).unwrap(), b"one two");
        assert_eq!(fs.stat_file(&file).unwrap().links, 0);
        (place.link)("link", "file");
        (place.pipe)("pipe");
        assert!(is_link(&fs.open_file(dir, "link").unwrap_err()));
        assert!(is_not_regular(&fs.open_file(dir, "pipe").unwrap_err()));
        assert_eq!(kind(fs.open_file(dir, "nothing")), ErrorKind::NotFound);
    });
}

#[test]
fn handles_of_another_file_system_are_refused() {
    let (real, model, other) = (real(RealFs::default()), model(), self::model());
    let dir = real.fs.open_root(&real.root).unwrap();
    let file = real.fs.create(&dir, "file", FileMode::Private).unwrap();
    for foreign in [&model, &other] {
        let theirs = foreign.fs.open_root(&foreign.root).unwrap();
        assert_eq!(kind(real.fs.list(&theirs)), ErrorKind::InvalidInput);
        assert_eq!(kind(foreign.fs.list(&dir)), ErrorKind::InvalidInput);
        assert_eq!(kind(foreign.fs.write(&file, b"x")), ErrorKind::InvalidInput);
    }
    let theirs = model.fs.open_root(&model.root).unwrap();
    assert_eq!(kind(other.fs.list(&theirs)), ErrorKind::InvalidInput);
}
