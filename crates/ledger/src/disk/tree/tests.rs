//! The tree over a real directory, with `openat2` and without.

use std::fs;
use std::sync::Arc;

use relaycode_durable::RealFs;
use tempfile::TempDir;

use super::*;
use crate::LedgerSettings;

/// A project on the real disk, once with `openat2` and once without.
fn ledgers(dir: &TempDir) -> [Ledger; 2] {
    [RealFs::default(), RealFs::without_openat2()]
        .map(|real| Ledger::open(Arc::new(real), dir.path(), LedgerSettings::default()).unwrap())
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn put(dir: &TempDir, name: &str, bytes: &[u8]) {
    let full = dir.path().join(name);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, bytes).unwrap();
}

#[test]
fn files_are_read_and_others_named() {
    let dir = TempDir::new().unwrap();
    put(&dir, "src/a.rs", b"x");
    for ledger in ledgers(&dir) {
        let tree = ledger.tree(100);
        let regular = TreeEntry::File { bytes: b"x".to_vec(), mode: GitFileMode::Regular };
        assert_eq!(tree.entry(&path("src/a.rs")).unwrap(), regular);
        assert_eq!(tree.entry(&path("src/b.rs")).unwrap(), TreeEntry::Missing);
        assert_eq!(tree.entry(&path("no/b.rs")).unwrap(), TreeEntry::Missing);
        assert_eq!(tree.entry(&path("src")).unwrap(), TreeEntry::Other("a directory"));
        assert_eq!(tree.entry(&path("src/a.rs/x")).unwrap(), TreeEntry::Other("a path through a file"));
        assert_eq!(tree.entry(&path("src/a.rs/x/y")).unwrap(), TreeEntry::Other("a path through a file"));
    }
}

#[test]
fn the_limit_is_where_it_says() {
    let dir = TempDir::new().unwrap();
    put(&dir, "fits", &[b'a'; 100]);
    put(&dir, "does-not", &[b'a'; 101]);
    for ledger in ledgers(&dir) {
        let tree = ledger.tree(100);
        assert!(tree.entry(&path("fits")).is_ok());
        let error = tree.entry(&path("does-not")).unwrap_err().to_string();
        assert!(error.contains("101 bytes, and the limit `file` is 100; raise it"), "{error}");
    }
}

#[test]
fn links_and_special_files_are_never_followed_or_opened() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    let dir = TempDir::new().unwrap();
    let outside = TempDir::new().unwrap();
    put(&outside, "secret", b"s");
    symlink(outside.path().join("secret"), dir.path().join("link")).unwrap();
    symlink(outside.path(), dir.path().join("linked")).unwrap();
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    let _socket = UnixListener::bind(dir.path().join("socket")).unwrap();
    put(&dir, "run.sh", b"#!");
    fs::set_permissions(dir.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for ledger in ledgers(&dir) {
        let tree = ledger.tree(100);
        let what = |name: &str| match tree.entry(&path(name)).unwrap() {
            TreeEntry::Other(what) => what,
            entry => panic!("{entry:?}"),
        };
        assert_eq!(what("link"), "a symbolic link");
        assert_eq!(what("dangling"), "a symbolic link");
        assert_eq!(what("linked/secret"), "a path through a symbolic link");
        assert_eq!(what("linked/deep/secret"), "a path through a symbolic link");
        assert_eq!(what("socket"), "a special file");
        assert_eq!(what("socket/x"), "a path through a special file");
        let TreeEntry::File { mode, .. } = tree.entry(&path("run.sh")).unwrap() else {
            panic!("not a file");
        };
        assert_eq!(mode, GitFileMode::Executable);
    }
}

#[test]
fn what_cannot_be_read_is_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    put(&dir, "locked/a", b"x");
    let closed = dir.path().join("locked");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let may_read_anything = fs::read(closed.join("a")).is_ok();
    for ledger in ledgers(&dir) {
        let entry = ledger.tree(100).entry(&path("locked/a"));
        assert!(may_read_anything || entry.is_err(), "{entry:?}");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn names_that_differ_in_case_alone_are_found_on_every_level() {
    let dir = TempDir::new().unwrap();
    put(&dir, "README.md", b"");
    put(&dir, "src/Caf\u{e9}.rs", b"");
    for ledger in ledgers(&dir) {
        let tree = ledger.tree(100);
        let twin = |name: &str| tree.folded_twin(&path(name));
        assert_eq!(twin("readme.md").as_deref(), Some("README.md"));
        assert_eq!(twin("Src/new.rs").as_deref(), Some("src"));
        assert_eq!(twin("src/cafe\u{301}.rs").as_deref(), Some("src/Caf\u{e9}.rs"));
        assert_eq!(twin("README.md"), None);
        assert_eq!(twin("README.md/x"), None);
        assert_eq!(twin("src/new.rs"), None);
        assert_eq!(twin("other/new.rs"), None);
    }
}

#[test]
fn letting_directories_go_changes_nothing_that_is_read() {
    let dir = TempDir::new().unwrap();
    let names: Vec<String> = (0..2 * READS_PER_ROUND + 2).map(|n| format!("{}/a", n % 7)).collect();
    names.iter().for_each(|name| put(&dir, name, b"x"));
    for ledger in ledgers(&dir) {
        let tree = ledger.tree(100);
        for name in &names {
            assert!(matches!(tree.entry(&path(name)).unwrap(), TreeEntry::File { .. }));
            assert!(tree.reads.get() <= READS_PER_ROUND);
        }
    }
}
