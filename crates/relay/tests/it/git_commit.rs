//! `relay git commit` with real git: only the files of the change, whatever else is going on in the
//! repository, and nothing of the repository runs before it is trusted.

use std::fs;
use std::process::Command;

use crate::fixture::keyed_project::executable;
use crate::fixture::scratch_project::{Project, Ran, edit, run, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

/// A repository with one commit, and a user who has a name.
struct Repo {
    project: Project,
    /// Where the repository is, in the project's directory or above.
    below: &'static str,
}

impl Repo {
    fn new(files: &[(&str, &str)]) -> Repo {
        let repo = Repo::unborn(files, "");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "first"]);
        repo
    }

    /// Without a commit; the project lies in `below`.
    fn unborn(files: &[(&str, &str)], below: &'static str) -> Repo {
        let project = Project::new(files);
        let repo = Repo { project, below };
        fs::write(
            repo.config(),
            "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n",
        )
        .unwrap();
        repo.git(&["init", "-q"]);
        fs::write(repo.project.path(".git/info/exclude"), ".relaycode/\n").unwrap();
        repo
    }

    fn config(&self) -> std::path::PathBuf {
        self.project.home().join("gitconfig")
    }

    fn surround(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap();
        command.env("PATH", path).env("GIT_CONFIG_GLOBAL", self.config()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("HOME", self.project.home());
    }

    /// What git says, without blanks around it.
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        self.project.surround(&mut command);
        self.surround(&mut command);
        let ran = run(command.args(args));
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.out.trim().to_string()
    }

    fn relay(&self, args: &[&str]) -> Ran {
        let mut command = self.project.command(args);
        self.surround(&mut command);
        if !self.below.is_empty() {
            command.current_dir(self.project.path(self.below));
        }
        run(&mut command)
    }

    fn at_terminal(&self, args: &[&str]) -> Session {
        Session::start_with(&self.project, args, "", &|command| self.surround(command))
    }

    /// Applies the answer under this message.
    fn applied(&self, answer: &str, message: &str) -> String {
        let text = format!("{answer}\n```yaml\nprojectId: shop\ngitCommitMsg: {message:?}\n```\n");
        let path = self.project.home().join("answer.md");
        fs::write(&path, text).unwrap();
        let ran = self.relay(&["apply", path.to_str().unwrap(), "-y", "--json", "-q"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["id"].as_str().unwrap().to_string()
    }

    /// Commits; the files of the commit, with their letters.
    fn committed(&self, flags: &[&str]) -> Vec<String> {
        let mut args = vec!["git", "commit", "-y"];
        args.extend(flags);
        let ran = self.relay(&args);
        assert_eq!(ran.code, 0, "{ran:?}");
        self.files()
    }

    /// The files of the last commit.
    fn files(&self) -> Vec<String> {
        let text = self.git(&["show", "--format=", "--name-status", "--no-renames", "HEAD"]);
        text.lines().map(|line| line.replace('\t', " ")).collect()
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    fn hook(&self, name: &str, text: &str) {
        let path = self.project.path(&format!(".git/hooks/{name}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        executable(&path);
    }
}

fn repo() -> Repo {
    Repo::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("old.txt", "old\n")])
}

#[test]
fn only_the_files_of_the_change_and_nothing_else_that_is_staged_or_edited() {
    let repo = repo();
    repo.applied(&edit("a.txt", "two", "2"), "feat: two");
    repo.project.put("b.txt", b"staged\n");
    repo.git(&["add", "b.txt"]);
    repo.project.put("c.txt", b"edited\n");
    repo.project.put("d.txt", b"untracked\n");
    let before = repo.git(&["status", "--porcelain"]).replace("M a.txt\n", "");
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), "feat: two");
    assert_eq!(repo.git(&["status", "--porcelain"]), before.trim(), "the rest is as it was");
    assert_eq!(repo.git(&["show", ":b.txt"]), "staged");
}

