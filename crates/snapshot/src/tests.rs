use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use relaycode_durable::{Fs, RealFs};
use tempfile::TempDir;

use crate::snapshot::{EntryId, ROOT, node};
use crate::walk::WalkDirectory;
use crate::{
    EntryChangeKind, EntryKind, EntryStat, ImageReader, ImageWriter, KnownTree, PackedReader, PackedWriter,
    Snapshot, TreeDifference, WalkCaps, WalkError, WalkRule, WalkStep, WholeTree,
};

/// A time after which nothing here is young.
const LATER: (i64, u32) = (i64::MAX, 0);

fn take_by(root: &Path, rule: &mut dyn WalkRule, caps: WalkCaps, known: Option<&Snapshot>) -> Snapshot {
    let fs = RealFs::default();
    let known = known.map(KnownTree::beyond_cap);
    Snapshot::take(&fs, &fs.open_root(root).unwrap(), rule, caps, known, LATER).unwrap()
}

fn take(root: &Path) -> Snapshot {
    take_by(root, &mut WholeTree, WalkCaps::default(), None)
}

fn paths(snapshot: &Snapshot) -> Vec<String> {
    let mut all = Vec::new();
    snapshot.for_each(&mut |path, id| {
        assert_eq!(snapshot.path(id), path);
        assert_eq!(snapshot.find(path), Some(id));
        all.push(String::from_utf8_lossy(path).into_owned());
    });
    all
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<(String, EntryChangeKind)> {
    let found = TreeDifference::between(before, after);
    assert!(found.racy.is_empty() || before.began() != LATER);
    let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    found.changes.iter().map(|change| (shown(&change.path), change.kind)).collect()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    fs::read("/proc/self/status").is_ok_and(|status| {
        String::from_utf8_lossy(&status).lines().any(|line| line.starts_with("Uid:\t0\t"))
    })
}

#[test]
fn every_entry_is_seen_once_in_the_order_of_names() {
    let dir = TempDir::new().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("b/deep/er")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("b/z"), "z").unwrap();
    fs::write(at("b-a"), "a").unwrap();
    fs::write(at("b/deep/er/f"), "f").unwrap();
    symlink("b", at("link")).unwrap();
    let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"not-\xff"));
    fs::write(&odd, "x").unwrap();
    let snapshot = take(dir.path());
    assert_eq!(
        paths(&snapshot),
        ["b", "b/deep", "b/deep/er", "b/deep/er/f", "b/z", "b-a", "empty", "link", "not-\u{fffd}"]
    );
    let kind = |path: &[u8]| snapshot.stat(snapshot.find(path).unwrap()).kind;
    assert_eq!(kind(b"link"), EntryKind::Link);
    assert_eq!(kind(b"empty"), EntryKind::Directory);
    assert_eq!(kind(b"not-\xff"), EntryKind::File);
    assert!(changes(&snapshot, &take(dir.path())).is_empty());
}

#[test]
fn what_became_of_each_kind_of_entry_is_told() {
    use EntryChangeKind::*;
    let dir = TempDir::new().unwrap();
    let at = |path: &str| dir.path().join(path);
    for path in ["a", "b", "c", "d/x", "gone/in/f", "f"] {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), "old").unwrap();
    }
    fs::create_dir(at("empty")).unwrap();
    symlink("a", at("link")).unwrap();
    symlink("a", at("turns")).unwrap();
    let before = take(dir.path());
    fs::write(at("a"), "new").unwrap();
    mode(&at("b"), 0o4755);
    fs::remove_file(at("c")).unwrap();
    mode(&at("d"), 0o700);
    fs::remove_dir_all(at("gone")).unwrap();
    fs::remove_file(at("f")).unwrap();
    fs::create_dir(at("f")).unwrap();
    fs::write(at("f/in"), "x").unwrap();
    fs::remove_dir(at("empty")).unwrap();
    fs::remove_file(at("link")).unwrap();
    symlink("b", at("link")).unwrap();
    fs::remove_file(at("turns")).unwrap();
    fs::write(at("turns"), "x").unwrap();
    fs::create_dir_all(at("new/in")).unwrap();
    fs::hard_link(at("a"), at("new/in/hard")).unwrap();
    let found = changes(&before, &take(dir.path()));
    let expected = [
        ("a", Modified),
        ("b", ModeChanged),
        ("c", Deleted),
        ("d", ModeChanged),
        ("empty", Deleted),
        ("f", TypeChanged),
        ("f/in", Created),
        ("gone", Deleted),
        ("gone/in", Deleted),
        ("gone/in/f", Deleted),
        ("link", Modified),
        ("new", Created),
        ("new/in", Created),
        ("new/in/hard", Created),
        ("turns", TypeChanged),
    ];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_string(), kind)));
}

