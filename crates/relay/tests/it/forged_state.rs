//! What somebody else may have put into `.relaycode/`, or left of the user's own directory: forged, replayed, older, cut short, of
//! another project, or no file at all. Through the binary, without anybody to ask: no file of the project changes but by what the
//! user's own relay wrote and the user asked for, and nothing is said that is not so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::RealFs;
use relaycode_ledger::record::{self, FileImage, FileRecord, Record, RecordContent};
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::transaction::journal::{TransactionJournal, TransactionStage, TransactionStep};
use relaycode_ledger::{CommitVerdict, Ledger, LedgerSettings, SealKey, TransactionHeader, TxId};
use relaycode_project::seal::SealSecretStore;

use crate::fixture::scratch_project::{Project, Ran, edit};
use crate::fixture::snapshot::SnapshotSource;

/// Of what is forged, in journals and records.
const FORGED: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
/// States at least.
const STATES: usize = 200;
/// Bytes of a file that is nearly all hole.
const SPARSE: u64 = 50 << 30;
/// Projects that are attacked at the same time.
const WORKERS: usize = 4;

/// A project with two changes, an edit of the user's, and a script that its checks would run.
struct Target {
    project: Project,
    newest: String,
    /// `.relaycode/` and the user's own directory as they are without an attack.
    saved: PathBuf,
    outside: tempfile::TempDir,
    /// A journal of this very checkout that was dealt with long ago.
    old_journal: Vec<u8>,
    /// A journal and a record of another checkout of the same user.
    other_journal: Vec<u8>,
    other_record: Vec<u8>,
}

type Forge = Box<dyn Fn(&Target) + Send + Sync>;

/// One state, and what it is called.
struct State {
    name: String,
    /// It is a journal that reads well.
    is_journal: bool,
    forge: Forge,
}

fn forged_id() -> TxId {
    FORGED.parse().unwrap()
}

fn change(path: &str, before: &'static str, after: &'static str) -> FileChange<'static> {
    FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: Some(before.as_bytes().into()),
        after: Some(AfterContent { bytes: after.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    }
}

fn about() -> TransactionHeader {
    TransactionHeader::new(forged_id(), "shop", "2026-03-10T12:00:00.000Z", "file")
}

