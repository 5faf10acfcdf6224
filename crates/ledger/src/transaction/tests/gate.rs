//! What the project's commands do to a transaction's files while it is open.

use std::process::Command;

use super::*;

#[test]
fn what_a_gate_changes_belongs_to_the_transaction() {
    let project = Project::new(&[("a", "1")]);
    let before = project.tree();
    let changes = [modify("a", "1", "2"), change(None, Some(("n", "1")))];
    let ledger = project.ledger();
    let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
    open.begin_gate().unwrap();
    project.save("a", "2 formatted");
    let changed = open.finish_gate().unwrap();
    assert_eq!(changed, ["a"]);
    open.put_back().unwrap();
    assert_eq!(project.tree(), before);
    // Killed while the gate runs: put back too, and the bytes are kept.
    let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
    open.begin_gate().unwrap();
    project.save("a", "2 formatted");
    project.save("n", "1 formatted");
    drop(open);
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::PutBack { kept: Some(_), .. }), "{recovered:?}");
    assert_eq!(project.tree(), before);
}

/// What a gate may do to files of a transaction, by a name for messages.
type Harm = (&'static str, fn(&Project));

const REMOVALS: [Harm; 3] = [
    ("all files are removed", |project| {
        for path in ["a.txt", "moved/to/file.txt", "new/dir/n.txt"] {
            fs::remove_file(project.path(path)).unwrap();
        }
    }),
    ("whole directories are removed", |project| {
        fs::remove_file(project.path("a.txt")).unwrap();
        fs::remove_dir_all(project.path("moved")).unwrap();
        fs::remove_dir_all(project.path("new")).unwrap();
    }),
    ("directories are made anew, with other files", |project| {
        fs::remove_dir_all(project.path("moved")).unwrap();
        project.save("moved/to/file.txt", "formatted");
        project.save("old/gone.txt", "made again");
        project.save("from.txt", "a new one of that name");
    }),
];

#[test]
fn a_gate_that_removes_files_is_put_back_whole() {
    for (name, harm) in REMOVALS {
        for how in ["done", "not done", "killed"] {
            let (project, changes) = mixed();
            let before = project.tree();
            let ledger = project.ledger();
            let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
            open.begin_gate().unwrap();
            harm(&project);
            if how == "done" {
                open.finish_gate().unwrap();
            }
            if how == "killed" {
                drop(open);
                let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
                assert!(
                    matches!(recovered[0].outcome, RecoveryOutcome::PutBack { .. }),
                    "{name}: {recovered:?}"
                );
            } else {
                open.put_back().unwrap();
            }
            assert_eq!(project.tree(), before, "{name}, {how}");
            assert_eq!(project.journals(), 0);
        }
    }
}

#[test]
fn what_a_gate_removes_is_recorded_as_gone_and_can_be_reverted() {
    for (name, harm) in REMOVALS {
        for told in [true, false] {
            let (project, changes) = mixed();
            let before = project.tree();
            let ledger = project.ledger();
            let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
            open.begin_gate().unwrap();
            harm(&project);
            if told {
                assert!(open.finish_gate().unwrap().contains(&"moved/to/file.txt".to_string()), "{name}");
            }
            let after = project.tree();
            let record = open.commit(CommitVerdict::default()).unwrap().record;
            assert_eq!(project.tree(), after, "{name}");
            for file in &record.result {
                let there = fs::read(project.path(&file.path)).ok();
                let recorded = ledger.after_bytes(&record, file).unwrap();
                assert!(file.after.is_none() || recorded == there, "{name}: {file:?}");
            }
            let recorded: Vec<&str> = record.result.iter().map(|file| file.path.as_str()).collect();
            let there = project.path("new/dir/n.txt").exists();
            assert_eq!(recorded.contains(&"new/dir/n.txt"), there, "{name}: {recorded:?}");
            assert!(!record.notes.is_empty());
            let options = crate::RevertOptions::default();
            let reversal = ledger.plan_revert(&crate::LogTarget::Transaction(record.uuid), &options).unwrap();
            let directories_to_remove = reversal.made_directories_to_remove.clone();
            let about = TransactionHeader { revert_of: reversal.reverts, directories_to_remove, ..about() };
            ledger.begin(&reversal.changes, about, &go_on).unwrap().commit(CommitVerdict::default()).unwrap();
            let files =
                |tree: Tree| -> Tree { tree.into_iter().filter(|(path, _)| !path.ends_with('/')).collect() };
            assert_eq!(files(project.tree()), files(before), "{name}");
        }
    }
}

#[test]
fn a_gate_that_puts_links_and_directories_in_place_of_files_is_put_back_and_loses_nothing() {
    for how in ["put back", "commit", "killed"] {
        let (project, changes) = mixed();
        let before = project.tree();
        let ledger = project.ledger();
        let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
        open.begin_gate().unwrap();
        fs::remove_file(project.path("a.txt")).unwrap();
        symlink("elsewhere", project.path("a.txt")).unwrap();
        for path in ["run.sh", "new/dir/n.txt", "moved/to/file.txt", "old/gone.txt"] {
            let _ = fs::remove_file(project.path(path));
            project.save(&format!("{path}/generated"), path);
        }
        match how {
            "put back" => {
                let error = open.finish_gate().err().unwrap();
                assert!(matches!(&error, LedgerError::Refused(refusals) if refusals.len() == 4), "{error}");
                open.put_back().unwrap();
            }
            "commit" => {
                let error = open.commit(CommitVerdict::default()).err().unwrap();
                assert!(matches!(&error, LedgerError::Refused(_)), "{error}");
            }
            _ => {
                drop(open);
                let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
                assert!(matches!(recovered[0].outcome, RecoveryOutcome::PutBack { kept: Some(_), .. }));
            }
        }
        assert_eq!(project.tree(), before, "{how}");
        assert_eq!(project.journals(), 0);
        let kept = project.path(&format!(".relaycode/tx/{}", project.slots()[0]));
        let mut tree = Tree::new();
        collect(&kept, "", &mut tree);
        let generated = tree.iter().filter(|(path, _)| path.ends_with("generated"));
        assert_eq!(generated.count(), 4, "{how}: {tree:?}");
        assert!(fs::read_dir(&kept).unwrap().any(|entry| entry.unwrap().path().is_symlink()), "{how}");
    }
}

/// What a command may make of a file that relay had displaced, by a name for messages.
type SlotHarm = (&'static str, fn(&std::path::Path));

const SLOT_HARMS: [SlotHarm; 6] = [
    ("formatted", |slot| fs::write(slot, "a1 formatted").unwrap()),
    ("formatted to what the change makes of it", |slot| fs::write(slot, "a2").unwrap()),
    ("removed", |slot| fs::remove_file(slot).unwrap()),
    ("a socket", |slot| {
        fs::remove_file(slot).unwrap();
        std::os::unix::net::UnixListener::bind(slot).unwrap();
    }),
    // Whoever opens it waits for somebody who writes.
    ("a pipe", |slot| {
        fs::remove_file(slot).unwrap();
        assert!(Command::new("mkfifo").arg(slot).status().unwrap().success());
    }),
    ("a directory", |slot| {
        fs::remove_file(slot).unwrap();
        fs::create_dir(slot).unwrap();
    }),
];

#[test]
fn a_gate_that_reaches_the_displaced_files_is_put_back_and_loses_nothing() {
    for (name, harm) in SLOT_HARMS {
        for how in ["put back", "put back while it runs", "commit", "killed", "killed while it runs"] {
            let project = Project::new(&[("a.txt", "a1"), ("gone.txt", "a1")]);
            let before = project.tree();
            let changes = [modify("a.txt", "a1", "a2"), change(Some(("gone.txt", "a1")), None)];
            let ledger = project.ledger();
            let mut open = ledger.begin(&changes, about(), &go_on).unwrap();
            open.begin_gate().unwrap();
            let slots = project.path(&format!(".relaycode/tx/{}", project.slots()[0]));
            for number in ["0", "1"] {
                harm(&slots.join(number));
            }
            if !how.ends_with("while it runs") {
                open.finish_gate().unwrap();
            }
            let kept = match how {
                "put back" | "put back while it runs" => {
                    let written = open.put_back().unwrap();
                    assert_eq!(written.is_some(), name.starts_with("formatted"), "{name}");
                    written.map(|written| written.kept)
                }
                "commit" => match open.commit(CommitVerdict::default()) {
                    Err(LedgerError::Conflict { kept, .. }) => kept,
                    // The record has the bytes.
                    Ok(_) if name == "removed" => continue,
                    other => panic!("{name}: {other:?}"),
                },
                _ => {
                    drop(open);
                    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
                    let RecoveryOutcome::PutBack { kept, .. } = &recovered[0].outcome else {
                        panic!("{name}, {how}: {recovered:?}")
                    };
                    kept.clone()
                }
            };
            assert_eq!(project.tree(), before, "{name}, {how}");
            assert_eq!(project.journals(), 0);
            if name == "formatted" {
                let kept = project.path(&kept.expect(name));
                assert_eq!(fs::read_to_string(kept.join("0")).unwrap(), "a1 formatted", "{how}");
                assert_eq!(fs::read_to_string(kept.join("1")).unwrap(), "a1 formatted", "{how}");
            }
        }
    }
}
