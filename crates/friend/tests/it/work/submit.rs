//! What a friend did in its copy goes in through the door, as it is or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Mutex;

use relaycode_change::proposal::FileAction;
use relaycode_door::ApprovalReason;
use relaycode_friend::work::saved_patch::{MAX_SAVED_PATCHES, save_patch};

use super::*;

#[test]
fn a_change_lands_in_the_ledger_under_the_friends_name_and_reverts() {
    let scene = Scene::new();
    let before = files(&scene.root());
    let worked = scene
        .work(|copy| {
            write(&copy.join("a.txt"), "one\r\ntwo\r\n\r\nno newline");
            write(&copy.join("logo.png"), [0x89, b'P', 0, 1, 255]);
            write(&copy.join("tool"), "#!/bin/sh\n");
            run_bit(&copy.join("tool"), true);
            fs::rename(copy.join("src/b.rs"), copy.join("src/main.rs")).unwrap();
            git(copy, &["add", "-A"]);
            git(copy, &["commit", "-q", "-m", "mine"]);
        })
        .unwrap();
    assert_eq!(worked.answer.text, "I changed a.txt.");
    // A file that can be run is guarded.
    let SubmitOutcome::ApprovalRequired { rules, .. } = scene.submit(&worked, &[]) else {
        panic!("nobody asked")
    };
    assert!(rules.iter().all(|rule| rule.name() == "guarded"), "{rules:?}");
    let done = applied(scene.submit(&worked, &["guarded"]));
    assert_eq!(done.record.origin, "codex");
    assert_eq!(done.record.git_commit_msg.as_deref(), Some("make it better"));
    assert_eq!(done.record.prompt_summary.as_deref(), Some("make it better\nreally"));
    assert_eq!(done.record.reasoning, ["I changed a.txt."]);
    assert!(!done.record.rules.iter().any(|rule| rule.contains("key")), "{:?}", done.record.rules);
    assert_eq!(scene.read("a.txt").unwrap(), b"one\r\ntwo\r\n\r\nno newline");
    assert_eq!(scene.read("logo.png").unwrap(), [0x89, b'P', 0, 1, 255]);
    assert!(files(&scene.root())["tool"].1);
    assert!(scene.read("src/b.rs").is_none() && scene.read("src/main.rs").is_some());
    assert!(done.plan.files.iter().any(|file| file.renamed_from.is_some()));
    scene.revert();
    assert_eq!(files(&scene.root()), before);
}

#[test]
fn what_was_asked_for_needs_no_key_where_policy_decides() {
    let scene = Scene::new();
    scene.write(
        "relaycode.config.json",
        r#"{"projectId": "app", "patch": {"approvalMode": "auto", "linter": "true"}}"#,
    );
    let door = scene.door();
    door.trust().grant(&scene.root(), &door.wants(), NOW).unwrap();
    let worked = scene.work(|copy| write(&copy.join("a.txt"), "one\n2\nthree\nfour\nfive\n")).unwrap();
    let submission =
        worked.submission(Consent::default(), PlanLimits::default(), true, NOW.to_string()).unwrap();
    let pasted =
        relaycode_door::Submission { origin: relaycode_door::SubmissionOrigin::Paste, ..submission.clone() };
    let SubmitOutcome::ApprovalRequired { rules, .. } = door.submit(&pasted, &mut Nobody).unwrap() else {
        panic!("anybody could have pasted it")
    };
    assert_eq!(rules.iter().map(ApprovalReason::name).collect::<Vec<_>>(), ["no-key"]);
    let done = applied(door.submit(&submission, &mut Nobody).unwrap());
    assert_eq!(done.record.decided_by.as_deref(), Some("policy"));
}

