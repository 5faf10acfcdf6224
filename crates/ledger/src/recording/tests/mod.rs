use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use relaycode_durable::RealFs;
use relaycode_proof_crashfs::ModelFs;
use tempfile::TempDir;

use super::*;
use crate::log::LogTarget;
use crate::revert::RevertOptions;
use crate::transaction::{CommitVerdict, RecoveryMode, RecoveryOutcome, TransactionHeader};
use crate::{Ledger, LedgerError, LedgerResult, LedgerSettings, TxId};

mod hard_links;
mod isolation;
mod limits;
mod names;
mod protected;
mod sequences;

type Tree = BTreeMap<String, (u32, Vec<u8>)>;

struct Project {
    dir: TempDir,
}

impl Project {
    fn new(files: &[(&str, &[u8], u32)]) -> Project {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        for (path, bytes, mode) in files {
            project.put(path, bytes);
            project.mode(path, *mode);
        }
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        // As root a read-only file could be written, as anybody else it could not.
        let _ = fs::remove_file(&full);
        fs::write(full, bytes).unwrap();
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn ledger(&self) -> Ledger {
        self.ledger_with(None)
    }

    fn ledger_with(&self, home: Option<&Path>) -> Ledger {
        let home = home.map(Path::to_path_buf);
        let settings =
            LedgerSettings { lock_timeout: Duration::from_millis(50), home, ..LedgerSettings::default() };
        Ledger::open(Arc::new(RealFs::default()), self.dir.path(), settings).unwrap()
    }

    /// Names, permission bits and bytes of everything but relay's own.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut open = vec![self.dir.path().to_path_buf()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.dir.path()).unwrap().as_os_str().as_bytes().to_vec();
                let name = relaycode_durable::name_text(&name).into_owned();
                if name == ".relaycode" {
                    continue;
                }
                let stat = fs::symlink_metadata(&path).unwrap();
                let bytes = match stat.file_type() {
                    kind if kind.is_file() => fs::read(&path).unwrap(),
                    kind if kind.is_symlink() => {
                        fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                    }
                    _ => Vec::new(),
                };
                tree.insert(name, (stat.mode(), bytes));
                if stat.is_dir() {
                    open.push(path);
                }
            }
        }
        tree
    }
}

fn about() -> TransactionHeader {
    TransactionHeader::new(TxId::random(), "shop", "2026-03-10T12:00:00.000Z", "record")
}

/// Secures the project for a command.
fn begin(recording: &mut Recording<'_>, later: &[&str]) -> LedgerResult<SecureReport> {
    let later = || later.iter().map(ToString::to_string).collect();
    let scope = CommandScope {
        about: &about(),
        ignored: &later,
        is_ignored_stale: false,
        doomed: &[],
        sets_aside: false,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    recording.begin(&scope, &mut progress).cloned()
}

fn secure<'l>(ledger: &'l Ledger, later: &[&str]) -> Recording<'l> {
    let mut recording = ledger.open_recording();
    begin(&mut recording, later).unwrap();
    recording
}

/// Records what changed, of a command that was the only one.
fn try_adopt(mut recording: Recording<'_>) -> LedgerResult<RecordingOutcome> {
    let outcome = recording.finish(RecordingEnd::default(), &Vec::new)?;
    recording.close()?;
    Ok(outcome)
}

fn adopt(recording: Recording<'_>) -> RecordingOutcome {
    try_adopt(recording).unwrap()
}

fn revert(ledger: &Ledger, id: TxId) {
    let reversal = ledger.plan_revert(&LogTarget::Transaction(id), &RevertOptions::default()).unwrap();
    let about = TransactionHeader::new(TxId::random(), "shop", "2026-03-10T13:00:00.000Z", "revert");
    let about = reversal.header(about);
    ledger.begin(&reversal.changes, about, &|| false).unwrap().commit(CommitVerdict::default()).unwrap();
}

fn why<'a>(left: &'a [Omission], path: &str) -> &'a str {
    &left.iter().find(|left| left.path == path).unwrap_or_else(|| panic!("{path} is not in {left:?}")).reason
}

/// Something that a command does.
#[derive(Debug, Clone)]
enum Do {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Delete(usize),
    Move(usize, usize),
    Mode(usize, u32),
    RemoveAll(usize),
    Link(usize, usize),
    MakeDirectory(usize),
    DirectoryMode(usize, u32),
}

