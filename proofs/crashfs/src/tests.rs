//! What is durable in the model and what is not, and the faults it can be asked for.

use std::path::Path;

use super::*;
use relaycode_durable::fs::{DirMode, FileMode, Fs, FsDir, FsFile, RenameMode};

fn root(model: &ModelFs) -> FsDir {
    model.open_root(Path::new("/")).unwrap()
}

fn write(model: &ModelFs, dir: &FsDir, name: &str, bytes: &[u8]) -> FsFile {
    let file = model.create(dir, name, FileMode::Private).unwrap();
    model.write(&file, bytes).unwrap();
    file
}

/// The states of a path over all images of a power cut right now; `None` where it is absent.
fn states(model: &ModelFs, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    let mut states = BTreeSet::new();
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        states.insert(image.file(path).map(|(bytes, _)| bytes));
    });
    states
}

/// The sets of paths over all images.
fn trees(model: &ModelFs) -> BTreeSet<Vec<String>> {
    let mut trees = BTreeSet::new();
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        let seen = image.snapshot();
        trees.insert(seen.files.into_keys().chain(seen.dirs).collect());
    });
    trees
}

fn sets(expected: &[&[&str]]) -> BTreeSet<Vec<String>> {
    expected.iter().map(|paths| paths.iter().map(ToString::to_string).collect()).collect()
}

#[test]
fn a_new_file_may_be_lost_empty_torn_zeroed_or_whole() {
    let model = ModelFs::new();
    write(&model, &root(&model), "file", b"four");
    let expected = [None, Some(&b""[..]), Some(b"fo"), Some(b"\0\0\0\0"), Some(b"four")];
    assert_eq!(states(&model, "file"), expected.map(|state| state.map(<[u8]>::to_vec)).into());
}

#[test]
fn a_synced_file_is_lost_without_its_name() {
    let model = ModelFs::new();
    let file = write(&model, &root(&model), "file", b"four");
    model.sync_file(&file).unwrap();
    assert_eq!(states(&model, "file"), [None, Some(b"four".to_vec())].into());
    model.sync_dir(&root(&model)).unwrap();
    assert_eq!(states(&model, "file"), [Some(b"four".to_vec())].into());
}

#[test]
fn a_name_is_durable_without_the_bytes() {
    let model = ModelFs::new();
    write(&model, &root(&model), "file", b"four");
    model.sync_dir(&root(&model)).unwrap();
    assert!(states(&model, "file").contains(&Some(vec![])));
    assert!(!states(&model, "file").contains(&None));
}

#[test]
fn everything_is_durable_after_a_sync_of_everything() {
    let model = ModelFs::new();
    model.mkdir("dir").unwrap();
    let dir = model.open_dir(&root(&model), "dir").unwrap();
    let file = write(&model, &dir, "file", b"four");
    model.set_mode(&file, 0o640).unwrap();
    model.sync_all(&dir).unwrap();
    let mut images = 0;
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        images += 1;
        assert_eq!(image.file("dir/file"), Some((b"four".to_vec(), 0o640)));
        assert_eq!(image.fingerprint(), model.fingerprint());
    });
    assert_eq!(images, 1);
}

#[test]
fn large_writes_are_torn_at_sectors() {
    let model = ModelFs::new();
    let file = write(&model, &root(&model), "file", &[1; 100]);
    model.sync_all(&root(&model)).unwrap();
    model.write(&file, &[2; 2000]).unwrap();
    let lengths: Vec<usize> = states(&model, "file").iter().flatten().map(Vec::len).collect();
    for length in [100, 512, 1024, 2048, 2100] {
        assert!(lengths.contains(&length), "{length}: {lengths:?}");
    }
    assert!(lengths.iter().all(|length| length % 512 == 0 || [100, 2100].contains(length)), "{lengths:?}");
}

