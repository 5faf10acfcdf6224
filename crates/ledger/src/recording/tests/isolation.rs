//! A command reaches everything in the project, and nothing that was secured.

use relaycode_change::proposal::path::RelPath;

use super::*;
use crate::transaction::{AfterContent, CommittedTransaction, FileChange, NewMode};

/// A project with a copy of its ledger outside.
struct Reach {
    project: Project,
    home: TempDir,
}

impl Reach {
    fn new() -> Reach {
        let files: &[(&str, &[u8], u32)] = &[("a", b"one\n", 0o644), ("d/b", b"\0two", 0o600)];
        Reach { project: Project::new(files), home: tempfile::tempdir().unwrap() }
    }

    fn ledger(&self) -> Ledger {
        let home = Some(self.home.path().join("own"));
        let settings =
            LedgerSettings { lock_timeout: Duration::from_millis(50), home, ..LedgerSettings::default() };
        Ledger::open(Arc::new(RealFs::default()), self.project.dir.path(), settings).unwrap()
    }

    /// Removes everything in the project, relay's own too.
    fn wipe(&self) {
        for entry in fs::read_dir(self.project.dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
}

/// One change that is in the ledger.
fn change(ledger: &Ledger, path: &str, before: Option<&[u8]>, after: &[u8]) -> CommittedTransaction {
    let change = FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: before.map(Into::into),
        after: Some(AfterContent { bytes: after.into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    let about = TransactionHeader::new(TxId::random(), "shop", "2026-03-10T11:00:00.000Z", "file");
    ledger.begin(&[change], about, &|| false).unwrap().commit(CommitVerdict::default()).unwrap()
}

#[test]
fn a_command_that_removes_everything_is_undone_and_earlier_changes_are_still_there() {
    let reach = Reach::new();
    let ledger = reach.ledger();
    let first = change(&ledger, "a", Some(b"one\n"), b"two\n").record;
    let kept = reach.project.path(".relaycode/tx/x.kept");
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("0"), "somebody's bytes").unwrap();
    let was = reach.project.tree();
    let recording = secure(&ledger, &[]);
    assert!(
        recording.storage_path().unwrap().1
            && recording.secure_report().unwrap().within_reach_reason.is_none()
    );
    assert!(!reach.project.path(".relaycode/recordings").exists(), "out of the project's reach");
    reach.wipe();
    let adopted = adopt(recording);
    assert_eq!(adopted.ledger_restore, LedgerRestoreOutcome { removed: true, restored: 1, lost: 0 });
    assert_eq!(adopted.omissions, []);
    assert_eq!(fs::read_to_string(kept.join("0")).unwrap(), "somebody's bytes");
    let record = adopted.committed.unwrap().record;
    assert!(record.number > first.number);
    revert(&ledger, record.uuid);
    assert_eq!(reach.project.tree(), was);
    revert(&ledger, first.uuid);
    assert_eq!(fs::read(reach.project.path("a")).unwrap(), b"one\n");
    assert!(!reach.project.path(".relaycode/recordings").exists());
    let left = walkdir(reach.home.path()).into_iter().filter(|path| path.contains("recordings"));
    assert_eq!(left.count(), 0);
}

/// Every path beneath a directory.
fn walkdir(at: &Path) -> Vec<String> {
    let mut open = vec![at.to_path_buf()];
    let mut all = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            all.push(path.display().to_string());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    all
}

#[test]
fn if_relay_dies_as_well_the_next_one_finds_the_recording_in_an_empty_project() {
    let reach = Reach::new();
    let ledger = reach.ledger();
    change(&ledger, "a", Some(b"one\n"), b"two\n");
    let was = reach.project.tree();
    let recording = secure(&ledger, &[]);
    let id = recording.command_id().unwrap();
    reach.wipe();
    drop(recording);
    let ledger = reach.ledger();
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 2, left: Vec::new() });
    assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), []);
    assert_eq!(ledger.log_page(0, 9).unwrap().total, 2);
    revert(&ledger, id);
    assert_eq!(reach.project.tree(), was);
}

