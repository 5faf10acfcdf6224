//! Changes that are not there, lines that no file has, and repositories that have nothing to commit.

use std::fs;

use super::{project, typed};
use crate::fixture::configured_project::{git, keyed, relay_git, repository};
use crate::fixture::scratch_project::{Project, edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

/// A project with two changes whose ids begin with the same digits.
fn changed() -> Project {
    let project = project();
    let ids = ["aaaa1111-0000-4000-8000-000000000001", "aaaa2222-0000-4000-8000-000000000002"];
    for (id, (from, to)) in ids.into_iter().zip([("one", "1"), ("two", "2")]) {
        project.applied(&keyed(&project, &edit("a.txt", from, to), id, "number it"));
    }
    project
}

#[test]
fn an_empty_history() {
    let lines = ["undo", "redo", "revert", "revert 1", "show", "why", "git commit", "log --file gone.txt"];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay undo
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # relay redo
    exit 2
    ----- stderr -----
    ✗ there is nothing to redo; nothing was changed
      `relay log` lists what was done here

    # relay revert
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # relay revert 1
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # relay show
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # relay why
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # relay git commit
    exit 2
    ----- stderr -----
    ✗ there is no change to commit
      `relay log` lists what was applied

    # relay log --file gone.txt
    exit 0
    ----- stdout -----
    nothing has been applied here yet
    ");
}

#[test]
fn names_of_changes_that_are_not_there() {
    let lines = [
        "revert 0",
        "revert 99",
        "revert -1",
        "revert zzz",
        "revert aaa",
        "show aaaa",
        "show 1.5",
        "show deadbeef",
        "why zzz",
        "show 1 --file gone.txt",
        "revert 1 --file gone.txt",
        "redo",
    ];
    relay_snapshot!(typed(&changed(), &lines), @"
    # relay revert 0
    exit 2
    ----- stderr -----
    ✗ no change matches `0`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay revert 99
    exit 2
    ----- stderr -----
    ✗ no change matches `99`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay revert -1
    exit 2
    ----- stderr -----
    ✗ no change matches `-1`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay revert zzz
    exit 2
    ----- stderr -----
    ✗ no change matches `zzz`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay revert aaa
    exit 2
    ----- stderr -----
    ✗ no change matches `aaa`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay show aaaa
    exit 2
    ----- stderr -----
    ✗ `aaaa` matches 2 changes
      use more of the id: aaaa2222-0000-4000-8000-000000000002, aaaa1111-0000-4000-8000-000000000001

    # relay show 1.5
    exit 2
    ----- stderr -----
    ✗ no change matches `1.5`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay show deadbeef
    exit 2
    ----- stderr -----
    ✗ no change matches `change-1`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay why zzz
    exit 2
    ----- stderr -----
    ✗ no change matches `zzz`
      use a number or id from `relay log`; the first four characters of an id are enough

    # relay show 1 --file gone.txt
    exit 2
    ----- stderr -----
    ✗ gone.txt is not one of the files of change 1
      `relay show 1` lists them

    # relay revert 1 --file gone.txt
    exit 3
    ----- stderr -----
    ✗ aaaa2222 cannot be reverted: it did not change gone.txt; its files are a.txt; nothing was changed
      `relay show aaaa2222 --diff` shows what relay still knows about it

    # relay redo
    exit 2
    ----- stderr -----
    ✗ there is nothing to redo; nothing was changed
      `relay log` lists what was done here
    ");
}

#[test]
fn files_and_lines_without_an_author() {
    let project = changed();
    let lines =
        ["blame gone.txt", "blame src", "blame a.txt:99", "blame a.txt:0", "blame ../x.txt", "blame a.txt:x"];
    relay_snapshot!(typed(&project, &lines), @"
    # relay blame gone.txt
    exit 2
    ----- stderr -----
    ✗ there is no file gone.txt
      `relay log --file gone.txt` lists what changed it

    # relay blame src
    exit 2
    ----- stderr -----
    ✗ src is a directory, not a file
      name one file

    # relay blame a.txt:99
    exit 2
    ----- stderr -----
    ✗ a.txt has no line 99
      it has 2 lines

    # relay blame a.txt:0
    exit 2
    ----- stderr -----
    ✗ a.txt has no line 0
      it has 2 lines

    # relay blame ../x.txt
    exit 2
    ----- stderr -----
    ✗ ../x.txt is not in the project
      name a file inside the project's directory

    # relay blame a.txt:x
    exit 2
    ----- stderr -----
    ✗ `x` is not a line number
      `relay blame a.txt:1` shows the first line
    ");
}

#[test]
fn edits_in_the_way_of_undo() {
    let project = changed();
    project.put("a.txt", b"1\nmine\n");
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 6
    ----- stderr -----
    ! 1 file has later edits in the same lines; nothing was changed
      a.txt, line 2
        now       mine
        reverted  two
      `--markers` writes both sides into the files; or undo the later edits first
    ");
    fs::remove_file(project.path("a.txt")).unwrap();
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 6
    ----- stderr -----
    ! a.txt was changed by aaaa2222 but no longer exists; restore it first; nothing was changed
      fix that and try again; `--file PATH` takes back only that file
    ");
}

#[test]
fn an_answer_that_was_applied_before() {
    let project = changed();
    let again = keyed(&project, &edit("a.txt", "2", "3"), "aaaa2222-0000-4000-8000-000000000002", "again");
    relay_snapshot!(project.apply(&again), @"
    exit 8
    ----- stderr -----
    ✗ aaaa2222 was applied before; nothing was changed
      a different answer has this id: `relay show aaaa2222`; give this one a new id
    ");
}

#[test]
fn repositories_with_nothing_to_commit() {
    let mut transcript = Transcript::default();
    let plain = changed();
    transcript.add("no repository", &relay_git(&plain, &["git", "commit", "-y"]));
    let fresh = project();
    git(&fresh, &["init", "-q", "-b", "main"]);
    transcript.add("no change", &relay_git(&fresh, &["git", "commit", "-y"]));
    fresh.applied(&edit("a.txt", "one", "1"));
    transcript.add("nobody to ask", &relay_git(&fresh, &["git", "commit"]));
    transcript.add("review without a commit", &relay_git(&fresh, &["review"]));
    repository(&fresh);
    transcript.add("all of it is committed", &relay_git(&fresh, &["git", "commit", "-y"]));
    fresh.done(&["undo", "-q", "-y"]);
    transcript.add("the change is undone", &relay_git(&fresh, &["git", "commit", "2", "-y"]));
    transcript.add("an empty message", &relay_git(&fresh, &["git", "commit", "1", "-y", "-m", ""]));
    relay_snapshot!(transcript, @r#"
    # no repository
    exit 2
    ----- stderr -----
    ✗ <project> is not in a git repository; `git init` creates one; nothing was changed

    # no change
    exit 2
    ----- stderr -----
    ✗ there is no change to commit
      `relay log` lists what was applied

    # nobody to ask
    exit 13
    ----- stdout -----
    ▸ commit of 1 file on main
        edit a.txt
      ! a.txt
    ! 1 file also with edits from elsewhere
    ----- stderr -----
    ✗ files in this commit also have other edits; nothing was changed
      `--with-edits` commits them as they are

    # review without a commit
    exit 2
    ----- stderr -----
    ✗ <project> has no commits yet; nothing was changed
      make a first commit, then try again

    # all of it is committed
    exit 0
    ----- stdout -----
    ✓ nothing left to commit: the last commit already has its files as they are

    # the change is undone
    exit 2
    ----- stderr -----
    ✗ "edit a.txt" is undone: there is nothing to commit
      `relay redo` brings back what was undone last

    # an empty message
    exit 2
    ----- stdout -----
    ▸ commit of 1 file on main
        a.txt
    ----- stderr -----
    ✗ the commit message is empty; nothing was changed
      `-m TEXT` gives the message
    "#);
}

#[test]
fn git_is_not_installed() {
    let project = changed();
    relay_snapshot!(run(project.command(&["git", "commit", "-y"]).env("PATH", project.path("src"))), @"
    exit 2
    ----- stderr -----
    ✗ git is not installed, or not in PATH; nothing was changed
    ");
}

#[test]
fn commands_that_cannot_be_recorded() {
    let lines = ["record -- no-such-program --fast", "record -- ./a.txt", "record -- src"];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay record -- no-such-program --fast
    exit 2
    ----- stderr -----
    backed up 2 files, 14 bytes in <duration>
    ✗ program `no-such-program` not found
      check its name and PATH; nothing was run or recorded

    # relay record -- ./a.txt
    exit 2
    ----- stderr -----
    backed up 2 files, 14 bytes in <duration>
    ✗ `./a.txt` cannot be run: Permission denied (os error 13)
      nothing was run or recorded

    # relay record -- src
    exit 2
    ----- stderr -----
    backed up 2 files, 14 bytes in <duration>
    ✗ program `src` not found
      check its name and PATH; nothing was run or recorded
    ");
}