#[test]
fn what_cannot_be_read_is_neither_new_nor_gone() {
    if is_root() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("shut")).unwrap();
    fs::create_dir_all(at("blind")).unwrap();
    fs::write(at("shut/f"), "x").unwrap();
    fs::write(at("blind/f"), "x").unwrap();
    let open = take(dir.path());
    mode(&at("shut"), 0o000);
    mode(&at("blind"), 0o400);
    let shut = take(dir.path());
    let unread: Vec<Vec<u8>> = shut.unread().map(|(path, _)| path).collect();
    mode(&at("shut"), 0o755);
    mode(&at("blind"), 0o755);
    assert_eq!(unread, [b"blind/f".to_vec(), b"shut".to_vec()]);
    let only_modes = |found: &[(String, EntryChangeKind)]| {
        found.iter().all(|(_, kind)| *kind == EntryChangeKind::ModeChanged)
    };
    assert!(only_modes(&changes(&open, &shut)));
    assert!(only_modes(&changes(&shut, &open)));
}

#[test]
fn what_is_too_much_is_counted_and_what_was_known_is_looked_at_again() {
    let dir = TempDir::new().unwrap();
    let at = |path: String| dir.path().join(path);
    fs::create_dir(at("d".into())).unwrap();
    for number in 0..20 {
        fs::write(at(format!("d/{number:02}")), "x").unwrap();
    }
    let few = WalkCaps { entries: 6, ..WalkCaps::default() };
    let before = take_by(dir.path(), &mut WholeTree, few, None);
    assert_eq!(before.len(), 6);
    assert_eq!(before.partial().collect::<Vec<_>>(), [(b"d".to_vec(), 15)]);
    // What was left out before is not taken for new.
    let after = take_by(dir.path(), &mut WholeTree, WalkCaps::default(), Some(&before));
    let found = TreeDifference::between(&before, &after);
    assert_eq!((found.changes.len(), found.unknown.len()), (0, 15));
    // What was known is not taken for gone, however much came.
    let whole = take(dir.path());
    for number in 0..50 {
        fs::write(at(format!("d/new-{number}")), "x").unwrap();
    }
    fs::remove_file(at("d/07".into())).unwrap();
    let after = take_by(dir.path(), &mut WholeTree, few, Some(&whole));
    let found = changes(&whole, &after);
    let gone: Vec<&String> =
        found.iter().filter(|(_, kind)| *kind == EntryChangeKind::Deleted).map(|(path, _)| path).collect();
    assert_eq!(gone, ["d/07"]);
    assert_eq!(found.len(), 1 + 6);
    assert_eq!(after.partial().collect::<Vec<_>>(), [(b"d".to_vec(), 44)]);
}

/// Skips `skip`, enters `later` at the end, does not count `through` itself, and marks what is in `marked`.
struct Picky {
    order: Vec<String>,
}

