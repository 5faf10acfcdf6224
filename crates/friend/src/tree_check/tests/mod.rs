//! Every kind of change is found, and nothing else is.

mod check;
mod git_index;
mod repository;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use super::*;

/// A project with a repository that has everything which is looked at.
fn project() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("app");
    for folder in [
        "src/deep",
        ".relaycode",
        ".git/hooks",
        ".git/info",
        ".git/refs/heads",
        ".git/objects/aa",
        ".git/logs",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (path, text) in [
        ("a.txt", "one"),
        ("src/b.rs", "two"),
        ("src/deep/c", "three"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n"),
        (".git/hooks/pre-commit.sample", "#!/bin/sh\n"),
        (".git/info/exclude", ""),
        (".git/refs/heads/main", "0"),
        (".git/index", "DIRC"),
        (".git/logs/HEAD", ""),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    symlink("a.txt", root.join("link")).unwrap();
    (dir, root)
}

fn take(root: &Path) -> TreeCheckSnapshot {
    TreeCheckSnapshot::take(root, None, &|| false).unwrap()
}

fn compared(snapshot: &TreeCheckSnapshot) -> Vec<(String, ObservedChangeKind)> {
    let differences = snapshot.compare(&|| false).unwrap();
    differences.into_iter().map(|difference| (difference.path, difference.kind)).collect()
}

/// What is found after `change`.
fn found(change: impl FnOnce(&Path)) -> Vec<(String, ObservedChangeKind)> {
    let (_dir, root) = project();
    let before = take(&root);
    assert_eq!(compared(&before), []);
    change(&root);
    compared(&before)
}

fn one(path: &str, kind: ObservedChangeKind) -> Vec<(String, ObservedChangeKind)> {
    vec![(path.to_string(), kind)]
}

#[test]
fn every_kind_of_change_is_found() {
    let write =
        |path: &'static str, text: &'static str| found(move |root| fs::write(root.join(path), text).unwrap());
    assert_eq!(write("a.txt", "another"), one("a.txt", ObservedChangeKind::Changed));
    assert_eq!(write("a.txt", "eno"), one("a.txt", ObservedChangeKind::Changed));
    assert_eq!(write("src/new.rs", ""), one("src/new.rs", ObservedChangeKind::Created));
    assert_eq!(
        found(|root| fs::remove_file(root.join("src/b.rs")).unwrap()),
        one("src/b.rs", ObservedChangeKind::Removed)
    );
    assert_eq!(
        found(|root| fs::create_dir(root.join("empty")).unwrap()),
        one("empty/", ObservedChangeKind::Created)
    );
    let mode = |path: &'static str, mode| {
        found(move |root| fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap())
    };
    assert_eq!(mode("a.txt", 0o755), one("a.txt", ObservedChangeKind::Mode));
    assert_eq!(mode("src", 0o700), one("src/", ObservedChangeKind::Mode));
    let relink = found(|root| {
        fs::remove_file(root.join("link")).unwrap();
        symlink("b.txt", root.join("link")).unwrap();
    });
    assert_eq!(relink, one("link", ObservedChangeKind::Changed));
    let other = found(|root| {
        fs::remove_file(root.join("a.txt")).unwrap();
        fs::create_dir(root.join("a.txt")).unwrap();
    });
    assert_eq!(other, one("a.txt", ObservedChangeKind::Changed));
    let moved = found(|root| fs::rename(root.join("src/deep"), root.join("deep")).unwrap());
    assert_eq!(
        moved,
        [
            ("deep/", ObservedChangeKind::Created),
            ("deep/c", ObservedChangeKind::Created),
            ("src/deep/", ObservedChangeKind::Removed),
            ("src/deep/c", ObservedChangeKind::Removed)
        ]
        .map(|(path, kind)| (path.to_string(), kind))
    );
}

#[test]
fn a_change_that_hides_its_time_is_found() {
    let hidden = found(|root| {
        let path = root.join("a.txt");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "eno").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    });
    assert_eq!(hidden, one("a.txt", ObservedChangeKind::Changed));
}

#[test]
fn a_file_that_was_only_touched_or_written_again_is_the_same() {
    let nothing = found(|root| {
        let touched = fs::File::options().write(true).open(root.join("a.txt")).unwrap();
        touched.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
        fs::write(root.join("src/b.rs"), "two").unwrap();
        fs::write(root.join("c"), "three").unwrap();
        fs::rename(root.join("c"), root.join("src/deep/c")).unwrap();
    });
    assert_eq!(nothing, []);
}

#[test]
fn what_relay_would_write_back_one_day_is_looked_at_and_what_it_writes_while_it_looks_is_not() {
    let written = found(|root| {
        for path in
            ["a.yml", "b.pending.yml", "undone/c.yml", "blobs/d", "tx/e/1", "recordings/f/g", ".gitignore"]
        {
            let path = root.join(".relaycode").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
        }
    });
    let paths: Vec<&str> =
        written.iter().map(|(path, _)| path.as_str()).filter(|path| !path.ends_with('/')).collect();
    let expected =
        [".gitignore", "a.yml", "b.pending.yml", "blobs/d", "recordings/f/g", "tx/e/1", "undone/c.yml"];
    assert_eq!(paths, expected.map(|name| format!(".relaycode/{name}")));
    let quiet = found(|root| {
        fs::create_dir(root.join(".relaycode/seen")).unwrap();
        for path in ["lock", "index", "seen/a"] {
            fs::write(root.join(".relaycode").join(path), "x").unwrap();
        }
    });
    assert_eq!(quiet, []);
}

