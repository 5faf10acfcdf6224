//! A ledger that was damaged, or that somebody crafted and shipped with a project: journals, records,
//! the index and blobs are read as hostile input. Nothing is written at their word that a change may
//! not write, and there is always a way out that loses nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::append_log;
use relaycode_ledger::record::{self, FileImage, FileRecord, Record, RecordContent, RemovedDirectory};
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::transaction::journal::{TransactionJournal, TransactionStage, TransactionStep};
use relaycode_ledger::{Digest, RecoveryMode, TransactionHeader, TxId};

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const JOURNAL: &str = ".relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml";
const RECORD: &str = ".relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.yml";

fn id() -> TxId {
    UUID.parse().unwrap()
}

/// A project in which a transaction over `a.txt` and `b.txt` was neither committed nor put back.
fn stopped() -> Project {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    stop_in(&project);
    project
}

fn stop_in(project: &Project) {
    let ledger = project.ledger();
    let change = |path: &str, before: &'static str, after: &'static str| FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: Some(before.as_bytes().into()),
        after: Some(AfterContent { bytes: after.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    let changes = [change("a.txt", "one\n", "1\n"), change("b.txt", "two\n", "2\n")];
    let about = TransactionHeader::new(id(), "shop", "2026-03-10T12:00:00.000Z", "file");
    drop(ledger.begin(&changes, about, &|| false).unwrap());
}

/// Whether some file in the ledger has exactly these bytes.
fn kept_somewhere(project: &Project, bytes: &[u8]) -> bool {
    let mut open = vec![project.path(".relaycode/tx")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read(path).is_ok_and(|found| found == bytes) {
                return true;
            }
        }
    }
    false
}

/// With a journal that cannot be understood: everything stops, nothing is touched, and `--keep` is
/// the way out that loses nothing.
fn stops_until_kept(project: &Project, case: &str) {
    let before = project.tree();
    let commands = [&["recover"][..], &["recover", "--restore"], &["revert", "-y"]];
    let mut rans: Vec<_> = commands.iter().map(|args| project.relay(args)).collect();
    rans.push(project.apply(&edit("c.txt", "three", "3")));
    for ran in rans {
        assert_eq!(ran.code, 1, "{case}: {ran:?}");
        assert!(ran.err.contains(".pending.yml is damaged"), "{case}: {}", ran.err);
        assert!(ran.err.contains("nothing was changed"), "{case}: {}", ran.err);
        assert!(ran.err.contains("recover --keep"), "{case}: {}", ran.err);
        assert_eq!(project.tree(), before, "{case}");
    }
    let ran = project.relay(&["recover", "--keep"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{case}: {ran:?}");
    assert!(ran.out.contains(".kept"), "{case}: {}", ran.out);
    assert_eq!(project.tree(), before, "{case}");
    assert!(!project.path(JOURNAL).exists());
}

fn stops_and_loses_nothing(project: &Project, case: &str) {
    stops_until_kept(project, case);
    // Also a second time, when nothing but the kept directory is left.
    project.done(&["recover"]);
    project.applied(&edit("c.txt", "three", "3"));
    for bytes in ["one\n", "two\n"] {
        assert!(kept_somewhere(project, bytes.as_bytes()), "{case}: {bytes:?} is lost");
    }
}

#[test]
fn a_journal_with_one_wrong_byte_stops_everything() {
    let whole = stopped().bytes(JOURNAL);
    let version = whole.windows(9).position(|at| at == b"version: ").unwrap() + 9;
    for at in (0..whole.len()).step_by(whole.len() / 12).chain([whole.len() - 2, whole.len() - 1]) {
        if at == version {
            continue; // a digit there is a newer format, which has a test of its own
        }
        let project = stopped();
        let mut bytes = whole.clone();
        bytes[at] ^= 0x04;
        // The process that wrote it is part of it.
        assert_eq!(project.bytes(JOURNAL).len(), whole.len());
        project.put(JOURNAL, &bytes);
        stops_and_loses_nothing(&project, &format!("byte {at}"));
    }
}

#[test]
fn a_journal_that_is_cut_short_or_empty_stops_everything() {
    let whole = stopped().bytes(JOURNAL);
    for length in [0, 1, whole.len() / 2, whole.len() - 70, whole.len() - 1] {
        let project = stopped();
        project.put(JOURNAL, &whole[..length]);
        stops_and_loses_nothing(&project, &format!("{length} bytes"));
    }
    let project = stopped();
    project.put(JOURNAL, &[whole.as_slice(), b"\0\0\0"].concat());
    stops_and_loses_nothing(&project, "more bytes");
}

#[test]
fn a_journal_that_is_no_file_stops_everything() {
    let project = stopped();
    fs::rename(project.path(JOURNAL), project.path("moved.yml")).unwrap();
    symlink("../moved.yml", project.path(JOURNAL)).unwrap();
    stops_and_loses_nothing(&project, "a link");
    let project = stopped();
    fs::remove_file(project.path(JOURNAL)).unwrap();
    fs::create_dir(project.path(JOURNAL)).unwrap();
    stops_and_loses_nothing(&project, "a directory");
}

#[test]
fn a_journal_of_a_newer_relay_is_left_to_that_one() {
    let project = stopped();
    let text = project.text(JOURNAL).replace("\nversion: 1\n", "\nversion: 9\n");
    project.put(JOURNAL, text.as_bytes());
    let before = project.tree();
    let mut transcript = Transcript::default();
    for args in [&["recover"][..], &["recover", "--keep"], &["revert"]] {
        transcript.add(&args.join(" "), &project.relay(args));
        assert_eq!((project.tree(), project.text(JOURNAL)), (before.clone(), text.clone()));
    }
    relay_snapshot!(transcript, @"
    # recover
    exit 2
    ----- stderr -----
    ✗ .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was written by a newer relay (format 9, this one knows 1); nothing was touched
      use the newer relay here; if you have none, the file may have come with the repository: move it away

    # recover --keep
    exit 2
    ----- stderr -----
    ✗ .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was written by a newer relay (format 9, this one knows 1); nothing was touched
      use the newer relay here; if you have none, the file may have come with the repository: move it away

    # revert
    exit 2
    ----- stderr -----
    ✗ .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was written by a newer relay (format 9, this one knows 1); nothing was touched
      use the newer relay here; if you have none, the file may have come with the repository: move it away
    ");
}

#[test]
fn the_directory_of_a_second_attempt_is_not_cleared_when_its_journal_is_damaged() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    fs::create_dir_all(project.path(&format!(".relaycode/tx/{UUID}.kept"))).unwrap();
    stop_in(&project);
    assert!(project.path(&format!(".relaycode/tx/{UUID}-2/0")).exists());
    project.put(JOURNAL, b"");
    stops_and_loses_nothing(&project, "second attempt");
}

#[test]
fn keep_gets_out_when_the_bytes_that_were_are_gone() {
    let project = stopped();
    // Somebody emptied the slots, and damaged nothing else: the journal has the bytes itself.
    for slot in ["0", "1"] {
        fs::remove_file(project.path(&format!(".relaycode/tx/{UUID}/{slot}"))).unwrap();
    }
    project.done(&["recover"]);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("one\n".into(), "two\n".into()));
    // Now with a file that is too long for the journal, and its blob gone as well.
    let long = "line\n".repeat(30_000);
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", &long)]);
    let ledger = project.ledger();
    let change = FileChange {
        path: RelPath::parse("c.txt").unwrap(),
        renamed_from: None,
        before: Some(long.into_bytes().into()),
        after: None,
        added: 0,
        removed: 0,
    };
    let about = TransactionHeader::new(id(), "shop", "2026-03-10T12:00:00.000Z", "file");
    drop(ledger.begin(&[change], about, &|| false).unwrap());
    fs::remove_file(project.path(&format!(".relaycode/tx/{UUID}/0"))).unwrap();
    for blob in fs::read_dir(project.path(".relaycode/blobs")).unwrap() {
        fs::write(blob.unwrap().path(), "damaged").unwrap();
    }
    relay_snapshot!(project.relay(&["recover"]), @"
    exit 6
    ----- stderr -----
    ! 0f8fad5b could not be put back yet: blobs/<sha256> is damaged: its bytes are not the ones that were kept; files may be partly changed
      next: fix what failed, then `relay recover` puts the rest back
    ");
    let ran = project.apply(&edit("a.txt", "one", "1"));
    assert_eq!((ran.code, project.text("a.txt").as_str()), (6, "one\n"), "{ran:?}");
    project.done(&["recover", "--keep"]);
    project.applied(&edit("a.txt", "one", "1"));
}

/// A record with nothing in it.
fn empty() -> Record {
    Record {
        uuid: id(),
        project_id: "shop".into(),
        created_at: "2026-03-10T12:00:00.000Z".into(),
        git_commit_msg: Some("crafted".into()),
        prompt_summary: None,
        reasoning: Vec::new(),
        operations: Vec::new(),
        snapshot: BTreeMap::new(),
        approved: true,
        version: record::FORMAT,
        number: 1,
        origin: "file".into(),
        group: None,
        branch: None,
        head: None,
        answer: None,
        result: Vec::new(),
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: Vec::new(),
        gate: None,
        decided_by: None,
        revert_of: Vec::new(),
        revert_paths: Vec::new(),
        title: None,
        notes: Vec::new(),
        plan: None,
        rules: Vec::new(),
        transaction: None,
    }
}

/// A journal, its checksum right, after which `path` is to have the text `evil` again.
fn crafted(path: &str, slot: &str, directory: &str, stage: TransactionStage) -> Record {
    let before = FileImage::of(b"evil\n", 0o755);
    let steps = vec![TransactionStep::Remove { path: path.into(), slot: slot.into(), before }];
    let transaction = TransactionJournal {
        stage,
        pid: 1,
        directory: directory.into(),
        steps,
        make_directories: Vec::new(),
        remove_directories: Vec::new(),
        directory_modes: Vec::new(),
    };
    let snapshot = BTreeMap::from([(path.to_string(), Some(RecordContent::Text("evil\n".into())))]);
    Record { transaction: Some(transaction), snapshot, ..empty() }
}

fn slot() -> String {
    format!(".relaycode/tx/{UUID}/0")
}

/// A project with something worth attacking, in a directory of its own.
fn target() -> Project {
    let project = Project::new(&[("c.txt", "three\n"), (".git/config", "[core]\n"), (".git/hooks/x", "x\n")]);
    fs::create_dir_all(project.path(".relaycode")).unwrap();
    project
}

#[test]
fn a_crafted_journal_writes_nothing_that_a_change_may_not() {
    let outside = tempfile::TempDir::new().unwrap();
    let absolute = outside.path().join("x").to_str().unwrap().to_string();
    let good = slot();
    let escaped = format!("../{}/x", outside.path().file_name().unwrap().to_str().unwrap());
    let journals = [
        crafted(".git/hooks/pre-commit", &good, UUID, TransactionStage::Applying),
        crafted(".GIT/hooks/pre-commit", &good, UUID, TransactionStage::GateRunning),
        crafted(".git/config", &good, UUID, TransactionStage::NeedsYou),
        crafted("sub/.git/hooks/pre-commit", &good, UUID, TransactionStage::Applying),
        crafted(
            ".relaycode/11111111-1111-4111-8111-111111111111.yml",
            &good,
            UUID,
            TransactionStage::Applying,
        ),
        crafted(&escaped, &good, UUID, TransactionStage::Applying),
        crafted(&absolute, &good, UUID, TransactionStage::Applying),
        crafted("new.txt", ".git/config", UUID, TransactionStage::Applying),
        crafted("new.txt", "c.txt", UUID, TransactionStage::Applying),
        crafted("new.txt", &escaped, UUID, TransactionStage::Applying),
        crafted("new.txt", &good, "../../x", TransactionStage::Applying),
        crafted("new.txt", &good, "..", TransactionStage::Applying),
        crafted("new.txt", &good, "11111111-1111-4111-8111-111111111111", TransactionStage::Applying),
    ];
    for (case, journal) in journals.iter().enumerate() {
        let project = target();
        project.put(JOURNAL, &record::write(journal));
        stops_until_kept(&project, &format!("journal {case}"));
        project.applied(&edit("c.txt", "three", "3"));
    }
    for path in [".git/x", "../x", "/tmp/relay-x"] {
        let mut made = crafted("new.txt", &good, UUID, TransactionStage::Applying);
        let mut removed = made.clone();
        if let (Some(made), Some(removed)) = (&mut made.transaction, &mut removed.transaction) {
            made.make_directories.push(path.into());
            removed.remove_directories.push(RemovedDirectory { path: path.into(), mode: 0o777 });
        }
        for journal in [made, removed] {
            let project = target();
            project.put(JOURNAL, &record::write(&journal));
            stops_until_kept(&project, path);
        }
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_crafted_journal_does_not_lead_through_links_or_give_powers_away() {
    let outside = tempfile::TempDir::new().unwrap();
    let project = target();
    symlink(outside.path(), project.path("link")).unwrap();
    let before = project.tree();
    project.put(JOURNAL, &record::write(&crafted("link/x", &slot(), UUID, TransactionStage::GateRunning)));
    let ran = project.relay(&["recover"]);
    assert_eq!(ran.code, 13, "{ran:?}");
    assert_eq!(project.tree(), before);
    // Not even if somebody says yes to it.
    let accepted = Some(Digest::of(&project.bytes(JOURNAL)));
    let _ = project.ledger().recover_accepting(RecoveryMode::Automatic, accepted);
    assert_eq!(project.tree(), before);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);

    let project = target();
    let mut journal = crafted("new.txt", &slot(), UUID, TransactionStage::Applying);
    if let Some(TransactionStep::Remove { before, .. }) =
        journal.transaction.as_mut().and_then(|transaction| transaction.steps.first_mut())
    {
        before.mode = 0o6755;
    }
    project.put(JOURNAL, &record::write(&journal));
    assert_eq!(project.relay(&["recover"]).code, 13);
    assert!(!project.path("new.txt").exists(), "nobody said yes");
    let accepted = Some(Digest::of(&project.bytes(JOURNAL)));
    project.ledger().recover_accepting(RecoveryMode::Automatic, accepted).unwrap();
    let mode = fs::metadata(project.path("new.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

/// A record of a deletion: taking it back writes `path`.
fn deletion(path: &str, mode: u32) -> Record {
    let file = FileRecord {
        path: path.into(),
        renamed_from: None,
        before: Some(FileImage::of(b"evil\n", mode)),
        after: None,
        added: 0,
        removed: 1,
        ..FileRecord::default()
    };
    let snapshot = BTreeMap::from([(path.to_string(), Some(RecordContent::Text("evil\n".into())))]);
    Record { result: vec![file], snapshot, ..empty() }
}

#[test]
fn a_crafted_record_writes_nothing_that_a_change_may_not() {
    let outside = tempfile::TempDir::new().unwrap();
    let absolute = outside.path().join("x").to_str().unwrap().to_string();
    for path in ["../x", ".git/hooks/pre-commit", ".relaycode/lock", &absolute, "a/../../x", ".git/config"] {
        for renamed in [false, true] {
            let mut record = deletion(path, 0o755);
            if renamed {
                record = deletion("new.txt", 0o755);
                record.result[0].renamed_from = Some(path.to_string());
            }
            record.made_directories = vec![".git/hooks".into(), "..".into(), path.to_string()];
            let project = target();
            project.put(RECORD, &record::write(&record));
            let before = project.tree();
            let allowed = ["--allow", "foreign-change"];
            for args in [&["revert"][..], &["revert", "--markers"], &["revert", "--file", "new.txt"]] {
                let ran = project.relay(args);
                assert_eq!(ran.code, 13, "{path}: {ran:?}");
                assert_eq!(project.tree(), before, "{path}");
                let ran = project.relay(&[args, &allowed].concat());
                assert_eq!(ran.code, 3, "{path}: {ran:?}");
                // It is accepted now; the next one begins anew.
                fs::remove_file(project.copy().join("accepted")).unwrap();
                assert!(ran.err.contains("nothing was changed"), "{path}: {}", ran.err);
                assert_eq!(project.tree(), before, "{path}");
            }
            let ran = project.relay(&["revert", "--file", path]);
            assert_eq!(ran.code, 2, "{path}: {ran:?}");
            assert_eq!(project.tree(), before, "{path}");
            project.done(&["log"]);
            project.done(&["show", "1", "--diff"]);
        }
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_revert_gives_no_powers_away() {
    let project = target();
    project.put(RECORD, &record::write(&deletion("run", 0o6755)));
    relay_snapshot!(project.relay(&["revert", "--allow", "foreign-change"]), @"
    exit 6
    ----- stdout -----
    ✓ undone: crafted
    ! not brought back: run does not get the permission bits 6755: it was not seen with them on this machine
      `relay redo` brings it back
    ----- stderr -----
    ! 0f8fad5b was not written by your relay: it may have come with the repository
    ");
    let mode = fs::metadata(project.path("run")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, project.text("run").as_str()), (0o755, "evil\n"));
    relay_snapshot!(project.relay(&["show", "1"]), @"
    exit 0
    ----- stdout -----
    change-1  undoes: crafted                                                     1 file  +1
        A  run  +1
      id         change-1-…
      when       <time>, now
      from       undo
      yes by     user
      undoes     0f8fad5b
      notes
        run: it has the permission bits 0755 instead of 6755
    ");
}

#[test]
fn absurd_numbers_in_a_record_are_only_numbers() {
    let project = target();
    let mut record = deletion("new.txt", 0o644);
    record.result[0].added = usize::MAX;
    let mut second = record.result[0].clone();
    second.path = "other.txt".into();
    second.before = Some(FileImage { size: u64::MAX, ..FileImage::of(b"evil\n", 0o644) });
    record.snapshot.insert("other.txt".into(), Some(RecordContent::Text("evil\n".into())));
    record.result.push(second);
    record.number = u64::MAX;
    project.put(RECORD, &record::write(&record));
    project.done(&["log"]);
    project.done(&["show", "1"]);
    project.done(&["show", "1", "--diff"]);
    project.applied(&edit("c.txt", "three", "3"));
    project.applied(&edit("c.txt", "3", "4"));
    assert_eq!(project.log().len(), 3);
    let ran = project.relay(&["revert", UUID, "--allow", "foreign-change"]);
    assert!([0, 1, 3].contains(&ran.code) && !ran.err.contains("panicked"), "{ran:?}");
}

#[test]
fn a_crafted_index_does_not_number_records() {
    let line = |number: u64| {
        let line = format!(
            "{{\"at\":1,\"entries\":{0},\"number\":{number},\"uuid\":\"{UUID}\",\"summary\":\"\\u001b[31mlies\",\
             \"foreign\":\"../../x\",\"added\":{0},\"blobs\":[]}}",
            u64::MAX
        );
        append_log::encode_entry(line.as_bytes())
    };
    for number in [0, u64::MAX] {
        let project = target();
        project.put(RECORD, &record::write(&deletion("new.txt", 0o644)));
        project.put(".relaycode/index", &line(number));
        let ran = project.relay(&["log"]);
        assert!(ran.code == 0 && !ran.out.contains('\u{1b}'), "{ran:?}");
        let newer = project.applied(&edit("c.txt", "three", "3"));
        let text = project.text(&format!(".relaycode/{newer}.yml"));
        assert!(text.contains("\nnumber: 2\n"), "index with {number}: {text}");
        assert_eq!(project.log()[0]["id"], newer.as_str());
        assert_eq!(project.relay(&["revert", UUID, "-y"]).code, 13);
        let ran = project.relay(&["revert", UUID, "--allow", "foreign-change"]);
        assert_eq!((ran.code, project.text("new.txt").as_str()), (0, "evil\n"), "{ran:?}");
    }
}

#[test]
fn an_index_of_garbage_is_built_anew() {
    for garbage in [&b""[..], b"\n\n\n", b"\xff\xfe\0", b"00000000 5 hello\n", b"{}"] {
        let project = target();
        let first = project.applied(&edit("c.txt", "three", "3"));
        project.put(".relaycode/index", garbage);
        assert_eq!(project.log()[0]["id"], first.as_str());
        let second = project.applied(&edit("c.txt", "3", "4"));
        let ids: Vec<_> = project.log().iter().map(|entry| entry["id"].clone()).collect();
        assert_eq!(ids, [second, first], "{garbage:?}");
    }
}

#[test]
fn records_of_the_original_tool_are_not_trusted_either() {
    let bomb = format!(
        "uuid: {UUID}\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\n\
         reasoning: [*c,*c,*c,*c]\noperations: []\nsnapshot: {{}}\napproved: true\n"
    );
    let operation = |path: &str| {
        format!(
            "uuid: {UUID}\nprojectId: x\ncreatedAt: '2020'\noperations:\n- type: delete\n  path: '{path}'\n\
             snapshot:\n  '{path}': evil\napproved: true\n"
        )
    };
    let deep = format!("uuid: {UUID}\nreasoning: {}\n", "[".repeat(5_000));
    let nodes = format!("uuid: {UUID}\nreasoning: [{}]\n", "a,".repeat(50_000));
    let another = operation("new.txt").replace(UUID, "../../evil");
    let cases = [
        bomb,
        deep,
        nodes,
        another,
        operation("../x"),
        operation(".git/config"),
        operation("/etc/passwd"),
        operation(".relaycode/x"),
        "uuid: [".to_string(),
        String::new(),
    ];
    for (case, text) in cases.iter().enumerate() {
        for place in [RECORD, ".relay/transactions/1.yaml"] {
            let project = target();
            project.put(place, text.as_bytes());
            let before = project.tree();
            let started = Instant::now();
            let ran = project.relay(&["log"]);
            assert_eq!(ran.code, 0, "{case}: {ran:?}");
            for args in [&["revert"][..], &["revert", UUID], &["show", UUID], &["show", "1", "--diff"]] {
                let ran = project.relay(args);
                assert!(
                    [0, 1, 2, 3, 13].contains(&ran.code) && !ran.err.contains("panicked"),
                    "{case}: {ran:?}"
                );
                assert_eq!(project.tree(), before, "{case} {args:?}: {ran:?}");
            }
            project.applied(&edit("c.txt", "three", "3"));
            assert!(started.elapsed() < Duration::from_secs(30), "{case}: {:?}", started.elapsed());
        }
    }
}

#[test]
fn a_record_with_one_wrong_byte_says_so_and_breaks_nothing_else() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let first = project.applied(&edit("b.txt", "two", "2"));
    project.applied(&(edit("a.txt", "one", "1") + &control(UUID, "feat: one")));
    let good = project.bytes(RECORD);
    let version = good.windows(9).position(|at| at == b"version: ").unwrap() + 9;
    for at in (0..good.len()).step_by(good.len() / 16).chain([good.len() - 1]).filter(|at| *at != version) {
        let mut bad = good.clone();
        bad[at] ^= 0x04;
        project.put(RECORD, &bad);
        fs::remove_file(project.copy().join("index")).unwrap();
        let log = project.log();
        assert_eq!(log.len(), 2, "byte {at}");
        assert!(log.iter().any(|entry| entry["damage"].is_string()), "byte {at}: {log:?}");
        assert!(project.done(&["log"]).contains("damaged"), "byte {at}");
        let before = project.tree();
        for args in [&["revert", UUID][..], &["show", UUID]] {
            let ran = project.relay(args);
            assert_eq!(ran.code, 1, "byte {at}: {ran:?}");
            assert!(ran.err.contains("is damaged"), "byte {at}: {}", ran.err);
            assert_eq!(project.tree(), before, "byte {at}");
        }
    }
    // Its id is not given to another: nobody can tell what it did.
    relay_snapshot!(project.apply(&(edit("a.txt", "1", "one") + &control(UUID, "again"))), @"
    exit 1
    ----- stderr -----
    ✗ .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.yml is damaged: its end is missing; nothing was changed
      relay does not use it; move it away to go on without it
    ");
    project.done(&["revert", &first]);
    assert_eq!(project.text("b.txt"), "two\n");
    project.put(RECORD, &good);
    fs::remove_file(project.copy().join("index")).unwrap();
    project.done(&["revert", UUID]);
    assert_eq!(project.text("a.txt"), "one\n");
}

/// The files in `blobs/` of the project, and of its copy.
fn blobs(project: &Project) -> [Vec<std::path::PathBuf>; 2] {
    let copy = fs::read_dir(project.home().join("ledgers")).unwrap().next().unwrap().unwrap().path();
    [project.path(".relaycode/blobs"), copy.join("blobs")]
        .map(|directory| fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect())
}

#[test]
fn a_damaged_blob_comes_from_the_copy_or_is_refused() {
    let old = "old line\n".repeat(10_000);
    let project = Project::new(&[("long.txt", &old), ("a.txt", "one\n")]);
    let long = project.applied("```text // long.txt\n//TODO: delete this file\n```\n");
    let [own, copied] = blobs(&project);
    assert_eq!((own.len(), copied.len()), (1, 1));
    // Same length, other bytes.
    fs::write(&own[0], old.replace("old", "bad")).unwrap();
    project.done(&["revert"]);
    assert_eq!(project.text("long.txt"), old);
    project.done(&["redo"]);
    assert!(!project.path("long.txt").exists());
    for blob in own.iter().chain(&copied) {
        fs::write(blob, old.replace("old", "bad")).unwrap();
    }
    let ran = project.relay(&["revert", &long]);
    let is_refused = |code| [1, 3].contains(&code);
    assert!(is_refused(ran.code) || ran.out.contains("nothing"), "{ran:?}");
    assert!(!project.path("long.txt").exists());
    project.done(&["log"]);
    project.applied(&edit("a.txt", "one", "1"));
    project.done(&["revert"]);
}

#[test]
fn a_blob_with_the_right_name_and_wrong_bytes_is_not_trusted() {
    let old = "old line\n".repeat(10_000);
    let project = Project::new(&[("long.txt", &old)]);
    let delete = || {
        let answer = "```text // long.txt\n//TODO: delete this file\n```\n";
        let ran = project.pipe(&["apply", "-", "-y", "--allow", "mass-deletion"], answer.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    delete();
    project.done(&["revert"]);
    let [own, copied] = blobs(&project);
    for blob in own.iter().chain(&copied) {
        fs::write(blob, old.replace("old", "bad")).unwrap();
    }
    // The same bytes are needed again: they are written again, here and in the copy.
    delete();
    for blob in own.iter().chain(&copied) {
        assert_eq!(fs::read_to_string(blob).unwrap(), old, "{}", blob.display());
    }
    project.done(&["revert"]);
    assert_eq!(project.text("long.txt"), old);
}

#[test]
fn what_a_record_says_cannot_command_a_terminal() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[31mred\r\u{9b}2J\u{202e}x\u{200b}";
    let project = target();
    let path = format!("new{evil}.txt");
    let mut record = deletion(&path, 0o644);
    record.git_commit_msg = Some(format!("msg {evil}"));
    record.prompt_summary = Some(evil.into());
    record.reasoning = vec![format!("why {evil}\nsecond")];
    record.origin = evil.into();
    record.project_id = evil.into();
    record.created_at = evil.into();
    record.branch = Some(evil.into());
    record.head = Some(evil.into());
    record.gate = Some(evil.into());
    record.decided_by = Some(evil.into());
    record.matches = vec![evil.into()];
    record.notes = vec![evil.into()];
    record.result[0].renamed_from = Some(format!("was{evil}"));
    project.put(RECORD, &record::write(&record));
    let grouped = Record { uuid: TxId::random(), number: 2, group: Some(evil.into()), ..record.clone() };
    project.put(&format!(".relaycode/{}.yml", grouped.uuid), &record::write(&grouped));
    let damaged = format!(".relaycode/{}.yml", TxId::random());
    project.put(&damaged, format!("uuid: {evil}\nnumber: 3\n").as_bytes());
    let commands = [
        &["log"][..],
        &["log", "--json"],
        &["show", UUID],
        &["show", UUID, "--diff"],
        &["show", UUID, "--json", "--diff"],
        &["show", "1"],
        &["show", "2"],
        &["revert", UUID],
        &["revert", UUID, "--allow", "foreign-change"],
        &["revert", "1"],
        &["revert", "2"],
        &["revert", UUID, "--file", evil],
        &["show", evil],
    ];
    for args in commands {
        let ran = project.relay(args);
        assert!([0, 1, 2, 3, 13].contains(&ran.code), "{args:?}: {ran:?}");
        for text in [&ran.out, &ran.err] {
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{200b}';
            // JSON is for machines: only what a terminal obeys has to be escaped there.
            let bad_json = |c: char| c < ' ' && c != '\n';
            let json = args.contains(&"--json") && text.starts_with('{');
            let found = text.chars().find(|c| if json { bad_json(*c) } else { bad(*c) });
            assert_eq!(found, None, "{args:?}: {text:?}");
        }
    }
    // Also what an answer brings along itself.
    let ran = project
        .apply(&(whole("plain.txt", "x\n") + &control("11111111-1111-4111-8111-111111111111", "m \\e[31m")));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.out.contains('\u{1b}') && !project.done(&["log"]).contains('\u{1b}'));
}

#[test]
fn the_order_is_the_one_of_the_numbers_whatever_the_clock_said() {
    let project = target();
    let ids: Vec<TxId> = (0..5).map(|_| TxId::random()).collect();
    let dates =
        ["2030-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z", "", "yesterday", "1970-01-01T00:00:00.000Z"];
    for (number, (id, date)) in (1..).zip(ids.iter().zip(dates)) {
        let record = Record { uuid: *id, number, created_at: date.into(), ..deletion("new.txt", 0o644) };
        project.put(&format!(".relaycode/{id}.yml"), &record::write(&record));
    }
    let newest = project.applied(&edit("c.txt", "three", "3"));
    let listed: Vec<String> =
        project.log().iter().map(|entry| entry["id"].as_str().unwrap().to_string()).collect();
    let mut wanted = vec![newest];
    wanted.extend(ids.iter().rev().map(ToString::to_string));
    assert_eq!(listed, wanted);
}