impl WalkRule for Picky {
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], _: &EntryStat) -> WalkStep {
        self.order.push(String::from_utf8_lossy(name).into_owned());
        match name {
            b"later" => WalkStep::Later(at.mark),
            b"through" => WalkStep::Pass(at.mark),
            b"leaf" => WalkStep::Leaf(at.mark),
            _ => WalkStep::Take(at.mark),
        }
    }

    fn skips(&self, _: WalkDirectory<'_>, name: &[u8]) -> bool {
        name == b"skip"
    }

    fn enter(&mut self, at: WalkDirectory<'_>, contains: &dyn Fn(&[u8]) -> bool) -> u32 {
        if contains(b"HEAD") { 7 } else { at.mark }
    }
}

#[test]
fn a_rule_says_what_belongs_to_the_tree() {
    let dir = TempDir::new().unwrap();
    for path in ["skip/a", "later/b", "leaf/c", "through/d", "repo/HEAD", "z/e"] {
        fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        fs::write(dir.path().join(path), "x").unwrap();
    }
    let mut rule = Picky { order: Vec::new() };
    let before = take_by(dir.path(), &mut rule, WalkCaps::default(), None);
    assert_eq!(paths(&before), ["later", "later/b", "leaf", "repo", "repo/HEAD", "through/d", "z", "z/e"]);
    assert_eq!(rule.order.last().map(String::as_str), Some("b"));
    let mark = |path: &[u8]| before.mark(before.find(path).unwrap());
    assert_eq!((mark(b"repo"), mark(b"repo/HEAD"), mark(b"z/e")), (0, 7, 0));
    // One that only leads somewhere may come and go.
    fs::remove_dir_all(dir.path().join("through")).unwrap();
    let after = take_by(dir.path(), &mut Picky { order: Vec::new() }, WalkCaps::default(), None);
    assert_eq!(changes(&before, &after), [("through/d".to_string(), EntryChangeKind::Deleted)]);
}

#[test]
fn a_walk_stops_when_it_is_told_to() {
    struct Stopped;
    impl WalkRule for Stopped {
        fn step(&mut self, _: WalkDirectory<'_>, _: &[u8], _: &EntryStat) -> WalkStep {
            WalkStep::Take(0)
        }
        fn is_stopped(&self) -> bool {
            true
        }
    }
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a"), "x").unwrap();
    let fs = RealFs::default();
    let root = fs.open_root(dir.path()).unwrap();
    let taken = Snapshot::take(&fs, &root, &mut Stopped, WalkCaps::default(), None, LATER);
    assert!(matches!(taken, Err(WalkError::Stopped)));
}

#[test]
fn a_very_deep_tree_is_walked() {
    let dir = TempDir::new().unwrap();
    let mut at = dir.path().to_path_buf();
    // As deep as a path can be named at once.
    for _ in 0..600 {
        at.push("d");
    }
    fs::create_dir_all(&at).unwrap();
    let snapshot = take(dir.path());
    assert_eq!((snapshot.len(), snapshot.unread().count()), (600, 0));
    let caps = WalkCaps { depth: 100, ..WalkCaps::default() };
    let shallow = take_by(dir.path(), &mut WholeTree, caps, None);
    assert_eq!((shallow.len(), shallow.unread().count()), (101, 1));
    assert!(changes(&snapshot, &shallow).is_empty());
}

#[test]
fn a_young_file_is_the_same_only_if_its_bytes_are() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a"), "x").unwrap();
    let real = RealFs::default();
    let root = real.open_root(dir.path()).unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
    let young =
        |began| Snapshot::take(&real, &root, &mut WholeTree, WalkCaps::default(), None, (began, 0)).unwrap();
    let found = TreeDifference::between(&young(now), &young(now));
    assert_eq!((found.changes.len(), found.racy.len()), (0, 1));
    assert!(TreeDifference::between(&young(now + 60), &young(now + 60)).is_empty());
}

