use tempfile::TempDir;

use super::*;

fn tree(dir: &TempDir) -> DiskTree {
    DiskTree::new(dir.path().to_path_buf(), 100)
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
    let tree = tree(&dir);
    let regular = Entry::File { bytes: b"x".to_vec(), mode: Mode::Regular };
    assert_eq!(tree.entry(&path("src/a.rs")).unwrap(), regular);
    assert_eq!(tree.entry(&path("src/b.rs")).unwrap(), Entry::Missing);
    assert_eq!(tree.entry(&path("no/b.rs")).unwrap(), Entry::Missing);
    assert_eq!(tree.entry(&path("src")).unwrap(), Entry::Other("a directory"));
    assert_eq!(tree.entry(&path("src/a.rs/x")).unwrap(), Entry::Other("something beneath a file"));
}

#[test]
fn the_limit_is_where_it_says() {
    let dir = TempDir::new().unwrap();
    put(&dir, "fits", &[b'a'; 100]);
    put(&dir, "does-not", &[b'a'; 101]);
    let tree = tree(&dir);
    assert!(tree.entry(&path("fits")).is_ok());
    let error = tree.entry(&path("does-not")).unwrap_err().to_string();
    assert!(error.contains("101 bytes, and the limit `file` is 100"), "{error}");
}

#[cfg(unix)]
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
    let tree = tree(&dir);
    let what = |name: &str| match tree.entry(&path(name)).unwrap() {
        Entry::Other(what) => what,
        entry => panic!("{entry:?}"),
    };
    assert_eq!(what("link"), "a symbolic link");
    assert_eq!(what("dangling"), "a symbolic link");
    assert_eq!(what("linked/secret"), "something beneath a symbolic link");
    assert_eq!(what("socket"), "a special file");
    let Entry::File { mode, .. } = tree.entry(&path("run.sh")).unwrap() else {
        panic!("not a file");
    };
    assert_eq!(mode, Mode::Executable);
}

#[test]
fn names_that_differ_in_case_alone_are_found_on_every_level() {
    let dir = TempDir::new().unwrap();
    put(&dir, "README.md", b"");
    put(&dir, "src/Caf\u{e9}.rs", b"");
    let tree = tree(&dir);
    let twin = |name: &str| tree.folded_twin(&path(name));
    assert_eq!(twin("readme.md").as_deref(), Some("README.md"));
    assert_eq!(twin("Src/new.rs").as_deref(), Some("src"));
    assert_eq!(twin("src/cafe\u{301}.rs").as_deref(), Some("src/Caf\u{e9}.rs"));
    assert_eq!(twin("README.md"), None);
    assert_eq!(twin("src/new.rs"), None);
    assert_eq!(twin("other/new.rs"), None);
}