impl Target {
    fn new() -> Target {
        let files = [("a.txt", "one\n"), ("b.txt", "mine\n"), ("c.txt", "c\n"), ("lint.sh", "exit 0\n")];
        let project = Project::new(&files);
        let journal = project.path(&format!(".relaycode/{FORGED}.pending.yml"));
        drop(
            project.ledger().begin(&[change("lint.sh", "exit 0\n", "exit 1\n")], about(), &|| false).unwrap(),
        );
        let old_journal = fs::read(&journal).unwrap();
        project.relay(&["recover"]);
        assert_eq!(project.text("lint.sh"), "exit 0\n");
        project.applied(&edit("a.txt", "one", "two"));
        let newest = project.applied(&edit("a.txt", "two", "three"));

        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("evil"), "evil\n").unwrap();
        let other = outside.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("lint.sh"), "evil\n").unwrap();
        let secret = SealSecretStore::new(Some(project.home())).read(&other).unwrap().unwrap();
        let settings = LedgerSettings { seal_key: Some(SealKey::new(secret)), ..LedgerSettings::default() };
        let ledger = Ledger::open(Arc::new(RealFs::default()), &other, settings).unwrap();
        let open = ledger.begin(&[change("lint.sh", "evil\n", "exit 0\n")], about(), &|| false).unwrap();
        let other_journal = fs::read(other.join(format!(".relaycode/{FORGED}.pending.yml"))).unwrap();
        open.commit(CommitVerdict::default()).unwrap();
        let other_record = fs::read(other.join(format!(".relaycode/{FORGED}.yml"))).unwrap();
        fs::remove_dir_all(&other).unwrap();

        let saved = outside.path().join("saved");
        fs::create_dir(&saved).unwrap();
        let target = Target { project, newest, saved, outside, old_journal, other_journal, other_record };
        copy(&target.state(), &target.saved.join("state"));
        copy(target.project.home(), &target.saved.join("home"));
        target
    }

    fn state(&self) -> PathBuf {
        self.project.path(".relaycode")
    }

    /// Everything as it was, in the same directories.
    fn reset(&self) {
        remove(&self.project.path(".relay"));
        remove(&self.state());
        copy(&self.saved.join("state"), &self.state());
        for entry in fs::read_dir(self.project.home()).unwrap() {
            remove(&entry.unwrap().path());
        }
        for entry in fs::read_dir(self.saved.join("home")).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &self.project.home().join(entry.file_name()));
        }
        for (name, text) in
            [("a.txt", "three\n"), ("b.txt", "mine\n"), ("c.txt", "c\n"), ("lint.sh", "exit 0\n")]
        {
            self.project.put(name, text.as_bytes());
        }
    }

    /// Every command that could act on what it finds.
    fn attack(&self, state: &State) -> BTreeSet<String> {
        self.reset();
        (state.forge)(self);
        let mut said = BTreeSet::new();
        for words in [&["log"][..], &["show", "1"], &["recover"], &["revert", "-y"]] {
            let ran = self.project.relay(words);
            self.check(state, words, &ran);
            said.extend(sentences(&ran));
        }
        let ran = self.project.apply(&edit("c.txt", "c", "C"));
        self.check(state, &["apply"], &ran);
        said.extend(sentences(&ran));
        said
    }

    fn check(&self, state: &State, words: &[&str], ran: &Ran) {
        let case = format!("{} · {}", state.name, words.join(" "));
        assert!([0, 1, 2, 3, 6, 13].contains(&ran.code), "{case}: {ran:?}");
        let files: BTreeMap<String, String> = self
            .project
            .tree()
            .into_iter()
            .map(|(path, (_, bytes))| (path, String::from_utf8_lossy(&bytes).into_owned()))
            .filter(|(path, _)| !path.starts_with(".relay"))
            .collect();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["a.txt", "b.txt", "c.txt", "lint.sh"], "{case}: {ran:?}");
        assert_eq!(
            (files["b.txt"].as_str(), files["lint.sh"].as_str()),
            ("mine\n", "exit 0\n"),
            "{case}: {ran:?}"
        );
        // What the user asked for: the newest change undone, and one more made.
        let (undone, applied) = (files["a.txt"] == "two\n", files["c.txt"] == "C\n");
        assert!(undone || files["a.txt"] == "three\n", "{case}: {ran:?}");
        assert!(applied || files["c.txt"] == "c\n", "{case}: {ran:?}");
        if undone && words[0] == "revert" {
            assert_eq!(ran.code, 0, "{case}: {ran:?}");
        }
        assert_eq!(fs::read_to_string(self.outside.path().join("evil")).unwrap(), "evil\n", "{case}");
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains("panicked") && !all.contains('\u{1b}'), "{case}: {all}");
        if state.is_journal {
            assert!(!all.contains("an earlier run"), "nobody's run of this user's: {case}: {all}");
            let names_it = all.contains("was not written by your relay");
            assert!(names_it || !["recover", "apply"].contains(&words[0]), "{case}: {all}");
        }
    }
}

/// What a command said to a person, each sentence once, without what differs from case to case.
fn sentences(ran: &Ran) -> Vec<String> {
    let text = ran.err.clone().snapshot();
    text.lines().map(str::trim).filter(|line| line.contains(' ')).map(str::to_string).collect()
}

fn copy(from: &Path, to: &Path) {
    let ran = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(ran.success(), "{} to {}", from.display(), to.display());
}

fn remove(path: &Path) {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.unwrap();
}