#[test]
fn bytes_are_kept_and_found_again() {
    let dir = TempDir::new().unwrap();
    let real = RealFs::default();
    fs::create_dir(dir.path().join("kept")).unwrap();
    let root = real.open_root(dir.path()).unwrap();
    let kept = real.open_root(&dir.path().join("kept")).unwrap();
    let large = vec![7; 3 << 20];
    for (name, bytes) in [("empty", &b""[..]), ("small", b"small"), ("large", &large)] {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let mut writer = ImageWriter::create(Arc::new(RealFs::default()), kept.clone()).unwrap();
    let saved: Vec<_> = ["empty", "small", "large"]
        .map(|name| {
            let stat = EntryStat::from_stamp(&real.stamp(&root, name.as_ref()).unwrap());
            (name, writer.save(&root, name, stat, u64::MAX).unwrap())
        })
        .into();
    writer.flush().unwrap();
    let reader = ImageReader::open(&real, &kept);
    for (name, image) in saved {
        let bytes = reader.read(image.location, image.stat.size).unwrap().unwrap();
        assert_eq!(bytes, fs::read(dir.path().join(name)).unwrap());
    }
    let gone = writer.save(&root, "nobody", EntryStat::default(), u64::MAX);
    assert!(matches!(gone, Err(crate::ImageError::Gone)));
}

/// A tree by its paths: what stands there.
type Plain = BTreeMap<String, (EntryKind, u64, u32)>;

fn entries() -> impl Strategy<Value = Plain> {
    let name = prop_oneof!["[a-c]", "[a-c]", "a-[a-b]"];
    let path = proptest::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"));
    let kind = prop_oneof![Just(EntryKind::File), Just(EntryKind::Link), Just(EntryKind::Directory)];
    let entry = (kind, 1u64..3, prop_oneof![Just(0o644u32), Just(0o755)]);
    proptest::collection::btree_map(path, entry, 0..12).prop_map(|mut plain| {
        // Whatever has something below it is a directory, and is there.
        let above: Vec<String> = plain
            .keys()
            .flat_map(|path| {
                path.match_indices('/').map(|(at, _)| path[..at].to_string()).collect::<Vec<_>>()
            })
            .collect();
        for path in above {
            plain.entry(path).and_modify(|entry| entry.0 = EntryKind::Directory).or_insert((
                EntryKind::Directory,
                1,
                0o755,
            ));
        }
        plain
    })
}

fn snapshot_of(plain: &Plain) -> Snapshot {
    let stat = |(kind, ino, mode): (EntryKind, u64, u32)| EntryStat {
        kind,
        ino,
        mode,
        links: 1,
        ..EntryStat::default()
    };
    let root = stat((EntryKind::Directory, 1, 0o755));
    let mut known: Vec<KnownEntry<'_>> =
        plain.iter().map(|(path, entry)| (path.split('/').collect(), stat(*entry))).collect();
    known.sort_by(|a, b| a.0.cmp(&b.0));
    let mut snapshot = Snapshot::new(root, 0, LATER);
    add_level(&mut snapshot, ROOT, 0, &known);
    snapshot
}

/// The parts of a path, and what is there.
type KnownEntry<'p> = (Vec<&'p str>, EntryStat);

