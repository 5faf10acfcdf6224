//! `relay record` of commands that remove what relay needs: its own directory, the project itself. What was secured is
//! out of their reach, and whatever is said afterwards is true.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use relaycode_testkit::git::git;
use relaycode_testkit::process::poll_until;

use crate::fixture::scratch_project::{Project, Ran, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(120);

const ANSWER: &str = "```text // a.txt\nthree\n```\n";

/// A project with an earlier change, files that git does not know, and files that it ignores.
fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\n"), ("sub/b.txt", "b\n"), (".gitignore", "*.log\n")]);
    for words in [&["init", "-q", "-b", "main", "."][..], &["add", "-A"], &["commit", "-qm", "first"]] {
        git(&project.path(""), words);
    }
    project.put("untracked.txt", b"precious\n");
    project.put("sub/build.log", b"\0ignored");
    project.applied(ANSWER);
    project
}

/// The tree without what is git's own.
fn files(project: &Project) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut tree = project.tree();
    tree.retain(|path, _| path != ".git" && !path.starts_with(".git/"));
    tree
}

fn command(project: &Project, line: &str) -> Command {
    let mut command = project.command(&["record", "--", "sh", "-c", line]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn record(project: &Project, line: &str) -> Ran {
    run(&mut command(project, line))
}

#[test]
fn a_command_that_removes_relays_own_directory_is_undone_with_everything_before_it() {
    let mut transcript = Transcript::default();
    for line in [
        "git clean -fdxq",
        "rm -rf ./* .relaycode",
        "git -c user.name=a -c user.email=a@example.invalid stash -aq",
    ] {
        let project = project();
        let was = files(&project);
        let ran = record(&project, line);
        transcript.add(line, &ran);
        assert_eq!(project.log().len(), 2, "{line}");
        project.done(&["revert", "-y"]);
        assert_eq!(files(&project), was, "{line}");
        // The change of before can be taken back as well.
        project.done(&["revert", "3", "-y"]);
        assert_eq!(project.text("a.txt"), "one\ntwo\n", "{line}");
        assert!(!project.path(".relaycode/recordings").exists());
    }
    relay_snapshot!(transcript, @"
    # git clean -fdxq
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 2 files −1 · `relay revert <id>` undoes it
    ! it removed .relaycode, which is back now, with 1 earlier change

    # rm -rf ./* .relaycode
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 4 files −3 · `relay revert <id>` undoes it
    ! it removed .relaycode, which is back now, with 1 earlier change

    # git -c user.name=a -c user.email=a@example.invalid stash -aq
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 3 files +2 −2 · `relay revert <id>` undoes it
      git: stash created at <commit>, index changed
    ! it removed .relaycode, which is back now, with 1 earlier change
    ");
}

#[test]
fn a_relay_that_is_killed_after_its_directory_was_removed_is_caught_up_with() {
    let project = project();
    let was = files(&project);
    let line = "git clean -fdxq; echo $$ > pid; while :; do sleep 0.05; done";
    let mut relay = command(&project, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = || fs::read_to_string(project.path("pid")).ok().filter(|text| text.ends_with('\n'));
    poll_until(LONG, begun).unwrap();
    relay.kill().unwrap();
    relay.wait().unwrap();
    let found = poll_until(LONG, || {
        project.relay(&["recover"]);
        Some(project.log()).filter(|log| log.len() == 2)
    });
    assert_eq!(found.unwrap()[0]["interrupted"], true);
    project.done(&["revert", "-y"]);
    assert_eq!(files(&project), was);
}

#[test]
fn a_project_that_is_gone_is_said_with_where_its_files_are_and_comes_back() {
    let project = project();
    let was = files(&project);
    let root = project.path("");
    let ran = record(&project, "rm -rf \"$PWD\"");
    assert_ne!(ran.code, 0, "{ran:?}");
    relay_snapshot!(ran, @"
    exit 1
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✗ <project> is not there any more
      the command ran, and what it changed is not recorded yet; the backup is in <home>/ledgers/<ledger>/recordings/change-1-…. `mkdir -p <project>/.relaycode`, or move it back, then `relay recover` there records it and `relay undo` undoes it
    ");
    fs::create_dir(&root).unwrap();
    relay_snapshot!(project.relay(&["recover", "-C", root.to_str().unwrap()]), @"
    exit 0
    ----- stdout -----
    ! the recording change-1 was cut short: 5 changed files recorded, `relay revert change-1` undoes it
    ");
    // What git had is gone, and that is said.
    let ran = project.relay(&["revert", "-y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(files(&project), was);
}

#[test]
fn something_else_where_relays_directory_was_is_said_and_nothing_is_written_through_it() {
    let project = project();
    let was = files(&project);
    let elsewhere = tempfile::tempdir().unwrap();
    let ran = record(
        &project,
        &format!("rm -rf .relaycode a.txt; ln -s '{}' .relaycode", elsewhere.path().display()),
    );
    assert_ne!(ran.code, 0, "{ran:?}");
    relay_snapshot!(ran, @"
    exit 1
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✗ cannot make .relaycode: it is a symbolic link, not a directory
      the command ran, and what it changed is not recorded yet; the backup is in <home>/ledgers/<ledger>/recordings/change-1-…. <project>/.relaycode is not relay's directory any more: move it away, then `relay recover` there records it and `relay undo` undoes it
    ");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::remove_file(project.path(".relaycode")).unwrap();
    project.relay(&["recover"]);
    project.done(&["revert", "-y"]);
    assert_eq!(files(&project), was);
}

#[test]
fn a_change_that_relay_itself_makes_meanwhile_is_undone_once() {
    let project = project();
    let was = files(&project);
    let answer = tempfile::tempdir().unwrap();
    let path = answer.path().join("answer.md");
    fs::write(&path, "```text // sub/b.txt\nB\n```\n").unwrap();
    let relay = env!("CARGO_BIN_EXE_relay");
    let ran = record(&project, &format!("'{relay}' apply '{}' -y; echo x > new", path.display()));
    assert_eq!((ran.code, project.text("sub/b.txt").as_str()), (0, "B\n"), "{ran:?}");
    assert_eq!(project.log().len(), 3, "{ran:?}");
    project.done(&["revert", "1", "-y"]);
    assert_eq!(files(&project), was);
    // The change within it has nothing left to take back.
    project.relay(&["revert", "3", "-y"]);
    assert_eq!(files(&project), was);
}

#[test]
fn a_root_that_nobody_may_enter_is_named_or_recorded_later() {
    let project = project();
    let was = files(&project);
    let root = project.path("");
    let ran = record(&project, "echo x > a.txt; chmod 000 .");
    fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Root may enter it all the same.
    if ran.code == 0 {
        let shown = project.done(&["show", "1"]);
        assert!(shown.contains("M  ./  ") && shown.contains(" → 0000"), "{shown}");
    } else {
        assert!(ran.err.contains("relay recover") && !ran.err.contains("nothing was changed"), "{ran:?}");
        project.relay(&["recover"]);
    }
    project.done(&["revert", "-y"]);
    assert_eq!(files(&project), was);
}

#[test]
fn a_directory_that_a_link_leads_to_is_not_the_project() {
    let project = project();
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("moved");
    let root = project.path("");
    let root = root.to_str().unwrap().trim_end_matches('/').to_string();
    let ran = record(
        &project,
        &format!(
            "mv '{root}' '{}'; mkdir '{}/x'; ln -s '{}/x' '{root}'",
            moved.display(),
            elsewhere.path().display(),
            elsewhere.path().display()
        ),
    );
    let link = fs::symlink_metadata(&root).unwrap().is_symlink();
    if link {
        assert!(ran.err.contains("symbolic link to another directory"), "{ran:?}");
        assert_eq!(fs::read_dir(elsewhere.path().join("x")).unwrap().count(), 0);
        fs::remove_file(&root).unwrap();
        fs::rename(&moved, &root).unwrap();
    }
    assert_eq!(project.text("sub/b.txt"), "b\n");
}