fn put(path: &Path, bytes: &[u8]) {
    remove(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Puts something where a file should be.
type Shape = fn(&Path, &Target);
/// Where a file is.
type Place = fn(&Target) -> PathBuf;

/// Things that can stand where a file should.
const SHAPES: [(&str, Shape); 10] = [
    ("empty", |path, _| put(path, b"")),
    ("garbage", |path, _| put(path, b"\xff\xfe{[: garbage\n\n")),
    ("zeros", |path, _| put(path, &[0; 4096])),
    ("cut short", |path, _| {
        let bytes = fs::read(path).unwrap_or_default();
        put(path, &bytes[..bytes.len() / 2]);
    }),
    ("one wrong byte", |path, _| {
        let mut bytes = fs::read(path).unwrap_or_default();
        bytes.push(b'x');
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        put(path, &bytes);
    }),
    ("sparse", |path, _| {
        put(path, b"");
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(SPARSE).unwrap();
    }),
    ("a directory", |path, _| {
        remove(path);
        fs::create_dir_all(path).unwrap();
    }),
    ("a pipe", |path, _| {
        put(path, b"");
        remove(path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a link", |path, target| {
        put(path, b"");
        remove(path);
        symlink(target.outside.path().join("evil"), path).unwrap();
    }),
    ("gone", |path, _| remove(path)),
];

/// The files that have a shape to lose, and what each is called.
fn places() -> Vec<(&'static str, Place)> {
    vec![
        ("journal", |target| target.state().join(format!("{FORGED}.pending.yml"))),
        ("another's record", |target| target.state().join(format!("{FORGED}.yml"))),
        ("undone record", |target| target.state().join(format!("undone/{FORGED}.yml"))),
        ("own record", |target| target.state().join(format!("{}.yml", target.newest))),
        ("lock", |target| target.state().join("lock")),
        ("tx", |target| target.state().join("tx")),
        ("blobs", |target| target.state().join("blobs")),
        ("transaction's lock", |target| target.state().join(format!("tx/{FORGED}/lock"))),
        ("recording", |target| target.state().join(format!("recordings/{FORGED}/manifest"))),
        ("shown texts", |target| target.state().join("seen/log")),
        ("restoring", |target| target.state().join("restoring")),
        ("collected", |target| target.state().join("collected")),
        ("old index", |target| target.state().join("index")),
        ("seal", |target| target.project.home().join("seal/key")),
        ("copied record", |target| target.project.copy().join(format!("{}.yml", target.newest))),
        ("copy's index", |target| target.project.copy().join("index")),
        ("copy's stamp", |target| target.project.copy().join("stamp")),
        ("copy's acceptances", |target| target.project.copy().join("accepted")),
        ("copy's checkouts", |target| target.project.copy().join("checkouts")),
        ("copy's marker", |target| target.project.copy().join("copied")),
        ("copied recording", |target| target.project.copy().join(format!("recordings/{FORGED}/manifest"))),
    ]
}

/// Bytes before and after that would put `evil` where the project's check is.
fn evil_record(path: &str) -> Record {
    let file = FileRecord {
        path: path.into(),
        before: Some(FileImage::of(b"evil\n", 0o755)),
        after: Some(FileImage::of(b"exit 0\n", 0o644)),
        content: Some(RecordContent::Text("exit 0\n".into())),
        ..FileRecord::default()
    };
    Record {
        uuid: forged_id(),
        project_id: "shop".into(),
        created_at: "2026-03-10T12:00:00.000Z".into(),
        approved: true,
        version: record::FORMAT,
        number: 3,
        origin: "file".into(),
        result: vec![file],
        snapshot: BTreeMap::from([(path.to_string(), Some(RecordContent::Text("evil\n".into())))]),
        ..Record::default()
    }
}

/// A journal, its checksum right, at whose word `path` gets the text `evil` back.
fn evil_journal(path: &str, stage: TransactionStage) -> Record {
    let step = TransactionStep::Replace {
        path: path.into(),
        slot: format!(".relaycode/tx/{FORGED}/0"),
        before: FileImage::of(b"evil\n", 0o755),
        after: FileImage::of(b"exit 0\n", 0o644),
    };
    let transaction = TransactionJournal {
        stage,
        pid: 1,
        directory: FORGED.into(),
        steps: vec![step],
        make_directories: Vec::new(),
        remove_directories: Vec::new(),
        directory_modes: Vec::new(),
    };
    Record { transaction: Some(transaction), ..evil_record(path) }
}

/// A record with a line that says it is sealed, and with the checksum of that.
fn with_invented_seal(record: &Record) -> Vec<u8> {
    let bytes = record::write(record);
    let text = String::from_utf8(bytes).unwrap();
    let body = &text[..text.rfind("checksum: ").unwrap()];
    let body = format!("{body}seal: {}\n", "ab".repeat(32));
    format!("{body}checksum: {}\n", relaycode_ledger::Digest::of(body.as_bytes())).into_bytes()
}

/// Where the slot of a forged journal has its bytes, or has none.
fn put_slot(target: &Target, filled: bool) {
    let directory = target.state().join(format!("tx/{FORGED}"));
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("lock"), "").unwrap();
    if filled {
        fs::write(directory.join("0"), "evil\n").unwrap();
    }
}

fn journals(states: &mut Vec<State>) {
    type Bytes = fn(&Target, TransactionStage) -> Vec<u8>;
    let kinds: [(&str, Bytes); 6] = [
        ("forged", |_, stage| record::write(&evil_journal("lint.sh", stage))),
        ("forged for an edited file", |_, stage| record::write(&evil_journal("b.txt", stage))),
        ("forged for a new file", |_, stage| record::write(&evil_journal("new.sh", stage))),
        ("with an invented seal", |_, stage| with_invented_seal(&evil_journal("lint.sh", stage))),
        ("of another checkout", |target, _| target.other_journal.clone()),
        ("of long ago", |target, _| target.old_journal.clone()),
    ];
    let stages = [
        TransactionStage::Applying,
        TransactionStage::GateRunning,
        TransactionStage::GateFinished,
        TransactionStage::NeedsYou,
    ];
    for (kind, bytes) in kinds {
        for stage in stages {
            for slot in [None, Some(false), Some(true)] {
                let forge: Forge = Box::new(move |target| {
                    let name = format!("{FORGED}.pending.yml");
                    put(&target.state().join(name), &bytes(target, stage));
                    if let Some(filled) = slot {
                        put_slot(target, filled);
                    }
                });
                let name = format!("journal {kind}, {stage:?}, slot {slot:?}");
                states.push(State { name, is_journal: true, forge });
            }
        }
    }
}

fn records(states: &mut Vec<State>) {
    type Bytes = fn(&Target) -> Vec<u8>;
    let kinds: [(&str, Bytes); 7] = [
        ("forged", |_| record::write(&evil_record("lint.sh"))),
        ("with an invented seal", |_| with_invented_seal(&evil_record("lint.sh"))),
        ("of another checkout", |target| target.other_record.clone()),
        ("that is a journal", |target| target.old_journal.clone()),
        ("that takes the newest back", |target| {
            let back = vec![target.newest.parse().unwrap()];
            record::write(&Record { revert_of: back, ..evil_record("lint.sh") })
        }),
        ("with a number beyond all", |_| {
            record::write(&Record { number: u64::MAX, ..evil_record("lint.sh") })
        }),
        ("of a newer relay", |_| {
            String::from_utf8(record::write(&evil_record("lint.sh")))
                .unwrap()
                .replace("version: 1", "version: 9")
                .into()
        }),
    ];
    let places: [(&str, Place); 4] = [
        ("beside the others", |target| target.state().join(format!("{FORGED}.yml"))),
        ("in undone", |target| target.state().join(format!("undone/{FORGED}.yml"))),
        ("in the copy", |target| {
            // The project's own records are gone, so that everything comes back from there.
            for entry in fs::read_dir(target.state()).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "yml") {
                    remove(&path);
                }
            }
            target.project.copy().join(format!("{FORGED}.yml"))
        }),
        ("among the original tool's", |target| target.project.path(".relay/transactions/1.yml")),
    ];
    for (kind, bytes) in kinds {
        for (place, path) in places {
            let forge: Forge = Box::new(move |target| put(&path(target), &bytes(target)));
            states.push(State { name: format!("record {kind}, {place}"), is_journal: false, forge });
        }
    }
    // The newest change, as somebody else tells it.
    for path in ["lint.sh", "b.txt", "a.txt"] {
        let forge: Forge = Box::new(move |target| {
            let uuid = target.newest.parse().unwrap();
            let record = Record { uuid, number: 2, ..evil_record(path) };
            put(&target.state().join(format!("{}.yml", target.newest)), &record::write(&record));
        });
        states.push(State { name: format!("newest record forged for {path}"), is_journal: false, forge });
    }
}

