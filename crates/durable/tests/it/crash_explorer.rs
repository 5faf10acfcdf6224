//! The explorer finds what is wrong with writers that are known to be wrong, and nothing with the one that is
//! right.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use relaycode_durable::fs::{DirMode, FileMode};
use relaycode_durable::{Fs, FsDir, RenameMode, atomic};
use relaycode_proof_crashfs::{CrashBounds, ModelFs, is_crash};
use rustix::io::Errno;

const BEFORE: &[u8] = b"before";

fn after() -> Vec<u8> {
    b"after ".repeat(300)
}

fn set_up() -> ModelFs {
    let model = ModelFs::new();
    model.put("work/file", BEFORE, 0o600).unwrap();
    model.mkdir("work/scratch").unwrap();
    model.mark_all_durable();
    model
}

type Writer = fn(&dyn Fs, &FsDir, &FsDir) -> io::Result<()>;

fn run(model: &ModelFs, writer: Writer) -> io::Result<()> {
    let dir = model.open_root(Path::new("/work"))?;
    let scratch = model.open_dir(&dir, "scratch")?;
    writer(model, &dir, &scratch)
}

/// What goes wrong with a writer at some crash point.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    Lost,
    Mixed,
    NotDurable,
}

fn harms(writer: Writer) -> BTreeSet<Harm> {
    let model = set_up();
    run(&model, writer).unwrap();
    let (done, after) = (model.operations(), after());
    let mut harms = BTreeSet::new();
    let explored =
        model.all_crash_images(&CrashBounds::default(), &mut |image, what| match image.file("work/file") {
            None => drop(harms.insert(Harm::Lost)),
            Some((bytes, _)) if bytes == after => {}
            Some((bytes, _)) if bytes == BEFORE => {
                if what.operations() == done {
                    harms.insert(Harm::NotDurable);
                }
            }
            Some(_) => drop(harms.insert(Harm::Mixed)),
        });
    assert_eq!(explored.points, done + 1);
    assert!(explored.shown <= explored.built);
    harms
}

fn in_place(fs: &dyn Fs, dir: &FsDir, _: &FsDir) -> io::Result<()> {
    let file = fs.open_append(dir, "file")?;
    fs.truncate(&file, 0)?;
    fs.write(&file, &after())?;
    fs.sync_file(&file)
}

fn without_sync(fs: &dyn Fs, dir: &FsDir, scratch: &FsDir) -> io::Result<()> {
    fs.write(&fs.create(scratch, "new", FileMode::Private)?, &after())?;
    fs.rename(scratch, "new", dir, "file", RenameMode::Replace)
}

fn without_sync_of_the_directory(fs: &dyn Fs, dir: &FsDir, scratch: &FsDir) -> io::Result<()> {
    atomic::stage(fs, (scratch, "new"), &after())?;
    fs.rename(scratch, "new", dir, "file", RenameMode::Replace)
}

fn remove_then_rename(fs: &dyn Fs, dir: &FsDir, scratch: &FsDir) -> io::Result<()> {
    atomic::stage(fs, (scratch, "new"), &after())?;
    fs.remove_file(dir, "file")?;
    fs.rename(scratch, "new", dir, "file", RenameMode::Replace)?;
    fs.sync_dir(dir)
}

fn right(fs: &dyn Fs, dir: &FsDir, scratch: &FsDir) -> io::Result<()> {
    atomic::write(fs, (scratch, "new"), (dir, "file"), &after()).map_err(|error| error.source)
}

fn right_with_one_sync_of_everything(fs: &dyn Fs, dir: &FsDir, scratch: &FsDir) -> io::Result<()> {
    fs.write(&fs.create(scratch, "new", FileMode::Private)?, &after())?;
    fs.sync_all(dir)?;
    fs.rename(scratch, "new", dir, "file", RenameMode::Exchange)?;
    fs.sync_all(dir)
}

#[test]
fn writing_in_place_is_caught() {
    assert_eq!(harms(in_place), BTreeSet::from([Harm::Mixed]));
}

#[test]
fn a_rename_without_any_sync_is_caught() {
    assert_eq!(harms(without_sync), BTreeSet::from([Harm::Mixed, Harm::NotDurable]));
}

#[test]
fn a_rename_without_the_directory_synced_is_caught() {
    assert_eq!(harms(without_sync_of_the_directory), BTreeSet::from([Harm::NotDurable]));
}

#[test]
fn removing_first_is_caught() {
    assert_eq!(harms(remove_then_rename), BTreeSet::from([Harm::Lost]));
}

#[test]
fn the_atomic_write_is_right() {
    assert_eq!(harms(right), BTreeSet::new());
    assert_eq!(harms(right_with_one_sync_of_everything), BTreeSet::new());
}

#[test]
fn the_atomic_write_leaves_one_or_the_other_when_any_call_fails_or_is_the_last() {
    let counted = set_up();
    run(&counted, right).unwrap();
    let is_whole = |model: &ModelFs, what: &str| {
        let (bytes, _) = model.file("work/file").unwrap_or_else(|| panic!("{what}: lost"));
        assert!(bytes == BEFORE || bytes == after(), "{what}: mixed");
    };
    for errno in [Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::ROFS] {
        for call in 1..=counted.calls() {
            let model = set_up();
            model.fail_call(call, errno);
            // Only the removal of an old scratch file may go wrong unnoticed: there is none.
            let error = run(&model, right).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(errno.raw_os_error()), "call {call}");
            model.crash_images(&CrashBounds::default(), &mut |image, what| {
                is_whole(&image, &what.to_string());
            });
        }
        for operation in 1..=counted.operations() {
            let model = set_up();
            model.fail_at(operation, errno);
            run(&model, right).unwrap_err();
            model.crash_images(&CrashBounds::default(), &mut |image, what| {
                is_whole(&image, &what.to_string());
            });
            // The next attempt is not hindered by what the failed one left.
            run(&model, right).unwrap();
            assert_eq!(model.file("work/file").unwrap().0, after());
        }
    }
    for operation in 1..=counted.operations() {
        let model = set_up();
        model.crash_at(operation);
        let error = run(&model, right).unwrap_err();
        assert!(is_crash(&error), "{error}");
        assert_eq!(model.operations(), operation - 1);
        model.crash_images(&CrashBounds::default(), &mut |image, what| is_whole(&image, &what.to_string()));
    }
}

#[test]
fn a_thousand_pending_changes_stay_within_bounds() {
    let model = ModelFs::new();
    let root = model.open_root(Path::new("/")).unwrap();
    for dir in 0..10 {
        fs_dir(&model, &root, dir);
    }
    let bounds = CrashBounds { writes: 20, changes: 20, pairs: 20, random: 5, seed: 7 };
    let explored = model.crash_images(&bounds, &mut |_, _| {});
    assert!(explored.built <= 2 + 3 + 7 * 20 + 4 * 20 + 2 * 20 + 5, "{explored:?}");
    assert!(explored.shown > 50, "{explored:?}");
    assert_eq!(explored, model.crash_images(&bounds, &mut |_, _| {}), "the same seed, the same images");
}

fn fs_dir(fs: &dyn Fs, root: &FsDir, number: usize) {
    let name = format!("dir{number}");
    fs.make_dir(root, &name, DirMode::Usual).unwrap();
    let dir = fs.open_dir(root, &name).unwrap();
    for file in 0..50 {
        let file = fs.create(&dir, &format!("file{file}"), FileMode::Private).unwrap();
        fs.write(&file, name.as_bytes()).unwrap();
    }
}