/// So few names that files, directories and moves meet all the time.
const NAMES: [&str; 9] = ["a", "b", "d/a", "d/b", "d/e/a", "f", "f/g", "f/g/h", "x y/ü.txt"];
const DIRECTORIES: [&str; 4] = ["d", "d/e", "f", "x y"];
const MODES: [u32; 6] = [0o644, 0o600, 0o755, 0o444, 0o4755, 0o2750];
const DIRECTORY_MODES: [u32; 4] = [0o755, 0o700, 0o2775, 0o1777];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let texts: [&[u8]; 5] = [b"", b"a\nb\nc\n", b"a\nx\nc\n", b"\x00\xff\x00", b"no end"];
    prop::sample::select(texts.to_vec()).prop_map(<[u8]>::to_vec)
}

fn doing() -> impl Strategy<Value = Do> {
    let name = || 0..NAMES.len();
    prop_oneof![
        (name(), bytes()).prop_map(|(name, bytes)| Do::Write(name, bytes)),
        (name(), bytes()).prop_map(|(name, bytes)| Do::Append(name, bytes)),
        name().prop_map(Do::Delete),
        (name(), name()).prop_map(|(from, to)| Do::Move(from, to)),
        (name(), prop::sample::select(MODES.to_vec())).prop_map(|(name, mode)| Do::Mode(name, mode)),
        (0..DIRECTORIES.len()).prop_map(Do::RemoveAll),
        (name(), name()).prop_map(|(name, target)| Do::Link(name, target)),
        (0..DIRECTORIES.len()).prop_map(Do::MakeDirectory),
        (0..DIRECTORIES.len(), prop::sample::select(DIRECTORY_MODES.to_vec()))
            .prop_map(|(name, mode)| Do::DirectoryMode(name, mode)),
    ]
}

