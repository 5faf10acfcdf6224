//! Random operations do the same on the model as on the machine's file system: the same results, the same
//! errors, the same tree.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use relaycode_durable::fs::{DirMode, FileMode};
use relaycode_durable::{Fs, FsDir, FsKind, RealFs, RenameMode};
use relaycode_proof_crashfs::ModelFs;

/// A directory (by number, the root where it is absent) and a name in it.
type Spot = (usize, usize);

#[derive(Debug, Clone)]
enum Step {
    MakeDir(Spot),
    RemoveDir(Spot),
    DirMode(Spot, u32),
    Link(Spot, String),
    Create(Spot, Vec<u8>),
    Append(Spot, Vec<u8>),
    Cut(Spot, u64),
    Mode(Spot, u32),
    Rename(Spot, Spot, RenameMode),
    RemoveFile(Spot),
    Lock(Spot),
    SyncDir(usize),
}

const DIRS: [&str; 5] = ["", "a", "b", "a/b", "b/a"];
const NAMES: [&str; 4] = ["a", "b", "c", "Å"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let spot = || (0..DIRS.len(), 0..NAMES.len());
    let bytes = || proptest::collection::vec(any::<u8>(), 0..8);
    let how = prop_oneof![Just(RenameMode::Replace), Just(RenameMode::NoReplace), Just(RenameMode::Exchange)];
    let step = prop_oneof![
        3 => spot().prop_map(Step::MakeDir),
        1 => spot().prop_map(Step::RemoveDir),
        1 => (spot(), 0u32..0o7777).prop_map(|(spot, mode)| Step::DirMode(spot, mode & !0o2000 | 0o700)),
        1 => (spot(), "[a-c/]{0,3}").prop_map(|(spot, target)| Step::Link(spot, target)),
        3 => (spot(), bytes()).prop_map(|(spot, bytes)| Step::Create(spot, bytes)),
        1 => (spot(), bytes()).prop_map(|(spot, bytes)| Step::Append(spot, bytes)),
        1 => (spot(), 0u64..12).prop_map(|(spot, len)| Step::Cut(spot, len)),
        1 => (spot(), 0u32..0o1000).prop_map(|(spot, mode)| Step::Mode(spot, mode | 0o600)),
        5 => (spot(), spot(), how).prop_map(|(from, to, how)| Step::Rename(from, to, how)),
        1 => spot().prop_map(Step::RemoveFile),
        1 => spot().prop_map(Step::Lock),
        1 => (0..DIRS.len()).prop_map(Step::SyncDir),
    ];
    proptest::collection::vec(step, 1..40)
}

fn open(fs: &dyn Fs, root: &FsDir, dir: usize) -> FsDir {
    if dir == 0 { root.clone() } else { fs.open_dir(root, DIRS[dir]).unwrap_or_else(|_| root.clone()) }
}

fn run(fs: &dyn Fs, root: &FsDir, step: &Step) -> std::io::Result<()> {
    let at = |spot: &Spot| (open(fs, root, spot.0), NAMES[spot.1]);
    match step {
        Step::MakeDir(spot) => {
            let (dir, name) = at(spot);
            fs.make_dir(&dir, name, DirMode::Exact(0o750))
        }
        Step::RemoveDir(spot) => {
            let (dir, name) = at(spot);
            fs.remove_dir(&dir, name)
        }
        // Without the bit that what is made in a directory inherits.
        Step::DirMode(spot, mode) => {
            let (dir, name) = at(spot);
            fs.set_dir_mode(&dir, name, *mode)
        }
        Step::Link(spot, target) => {
            let (dir, name) = at(spot);
            fs.make_link(&dir, name, target.as_bytes())
        }
        Step::Create(spot, bytes) => {
            let (dir, name) = at(spot);
            let file = fs.create(&dir, name, FileMode::Private)?;
            fs.write(&file, bytes)?;
            fs.sync_file(&file)
        }
        Step::Append(spot, bytes) => {
            let (dir, name) = at(spot);
            fs.write(&fs.open_append(&dir, name)?, bytes)
        }
        Step::Cut(spot, len) => {
            let (dir, name) = at(spot);
            fs.truncate(&fs.open_append(&dir, name)?, *len)
        }
        Step::Mode(spot, mode) => {
            let (dir, name) = at(spot);
            fs.set_mode(&fs.open_append(&dir, name)?, *mode)
        }
        Step::Rename(from, to, how) => {
            let ((from, old), (to, new)) = (at(from), at(to));
            fs.rename(&from, old, &to, new, *how)
        }
        Step::RemoveFile(spot) => {
            let (dir, name) = at(spot);
            fs.remove_file(&dir, name)
        }
        Step::Lock(spot) => {
            let (dir, name) = at(spot);
            fs.try_lock(&dir, name).map(|lock| assert!(lock.is_some()))
        }
        Step::SyncDir(dir) => fs.sync_dir(&open(fs, root, *dir)),
    }
}