#[test]
fn what_the_user_edits_meanwhile_is_merged_and_looked_at_or_refused() {
    let scene = Scene::new();
    let worked = scene.work(|copy| write(&copy.join("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n")).unwrap();
    scene.write("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    let SubmitOutcome::ApprovalRequired { rules, .. } = scene.submit(&worked, &[]) else {
        panic!("nobody asked")
    };
    assert!(rules.iter().any(|rule| rule.name() == "near"), "{rules:?}");
    applied(scene.submit(&worked, &["near"]));
    assert_eq!(scene.read("a.txt").unwrap(), b"ONE\ntwo\nthree\nfour\nFIVE\n");

    let before = files(&scene.root());
    let worked = scene
        .work(|copy| {
            write(&copy.join("a.txt"), "1\ntwo\nthree\nfour\nFIVE\n");
            write(&copy.join("src/b.rs"), "fn other() {}\n");
        })
        .unwrap();
    scene.write("a.txt", "uno\ntwo\nthree\nfour\nFIVE\n");
    let SubmitOutcome::Refused(refused) = scene.submit(&worked, &[]) else { panic!("not refused") };
    assert_eq!(refused.refusals.len(), 1);
    assert_eq!(refused.refusals[0].path.as_ref().unwrap().as_str(), "a.txt");
    assert_eq!(scene.read("src/b.rs").unwrap(), before["src/b.rs"].0);
}

#[test]
fn a_file_that_the_user_changed_is_not_deleted_and_one_that_is_gone_is_no_conflict() {
    let scene = Scene::new();
    let gone = |copy: &Path| fs::remove_file(copy.join("a.txt")).unwrap();
    let worked = scene.work(gone).unwrap();
    scene.write("a.txt", "mine\n");
    assert!(matches!(scene.submit(&worked, &[]), SubmitOutcome::Refused(_)));
    assert_eq!(scene.read("a.txt").unwrap(), b"mine\n");
    let worked = scene.work(gone).unwrap();
    fs::remove_file(scene.root().join("a.txt")).unwrap();
    assert!(matches!(scene.submit(&worked, &[]), SubmitOutcome::AlreadyIn { .. }));
}

#[test]
fn a_friend_that_deletes_everything_is_asked_about() {
    let scene = Scene::new();
    for number in 0..20 {
        scene.write(&format!("f{number}.txt"), format!("{number}\n"));
    }
    let before = files(&scene.root());
    let worked = scene
        .work(|copy| {
            for (name, _) in files(copy) {
                fs::remove_file(copy.join(name)).unwrap();
            }
            fs::remove_dir_all(copy.join(".git")).unwrap();
        })
        .unwrap();
    let SubmitOutcome::ApprovalRequired { rules, .. } = scene.submit(&worked, &[]) else {
        panic!("nobody asked")
    };
    assert!(rules.iter().any(|rule| rule.name() == "mass-deletion"), "{rules:?}");
    assert_eq!(files(&scene.root()), before);
    // One that removes the whole copy has not said anything.
    let lost = scene.work(|copy| fs::remove_dir_all(copy).unwrap());
    assert!(matches!(lost, Err(WorkError::Scratch(ScratchError::CopyRemoved))));
}

#[test]
fn hooks_guarded_files_links_and_build_output_do_not_slip_in() {
    let scene = Scene::new();
    let before = everything(&scene.root().join(".git"), true);
    let worked = scene
        .work(|copy| {
            write(&copy.join(".git/hooks/pre-commit"), "#!/bin/sh\n");
            write(&copy.join(".github/workflows/ci.yml"), "on: push\n");
            write(&copy.join("target/out.o"), "built\n");
            write(&copy.join("x.log"), "noise\n");
            write(&copy.join("more/.gitignore"), "made/\n");
            write(&copy.join("more/made/x.txt"), "x\n");
            write(&copy.join("sub/.git/config"), "[core]\n");
            write(&copy.join("odd:name.txt"), "x\n");
            symlink("/etc/passwd", copy.join("link")).unwrap();
            fs::remove_file(copy.join("a.txt")).unwrap();
            symlink("src/b.rs", copy.join("a.txt")).unwrap();
        })
        .unwrap();
    let proposal = worked.proposal.as_ref().unwrap();
    let names: Vec<&str> = proposal.operations.iter().map(|o| o.action.path().as_str()).collect();
    assert_eq!(names, [".github/workflows/ci.yml", "more/.gitignore"]);
    let said = worked.left_out.join("\n");
    for word in [
        "target/",
        "x.log",
        "more/made/",
        "sub/.git",
        "odd:name.txt",
        "link",
        "became something else in the copy are left out: a.txt",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let SubmitOutcome::ApprovalRequired { rules, .. } = scene.submit(&worked, &[]) else {
        panic!("nobody asked")
    };
    assert!(rules.iter().any(|rule| rule.name() == "guarded"), "{rules:?}");
    assert_eq!(everything(&scene.root().join(".git"), true), before);
    assert_eq!(scene.read("a.txt").unwrap(), b"one\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn a_friend_that_fails_or_may_not_write_changes_nothing() {
    let scene = Scene::new();
    let deeds = |copy: &Path| write(&copy.join("a.txt"), "half\n");
    let friend = Hands { deeds: &deeds, fails: true };
    let error = scene.ask(&friend, &scene.root(), &working("x")).unwrap_err();
    assert_eq!(error.to_string(), "codex failed: no more tokens; 1 change in its copy was dropped");
    let friend = Hands { deeds: &deeds, fails: false };
    let reading = AskRequest { access: Access::ReadOnly, ..working("x") };
    assert!(matches!(scene.ask(&friend, &scene.root(), &reading), Err(WorkError::Access { .. })));
    assert!(matches!(scene.ask(&friend, &scene.root(), &working(" \n")), Err(WorkError::NoPrompt)));
    let context = Some("x".repeat(200_001));
    let much = AskRequest { context, ..working("x") };
    let text = scene.ask(&friend, &scene.root(), &much).unwrap_err().to_string();
    assert_eq!(text, "the context is too large: 200001 bytes, 200000 at most");
    assert!(scene.work(|_| {}).unwrap().proposal.is_none());
    // The same bytes, written anew, are no change.
    assert!(scene.work(|copy| write(&copy.join("src/b.rs"), "fn main() {}\n")).unwrap().proposal.is_none());
    // Another byte, in the same moment and of the same length, is one.
    assert!(scene.work(|copy| write(&copy.join("src/b.rs"), "fn main() {}\t")).unwrap().proposal.is_some());
}

#[test]
fn work_that_does_not_go_in_is_kept_as_an_answer() {
    let scene = Scene::new();
    scene.write("crlf.txt", "one\r\ntwo\r\n");
    scene.write("old.txt", "moved\nas it is\n");
    scene.write("fence.md", "text\n");
    let made = Mutex::new(BTreeMap::new());
    let deeds = |copy: &Path| {
        write(&copy.join("a.txt"), "one\ntwo\n3\nfour\nfive");
        write(&copy.join("crlf.txt"), "one\r\n2\r\n");
        write(&copy.join("fence.md"), "```js // evil.js\nx\n```\n\n`````\ntext\n");
        write(&copy.join("deep/new.txt"), "new\n");
        write(&copy.join("logo.png"), [0, 159, 146, 150]);
        run_bit(&copy.join("src/b.rs"), true);
        fs::rename(copy.join("old.txt"), copy.join("moved.txt")).unwrap();
        fs::remove_file(copy.join(".gitignore")).unwrap();
        *made.lock().unwrap() = files(copy);
    };
    let worked = scene.work(deeds).unwrap();
    let proposal = worked.proposal.as_ref().unwrap();
    let kept = save_patch(Some(&scene.home()), "codex", "app", proposal, NOW).unwrap();
    assert_eq!(kept.left_out, [path("logo.png")]);
    let file = kept.path.unwrap();
    assert_eq!(file, scene.home().join("kept/2026-01-01T000000Z-codex.md"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Read back, it does the same.
    let text = fs::read_to_string(&file).unwrap();
    let read = relaycode_change::response::read(&text, &PlanLimits::default()).unwrap();
    assert!(read.unread.is_empty(), "{:?}", read.unread);
    assert!(!read.operations.iter().any(|o| matches!(o.action, FileAction::Exact { .. })));
    assert_eq!(read.control.git_commit_msg.as_deref(), Some("make it better"));
    let again = WorkOutcome { proposal: Some(read), friend: "codex".to_string(), ..WorkOutcome::default() };
    applied(scene.submit(&again, &["guarded"]));
    let mut made = made.into_inner().unwrap();
    assert!(made.remove("logo.png").is_some() && made["src/b.rs"].1 && !made.contains_key("evil.js"));
    assert_eq!(files(&scene.root()), made);
    // There are never more than so many.
    for _ in 0..MAX_SAVED_PATCHES + 3 {
        save_patch(Some(&scene.home()), "codex", "app", proposal, NOW).unwrap();
    }
    assert!(fs::read_dir(scene.home().join("kept")).unwrap().count() <= MAX_SAVED_PATCHES);
}