/// Does it as far as it can be done, as a script would.
fn carry_out(project: &Project, what: &Do) {
    let path = |name: usize| project.path(NAMES[name]);
    let make_room = |path: &Path| fs::create_dir_all(path.parent().unwrap()).is_ok();
    match what {
        Do::Write(name, bytes) => {
            if make_room(&path(*name)) {
                let _ = fs::write(path(*name), bytes);
            }
        }
        Do::Append(name, bytes) => {
            if let Ok(mut old) = fs::read(path(*name)) {
                old.extend_from_slice(bytes);
                let _ = fs::write(path(*name), old);
            }
        }
        Do::Delete(name) => drop(fs::remove_file(path(*name))),
        Do::Move(from, to) => {
            if path(*from).is_file() && make_room(&path(*to)) {
                let _ = fs::rename(path(*from), path(*to));
            }
        }
        Do::Mode(name, mode) => {
            if fs::symlink_metadata(path(*name)).is_ok_and(|found| found.is_file()) {
                project.mode(NAMES[*name], *mode);
            }
        }
        Do::RemoveAll(name) => drop(fs::remove_dir_all(project.path(DIRECTORIES[*name]))),
        Do::Link(name, target) => {
            if make_room(&path(*name)) {
                let _ = fs::remove_file(path(*name));
                // Also one that leads nowhere, and one that leads to itself.
                let _ = symlink(NAMES[*target], path(*name));
            }
        }
        Do::MakeDirectory(name) => drop(fs::create_dir_all(project.path(DIRECTORIES[*name]))),
        Do::DirectoryMode(name, mode) => {
            let path = project.path(DIRECTORIES[*name]);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                project.mode(DIRECTORIES[*name], *mode);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_revert_of_what_was_recorded_brings_back_every_name_every_byte_and_every_bit(
        before in prop::collection::vec(doing(), 0..8),
        after in prop::collection::vec(doing(), 0..12),
    ) {
        let project = Project::new(&[]);
        before.iter().for_each(|what| carry_out(&project, what));
        for directory in DIRECTORIES.iter().filter(|path| project.path(path).is_dir()) {
            project.mode(directory, 0o750);
        }
        let was = project.tree();
        let home = tempfile::tempdir().unwrap();
        let ledger = project.ledger_with(Some(home.path()));
        let recording = secure(&ledger, &[]);
        after.iter().for_each(|what| carry_out(&project, what));
        let is = project.tree();
        let adopted = adopt(recording);
        prop_assert_eq!(&project.tree(), &is, "adopting changes nothing");
        prop_assert_eq!(&adopted.omissions, &[]);
        if let Some(committed) = adopted.committed {
            revert(&ledger, committed.record.uuid);
            let now = project.tree();
            prop_assert_eq!(now, was);
            revert(&ledger, ledger.log_page(0, 1).unwrap().entries[0].members[0].id.unwrap());
            prop_assert_eq!(project.tree(), is);
        } else {
            prop_assert_eq!(is, was);
        }
    }
}

#[test]
fn what_a_command_made_goes_with_its_directories_and_what_it_removed_comes_back_with_theirs() {
    let project = Project::new(&[("a", b"a\n", 0o644), ("old/deep/b", b"\0b", 0o600)]);
    project.mode("old/deep", 0o700);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    assert_eq!((recording.secure_report().unwrap().files, recording.secure_report().unwrap().bytes), (2, 4));
    fs::remove_dir_all(project.path("old")).unwrap();
    project.put("new/deep/c", b"c");
    fs::create_dir_all(project.path("new/empty")).unwrap();
    project.mode("a", 0o755);
    let adopted = adopt(recording);
    assert_eq!(adopted.omissions, []);
    let record = adopted.committed.unwrap().record;
    assert_eq!(
        record.result.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["a", "new/deep/c", "old/deep/b"]
    );
    assert_eq!(record.group, Some(record.uuid.to_string()));
    assert!(!project.path(".relaycode/recordings").exists());
    revert(&ledger, record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn a_file_that_made_room_for_a_directory_can_be_brought_back_and_moved_again() {
    for inside in [true, false] {
        let project = Project::new(&[("f", b"x\n", 0o644)]);
        let was = project.tree();
        let ledger = project.ledger();
        let recording = secure(&ledger, &[]);
        fs::rename(project.path("f"), project.path("a")).unwrap();
        fs::create_dir(project.path("f")).unwrap();
        if inside {
            symlink("a", project.path("f/g")).unwrap();
        }
        let is = project.tree();
        let record = adopt(recording).committed.unwrap().record;
        revert(&ledger, record.uuid);
        assert_eq!(project.tree(), was);
        revert(&ledger, ledger.log_page(0, 1).unwrap().entries[0].members[0].id.unwrap());
        assert_eq!(project.tree(), is);
    }
}

#[test]
fn a_file_that_got_another_name_is_one_that_was_renamed() {
    let project = Project::new(&[("a", b"one\n", 0o644), ("b", b"two\n", 0o644)]);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    fs::rename(project.path("a"), project.path("c")).unwrap();
    let record = adopt(recording).committed.unwrap().record;
    assert_eq!(record.result.len(), 1);
    let file = &record.result[0];
    assert_eq!((file.path.as_str(), file.renamed_from.as_deref(), file.added), ("c", Some("a"), 0));
    revert(&ledger, record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn nothing_is_recorded_where_nothing_changed() {
    let project = Project::new(&[("a", b"one\n", 0o644), ("b", b"two\n", 0o644)]);
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    // The same bytes, in another file.
    project.put("a", b"one\n");
    assert_eq!(
        adopt(recording),
        RecordingOutcome {
            committed: None,
            omissions: Vec::new(),
            moved_away: Vec::new(),
            ledger_restore: LedgerRestoreOutcome::default()
        }
    );
    assert_eq!(ledger.log_page(0, 10).unwrap().total, 0);
    assert!(!project.path(".relaycode/recordings").exists());
}

#[test]
fn two_recordings_at_once_are_refused() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let (first, second) = (project.ledger(), project.ledger());
    let recording = secure(&first, &[]);
    let refused = begin(&mut second.open_recording(), &[]);
    assert!(matches!(refused, Err(LedgerError::RecordingActive { pid, .. }) if pid == std::process::id()));
    assert_eq!(second.recover(RecoveryMode::Automatic).unwrap(), [], "it is alive");
    project.put("a", b"two\n");
    assert!(adopt(recording).committed.is_some());
    adopt(secure(&second, &[]));
}

#[test]
fn what_a_record_cannot_hold_is_named() {
    let project = Project::new(&[("a", b"one\n", 0o644), ("tied", b"t\n", 0o644), ("pipe", b"p\n", 0o644)]);
    fs::hard_link(project.path("tied"), project.path("tied2")).unwrap();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    fs::write(project.path("tied"), "T\n").unwrap();
    fs::write(project.path("GIT~1"), "x").unwrap();
    fs::File::create(project.path("huge")).unwrap().set_len(FILE_BYTES + 1).unwrap();
    fs::remove_file(project.path("pipe")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(project.path("pipe")).unwrap());
    let adopted = adopt(recording);
    for (path, part) in [
        ("tied", "was changed, and has 1 other name (hard links)"),
        ("pipe", "became a special file"),
        ("GIT~1", "inside `.git`"),
        ("huge", "more than 64 MiB"),
    ] {
        assert!(why(&adopted.omissions, path).contains(part), "{path}: {}", why(&adopted.omissions, path));
    }
    let record = adopted.committed.unwrap().record;
    let paths: Vec<&str> = record.result.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["pipe"], "its bytes are kept");
    let target = LogTarget::Transaction(record.uuid);
    // What stands in the way moved away, the file comes back; what does not is said.
    fs::remove_file(project.path("pipe")).unwrap();
    let plan = ledger.plan_revert(&target, &RevertOptions::default()).unwrap();
    assert!(plan.unrestored.iter().any(|left| left.path == "huge"), "{:?}", plan.unrestored);
    revert(&ledger, record.uuid);
    assert_eq!(fs::read(project.path("pipe")).unwrap(), b"p\n");
}

#[test]
fn a_fresh_file_with_several_names_is_recorded_and_goes_by_each_of_them() {
    let project = Project::new(&[("old", b"o\n", 0o644)]);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    project.put("new", b"n\n");
    fs::hard_link(project.path("new"), project.path("new2")).unwrap();
    // Only its number of names is another one.
    fs::hard_link(project.path("old"), project.path("old2")).unwrap();
    let adopted = adopt(recording);
    assert_eq!(adopted.omissions, []);
    let record = adopted.committed.unwrap().record;
    let paths: Vec<&str> = record.result.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["new", "new2", "old2"]);
    revert(&ledger, record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn what_git_ignores_is_secured_if_it_is_little_and_named_if_it_is_not() {
    let project =
        Project::new(&[("a", b"one\n", 0o644), (".env", b"KEY=1\n", 0o600), ("data/log", b"x", 0o644)]);
    fs::File::create(project.path("data/big")).unwrap().set_len(IGNORED_BYTES).unwrap();
    let ledger = project.ledger();
    let recording = secure(&ledger, &["data/", ".env"]);
    let left = recording.secure_report().unwrap().omissions.clone();
    assert_eq!(
        (recording.secure_report().unwrap().files, left.len(), left[0].path.as_str(), left[0].files),
        (2, 1, "data/", 2)
    );
    project.put(".env", b"KEY=2\n");
    project.put("data/log", b"y");
    project.put("data/more", b"z");
    project.put("a", b"1\n");
    let adopted = adopt(recording);
    let record = adopted.committed.unwrap().record;
    assert_eq!(record.result.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [".env", "a"]);
    assert_eq!(
        (adopted.omissions.len(), adopted.omissions[0].path.as_str(), adopted.omissions[0].files),
        (1, "data/", 2)
    );
}

#[test]
fn a_recording_whose_process_died_is_adopted_once() {
    let project = Project::new(&[("a", b"one\n", 0o644), ("b", b"two\n", 0o644)]);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    let id = recording.command_id().unwrap();
    project.put("a", b"1\n");
    fs::remove_file(project.path("b")).unwrap();
    drop(recording);
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!((recovered.len(), recovered[0].id), (1, id));
    assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 2, left: Vec::new() });
    assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), []);
    let page = ledger.log_page(0, 10).unwrap();
    assert!(page.total == 1 && page.entries[0].interrupted);
    revert(&ledger, id);
    assert_eq!(project.tree(), was);
    // One that had not changed anything leaves nothing.
    drop(secure(&ledger, &[]));
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 0, left: Vec::new() });
    assert!(!project.path(".relaycode/recordings").exists());
}