fn states() -> Vec<State> {
    let mut states = Vec::new();
    for (place, path) in places() {
        for (shape, make) in SHAPES {
            let forge: Forge = Box::new(move |target| {
                let path = path(target);
                // What was never there has the bytes of something that could be.
                if !path.exists() && path.extension().is_some_and(|extension| extension == "yml") {
                    put(&path, &record::write(&evil_record("lint.sh")));
                }
                make(&path, target);
            });
            states.push(State { name: format!("{place}: {shape}"), is_journal: false, forge });
        }
    }
    journals(&mut states);
    records(&mut states);
    states
}

#[test]
fn no_forged_state_changes_a_file_without_a_person_or_says_what_is_not_so() {
    let states = states();
    assert!(states.len() >= STATES, "{}", states.len());
    let share = states.len().div_ceil(WORKERS);
    let said: BTreeSet<String> = thread::scope(|scope| {
        let workers: Vec<_> = states
            .chunks(share)
            .map(|states| {
                scope.spawn(move || {
                    let target = Target::new();
                    states.iter().flat_map(|state| target.attack(state)).collect::<BTreeSet<String>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let said: Vec<String> = said.into_iter().collect();
    insta::with_settings!({snapshot_path => "snapshots", omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("forged_state_sentences", said.join("\n"));
    });
}