/// Every path with its kind, mode, names and bytes.
type Tree = BTreeMap<String, (String, Vec<u8>)>;

fn tree(fs: &dyn Fs, dir: &FsDir, prefix: &str, seen: &mut Tree) {
    for (name, kind) in fs.list(dir).unwrap() {
        let path = format!("{prefix}{name}");
        let stat = fs.stat(dir, &name).unwrap();
        let bytes = match kind {
            FsKind::File => fs.read(dir, &name, 1000).unwrap().0,
            FsKind::Link => fs.read_link(dir, &name).unwrap(),
            _ => Vec::new(),
        };
        let links = if kind == FsKind::File { stat.links } else { 0 };
        seen.insert(path.clone(), (format!("{kind:?} {:o} {links}", stat.mode), bytes));
        if kind == FsKind::Dir {
            tree(fs, &fs.open_dir(dir, &name).unwrap(), &format!("{path}/"), seen);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_model_does_what_the_machine_does(steps in steps()) {
        let place = tempfile::tempdir().unwrap();
        let (real, model) = (RealFs::default(), ModelFs::new());
        let (at_real, at_model) = (real.open_root(place.path()).unwrap(), model.open_root(Path::new("/")).unwrap());
        for (index, step) in steps.iter().enumerate() {
            let number = |result: std::io::Result<()>| result.map_err(|error| error.raw_os_error());
            let (on_real, on_model) = (run(&real, &at_real, step), run(&model, &at_model, step));
            prop_assert_eq!(number(on_real), number(on_model), "step {}: {:?}", index, step);
        }
        let (mut of_real, mut of_model) = (Tree::new(), Tree::new());
        tree(&real, &at_real, "", &mut of_real);
        tree(&model, &at_model, "", &mut of_model);
        prop_assert_eq!(of_real, of_model);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_image_is_a_tree_that_loses_no_durable_file(steps in steps()) {
        // Files that nobody touches by name, in directories that move about: they must never get lost.
        let model = ModelFs::new();
        for dir in ["a", "b", "a/b"] {
            model.put(&format!("{dir}/kept"), dir.as_bytes(), 0o600).unwrap();
        }
        model.mark_all_durable();
        let root = model.open_root(Path::new("/")).unwrap();
        for step in &steps {
            let _ = run(&model, &root, step);
        }
        let bounds = relaycode_proof_crashfs::CrashBounds { pairs: 20, ..Default::default() };
        let mut lost = None;
        model.all_crash_images(&bounds, &mut |image, what| {
            let kept = image.snapshot().files.into_iter().filter(|(path, _)| path.ends_with("kept"));
            let mut kept: Vec<_> = kept.map(|(_, (bytes, _))| bytes).collect();
            kept.sort();
            if kept != [b"a".to_vec(), b"a/b".to_vec(), b"b".to_vec()] {
                lost.get_or_insert_with(|| what.to_string());
            }
            if what.fingerprint() % 16 == 0 {
                assert_eq!(image.fingerprint(), model.image(what.choice()).fingerprint(), "{what}");
            }
        });
        prop_assert_eq!(lost, None, "{:#?}", model.trace());
    }
}