#[test]
fn new_deleted_and_renamed_files() {
    let repo = repo();
    let answer = whole("new/n.txt", "n\n")
        + "```text // old.txt\n//TODO: delete this file\n```\n"
        + "```json // rename-file\n{\"from\": \"b.txt\", \"to\": \"moved/b.txt\"}\n```\n";
    repo.applied(&answer, "move things");
    assert_eq!(repo.committed(&[]), ["D b.txt", "A moved/b.txt", "A new/n.txt", "D old.txt"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn other_edits_in_the_same_file_are_named_and_asked_about() {
    let repo = repo();
    repo.applied(&edit("a.txt", "two", "2"), "feat: two");
    repo.project.put("a.txt", b"one\n2\nthree\nmine\n");
    let head = repo.head();
    relay_snapshot!(repo.relay(&["git", "commit", "-y"]), @"
    exit 13
    ----- stdout -----
    ▸ commit of 1 file on main
        feat: two
      ! a.txt
    ! 1 file also with edits from elsewhere
    ----- stderr -----
    ✗ files in this commit also have other edits; nothing was changed
      `--with-edits` commits them as they are
    ");
    assert_eq!(repo.head(), head);
    for (typed, code) in [("n\n", 4), ("\x03", 130)] {
        let mut session = repo.at_terminal(&["git", "commit", "-y"]);
        session.wait_for("! a.txt");
        session.wait_for("commit it with the other edits? [y/N]");
        session.type_in(typed);
        let (got, seen) = session.end();
        assert_eq!(got, Some(code), "{seen}");
        assert_eq!(repo.head(), head);
    }
    let mut session = repo.at_terminal(&["git", "commit"]);
    session.wait_for("with the other edits? [y/N]");
    session.type_in("y\n");
    let (got, seen) = session.end();
    assert_eq!(got, Some(0), "{seen}");
    assert_ne!(repo.head(), head);
    // An edit that was there before the change and was never committed is the user's own, too.
    repo.project.put("c.txt", b"c\nmine before\n");
    repo.applied(&edit("c.txt", "c", "C"), "feat: c");
    assert_eq!(repo.relay(&["git", "commit", "-y"]).code, 13);
    assert_eq!(repo.committed(&["--with-edits"]), ["M c.txt"]);
}

#[test]
fn without_a_yes_nothing_is_committed() {
    let repo = repo();
    repo.applied(&edit("a.txt", "two", "2"), "feat: two");
    let head = repo.head();
    let ran = repo.relay(&["git", "commit"]);
    assert_eq!(ran.code, 13, "{ran:?}");
    for (typed, code) in [("n\n", 4), ("\n", 4), ("\x03", 130)] {
        let mut session = repo.at_terminal(&["git", "commit"]);
        session.wait_for("feat: two");
        session.wait_for("commit? [y/N]");
        session.type_in(typed);
        assert_eq!(session.end().0, Some(code));
    }
    assert_eq!(repo.head(), head);
    let mut session = repo.at_terminal(&["git", "commit"]);
    session.wait_for("commit? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_ne!(repo.head(), head);
}

#[test]
fn hooks_run_after_trust_only_and_one_that_changes_is_asked_about_again() {
    let repo = repo();
    repo.hook("pre-commit", "touch ran-hook");
    repo.applied(&edit("a.txt", "two", "2"), "feat: two");
    let head = repo.head();
    let ran = repo.relay(&["git", "commit", "-y"]);
    relay_snapshot!(ran, @"
    exit 7
    ----- stderr -----
    this repository wants to run 1 program on `relay git commit`
        hook pre-commit   .git/hooks/pre-commit (sha256 0e7f9f79b90aaf3bdd53f6b0c0e20490)
    ✗ a commit here runs 1 program of the repository, which you have not trusted yet; nothing was changed
      `relay trust` shows what would run, and asks
    ");
    assert_eq!((repo.head(), repo.project.path("ran-hook").exists()), (head, false));
    for (typed, code) in [("n\n", 4), ("\x03", 130)] {
        let mut session = repo.at_terminal(&["git", "commit", "-y"]);
        session.wait_for("hook pre-commit");
        session.wait_for("run them on every `relay git commit`? [y/N]");
        session.type_in(typed);
        assert_eq!(session.end().0, Some(code));
    }
    assert!(!repo.project.path("ran-hook").exists());
    let mut session = repo.at_terminal(&["git", "commit", "-y"]);
    session.wait_for("[y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(repo.project.path("ran-hook").exists());
    repo.applied(&edit("a.txt", "one", "1"), "feat: one");
    repo.hook("pre-commit", "touch ran-other");
    assert_eq!(repo.relay(&["git", "commit", "-y"]).code, 7, "another hook than the one that was trusted");
    assert!(!repo.project.path("ran-other").exists());
    assert_eq!(repo.relay(&["trust", "-y"]).code, 0);
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert!(repo.project.path("ran-other").exists());
}

#[test]
fn a_hook_that_fails_leaves_no_commit_and_the_index_as_it_was() {
    let mut transcript = Transcript::default();
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        let repo = repo();
        repo.hook(hook, "echo not like this >&2; exit 1");
        repo.applied(&(edit("a.txt", "two", "2") + &whole("new.txt", "n\n")), "feat: two");
        assert_eq!(repo.relay(&["trust", "-y"]).code, 0);
        let (head, index) = (repo.head(), repo.git(&["ls-files", "-s"]));
        transcript.add(hook, &repo.relay(&["git", "commit", "-y"]));
        assert_eq!((repo.head(), repo.git(&["ls-files", "-s"])), (head, index), "{hook}");
    }
    relay_snapshot!(transcript, @"
    # pre-commit
    exit 5
    ----- stdout -----
    ▸ commit of 2 files on main
        feat: two
        a.txt
        new.txt
    ----- stderr -----
    ✗ `git commit` failed: not like this; nothing was changed

    # commit-msg
    exit 5
    ----- stdout -----
    ▸ commit of 2 files on main
        feat: two
        a.txt
        new.txt
    ----- stderr -----
    ✗ `git commit` failed: not like this; nothing was changed

    # prepare-commit-msg
    exit 5
    ----- stdout -----
    ▸ commit of 2 files on main
        feat: two
        a.txt
        new.txt
    ----- stderr -----
    ✗ `git commit` failed: not like this; nothing was changed
    ");
}

#[test]
fn a_hook_that_changes_the_message_or_the_file_has_its_say() {
    let repo = repo();
    repo.hook("commit-msg", "echo 'Reviewed-by: nobody' >> \"$1\"");
    repo.applied(&edit("a.txt", "two", "2"), "feat: two");
    assert_eq!(repo.relay(&["trust", "-y"]).code, 0);
    repo.committed(&[]);
    assert!(repo.git(&["log", "-1", "--format=%B"]).contains("Reviewed-by: nobody"));
}

#[test]
fn without_hooks_no_trust_is_needed_and_messages_never_reach_a_shell() {
    let repo = repo();
    let message =
        "feat: $(touch ran-a) `touch ran-b`; touch ran-c && \"touch ran-d\"\n\n--amend -x\n# kept\n$HOME";
    repo.applied(&edit("a.txt", "two", "2"), message);
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), message);
    repo.applied(&edit("a.txt", "one", "1"), "ignored");
    repo.committed(&["--message=-- $(touch ran-e)"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "-- $(touch ran-e)");
    let ran: Vec<String> =
        repo.project.listing().into_iter().filter(|name| name.starts_with("ran-")).collect();
    assert_eq!(ran, [] as [&str; 0]);
}

#[test]
fn several_changes_become_one_commit_in_their_order() {
    let repo = repo();
    let first = repo.applied(&edit("a.txt", "two", "2"), "feat: first");
    let second = repo.applied(&(edit("a.txt", "one", "1") + &whole("n.txt", "n\n")), "feat: second");
    repo.applied(&edit("c.txt", "c", "C"), "feat: third");
    let ran = repo.relay(&["git", "commit", &second[..8], &first, "-y", "--json", "-q"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(repo.files(), ["M a.txt", "A n.txt"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "feat: first\n\nfeat: second");
    let value = ran.json();
    assert_eq!(value["commit"], repo.head().as_str());
    assert_eq!(value["files"].as_array().unwrap().len(), 2);
    assert_eq!(value["ids"][0], first.as_str());
    assert_eq!(repo.git(&["status", "--porcelain"]), "M c.txt");
}

#[test]
fn the_earlier_of_two_changes_of_one_file_asks_about_the_later() {
    let repo = repo();
    let first = repo.applied(&edit("a.txt", "two", "2"), "feat: first");
    repo.applied(&edit("a.txt", "one", "1"), "feat: second");
    let ran = repo.relay(&["git", "commit", &first, "-y"]);
    assert_eq!(ran.code, 13, "the later change would go in with it: {ran:?}");
}

#[test]
fn what_was_reverted_is_not_the_latest() {
    let repo = repo();
    repo.applied(&edit("c.txt", "c", "C"), "feat: stays");
    repo.applied(&edit("a.txt", "two", "2"), "feat: goes");
    assert_eq!(repo.relay(&["revert"]).code, 0);
    assert_eq!(repo.committed(&[]), ["M c.txt"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), "feat: stays");
    relay_snapshot!(repo.relay(&["git", "commit", "-y"]), @"
    exit 0
    ----- stdout -----
    ✓ nothing left to commit: the last commit already has its files as they are
    ");
}

#[test]
fn without_a_repository_it_is_wrong_usage() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.applied(&edit("a.txt", "one", "1"));
    let mut command = project.command(&["git", "commit", "-y", "-m", "x", "--json", "-q"]);
    let ran =
        run(command.env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_CEILING_DIRECTORIES", "/tmp"));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("not in a git repository"), "{ran:?}");
    relay_snapshot!(run(project.command(&["git", "commit", "-y", "-m", "x"]).env("PATH", "/nonexistent")), @"
    exit 2
    ----- stderr -----
    ✗ git is not installed, or not in PATH; nothing was changed
    ");
}

#[test]
fn the_first_commit_of_all_and_a_detached_head() {
    let repo = Repo::unborn(&[("a.txt", "one\n"), ("other.txt", "o\n")], "");
    repo.applied(&whole("n.txt", "n\n"), "feat: first of all");
    assert_eq!(repo.committed(&[]), ["A n.txt"]);
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "rest"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.applied(&edit("a.txt", "one", "1"), "feat: detached");
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert_eq!(repo.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
}

#[test]
fn a_project_in_a_subdirectory_of_a_larger_repository() {
    let files = [
        ("app/a.txt", "one\n"),
        ("app/relaycode.config.json", "{\"projectId\": \"shop\"}"),
        ("a.txt", "outer\n"),
    ];
    let repo = Repo::unborn(&files, "app");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "first"]);
    repo.applied(&(edit("a.txt", "one", "1") + &whole("n.txt", "n\n")), "feat: inner");
    repo.project.put("a.txt", b"outer edited\n");
    assert_eq!(repo.committed(&[]), ["M app/a.txt", "A app/n.txt"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "M a.txt");
}

#[test]
fn names_that_mean_something_to_git_are_only_names() {
    let names = ["[id].ts", "-x.ts", "a b.ts", "*.ts", "\u{fc}.ts", ":(top)x.ts"];
    let repo = repo();
    let mut taken = Vec::new();
    for name in names {
        let text = format!("{}\n```yaml\nprojectId: shop\ngitCommitMsg: name\n```\n", whole(name, "x\n"));
        let path = repo.project.home().join("answer.md");
        fs::write(&path, text).unwrap();
        let ran = repo.relay(&["apply", path.to_str().unwrap(), "-y", "-q"]);
        // relay itself may refuse a name; a name that it takes must be committed as it is.
        if ran.code == 0 {
            repo.project.put("z.ts", b"not of the change\n");
            let ran = repo.relay(&["git", "commit", "-y"]);
            assert_eq!(ran.code, 0, "{name}: {ran:?}");
            let files = repo.git(&["-c", "core.quotePath=false", "show", "--format=", "--name-only", "HEAD"]);
            assert_eq!(files.trim_matches('"'), name);
            taken.push(name);
        }
    }
    assert!(taken.contains(&"[id].ts") && taken.contains(&"-x.ts"), "{taken:?}");
}

#[test]
fn the_users_own_signing_works_and_the_repositorys_program_needs_trust() {
    let repo = repo();
    let gpg = repo.project.home().join("gpg.sh");
    let text = "#!/bin/sh\ncat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\nfake\\n-----END PGP SIGNATURE-----\\n'\n";
    fs::write(&gpg, text).unwrap();
    executable(&gpg);
    let mut config = fs::read_to_string(repo.config()).unwrap();
    config += &format!(
        "\tsigningKey = me\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {}\n[user]\n\tsigningKey = me\n",
        gpg.display()
    );
    fs::write(repo.config(), config).unwrap();
    repo.applied(&edit("a.txt", "two", "2"), "feat: signed");
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert!(repo.git(&["cat-file", "commit", "HEAD"]).contains("BEGIN PGP SIGNATURE"));
    repo.applied(&edit("a.txt", "one", "1"), "feat: again");
    repo.git(&["config", "gpg.program", "./evil.sh"]);
    let ran = repo.relay(&["git", "commit", "-y"]);
    assert_eq!(ran.code, 7, "the repository names a program: {ran:?}");
}

#[test]
fn a_commit_that_is_interrupted_in_a_hook_leaves_the_index_as_it_was() {
    let repo = repo();
    repo.hook("pre-commit", "touch here; sleep 600");
    repo.applied(&(edit("a.txt", "two", "2") + &whole("new.txt", "n\n")), "feat: two");
    assert_eq!(repo.relay(&["trust", "-y"]).code, 0);
    let (head, index) = (repo.head(), repo.git(&["ls-files", "-s"]));
    let mut command = repo.project.command(&["git", "commit", "-y"]);
    repo.surround(&mut command);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    crate::fixture::keyed_project::wait_until("the hook begins", || repo.project.path("here").exists());
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"), "{output:?}");
    assert_eq!((repo.head(), repo.git(&["ls-files", "-s"])), (head, index));
    assert_eq!(
        crate::fixture::keyed_project::processes_with(repo.project.home().to_str().unwrap()),
        [] as [u32; 0]
    );
}

/// An editor that keeps what it was given, and puts `text` in its place.
fn editor(repo: &Repo, name: &str, text: &str) -> std::path::PathBuf {
    let path = repo.project.home().join(name);
    let given = repo.project.home().join(format!("{name}.given"));
    fs::write(&path, format!("#!/bin/sh\ncp \"$1\" '{}'\nprintf '{text}' > \"$1\"\n", given.display()))
        .unwrap();
    executable(&path);
    path
}

#[test]
fn without_a_message_the_editor_opens_with_the_title() {
    let repo = repo();
    let apply = |answer: &str| {
        let ran = repo.project.pipe(&["apply", "-", "-y", "-q"], answer.as_bytes());
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    apply(&edit("a.txt", "two", "2"));
    apply(&whole("new.txt", "n\n"));
    let mut config = fs::read_to_string(repo.config()).unwrap();
    let chosen = editor(&repo, "chosen", "add: by hand\\n\\nmore\\n# not this\\n");
    config += &format!("[core]\n\teditor = {}\n", chosen.display());
    fs::write(repo.config(), config).unwrap();
    // What the repository says is nobody's choice.
    repo.git(&["config", "core.editor", "./evil.sh"]);
    let mut session = repo.at_terminal(&["git", "commit", "1", "2"]);
    session.wait_for("run them on every `relay git commit`? [y/N]");
    session.type_in("y\r");
    session.wait_for("commit? [y/N]");
    session.type_in("y\r");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    let given = fs::read_to_string(repo.project.home().join("chosen.given")).unwrap();
    assert!(given.starts_with("add new.txt\n\n- edit a.txt\n"), "{given}");
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "add: by hand\n\nmore");
}

#[test]
fn an_empty_message_stops_the_commit_and_nobody_to_edit_it_takes_the_title() {
    let repo = repo();
    let ran = repo.project.pipe(&["apply", "-", "-y", "-q"], edit("a.txt", "two", "2").as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    let head = repo.head();
    let empty = editor(&repo, "empty", "# nothing\\n");
    let mut session = Session::start_with(&repo.project, &["git", "commit"], "", &|command| {
        repo.surround(command);
        command.env("GIT_EDITOR", &empty);
    });
    session.wait_for("not committed: the message is empty");
    let (code, seen) = session.end();
    assert_eq!((code, repo.head()), (Some(4), head), "{seen}");
    assert_eq!(repo.committed(&[]), ["M a.txt"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "edit a.txt");
}

#[test]
fn what_is_undone_is_not_committed_and_neither_is_its_undo() {
    let repo = repo();
    let kept = repo.applied(&edit("c.txt", "c", "C"), "feat: stays");
    let gone = repo.applied(&edit("a.txt", "two", "2"), "feat: goes");
    assert_eq!(repo.relay(&["undo"]).code, 0);
    let undo =
        repo.relay(&["log", "--json", "-n", "1"]).json()["entries"][0]["id"].as_str().unwrap().to_string();
    relay_snapshot!(repo.relay(&["git", "commit", "-y", &gone]), @r#"
    exit 2
    ----- stderr -----
    ✗ "feat: goes" is undone: there is nothing to commit
      `relay redo` brings back what was undone last
    "#);
    let ran = repo.relay(&["git", "commit", "-y", &gone, &undo, &kept]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err, "! left out, because undone: \"feat: goes\"\n");
    assert_eq!(repo.git(&["show", "--format=%s", "--name-only", "HEAD"]), "feat: stays\n\nc.txt");
}

#[test]
fn a_commit_that_is_killed_is_cleared_up_after() {
    for mend in [&["recover"][..], &["git", "commit", "-y"]] {
        let repo = repo();
        // git, its keeper and relay, all at once: nobody is left to clear up.
        let kills = "test -e here && exit 0; touch here; parent() { cut -d ' ' -f 4 /proc/$1/stat; }; \
                     keeper=$(parent $PPID); relay=$(parent $keeper); kill -9 $PPID $keeper $relay";
        repo.hook("pre-commit", kills);
        repo.applied(&(edit("a.txt", "two", "2") + &whole("new.txt", "n\n")), "feat: two");
        assert_eq!(repo.relay(&["trust", "-y"]).code, 0);
        let (head, index) = (repo.head(), repo.git(&["ls-files", "-s"]));
        let mut command = repo.project.command(&["git", "commit", "-y"]);
        repo.surround(&mut command);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        child.wait().unwrap();
        let home = repo.project.home().to_str().unwrap().to_string();
        crate::fixture::keyed_project::wait_until("git is ended", || {
            crate::fixture::keyed_project::processes_with(&home).is_empty()
        });
        let locks = || {
            let names =
                fs::read_dir(repo.project.path(".git")).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".lock")).count()
        };
        assert!(locks() > 0, "it leaves a lock, or there is nothing to test");
        // Another's lock is not touched.
        fs::write(repo.project.path(".git/config.lock"), "").unwrap();
        let ran = repo.relay(mend);
        assert_eq!(ran.code, 0, "{mend:?}: {ran:?}");
        assert!(ran.err.contains("an earlier `relay git commit` was cut short: "), "{ran:?}");
        assert_eq!(locks(), 1, "{ran:?}");
        fs::remove_file(repo.project.path(".git/config.lock")).unwrap();
        if mend == ["recover"] {
            assert_eq!((repo.head(), repo.git(&["ls-files", "-s"])), (head, index), "{ran:?}");
            relay_snapshot!(repo.relay(mend), @"
            exit 0
            ----- stdout -----
            ✓ nothing to recover: no run stopped in the middle
            ");
        } else {
            assert_ne!(repo.head(), head, "the commit was made");
            assert_eq!(repo.git(&["status", "--porcelain"]), "?? here");
        }
    }
}
