//! "apply?" and everything that can be done before saying yes.

use relaycode_door::PlanRevision;
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;

const ASKED: &str = "e edit · w why · ?  ";

fn ask(desk: Desk, script: Script) -> (ApprovalReply, String) {
    let (plan, proposal, rules) = (plan(), proposal(), guarded());
    let question =
        ApprovalQuestion::Apply { proposal: &proposal, plan: &plan, digest: digest(), rules: &rules };
    desk.ask(&question, script)
}

/// Asks with an editor or pager that `run` stands in for.
fn ask_with(
    desk: Desk,
    run: impl Fn(&Job) -> Result<JobOutcome, ExecError> + 'static,
    script: Script,
) -> (ApprovalReply, String) {
    let (plan, proposal) = (plan(), proposal());
    let question = ApprovalQuestion::Apply { proposal: &proposal, plan: &plan, digest: digest(), rules: &[] };
    let approver = desk.approver(run);
    desk.ask_with(approver, &question, script)
}

fn words(job: &Job) -> Vec<OsString> {
    match &job.command {
        relaycode_exec::JobCommand::Argv(words) => words.clone(),
        relaycode_exec::JobCommand::Shell(_) => panic!("no shell is involved"),
    }
}

fn last(job: &Job) -> PathBuf {
    PathBuf::from(words(job).last().unwrap())
}

#[test]
fn the_card_is_shown_with_what_it_does_not_say_itself() {
    let (reply, seen) = ask(Desk::new(), &[(ASKED, "y\n")]);
    assert_eq!(reply, yes());
    let expected = "\
▸ feat: round totals                                              3 files  +5 −4
    =  same.ts               already in
    M  src/cart.ts   +3 −3
    A  src/money.ts  +2
    D  old.ts        −1
  ! .github/workflows/ci.yml runs in CI
  apply? [y/N]  d diff · f pick · e edit · w why · ?  y
";
    assert_eq!(seen, expected);
}

#[test]
fn the_same_plan_is_shown_once_and_another_again() {
    let mut desk = Desk::new();
    let (plan, proposal) = (plan(), proposal());
    let mut approver = desk.approver(|_| ended(0));
    let person = desk.person(&[(ASKED, "y\n"), (ASKED, "y\n"), (ASKED, "y\n")]);
    for about in [b"abc", b"abc", b"new"] {
        let digest = Digest::of(about);
        let question = ApprovalQuestion::Apply { proposal: &proposal, plan: &plan, digest, rules: &[] };
        assert_eq!(approver.decide(&question), ApprovalReply::Yes { digest });
        assert_eq!(approver.shown_digest, Some(digest));
    }
    drop((approver, desk));
    let seen = person.join().unwrap();
    assert_eq!(seen.matches("▸ feat: round totals").count(), 2, "{seen}");
}

#[test]
fn a_no_may_have_a_reason() {
    let scripts: [(Script, ApprovalReply); 6] = [
        (&[(ASKED, "n\n")], no()),
        (&[(ASKED, "n because the tests are missing\n")], because("the tests are missing")),
        (&[(ASKED, "N the tests are missing\n")], because("the tests are missing")),
        (&[(ASKED, "r\n"), ("why?", "wrong file\n")], because("wrong file")),
        (&[(ASKED, "r wrong file\n")], because("wrong file")),
        (&[(ASKED, "r\n"), ("why?", "\n")], no()),
    ];
    for (script, expected) in scripts {
        assert_eq!(ask(Desk::new(), script).0, expected);
    }
}

#[test]
fn why_names_the_rules_and_the_digest() {
    let script: Script = &[
        (ASKED, "w\n"),
        ("manual    `patch.approvalMode` is `manual`", ""),
        ("guarded   .github/workflows/ci.yml is guarded: it runs in CI", ""),
        ("`--allow guarded` lets it pass", ""),
        ("a yes counts for exactly this: ba7816bf8f01", ""),
        (ASKED, "?\n"),
        ("pick files, or single places in them", ""),
        (ASKED, "n\n"),
    ];
    assert_eq!(ask(Desk::new(), script).0, no());
}