#[test]
fn a_recording_that_cannot_be_understood_is_kept_and_stops_nobody() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    let path = recording.storage_path().unwrap().0;
    drop(recording);
    fs::write(project.path(&path).join("manifest"), "{").unwrap();
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::SetAside { kept: format!("{path}.kept") });
    assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), []);
    adopt(secure(&ledger, &[]));
    assert!(project.path(&format!("{path}.kept")).join("pack").exists());
}

fn model(files: &[(&str, &[u8])]) -> Arc<ModelFs> {
    let model = Arc::new(ModelFs::new());
    for (path, bytes) in files {
        model.put(path, bytes, 0o644).unwrap();
    }
    model.mark_all_durable();
    model
}

fn ledger_on(model: &Arc<ModelFs>) -> Ledger {
    Ledger::open(Arc::clone(model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap()
}

#[test]
fn beyond_the_room_that_there_is_the_small_files_are_secured_and_the_large_ones_named() {
    let model = model(&[("a", &[b'a'; 100]), ("b", &[b'b'; 20]), ("c", &[b'c'; 30])]);
    let ledger = ledger_on(&model);
    model.set_free_bytes(120);
    let recording = secure(&ledger, &[]);
    assert_eq!((recording.secure_report().unwrap().files, recording.secure_report().unwrap().bytes), (2, 50));
    assert_eq!(
        recording
            .secure_report()
            .unwrap()
            .omissions
            .iter()
            .map(|left| left.path.as_str())
            .collect::<Vec<_>>(),
        ["a"]
    );
    model.set_free_bytes(1 << 30);
    model.put("a", b"x", 0o644).unwrap();
    // As long as before, in the same second: the bytes are what counts.
    model.put("b", &[b'x'; 20], 0o644).unwrap();
    let adopted = adopt(recording);
    assert_eq!(adopted.committed.unwrap().record.result[0].path, "b");
    assert!(why(&adopted.omissions, "a").contains("was not backed up"));
}

#[test]
fn whenever_the_adoption_dies_the_next_one_finishes_it_and_nothing_is_recorded_twice() {
    let before: &[(&str, &[u8])] = &[("a", b"one\n"), ("b", b"\0two"), ("d/c", b"three\n")];
    let run = |crash: Option<usize>| {
        let model = model(before);
        let ledger = ledger_on(&model);
        let recording = secure(&ledger, &[]);
        model.put("a", b"1\n", 0o644).unwrap();
        model.put("b", b"\0TWO", 0o644).unwrap();
        model.put("n", b"new\n", 0o644).unwrap();
        model.delete("d/c").unwrap();
        let start = model.operations();
        if let Some(crash) = crash {
            model.crash_at(start + crash);
        }
        let done = try_adopt(recording).is_ok();
        (model.operations() - start, done, Arc::new(ModelFs::clone(&model)))
    };
    let (operations, done, _) = run(None);
    assert!(done && operations > 5);
    for crash in 1..=operations {
        let (_, _, model) = run(Some(crash));
        model.clear_faults();
        let ledger = ledger_on(&model);
        ledger.recover(RecoveryMode::Automatic).unwrap();
        assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), [], "crash at {crash}");
        let page = ledger.log_page(0, 10).unwrap();
        assert_eq!(page.total, 1, "crash at {crash}");
        revert(&ledger, page.entries[0].members[0].id.unwrap());
        for (path, bytes) in before {
            assert_eq!(model.file(path).unwrap().0, *bytes, "{path}, crash at {crash}");
        }
        assert!(model.file("n").is_none(), "crash at {crash}");
        let stray = |path: &&String| path.starts_with(".relaycode/recordings");
        assert_eq!(model.snapshot().files.keys().filter(stray).count(), 0, "crash at {crash}");
    }
}