#[test]
fn a_rename_is_one_step_and_either_directory_makes_it_durable() {
    for which in ["one", "two"] {
        let model = ModelFs::new();
        model.put("one/file", b"x", 0o600).unwrap();
        model.mkdir("two").unwrap();
        model.mark_all_durable();
        let [one, two] = ["one", "two"].map(|name| model.open_dir(&root(&model), name).unwrap());
        model.rename(&one, "file", &two, "moved", RenameMode::NoReplace).unwrap();
        let (before, after) = (&["one/file", "one", "two"][..], &["two/moved", "one", "two"][..]);
        assert_eq!(trees(&model), sets(&[before, after]));
        model.sync_dir(if which == "one" { &one } else { &two }).unwrap();
        assert_eq!(trees(&model), sets(&[after]), "{which} synced");
    }
}

#[test]
fn an_exchange_is_one_step() {
    let model = ModelFs::new();
    model.put("a", b"a", 0o600).unwrap();
    model.put("dir/b", b"b", 0o600).unwrap();
    model.mark_all_durable();
    let dir = model.open_dir(&root(&model), "dir").unwrap();
    model.rename(&root(&model), "a", &dir, "b", RenameMode::Exchange).unwrap();
    let mut seen = BTreeSet::new();
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        seen.insert((image.file("a").unwrap().0, image.file("dir/b").unwrap().0));
    });
    assert_eq!(seen, [(b"a".to_vec(), b"b".to_vec()), (b"b".to_vec(), b"a".to_vec())].into());
}

#[test]
fn a_durable_rename_takes_the_creation_it_builds_on_along() {
    let model = ModelFs::new();
    model.mkdir("one").unwrap();
    model.mkdir("two").unwrap();
    model.mark_all_durable();
    let [one, two] = ["one", "two"].map(|name| model.open_dir(&root(&model), name).unwrap());
    model.create(&one, "file", FileMode::Private).unwrap();
    model.create(&one, "other", FileMode::Private).unwrap();
    model.rename(&one, "file", &two, "file", RenameMode::NoReplace).unwrap();
    model.sync_dir(&two).unwrap();
    let moved = &["two/file", "one", "two"][..];
    assert_eq!(trees(&model), sets(&[moved, &["one/other", "two/file", "one", "two"]]));
}

#[test]
fn a_file_moved_into_a_new_directory_is_never_lost_from_both() {
    let model = ModelFs::new();
    model.put("file", b"x", 0o600).unwrap();
    model.mark_all_durable();
    model.make_dir(&root(&model), "new", DirMode::Usual).unwrap();
    let new = model.open_dir(&root(&model), "new").unwrap();
    model.rename(&root(&model), "file", &new, "file", RenameMode::NoReplace).unwrap();
    assert_eq!(trees(&model), sets(&[&["file"], &["file", "new"], &["new/file", "new"]]));
    model.sync_dir(&new).unwrap();
    assert_eq!(trees(&model), sets(&[&["new/file", "new"]]));
}

#[test]
fn directories_never_end_up_inside_each_other() {
    let model = ModelFs::new();
    model.put("a/b/file", b"x", 0o600).unwrap();
    model.mark_all_durable();
    let at = root(&model);
    let a = model.open_dir(&at, "a").unwrap();
    model.rename(&a, "b", &at, "c", RenameMode::NoReplace).unwrap();
    let c = model.open_dir(&at, "c").unwrap();
    model.rename(&at, "a", &c, "a", RenameMode::NoReplace).unwrap();
    let (none, first, both) = (["a/b/file", "a", "a/b"], ["c/file", "a", "c"], ["c/file", "c", "c/a"]);
    assert_eq!(trees(&model), sets(&[&none, &first, &both]));
}

#[test]
fn a_file_made_in_a_new_directory_is_lost_with_it() {
    let model = ModelFs::new();
    model.make_dir(&root(&model), "new", DirMode::Usual).unwrap();
    let new = model.open_dir(&root(&model), "new").unwrap();
    model.create(&new, "file", FileMode::Private).unwrap();
    model.sync_dir(&new).unwrap();
    assert_eq!(trees(&model), sets(&[&[], &["new/file", "new"]]));
}