/// Adds what is in a directory: `entries` are all below it, in order, and `depth` is how many parts its path has.
/// Directories that are not among them are made up.
fn add_level(snapshot: &mut Snapshot, at: EntryId, depth: usize, entries: &[KnownEntry<'_>]) {
    let groups: Vec<&[KnownEntry<'_>]> = entries.chunk_by(|a, b| a.0[depth] == b.0[depth]).collect();
    let first = snapshot.nodes.len() as u32;
    for group in &groups {
        let (path, stat) = &group[0];
        let made_up = EntryStat { kind: EntryKind::Directory, mode: 0o755, ..EntryStat::default() };
        let name = (snapshot.names.len() as u32, path[depth].len() as u16);
        snapshot.names.extend_from_slice(path[depth].as_bytes());
        let (stat, mark) = if path.len() == depth + 1 { (*stat, 3) } else { (made_up, 0) };
        snapshot.nodes.push(node(stat, name, mark, at.0));
    }
    snapshot.node_mut(at).children = first..snapshot.nodes.len() as u32;
    for (number, group) in groups.iter().enumerate() {
        let below = if group[0].0.len() == depth + 1 { &group[1..] } else { group };
        if !below.is_empty() {
            add_level(snapshot, EntryId(first + number as u32), depth + 1, below);
        }
    }
}

fn take_again(root: &Path, known: &Snapshot, began: (i64, u32)) -> Snapshot {
    let fs = RealFs::default();
    let known = Some(KnownTree { tree: known, is_beyond_cap: false, lends_names: true });
    Snapshot::take(&fs, &fs.open_root(root).unwrap(), &mut WholeTree, WalkCaps::default(), known, began)
        .unwrap()
}

#[test]
fn names_are_taken_from_a_known_tree_only_where_they_must_be_the_same() {
    let dir = TempDir::new().unwrap();
    for name in ["a/one", "a/two", "b/three"] {
        fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(name), name).unwrap();
    }
    let real = RealFs::default();
    if !real.keeps_directory_times(&real.open_root(dir.path()).unwrap()).unwrap() {
        return;
    }
    let whole = take(dir.path());
    // A name that is there and not known is seen only if somebody looks.
    let mut known = whole.clone();
    let a = known.find(b"a").unwrap();
    known.node_mut(a).children.end -= 1;
    assert_eq!(paths(&take_again(dir.path(), &known, LATER)), ["a", "a/one", "b", "b/three"]);
    // Directories were changed just before the walk that is known began.
    let mut young = known.clone();
    young.set_began((0, 0));
    assert_eq!(paths(&take_again(dir.path(), &young, LATER)), paths(&whole));
    // Whoever could not enter it knows nothing of what is in it.
    let mut unread = known.clone();
    unread.set_unread(a, "why".to_string());
    assert_eq!(paths(&take_again(dir.path(), &unread, LATER)), paths(&whole));
    // A name that has to be there is not.
    let mut wrong = whole.clone();
    let name = wrong.node(wrong.find(b"a/one").unwrap()).name as usize;
    wrong.names[name..name + 3].copy_from_slice(b"0ne");
    assert_eq!(paths(&take_again(dir.path(), &wrong, LATER)), paths(&whole));
    // Another directory has its name, with the same names in it.
    fs::rename(dir.path().join("a"), dir.path().join("c")).unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    for name in ["a/one", "a/two", "a/zwei"] {
        fs::write(dir.path().join(name), name).unwrap();
    }
    let now = ["a", "a/one", "a/two", "a/zwei", "b", "b/three", "c", "c/one", "c/two"];
    assert_eq!(paths(&take_again(dir.path(), &known, LATER)), now);
}

#[test]
fn what_came_into_a_known_directory_or_went_is_seen() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    fs::write(dir.path().join("a/one"), "1").unwrap();
    let known = take(dir.path());
    let was = known.stat(known.find(b"a").unwrap()).changed;
    // Until the file system's clock has gone on.
    while take(dir.path()).stat(known.find(b"a").unwrap()).changed == was {
        fs::write(dir.path().join("a/tick"), "").unwrap();
        fs::remove_file(dir.path().join("a/tick")).unwrap();
    }
    fs::write(dir.path().join("a/two"), "2").unwrap();
    fs::write(dir.path().join("a/one"), "one").unwrap();
    let now = take_again(dir.path(), &known, LATER);
    use EntryChangeKind::{Created, Modified};
    assert_eq!(changes(&known, &now), [("a/one".into(), Modified), ("a/two".into(), Created)]);
    fs::remove_file(dir.path().join("a/one")).unwrap();
    assert_eq!(paths(&take_again(dir.path(), &known, LATER)), ["a", "a/two"]);
    // As many as are looked at, whether they were known or not.
    let fs = RealFs::default();
    let caps = WalkCaps { entries: 1, ..WalkCaps::default() };
    let known = Some(KnownTree { tree: &now, is_beyond_cap: false, lends_names: true });
    let root = fs.open_root(dir.path()).unwrap();
    let few = Snapshot::take(&fs, &root, &mut WholeTree, caps, known, LATER).unwrap();
    assert_eq!(few.partial().collect::<Vec<_>>(), [(b"a".to_vec(), 1)]);
}

