//! What the tool that relay follows was proved to do wrong, as one list: each row is a test, by what it
//! guards.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::fixture::configured_project::{Outside, configured, git, relay_git, repository, trusted, unasked};
use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(60);

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\n")])
}

/// Waits until there is such a file.
fn wait_for(path: &str) {
    let start = Instant::now();
    while !fs::exists(path).unwrap() {
        assert!(start.elapsed() < LONG, "{path} does not come");
        std::thread::yield_now();
    }
}

/// A command that says that it runs, and then waits to be let go.
fn waiting(outside: &Outside) -> String {
    let (started, go) = (outside.path("started"), outside.path("go"));
    outside.script("wait.sh", &format!("touch {started}\nwhile [ ! -e {go} ]; do sleep 0.05; done\n"))
}

#[test]
fn a_path_out_of_the_project_is_refused() {
    let project = project();
    let root = project.path("inner");
    fs::create_dir(&root).unwrap();
    let mut transcript = Transcript::default();
    for path in ["../escape.txt", "x/../../escape.txt", "..\\escape.txt", "/tmp/relay-escape.txt"] {
        let answer = whole(path, "out\n");
        let ran = project.pipe(&["apply", "-", "-y", "-C", root.to_str().unwrap()], answer.as_bytes());
        transcript.add(path, &ran);
    }
    relay_snapshot!(transcript, @r"
    # ../escape.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `../escape.txt` contains `..`; paths stay inside the project
      next: `... | relay preview - -C <project>/inner --repair` writes a prompt for your model

    # x/../../escape.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `x/../../escape.txt` contains `..`; paths stay inside the project
      next: `... | relay preview - -C <project>/inner --repair` writes a prompt for your model

    # ..\escape.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `..\\escape.txt` contains `..`; paths stay inside the project
      next: `... | relay preview - -C <project>/inner --repair` writes a prompt for your model

    # /tmp/relay-escape.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `/tmp/relay-escape.txt` is absolute; paths are relative to the project
      next: `... | relay preview - -C <project>/inner --repair` writes a prompt for your model
    ");
    assert!(!project.path("escape.txt").exists() && !fs::exists("/tmp/relay-escape.txt").unwrap());
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let project = project();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("there.txt"), "theirs\n").unwrap();
    symlink(outside.path(), project.path("link")).unwrap();
    symlink(outside.path().join("there.txt"), project.path("file.txt")).unwrap();
    for answer in [
        whole("link/new.txt", "out\n"),
        whole("link/there.txt", "out\n"),
        edit("file.txt", "theirs", "ours"),
        whole("file.txt", "ours\n"),
    ] {
        assert_eq!(project.apply(&answer).code, 3, "{answer}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("there.txt")).unwrap(), "theirs\n");
    assert!(!outside.path().join("new.txt").exists());
}

#[test]
fn a_commit_message_is_text_and_nothing_else() {
    let project = project();
    repository(&project);
    let message = "feat: $(touch p1) `touch p2` \"; touch p3; \" '; touch p4; ' ${HOME} %s \\ && touch p5";
    let quoted = message.replace('\'', "''");
    let control = format!("\n```yaml\nprojectId: shop\nuuid: {UUID}\ngitCommitMsg: '{quoted}'\n```\n");
    project.applied(&(edit("a.txt", "two", "2") + &control));
    let ran = relay_git(&project, &["git", "commit", "-y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(git(&project, &["log", "-1", "--format=%B"]), message);
    let made = project.listing().into_iter().filter(|path| !path.starts_with(".git")).collect::<Vec<_>>();
    assert_eq!(made, ["a.txt"]);
}

#[test]
fn no_failure_ends_with_0() {
    let project = configured(&[("a.txt", "one\n")], json!({}));
    let fits = edit("a.txt", "one", "1");
    let cases: &[(&[&str], String, i32)] = &[
        (&["apply", "-", "-y"], edit("a.txt", "no such text", "x"), 3),
        (&["apply", "-", "-y"], "Just words.\n".into(), 3),
        (&["apply", "-", "-y"], String::new(), 3),
        (&["apply", "-", "-y"], "```text // a.txt search-replace\n<<<<<<< SEARCH\none\n```\n".into(), 3),
        (&["apply", "-", "-y"], fits.clone() + "\n```yaml\nprojectId: other\n```\n", 3),
        (&["apply", "-", "-y"], whole("../x", "x\n"), 3),
        (&["apply", "-"], fits.clone(), 13),
        (&["apply", "missing.md", "-y"], String::new(), 2),
        (&["revert"], String::new(), 2),
        (&["revert", "ffffffff"], String::new(), 2),
        (&["git", "commit", "-y"], String::new(), 2),
        (&["nonsense"], String::new(), 2),
    ];
    for (args, answer, code) in cases {
        let ran = project.pipe(args, answer.as_bytes());
        assert_eq!(ran.code, *code, "{args:?} {answer}: {ran:?}");
        assert_ne!(ran.err, "", "and it says why");
    }
    let wants = json!({"patch": {"linter": "true"}});
    assert_eq!(configured(&[("a.txt", "one\n")], wants).apply(&fits).code, 7, "not trusted");
    let wants = json!({"patch": {"postCommand": "false"}});
    assert_eq!(trusted(&[("a.txt", "one\n")], wants).apply(&fits).code, 5, "the gate failed");
    project.put("relaycode.config.json", b"{");
    assert_eq!(project.apply(&fits).code, 2, "a broken configuration");
}

#[test]
fn an_answer_that_failed_may_come_again_under_the_same_id() {
    let again = |project: &Project, answer: &str| {
        let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], answer.as_bytes());
        assert_eq!((ran.code, &ran.json()["id"]), (0, &UUID.into()), "{ran:?}");
    };
    let answer = edit("a.txt", "two", "2") + &control(UUID, "two");

    let refused = project();
    assert_eq!(refused.apply(&(edit("a.txt", "zwei", "2") + &control(UUID, "two"))).code, 3);
    again(&refused, &answer);

    let undecided = project();
    assert_eq!(unasked(&undecided, &answer).code, 13);
    again(&undecided, &answer);

    let outside = Outside::new();
    let passes = format!("test -e {}", outside.path("pass"));
    let gated = trusted(&[("a.txt", "one\ntwo\n")], json!({"patch": {"postCommand": passes}}));
    assert_eq!(gated.apply(&answer).code, 5);
    assert_eq!(gated.text("a.txt"), "one\ntwo\n");
    fs::write(outside.path("pass"), "").unwrap();
    again(&gated, &answer);

    let declined = project();
    declined.put("a.md", answer.as_bytes());
    let mut session = Session::start(&declined, &["apply", "a.md"], "");
    session.wait_for("apply? [y/N]");
    session.type_in("n\n");
    assert_eq!(session.end().0, Some(4));
    again(&declined, &answer);

    let unkept = trusted(&[("a.txt", "one\ntwo\n")], json!({"patch": {"postCommand": "exit 3"}}));
    unkept.put("a.md", answer.as_bytes());
    let mut session = Session::start(&unkept, &["apply", "a.md"], "");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    session.wait_for("keep? [y/N]");
    session.type_in("n\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(4), "{seen}");
    assert_eq!(unkept.text("a.txt"), "one\ntwo\n");
    let ran = unkept.pipe(&["apply", "-", "-y", "--allow", "gate"], answer.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn line_endings_stay_those_of_the_file() {
    let project = Project::new(&[("a.txt", "one\r\ntwo\r\nthree\r\n")]);
    project.applied(&edit("a.txt", "two", "2\n2b"));
    assert_eq!(project.text("a.txt"), "one\r\n2\r\n2b\r\nthree\r\n");
}

#[test]
fn a_byte_order_mark_stays() {
    let project = Project::new(&[("a.txt", "\u{feff}one\r\ntwo\r\n")]);
    project.applied(&edit("a.txt", "one", "1"));
    assert_eq!(project.text("a.txt"), "\u{feff}1\r\ntwo\r\n");
    project.done(&["revert"]);
    assert_eq!(project.text("a.txt"), "\u{feff}one\r\ntwo\r\n");
}

#[test]
fn what_is_put_back_is_byte_for_byte_what_it_was() {
    let project = trusted(&[], json!({"patch": {"postCommand": "false"}}));
    let bytes = b"caf\xe9 \xff\xfe\x80\r\nold\nno newline";
    project.put("latin.txt", bytes);
    assert_eq!(project.apply(&edit("latin.txt", "old", "new")).code, 5);
    assert_eq!(project.bytes("latin.txt"), bytes);
    let ran =
        project.pipe(&["apply", "-", "-y", "--allow", "gate"], edit("latin.txt", "old", "new").as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.bytes("latin.txt"), b"caf\xe9 \xff\xfe\x80\r\nnew\nno newline");
    project.done(&["revert"]);
    assert_eq!(project.bytes("latin.txt"), bytes);
}

#[test]
fn an_executable_comes_back_as_one() {
    let project = Project::new(&[("run.sh", "#!/bin/sh\n")]);
    fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    project.applied("```sh // run.sh\n//TODO: delete this file\n```\n");
    assert!(!project.path("run.sh").exists());
    project.done(&["revert"]);
    assert_eq!(fs::metadata(project.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_revert_keeps_what_the_user_did_since() {
    let project = project();
    project.applied(&edit("a.txt", "one", "1"));
    project.put("a.txt", b"1\ntwo\nthree\nmine\n");
    project.done(&["revert"]);
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\nmine\n");
    project.applied(&edit("a.txt", "one", "1"));
    project.put("a.txt", b"mine now\ntwo\nthree\nmine\n");
    let ran = project.relay(&["revert"]);
    assert_eq!(ran.code, 6, "in the very same line it is a question: {ran:?}");
    assert_eq!(project.text("a.txt"), "mine now\ntwo\nthree\nmine\n");
}

#[test]
fn a_rename_replaces_nothing_unasked() {
    let project = Project::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let answer = "```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"b.txt\"}\n```\n";
    let ran = project.apply(answer);
    assert_eq!(ran.code, 13, "{ran:?}");
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("a\n".into(), "b\n".into()));
}

#[test]
fn the_last_newline_of_a_whole_file_stays() {
    let project = project();
    project.applied(&(whole("a.txt", "only\n") + &whole("new.txt", "x\ny\n")));
    assert_eq!((project.text("a.txt"), project.text("new.txt")), ("only\n".into(), "x\ny\n".into()));
}

#[test]
fn fences_inside_a_file_are_its_text() {
    let inner = "# Use\n\n```sh\nnpm install\n```\n\nThen next:\n\n```ts\nrun();\n```\n\nEnd.\n";
    let deeper = "# Deep\n\n````md\n```sh\nx\n```\n````\n\nEnd.\n";
    for (fence, text) in [("````", inner), ("`````", deeper), ("~~~", inner), ("```", inner)] {
        let project = project();
        let answer = format!("Docs.\n\n{fence}md // README.md\n// START\n{text}// END\n{fence}\n");
        project.applied(&answer);
        assert_eq!(project.text("README.md"), text, "{fence}");
        assert_eq!(project.listing(), ["README.md", "a.txt"], "nothing else appears");
    }
    let project = project();
    project.applied(&format!("````md // README.md\n{inner}````\n"));
    assert_eq!(project.text("README.md"), inner, "without markers, too");
}

#[test]
fn a_text_that_stands_there_twice_is_not_guessed_at() {
    let project = Project::new(&[("a.txt", "x\nend\ny\nend\n")]);
    relay_snapshot!(project.apply(&edit("a.txt", "end", "END")), @"
    exit 3
    ----- stderr -----
    ✗ refused: the edit fits in several places                           nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   end
        is there 2 times, at lines 2, 4; more surrounding lines would tell which
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    assert_eq!(project.text("a.txt"), "x\nend\ny\nend\n");
}

#[test]
fn a_line_of_equals_signs_is_text() {
    let heading = "Title\n=======\n\nold\n";
    let project = Project::new(&[("a.rst", heading)]);
    project.applied(&whole("b.rst", heading));
    assert_eq!(project.text("b.rst"), heading);
    let answer = edit("a.rst", "Title\n\\=======\n\nold", "Title\n\\=======\n\nnew");
    project.applied(&answer);
    assert_eq!(project.text("a.rst"), "Title\n=======\n\nnew\n", "as the prompt says");
    // Without the backslash there are several ways to read it: right or refused, never a broken file.
    let ran = project.apply(&edit("a.rst", "Title\n=======\n\nnew", "Title\n=======\n\nnewer"));
    let now = project.text("a.rst");
    match ran.code {
        0 => assert_eq!(now, "Title\n=======\n\nnewer\n"),
        3 => assert_eq!(now, "Title\n=======\n\nnew\n"),
        _ => panic!("{ran:?}"),
    }
}

#[test]
fn two_at_once_do_not_meet_in_a_file() {
    let outside = Outside::new();
    let files = [("a.txt", "one\n"), ("b.txt", "one\n")];
    let project = trusted(&files, json!({"patch": {"postCommand": waiting(&outside)}}));
    project.put("a.md", edit("a.txt", "one", "1").as_bytes());
    let first = project.command(&["apply", "a.md", "-y"]).stdout(Stdio::piped()).spawn().unwrap();
    wait_for(&outside.path("started"));
    let same = project.apply(&edit("a.txt", "1", "2"));
    fs::write(outside.path("go"), "").unwrap();
    let other = project.apply(&edit("b.txt", "one", "1"));
    let first = first.wait_with_output().unwrap();
    relay_snapshot!(same, @"
    exit 3
    ----- stderr -----
    ✗ a.txt belongs to change-1, which is still open in process <pid>; nothing was changed
      wait until that change is done, or run `relay recover`
    ");
    assert_eq!((first.status.code(), other.code), (Some(0), 0), "{other:?}");
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("1\n".into(), "1\n".into()));
    assert_eq!(project.log().len(), 2);
}

#[test]
fn after_a_crash_the_next_command_puts_everything_back() {
    let outside = Outside::new();
    let project = trusted(&[("a.txt", "one\n")], json!({"patch": {"postCommand": waiting(&outside)}}));
    let answer = edit("a.txt", "one", "1") + &whole("dir/new.txt", "new\n") + &control(UUID, "one");
    project.put("a.md", answer.as_bytes());
    let before = project.tree();
    let mut child = project.command(&["apply", "a.md", "-y"]).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&outside.path("started"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(project.text("a.txt"), "1\n", "it was in the middle");
    assert!(project.path(&format!(".relaycode/{UUID}.pending.yml")).exists());
    // There is nothing to revert.
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 2
    ----- stderr -----
    ! an earlier run stopped in the middle of 0f8fad5b: everything was put back
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer
    ");
    assert_eq!(project.tree(), before);
    assert!(!project.path(&format!(".relaycode/{UUID}.pending.yml")).exists());
    fs::write(outside.path("go"), "").unwrap();
    assert_eq!(project.applied(&answer), UUID, "and the same answer may come again");
}