#[test]
fn a_removal_may_be_undone_and_takes_moves_out_along() {
    let model = ModelFs::new();
    model.put("dir/file", b"x", 0o600).unwrap();
    model.mark_all_durable();
    let dir = model.open_dir(&root(&model), "dir").unwrap();
    model.rename(&dir, "file", &root(&model), "file", RenameMode::NoReplace).unwrap();
    model.remove_dir(&root(&model), "dir").unwrap();
    assert_eq!(trees(&model), sets(&[&["dir/file", "dir"], &["file", "dir"], &["file"]]));
    model.remove_file(&root(&model), "file").unwrap();
    assert!(trees(&model).contains(&vec!["file".to_string()]));
    model.sync_dir(&root(&model)).unwrap();
    assert_eq!(trees(&model), sets(&[&[]]));
}

#[test]
fn modes_owners_and_attributes_are_lost_one_by_one() {
    let model = ModelFs::new();
    model.put("file", b"x", 0o600).unwrap();
    model.mark_all_durable();
    let file = model.open_append(&root(&model), "file").unwrap();
    model.set_mode(&file, 0o755).unwrap();
    model.set_attribute(&file, "user.note", b"x").unwrap();
    let mut seen = BTreeSet::new();
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        let attributes = image.attributes(&root(&image), "file").unwrap().len();
        seen.insert((image.file("file").unwrap().1, attributes));
    });
    assert_eq!(seen, [(0o600, 0), (0o600, 1), (0o755, 0), (0o755, 1)].into());
}

#[test]
fn after_a_sync_that_failed_another_one_does_not_help() {
    let model = ModelFs::new();
    let file = write(&model, &root(&model), "file", b"four");
    model.sync_dir(&root(&model)).unwrap();
    model.fail_at(model.operations() + 1, Errno::IO);
    assert_eq!(model.sync_file(&file).unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
    model.sync_file(&file).unwrap();
    model.sync_all(&root(&model)).unwrap();
    assert!(states(&model, "file").contains(&Some(vec![])));
    model.fail_call(model.calls() + 1, Errno::IO);
    model.sync_file(&file).unwrap_err();
}

#[test]
fn a_crash_ends_everything_and_leaves_the_locks_free_in_its_images() {
    let model = ModelFs::new();
    let at = root(&model);
    let lock = model.try_lock(&at, "lock").unwrap().unwrap();
    model.sync_dir(&at).unwrap();
    model.crash_at(model.operations() + 2);
    model.make_dir(&at, "made", DirMode::Usual).unwrap();
    assert!(is_crash(&model.make_dir(&at, "not", DirMode::Usual).unwrap_err()));
    assert!(is_crash(&model.list(&at).unwrap_err()));
    assert!(is_crash(&model.sync_dir(&at).unwrap_err()));
    assert_eq!(trees(&model), sets(&[&["lock"], &["lock", "made"]]));
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        assert!(image.try_lock(&root(&image), "lock").unwrap().is_some());
        assert_eq!(image.calls(), 2);
        assert!(!is_crash(&image.stat(&root(&image), "none").unwrap_err()));
    });
    drop(lock);
}

#[test]
fn a_full_disk_takes_half_of_a_write() {
    let model = ModelFs::new();
    model.fail_at(2, Errno::NOSPC);
    let file = model.create(&root(&model), "file", FileMode::Private).unwrap();
    assert_eq!(model.write(&file, b"12345678").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(model.file("file").unwrap().0, b"1234");
    model.write(&file, b"56").unwrap();
    assert_eq!(model.file("file").unwrap().0, b"123456");
}

#[test]
fn names_may_collide_by_case() {
    let model = ModelFs::ignoring_case();
    let at = root(&model);
    write(&model, &at, "Read.me", b"x");
    assert!(model.create(&at, "READ.ME", FileMode::Private).is_err());
    assert_eq!(model.read(&at, "read.me", 10).unwrap().0, b"x");
    model.rename(&at, "read.me", &at, "README.md", RenameMode::NoReplace).unwrap();
    model.rename(&at, "readme.md", &at, "readme.md", RenameMode::Replace).unwrap();
    let names: Vec<String> = model.list(&at).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["readme.md"]);
}

