//! What a person sees of files in `.relaycode/` that their relay did not write: the question, the yes that is kept, and what is said
//! where nobody can be asked. And of what is theirs alone, and somebody else can see or remove.

use std::fs;
use std::process::Command;

use relaycode_ledger::record::{self, FileImage, FileRecord, Record, RecordContent};
use relaycode_testkit::git::git;

use crate::fixture::scratch_project::{Project, edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const JOURNAL: &str = ".relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml";

/// A project that another user's relay left in the middle of a change of `a.txt`: to this user it is anybody's.
fn with_foreign_journal() -> Project {
    let project = Project::new(&[("a.txt", "1\n"), ("b.txt", "two\n")]);
    let before = FileImage::of(b"one\n", 0o644);
    let journal = format!(
        "uuid: {UUID}\nprojectId: shop\ncreatedAt: '2026-03-10T12:00:00.000Z'\nsnapshot:\n  a.txt: |\n    one\napproved: false\n\
         version: 1\nnumber: 0\norigin: file\ntransaction:\n  stage: applying\n  pid: 1\n  directory: {UUID}\n  steps:\n    - do: \
         replace\n      path: a.txt\n      slot: .relaycode/tx/{UUID}/0\n      before:\n        hash: {}\n        size: 4\n        \
         mode: '0644'\n      after:\n        hash: {}\n        size: 2\n        mode: '0644'\n",
        before.hash,
        FileImage::of(b"1\n", 0o644).hash
    );
    let checksum = relaycode_ledger::Digest::of(journal.as_bytes());
    project.put(JOURNAL, format!("{journal}checksum: {checksum}\n").as_bytes());
    project
}

/// A record that nobody sealed, of a change of `a.txt` from `one` to `1`.
fn foreign_record() -> Record {
    let file = FileRecord {
        path: "a.txt".into(),
        before: Some(FileImage::of(b"one\n", 0o644)),
        after: Some(FileImage::of(b"1\n", 0o644)),
        content: Some(RecordContent::Text("1\n".into())),
        added: 1,
        removed: 1,
        ..FileRecord::default()
    };
    Record {
        uuid: UUID.parse().unwrap(),
        project_id: "shop".into(),
        created_at: "2026-03-10T12:00:00.000Z".into(),
        git_commit_msg: Some("feat: one".into()),
        approved: true,
        version: record::FORMAT,
        number: 1,
        origin: "file".into(),
        result: vec![file],
        snapshot: [("a.txt".to_string(), Some(RecordContent::Text("one\n".into())))].into(),
        ..Record::default()
    }
}

fn with_foreign_record() -> Project {
    let project = Project::new(&[("a.txt", "1\n")]);
    project.put(&format!(".relaycode/{UUID}.yml"), &record::write(&foreign_record()));
    project
}

#[test]
fn a_journal_that_came_with_the_repository_is_named_and_blocks_nothing() {
    let project = with_foreign_journal();
    let mut transcript = Transcript::default();
    transcript.add("recover", &project.relay(&["recover"]));
    transcript.add("recover --restore", &project.relay(&["recover", "--restore"]));
    assert_eq!(project.text("a.txt"), "1\n");
    // Also the very file that it speaks of can be changed.
    transcript.add("apply", &project.apply(&edit("a.txt", "1", "2")));
    assert_eq!(project.text("a.txt"), "2\n");
    assert!(project.path(JOURNAL).exists(), "it is not forgotten");
    transcript.add("recover --keep", &project.relay(&["recover", "--keep"]));
    assert!(!project.path(JOURNAL).exists());
    assert!(
        project.path(&format!(".relaycode/tx/{UUID}.kept/journal.yml")).exists(),
        "nothing is thrown away"
    );
    transcript.add("recover", &project.relay(&["recover"]));
    relay_snapshot!(transcript, @"
    # recover
    exit 13
    ----- stderr -----
    ! .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was not written by your relay: it may have come with the repository. relay did not act on it
        a.txt
      next: run `relay recover` at a terminal to be asked, or `relay recover --keep` to stay with the files as they are and set it aside

    # recover --restore
    exit 13
    ----- stderr -----
    ! .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was not written by your relay: it may have come with the repository. relay did not act on it
        a.txt
      next: run `relay recover` at a terminal to be asked, or `relay recover --keep` to stay with the files as they are and set it aside

    # apply
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.pending.yml was not written by your relay: it may have come with the repository. relay did not act on it
        a.txt
      next: `relay recover` asks what to do with it

    # recover --keep
    exit 0
    ----- stdout -----
    ! 0f8fad5b was set aside without being acted on: it is in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e.kept

    # recover
    exit 0
    ----- stdout -----
    ✓ nothing to recover: no run stopped in the middle
    ");
}

#[test]
fn a_person_follows_a_foreign_journal_sets_it_aside_or_leaves_it() {
    for (typed, text, stays) in [("y\n", "one\n", false), ("s\n", "1\n", false), ("\n", "1\n", true)] {
        let project = with_foreign_journal();
        let mut session = Session::start(&project, &["recover"], "");
        session.wait_for("was not written by your relay");
        session.wait_for("a.txt");
        session.wait_for("put these files back as it says? [y/N]");
        session.type_in(typed);
        let (code, seen) = session.end();
        assert_eq!(code, Some(if stays { 4 } else { 0 }), "{typed:?}: {seen}");
        assert_eq!(
            (project.text("a.txt").as_str(), project.path(JOURNAL).exists()),
            (text, stays),
            "{typed:?}"
        );
    }
}

#[test]
fn an_undo_of_what_your_relay_did_not_write_asks_once() {
    let project = with_foreign_record();
    let mut transcript = Transcript::default();
    transcript.add("log", &project.relay(&["log"]));
    transcript.add("revert -y", &project.relay(&["revert", "-y"]));
    assert_eq!(project.text("a.txt"), "1\n");
    relay_snapshot!(transcript, @"
    # log
    exit 0
    ----- stdout -----
      1 ! 0f8fad5b  2026-03-10  file  1 file  +1 −1  feat: one   not written by your relay

    # revert -y
    exit 13
    ----- stderr -----
    ✗ 0f8fad5b was not written by your relay: it may have come with the repository; nothing was changed
      look at it with `relay show 0f8fad5b --diff`, then say yes at a terminal, or with `--allow foreign-change`
    ");

    let mut session = Session::start(&project, &["revert"], "");
    session.wait_for("was not written by your relay");
    session.wait_for("one");
    session.wait_for("[y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(project.text("a.txt"), "one\n");
    // It counts like an own one from now on, in whatever is done with it.
    project.done(&["redo", "-y"]);
    project.done(&["revert", UUID, "-y"]);
    assert_eq!(project.text("a.txt"), "one\n");
    let foreign = |project: &Project| project.log().iter().filter(|entry| entry["foreign"] == true).count();
    assert_eq!(foreign(&project), 0);
    // But not if its bytes are others.
    let other = Record { git_commit_msg: Some("feat: two".into()), ..foreign_record() };
    project.done(&["revert", "-y"]);
    for place in [".relaycode", ".relaycode/undone"] {
        let _ = fs::remove_file(project.path(&format!("{place}/{UUID}.yml")));
    }
    project.put(&format!(".relaycode/{UUID}.yml"), &record::write(&other));
    assert_eq!(project.relay(&["revert", UUID, "-y"]).code, 13);
}

#[test]
fn what_another_checkout_wrote_is_not_this_ones_own_but_a_moved_one_stays() {
    let one = Project::new(&[("a.txt", "one\n")]);
    let id = one.applied(&edit("a.txt", "one", "1"));
    let record = one.bytes(&format!(".relaycode/{id}.yml"));
    let two = Project::new(&[("a.txt", "1\n")]);
    two.put(&format!(".relaycode/{id}.yml"), &record);
    let mut command = two.command(&["revert", "-y"]);
    command.env("RELAY_HOME", one.home());
    assert_eq!(run(&mut command).code, 13, "the same user, another directory");
    // Within one checkout it counts wherever that is.
    let moved = one.home().parent().unwrap().join(format!("moved-{id}"));
    fs::rename(one.path(""), &moved).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
    command.args(["revert", "-y"]);
    one.surround(&mut command);
    let ran = run(command.current_dir(&moved).env("TMPDIR", &moved));
    let text = fs::read_to_string(moved.join("a.txt")).unwrap();
    fs::rename(&moved, one.path("")).unwrap();
    assert_eq!((ran.code, text.as_str()), (0, "one\n"), "{ran:?}");
}

#[test]
fn what_comes_back_from_the_copy_into_a_new_checkout_counts() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.applied(&edit("a.txt", "one", "1"));
    // Removed and cloned again, at the same path.
    let root = project.path("");
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    project.put("a.txt", b"1\n");
    project.put(".relaycode/.gitignore", b"*\n");
    let ran = project.relay(&["revert", "-y"]);
    assert_eq!((ran.code, project.text("a.txt").as_str()), (0, "one\n"), "{ran:?}");
}

#[test]
fn a_record_that_is_nearly_all_hole_is_damaged_and_not_copied() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.applied(&edit("a.txt", "one", "1"));
    let name = format!("{UUID}.yml");
    let file = fs::File::create(project.path(".relaycode").join(&name)).unwrap();
    file.set_len(50 << 30).unwrap();
    assert!(project.done(&["log"]).contains("it has more than 268435456 bytes"));
    project.applied(&edit("a.txt", "1", "2"));
    assert!(!project.copy().join(&name).exists());
    assert_eq!(project.relay(&["revert", UUID, "-y"]).code, 1);
}

/// A project whose repository tracks relay's own directory.
fn tracked() -> Project {
    let project = Project::new(&[("a.txt", "one\n")]);
    git(&project.path(""), &["init", "-q", "-b", "main", "."]);
    project.applied(&edit("a.txt", "one", "1"));
    git(&project.path(""), &["add", "-A", "-f"]);
    git(&project.path(""), &["commit", "-qm", "everything"]);
    project
}

fn with_git(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

#[test]
fn init_and_doctor_say_when_git_tracks_relays_own_directory() {
    let project = tracked();
    let ran = run(&mut with_git(&project, &["init"]));
    assert!(ran.err.contains("git tracks .relaycode"), "{ran:?}");
    assert!(ran.err.contains("git rm -r --cached .relaycode"), "{ran:?}");
    let ran = run(&mut with_git(&project, &["doctor"]));
    assert!(ran.out.contains("git tracks .relaycode"), "{ran:?}");
    git(&project.path(""), &["rm", "-rq", "--cached", ".relaycode"]);
    for words in ["init", "doctor"] {
        let ran = run(&mut with_git(&project, &[words]));
        assert!(!format!("{}{}", ran.out, ran.err).contains("git tracks"), "{ran:?}");
    }
}

#[test]
fn whoever_only_looks_writes_nothing_into_a_tracked_directory() {
    let project = tracked();
    let status = || git(&project.path(""), &["status", "--porcelain"]);
    let looks = [&["log"][..], &["show", "1", "--diff"], &["blame", "a.txt"], &["why", "1"]];
    for remove in [&["index"][..], &["seen", "collected"], &[]] {
        for name in remove {
            let _ = fs::remove_file(project.path(".relaycode").join(name));
        }
        let before = status();
        for words in looks {
            run(&mut with_git(&project, words));
            assert_eq!(status(), before, "{words:?}");
        }
    }
    fs::remove_dir_all(project.path(".relaycode")).unwrap();
    for words in looks {
        let ran = run(&mut with_git(&project, words));
        assert!(!project.path(".relaycode").exists(), "{words:?}: {ran:?}");
        assert!(ran.err.contains("because git tracks .relaycode"), "{words:?}: {ran:?}");
    }
}

#[test]
fn a_recorded_command_that_removes_your_own_directory_does_not_end_as_if_all_were_well() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let line = "rm -rf \"$RELAY_HOME\"; echo x > a.txt";
    let mut command = with_git(&project, &["record", "--", "sh", "-c", line]);
    relay_snapshot!(run(&mut command), @"
    exit 9
    ----- stderr -----
    backed up 1 file, 4 bytes in <duration>
    ! nothing was recorded: what changed cannot be undone by relay
    ! changed while it ran, not undoable: a.txt may have been changed, and its backup is gone
    ! the command removed the backup made before it ran: 1 change cannot be undone
      it was in <home>/ledgers/<ledger>/recordings/change-1-…; your own directory holds trust, keys and the copies of earlier changes as well
    ");
    assert_eq!(project.text("a.txt"), "x\n");
}