#[test]
fn a_diff_is_of_everything_of_a_file_or_of_a_place() {
    let desk = Desk::sized(200, 80);
    let script: Script = &[
        (ASKED, "d\n"),
        ("+new 3", ""),
        ("+new 57", ""),
        ("-gone", ""),
        (ASKED, "d 2\n"),
        ("+++ b/src/money.ts", ""),
        (ASKED, "d src/cart.ts\n"),
        ("+++ b/src/cart.ts", ""),
        (ASKED, "d money.ts\n"),
        ("+++ b/src/money.ts", ""),
        (ASKED, "d 1.2\n"),
        ("+++ b/src/cart.ts\r\n@@ -27,7 +27,7 @@", ""),
        (ASKED, "d 9\n"),
        ("! `9` is none of these", ""),
        ("1.3    line 57    +1 −1   new 57", ""),
        (ASKED, "d 1.9\n"),
        ("! `1.9` is none of these", ""),
        (ASKED, "y\n"),
    ];
    let (reply, seen) = ask(desk, script);
    assert_eq!(reply, yes(), "{seen}");
}

#[test]
fn what_is_longer_than_the_screen_goes_to_the_pager_privately() {
    let jobs = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&jobs);
    let run = move |job: &Job| {
        let file = last(job);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(fs::read_to_string(&file).unwrap().contains("+new 57"));
        kept.borrow_mut().push(job.clone());
        ended(0)
    };
    let (reply, seen) =
        ask_with(Desk::new(), run, &[(ASKED, "d\n"), (ASKED, "d 2\n"), ("+two", ""), (ASKED, "n\n")]);
    assert_eq!(reply, no());
    assert!(!seen.contains("+new 57"), "{seen}");
    let jobs = jobs.borrow();
    assert_eq!(jobs.len(), 1, "what fits is printed");
    assert_eq!(words(&jobs[0])[..3], ["less", "-FRX", "-R"]);
    assert_eq!(jobs[0].output, relaycode_exec::JobOutput::Terminal);
    assert!(jobs[0].environment.set.contains(&("LESSSECURE".into(), "1".into())));
    assert!(jobs[0].environment.remove.contains(&"LESSOPEN".into()));
}

#[test]
fn without_a_pager_it_is_printed() {
    let run = |_: &Job| Err(ExecError::NotFound { program: "less".to_string() });
    let (_, seen) = ask_with(Desk::new(), run, &[(ASKED, "d\n"), ("+new 57", ""), (ASKED, "n\n")]);
    assert!(seen.contains("+new 3\n"), "{seen}");
}

#[test]
fn files_and_places_are_picked_by_number() {
    let leave = |name: &str| PlanRevision::LeaveOut(path(name));
    let only = |places: &[usize]| PlanRevision::OnlyHunks(path("src/cart.ts"), places.to_vec());
    let scripts: [(Script, ApprovalReply); 6] = [
        (&[(ASKED, "f\n"), ("which?", "1 3\n")], ApprovalReply::Revise(vec![leave("src/money.ts")])),
        (&[(ASKED, "f\n"), ("which?", "-3\n")], ApprovalReply::Revise(vec![leave("old.ts")])),
        (&[(ASKED, "f -1.2\n")], ApprovalReply::Revise(vec![only(&[0, 2])])),
        (
            &[(ASKED, "f\n"), ("which?", "d 1.3\n"), ("+new 57", ""), ("which?", "1.3 2\n")],
            ApprovalReply::Revise(vec![only(&[2]), leave("old.ts")]),
        ),
        (&[(ASKED, "f\n"), ("which?", "\n"), (ASKED, "n\n")], no()),
        (
            &[
                (ASKED, "f\n"),
                ("which?", "7\n"),
                ("! `7` is none of these", ""),
                ("which?", "-1-3\n"),
                ("nothing would be left of it", ""),
                ("which?", "1-3\n"),
                ("that is everything", ""),
                (ASKED, "y\n"),
            ],
            yes(),
        ),
    ];
    for (script, expected) in scripts {
        let (reply, seen) = ask(Desk::sized(100, 80), script);
        assert_eq!(reply, expected, "{seen}");
    }
}