#[test]
fn other_devices_second_names_and_immutable_files() {
    let model = ModelFs::new();
    model.put("file", b"x", 0o600).unwrap();
    model.hard_link("file", "second").unwrap();
    model.put("fixed", b"x", 0o600).unwrap();
    model.set_immutable("fixed", true).unwrap();
    model.mkdir("disk").unwrap();
    model.mount("disk", 2).unwrap();
    model.mark_all_durable();
    let at = root(&model);
    let disk = model.open_dir(&at, "disk").unwrap();
    let number = |result: io::Result<()>| result.unwrap_err().raw_os_error();
    assert_eq!(model.stat(&at, "file").unwrap().links, 2);
    assert!(model.stat(&at, "fixed").unwrap().immutable);
    let across = model.rename(&at, "file", &disk, "file", RenameMode::Replace);
    assert_eq!(number(across), Some(Errno::XDEV.raw_os_error()));
    assert_eq!(number(model.remove_dir(&at, "disk")), Some(Errno::BUSY.raw_os_error()));
    assert_eq!(number(model.remove_file(&at, "fixed")), Some(Errno::PERM.raw_os_error()));
    assert_eq!(number(model.open_append(&at, "fixed").map(drop)), Some(Errno::PERM.raw_os_error()));
    write(&model, &disk, "there", b"x");
    assert_ne!(model.stat_dir(&disk).unwrap().dev, model.stat_dir(&at).unwrap().dev);
    model.sync_all(&at).unwrap();
    assert!(states(&model, "disk/there").contains(&None), "another device is not synced");
    model.sync_all(&disk).unwrap();
    assert_eq!(states(&model, "disk/there"), [Some(b"x".to_vec())].into());
}

#[test]
fn a_clone_is_another_model_and_the_clock_and_the_space_are_what_was_set() {
    let model = ModelFs::new();
    model.set_clock(42);
    model.set_free_bytes(7);
    let _lock = model.try_lock(&root(&model), "lock").unwrap();
    let clone = model.clone();
    write(&clone, &root(&clone), "file", b"x");
    assert!(model.file("file").is_none());
    assert!(clone.try_lock(&root(&clone), "lock").unwrap().is_some());
    assert_eq!(clone.stat(&root(&clone), "file").unwrap().modified, 42);
    assert_eq!(clone.free_bytes(&root(&clone)).unwrap(), 7);
    assert_ne!(model.fingerprint(), clone.fingerprint());
    model.crash_images(&CrashBounds::default(), &mut |image, _| {
        assert_eq!(image.free_bytes(&root(&image)).unwrap(), 7);
    });
}

#[test]
fn a_description_names_what_was_lost() {
    let model = ModelFs::new();
    model.mkdir("dir").unwrap();
    model.mark_all_durable();
    let dir = model.open_dir(&root(&model), "dir").unwrap();
    write(&model, &dir, "file", b"four");
    model.rename(&dir, "file", &root(&model), "moved", RenameMode::NoReplace).unwrap();
    model.set_clock(1);
    let mut all = String::new();
    model.crash_images(&CrashBounds::default(), &mut |_, what| all += &format!("{what}\n"));
    for part in [
        "power cut after operation 3 of 3",
        "lost #1 create dir/file",
        "only 2 bytes of #2 write 4 bytes at 0",
        "zeros instead of #2",
        "lost #3 rename dir/file -> moved",
        "again: CrashChoice { operations: 3, not_kept: [(3, Lost)] }",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    assert_eq!(model.trace().len(), 3);
}