#[test]
fn one_record_that_a_command_removed_comes_back_and_what_relay_tidied_up_does_not() {
    let reach = Reach::new();
    let ledger = reach.ledger();
    let first = change(&ledger, "a", Some(b"one\n"), b"two\n").record;
    fs::write(reach.project.path(".relaycode/tx/group-x"), "").unwrap();
    let recording = secure(&ledger, &[]);
    fs::remove_file(reach.project.path(&format!(".relaycode/{}.yml", first.uuid))).unwrap();
    fs::remove_file(reach.project.path(".relaycode/tx/group-x")).unwrap();
    let adopted = adopt(recording);
    assert_eq!(adopted.ledger_restore, LedgerRestoreOutcome { removed: false, restored: 1, lost: 0 });
    assert!(!reach.project.path(".relaycode/tx/group-x").exists());
    revert(&ledger, first.uuid);
}

#[test]
fn a_project_that_is_gone_is_said_and_one_that_was_replaced_is_compared() {
    let reach = Reach::new();
    let root = reach.project.dir.path().to_path_buf();
    let was = reach.project.tree();
    let ledger = reach.ledger();
    let recording = secure(&ledger, &[]);
    fs::remove_dir_all(&root).unwrap();
    let error = try_adopt(recording).unwrap_err();
    assert!(matches!(error, LedgerError::RootGone { .. }), "{error}");
    fs::create_dir(&root).unwrap();
    // Somebody makes it again: what is gone is recorded, and comes back.
    let ledger = reach.ledger();
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 2, left: Vec::new() });
    revert(&ledger, recovered[0].id);
    assert_eq!(reach.project.tree(), was);

    let recording = secure(&ledger, &[]);
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    reach.project.put("a", b"another\n");
    let record = adopt(recording).committed.unwrap().record;
    assert!(record.notes.iter().any(|note| note.contains("replaced")), "{:?}", record.notes);
    let ledger = reach.ledger();
    revert(&ledger, record.uuid);
    assert_eq!(reach.project.tree(), was);

    let recording = secure(&ledger, &[]);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::remove_dir_all(&root).unwrap();
    symlink(elsewhere.path(), &root).unwrap();
    let error = try_adopt(recording).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::remove_file(&root).unwrap();
}

#[test]
fn something_else_in_the_place_of_relays_directory_stops_it_and_nothing_is_lost() {
    let reach = Reach::new();
    let was = reach.project.tree();
    let elsewhere = tempfile::tempdir().unwrap();
    let ledger = reach.ledger();
    let own = reach.project.path(".relaycode");
    for link in [true, false] {
        let recording = secure(&ledger, &[]);
        reach.wipe();
        if link {
            symlink(elsewhere.path(), &own).unwrap();
        } else {
            fs::write(&own, "x").unwrap();
        }
        assert!(try_adopt(recording).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        fs::remove_file(&own).unwrap();
        let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
        assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 2, left: Vec::new() });
        revert(&ledger, recovered[0].id);
        assert_eq!(reach.project.tree(), was);
    }
}

#[test]
fn without_a_directory_of_the_users_own_it_is_said_that_everything_lies_within_reach() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    assert!(recording.secure_report().unwrap().within_reach_reason.is_some());
    assert!(!recording.storage_path().unwrap().1);
    assert!(project.path(&recording.storage_path().unwrap().0).join("manifest").exists());
    adopt(recording);
    // One that lies in the project is none of its files.
    let settings = LedgerSettings { home: Some(project.path("own")), ..LedgerSettings::default() };
    let ledger = Ledger::open(Arc::new(RealFs::default()), project.dir.path(), settings).unwrap();
    let recording = secure(&ledger, &[]);
    assert!(
        recording
            .secure_report()
            .unwrap()
            .within_reach_reason
            .as_ref()
            .unwrap()
            .contains("lies in the project")
    );
    assert_eq!(recording.secure_report().unwrap().files, 1);
    assert_eq!(adopt(recording).committed, None);
}