#[test]
fn the_list_to_pick_from_shows_each_place() {
    let (_, seen) = ask(Desk::new(), &[(ASKED, "f\n"), ("which?", "\x04"), (ASKED, "\n")]);
    let expected = "
    1  M  src/cart.ts    +3 −3
         1.1    line 3     +1 −1   new 3
         1.2    line 30    +1 −1   new 30
         1.3    line 57    +1 −1   new 57
    2  A  src/money.ts   +2
    3  D  old.ts         −1
  which? `1 3`, all but `-2`, place `1.2`, `d 1.2` shows it, Enter: back";
    assert!(seen.contains(expected), "{seen}");
}

#[test]
fn an_edited_text_becomes_a_revision() {
    let run = |job: &Job| {
        let words = words(job);
        if words[0] == "editor" {
            assert_eq!(words[1], "--wait");
            return Err(ExecError::NotFound { program: "editor".to_string() });
        }
        assert_eq!(words[0], "vi");
        let file = last(job);
        assert_eq!(file.extension().unwrap(), "ts");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(job.output, relaycode_exec::JobOutput::Terminal);
        let text = fs::read_to_string(&file).unwrap() + "three\n";
        // As editors do: a new file over the old one, and something left beside it.
        fs::write(file.with_extension("new"), text).unwrap();
        fs::rename(file.with_extension("new"), &file).unwrap();
        fs::write(file.with_extension("swp"), "").unwrap();
        ended(0)
    };
    let expected =
        ApprovalReply::Revise(vec![PlanRevision::Text(path("src/money.ts"), b"one\ntwo\nthree\n".to_vec())]);
    let (reply, seen) = ask_with(Desk::new(), run, &[(ASKED, "e\n"), ("edit which?", "2\n")]);
    assert_eq!(reply, expected, "{seen}");
    let (reply, _) = ask_with(Desk::new(), run, &[(ASKED, "e src/money.ts\n")]);
    assert_eq!(reply, expected);
}

#[test]
fn an_editor_that_fails_or_changes_nothing_changes_nothing() {
    let (reply, _) = ask_with(
        Desk::new(),
        |job| {
            fs::write(last(job), "half").unwrap();
            ended(1)
        },
        &[(ASKED, "e 2\n"), ("! the editor ended with code 1: nothing changes", ""), (ASKED, "n\n")],
    );
    assert_eq!(reply, no());
    let script: Script = &[
        (ASKED, "e 2\n"),
        ("! the text is as it was: nothing changes", ""),
        (ASKED, "e 3\n"),
        ("! old.ts has no text to edit", ""),
        (ASKED, "e 8\n"),
        ("! `8` is none of these", ""),
        (ASKED, "n\n"),
    ];
    assert_eq!(ask_with(Desk::new(), |_| ended(0), script).0, no());
    let missing =
        |job: &Job| Err(ExecError::NotFound { program: words(job)[0].to_string_lossy().into_owned() });
    let script: Script =
        &[(ASKED, "e 2\n"), ("! there is no editor (editor, vi); set VISUAL or EDITOR", ""), (ASKED, "n\n")];
    assert_eq!(ask_with(Desk::new(), missing, script).0, no());
}

#[test]
fn hostile_text_is_shown_and_never_obeyed() {
    let hostile = "a\x1b[2Jb\u{202e}c\u{9b}31m\n";
    let files = vec![file("a.ts", Some("x\n"), Some(hostile)), file("b.ts", Some("x\n"), Some("y\n"))];
    let plan = Plan { files, ..Plan::default() };
    let mut proposal = proposal();
    proposal.control.git_commit_msg = Some(hostile.to_string());
    let rules = [rules::guarded::reason(&path("a.ts"), hostile)];
    let question =
        ApprovalQuestion::Apply { proposal: &proposal, plan: &plan, digest: digest(), rules: &rules };
    let script: Script = &[
        (ASKED, "d\n"),
        (ASKED, "w\n"),
        (ASKED, "f\n"),
        // What a terminal would take for a title is no text, and what stands behind it is no file.
        ("which?", "\x1b]0;x\x07z\n"),
        ("which?", "\n"),
        (ASKED, "n\n"),
    ];
    // `ask` looks for raw control characters in everything that appeared.
    let (reply, seen) = Desk::new().ask(&question, script);
    assert_eq!(reply, no());
    assert!(seen.contains("+a\\u{1b}[2Jb\\u{202e}c\\u{9b}31m"), "{seen}");
}