#[test]
fn a_project_that_was_moved_removed_or_replaced_is_gone_and_not_unknown() {
    let gone: [fn(&Path); 3] = [
        |root| fs::rename(root, root.with_file_name("elsewhere")).unwrap(),
        |root| fs::remove_dir_all(root).unwrap(),
        |root| {
            fs::rename(root, root.with_file_name("elsewhere")).unwrap();
            symlink("app", root).unwrap();
        },
    ];
    for change in gone {
        let (_dir, root) = project();
        let before = take(&root);
        change(&root);
        assert_eq!(compared(&before), one(&format!("{}/", root.display()), ObservedChangeKind::Removed));
    }
    // The same files by another way: somebody else can put others there.
    let (_dir, root) = project();
    let before = take(&root);
    fs::rename(&root, root.with_file_name("elsewhere")).unwrap();
    symlink("elsewhere", &root).unwrap();
    assert!(compared(&before).contains(&(format!("{}/", root.display()), ObservedChangeKind::Changed)));
    let (_dir, root) = project();
    let before = take(&root);
    fs::set_permissions(&root, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(compared(&before), one(&format!("{}/", root.display()), ObservedChangeKind::Mode));
}

#[test]
fn a_file_that_others_can_write_by_another_name_is_another_file() {
    let (dir, root) = project();
    let outside = dir.path().join("outside");
    let before = take(&root);
    fs::write(&outside, "one").unwrap();
    fs::remove_file(root.join("a.txt")).unwrap();
    fs::hard_link(&outside, root.join("a.txt")).unwrap();
    assert_eq!(compared(&before), one("a.txt", ObservedChangeKind::Written));
    // What is written by the other name is seen as well.
    let before = take(&root);
    fs::write(&outside, "eno").unwrap();
    assert_eq!(compared(&before), one("a.txt", ObservedChangeKind::Changed));
}

#[test]
fn a_name_in_other_letters_and_a_pipe_that_became_a_socket_are_found() {
    let letters = found(|root| fs::rename(root.join("a.txt"), root.join("A.txt")).unwrap());
    let both = [("A.txt", ObservedChangeKind::Created), ("a.txt", ObservedChangeKind::Removed)];
    assert_eq!(letters, both.map(|(path, kind)| (path.to_string(), kind)));
    let (_dir, root) = project();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    fs::set_permissions(root.join("pipe"), Permissions::from_mode(0o755)).unwrap();
    let before = take(&root);
    fs::remove_file(root.join("pipe")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("pipe")).unwrap();
    fs::set_permissions(root.join("pipe"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(compared(&before), one("pipe", ObservedChangeKind::Changed));
}

#[test]
fn nothing_is_followed_and_nothing_waits() {
    let (dir, root) = project();
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, root.join("away")).unwrap();
    symlink("/", root.join("everything")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    let before = take(&root);
    assert!(before.len() < 40, "{}", before.len());
    fs::write(outside.join("new"), "x").unwrap();
    assert_eq!(compared(&before), []);
    assert!(matches!(TreeCheckSnapshot::take(&root, None, &|| true), Err(TreeCheckError::Cancelled)));
    assert!(matches!(before.compare(&|| true), Err(TreeCheckError::Cancelled)));
    assert!(matches!(
        TreeCheckSnapshot::take(&root.join("none"), None, &|| false),
        Err(TreeCheckError::Root { .. })
    ));
}

#[test]
fn beyond_what_is_read_a_changed_record_is_all_that_is_said() {
    let (_dir, root) = project();
    let before = TreeCheckSnapshot::take_within(&root, &HashSet::new(), FILES, 0, &|| false).unwrap();
    fs::write(root.join("a.txt"), "eno").unwrap();
    fs::write(root.join("src/b.rs"), "longer").unwrap();
    fs::set_permissions(root.join("src/deep/c"), Permissions::from_mode(0o600)).unwrap();
    let expected = [
        ("a.txt", ObservedChangeKind::Written),
        ("src/b.rs", ObservedChangeKind::Changed),
        ("src/deep/c", ObservedChangeKind::Mode),
    ];
    assert_eq!(compared(&before), expected.map(|(path, kind)| (path.to_string(), kind)));
}

#[test]
fn a_project_with_too_many_files_is_said_to_have_them() {
    let (_dir, root) = project();
    let count = take(&root).len();
    let all = |most| {
        TreeCheckSnapshot::take_within(&root, &HashSet::new(), most, 0, &|| false).map(|taken| taken.len())
    };
    assert_eq!(all(count).unwrap(), count);
    assert!(matches!(all(count - 1), Err(TreeCheckError::TooMany)));
}

#[test]
fn names_that_are_no_text_are_names_too() {
    use std::os::unix::ffi::OsStrExt;
    let (_dir, root) = project();
    let odd = root.join(std::ffi::OsStr::from_bytes(b"\xff\n"));
    fs::write(&odd, "x").unwrap();
    let before = take(&root);
    fs::write(&odd, "y").unwrap();
    assert_eq!(compared(&before).len(), 1);
}

#[test]
fn a_hundred_megabytes_and_a_repository_are_looked_at_in_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let many = |folders: &str, count: usize, spread: usize, text: &[u8]| {
        for number in 0..count {
            let folder = root.join(format!("{folders}{:02x}", number % spread));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("{number}.rs")), text).unwrap();
        }
    };
    many("src/", 10_000, 50, &[b'x'; 10_000]);
    many(".git/objects/", 5_000, 256, &[b'x'; 200]);
    many(".git/refs/heads/", 2_000, 20, &[b'0'; 41]);
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    // The best of three, and much room: the machine may be busy with other things.
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        let before = take(&root);
        let taken = began.elapsed();
        assert_eq!(compared(&before), []);
        best = best.min(began.elapsed());
        let both = began.elapsed();
        let line = format!("tree: 100 MB, 10000 files: taken in {taken:?}, with the comparison {both:?}\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
    assert!(best < Duration::from_secs(20), "{best:?}");
}