#[test]
fn changes_that_relay_makes_meanwhile_are_undone_once() {
    let reach = Reach::new();
    let was = reach.project.tree();
    let (outer, inner) = (reach.ledger(), reach.ledger());
    let recording = secure(&outer, &[]);
    let change = change(&inner, "a", Some(b"one\n"), b"two\n").record;
    reach.project.put("d/b", b"\0TWO");
    let record = adopt(recording).committed.unwrap().record;
    assert_eq!(record.result.len(), 2, "what the command did is one entry");
    assert!(record.notes.iter().any(|note| note.contains("relay itself")), "{:?}", record.notes);
    revert(&outer, record.uuid);
    assert_eq!(reach.project.tree(), was);
    let again = outer.plan_revert(&LogTarget::Transaction(change.uuid), &RevertOptions::default());
    assert!(again.is_err() || again.unwrap().changes.is_empty());
    assert_eq!(reach.project.tree(), was);
}

const BEFORE: &[(&str, &[u8])] = &[("a", b"one\n"), ("b", b"\0two"), ("d/c", b"three\n")];

fn modelled() -> (Arc<ModelFs>, LedgerSettings) {
    let model = Arc::new(ModelFs::new());
    for (path, bytes) in BEFORE {
        model.put(&format!("project/{path}"), bytes, 0o644).unwrap();
    }
    model.mkdir("home").unwrap();
    model.mark_all_durable();
    (model, LedgerSettings { home: Some("/home".into()), ..LedgerSettings::default() })
}

fn open(model: &Arc<ModelFs>, settings: &LedgerSettings) -> Ledger {
    Ledger::open(Arc::clone(model) as Arc<_>, Path::new("/project"), settings.clone()).unwrap()
}

/// A command that removes relay's own directory and everything else; the adoption after it meets this fault.
fn removed_and(fault: &dyn Fn(&ModelFs, usize)) -> (usize, bool, Arc<ModelFs>) {
    let (model, settings) = modelled();
    let ledger = open(&model, &settings);
    change(&ledger, "a", Some(b"one\n"), b"1\n");
    let recording = secure(&ledger, &[]);
    let all: Vec<String> =
        model.snapshot().files.into_keys().filter(|path| path.starts_with("project/")).collect();
    for path in all {
        model.delete(&path).unwrap();
    }
    let mut dirs: Vec<String> =
        model.snapshot().dirs.into_iter().filter(|path| path.starts_with("project/")).collect();
    dirs.sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in dirs {
        model.delete(&path).unwrap();
    }
    let start = model.operations();
    fault(&model, start);
    let done = try_adopt(recording).is_ok();
    (model.operations() - start, done, Arc::new(ModelFs::clone(&model)))
}

fn is_whole(model: &Arc<ModelFs>, when: &str) {
    model.clear_faults();
    let settings = modelled().1;
    let ledger = open(model, &settings);
    ledger.restore_from_copy().unwrap();
    ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), [], "{when}");
    let page = ledger.log_page(0, 10).unwrap();
    assert_eq!(page.total, 2, "{when}");
    revert(&ledger, page.entries[0].members[0].id.unwrap());
    revert(&ledger, page.entries[1].members[0].id.unwrap());
    for (path, bytes) in BEFORE {
        assert_eq!(model.file(&format!("project/{path}")).unwrap().0, *bytes, "{path}, {when}");
    }
    let stray = model.snapshot().files.into_keys().filter(|path| path.contains("recordings")).count();
    assert_eq!(stray, 0, "{when}");
}

#[test]
fn whenever_the_adoption_of_a_removed_project_dies_or_fails_the_next_one_finishes_it() {
    let (operations, done, model) = removed_and(&|_, _| {});
    assert!(done && operations > 10);
    is_whole(&model, "without a fault");
    for at in 1..=operations {
        let (_, _, model) = removed_and(&|model, start| model.crash_at(start + at));
        is_whole(&model, &format!("crash at {at}"));
        let full = relaycode_proof_crashfs::Errno::NOSPC;
        let (_, _, model) = removed_and(&|model, start| model.fail_at(start + at, full));
        is_whole(&model, &format!("no room at {at}"));
    }
}