#[test]
fn what_is_packed_is_whatever_the_numbers_are() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    fs::write(dir.path().join("a/b"), "b").unwrap();
    symlink("b", dir.path().join("a/l")).unwrap();
    let mut snapshot = take(dir.path());
    let far = EntryStat {
        kind: EntryKind::Special,
        dev: u64::MAX,
        ino: u64::MAX,
        size: u64::MAX,
        mode: 0o7777,
        owner: (u32::MAX, 0),
        links: u32::MAX,
        special: u64::MAX,
        modified: (i64::MIN, 999_999_999),
        changed: (i64::MAX, 1),
    };
    let (file, link) = (snapshot.find(b"a/b").unwrap(), snapshot.find(b"a/l").unwrap());
    snapshot.set_stat(file, far);
    snapshot.set_mark(link, u32::MAX);
    snapshot.set_unread(link, "why".to_string());
    let mut packed = PackedWriter::default();
    snapshot.pack(&mut packed);
    let mut from = PackedReader(&packed.0);
    let again = Snapshot::unpack(&mut from).unwrap();
    assert!(from.0.is_empty());
    assert_eq!((again.began(), paths(&again)), (snapshot.began(), paths(&snapshot)));
    assert!(snapshot.ids().all(|id| snapshot.stat(id) == again.stat(id)));
    assert_eq!((again.mark(link), again.is_unread(link)), (u32::MAX, true));
    assert_eq!(again.unread().collect::<Vec<_>>(), snapshot.unread().collect::<Vec<_>>());
    // Numbers that do not end, lengths of more than there is.
    for hostile in [&[0xff; 32][..], &[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0, 0, 0, 0x7f]] {
        assert!(Snapshot::unpack(&mut PackedReader(hostile)).is_none());
    }
}

proptest! {
    #[test]
    fn a_difference_is_what_the_paths_say(before in entries(), after in entries()) {
        let found: BTreeMap<String, EntryChangeKind> =
            changes(&snapshot_of(&before), &snapshot_of(&after)).into_iter().collect();
        let mut expected = BTreeMap::new();
        for path in before.keys().chain(after.keys()) {
            let kind = match (before.get(path), after.get(path)) {
                (Some(_), None) => EntryChangeKind::Deleted,
                (None, _) => EntryChangeKind::Created,
                (Some(was), Some(is)) if was.0 != is.0 => EntryChangeKind::TypeChanged,
                (Some(was), Some(is)) if was.0 == EntryKind::Directory => {
                    if was.2 == is.2 { continue }
                    EntryChangeKind::ModeChanged
                }
                (Some(was), Some(is)) if was.1 != is.1 => EntryChangeKind::Modified,
                (Some(was), Some(is)) if was.2 != is.2 => EntryChangeKind::ModeChanged,
                _ => continue,
            };
            expected.insert(path.clone(), kind);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_snapshot_of_known_entries_has_them_all(plain in entries()) {
        let snapshot = snapshot_of(&plain);
        prop_assert_eq!(snapshot.len(), plain.len());
        for path in plain.keys() {
            let id = snapshot.find(path.as_bytes()).expect("it is there");
            prop_assert_eq!(snapshot.path(id), path.as_bytes());
        }
        let mut packed = PackedWriter::default();
        snapshot.pack(&mut packed);
        let again = Snapshot::unpack(&mut PackedReader(&packed.0)).expect("it was packed");
        prop_assert!(TreeDifference::between(&snapshot, &again).is_empty());
        for id in snapshot.ids() {
            prop_assert_eq!(snapshot.stat(id), again.stat(id));
        }
        for cut in 0..packed.0.len() {
            prop_assert!(Snapshot::unpack(&mut PackedReader(&packed.0[..cut])).is_none());
        }
    }
}