#[test]
fn a_full_disk_leaves_no_blob_and_everything_goes_on_once_there_is_room() {
    let before: &[(&str, &[u8])] = &[("a", b"\0one"), ("b", b"two\n")];
    let run = |fault: Option<usize>| {
        let model = model(before);
        let ledger = ledger_on(&model);
        let recording = secure(&ledger, &[]);
        model.delete("a").unwrap();
        model.put("b", b"\0TWO", 0o644).unwrap();
        let start = model.operations();
        if let Some(fault) = fault {
            model.fail_at(start + fault, relaycode_proof_crashfs::Errno::NOSPC);
        }
        let done = try_adopt(recording).is_ok_and(|outcome| outcome.committed.is_some());
        (model.operations() - start, done, model)
    };
    let blobs = |model: &ModelFs| {
        model.snapshot().files.keys().filter(|path| path.starts_with(".relaycode/blobs/")).count()
    };
    let (operations, _, whole) = run(None);
    assert_eq!(blobs(&whole), 2);
    let mut failed = 0;
    for fault in 1..=operations {
        let (_, done, model) = run(Some(fault));
        model.clear_faults();
        let ledger = ledger_on(&model);
        if !done && ledger.log_page(0, 1).unwrap().total == 0 {
            failed += 1;
            assert_eq!(blobs(&model), 0, "fault at {fault}");
        }
        ledger.recover(RecoveryMode::Automatic).unwrap();
        let page = ledger.log_page(0, 10).unwrap();
        assert_eq!((page.total, blobs(&model)), (1, 2), "fault at {fault}");
        revert(&ledger, page.entries[0].members[0].id.unwrap());
        for (path, bytes) in before {
            assert_eq!(model.file(path).unwrap().0, *bytes, "{path}, fault at {fault}");
        }
    }
    assert!(failed > 3, "{failed}");
}
