//! `relay record --access workspace`: what hostile commands leave behind. What they try to reach outside is tried in `cargo xtask
//! torture --only fence`. Skipped where the machine allows no fence.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use relaycode_testkit::missing;

use crate::fixture::configured_project::trusted;
use crate::fixture::scratch_project::{Project, Ran, edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

/// Variables by which every program runs something, or finds a service.
const CLOSED: [&str; 5] = ["LD_AUDIT", "BASH_ENV", "GIT_DIR", "PYTHONSTARTUP", "SSH_AUTH_SOCK"];

/// What the engine cannot read asks first; a program of its own is tried in the fence.
fn program(project: &Project, code: &str) -> Command {
    project.put("job", format!("#!/bin/sh\n{code}\n").as_bytes());
    let mut command = project.command(&["record", "--access", "workspace", "--", "/bin/sh", "job"]);
    // Not in the project, where the fixture has it.
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env_remove("TMPDIR");
    command
}

fn record(project: &Project, code: &str) -> Ran {
    run(&mut program(project, code))
}

/// A repository, or nothing where there is no fence.
fn repository() -> Option<Project> {
    let project = Project::new(&[("a.txt", "one\n"), (".gitignore", ".relaycode/\n")]);
    let ran = record(&project, "git init -q; rm -rf .git/hooks");
    if ran.code == 13 {
        missing::skip("a machine that allows a fence", "RELAY_REQUIRE_FENCE");
        return None;
    }
    assert_eq!(ran.code, 0, "{ran:?}");
    Some(project)
}

#[test]
fn what_others_would_run_later_is_set_aside_or_named() {
    let Some(project) = repository() else { return };
    let mut seen = Transcript::default();
    let make = "mkdir -p .git/hooks .vscode sub; echo evil > .git/hooks/pre-commit; echo evil > .envrc; \
                echo '{}' > .vscode/settings.json; echo evil > sub/.envrc; echo fine > b.txt";
    seen.add("makes them", &record(&project, make));
    for path in [".envrc", ".vscode/settings.json", "sub/.envrc", ".git/hooks/pre-commit"] {
        assert!(!project.path(path).exists(), "{path}");
    }
    assert_eq!(project.text("b.txt"), "fine\n");
    // Those that are there cannot be changed.
    project.put(".envrc", b"mine\n");
    let change = "echo evil > .envrc; echo evil > .git/config; echo evil > .git/hooks/pre-commit; rm -rf .relaycode .git/hooks";
    let ran = record(&project, change);
    assert!(ran.code != 0 && ran.err.contains("nothing changed"), "{ran:?}");
    assert_eq!(
        (project.text(".envrc").as_str(), project.path(".git/hooks/pre-commit").exists()),
        ("mine\n", false)
    );
    relay_snapshot!(seen, @"
    # makes them
    exit 0
    ----- stderr -----
    backed up 3 files, 191 bytes in <duration>
    ✓ recorded change-1 · 4 files +4 · `relay revert <id>` undoes it
    ! .git/hooks/pre-commit was made: it steers git, and was taken away
      the command's is kept: <home>/set-aside/change-2/.git+hooks+pre-commit
    ! set aside .envrc, which the command made: it is run by the shell
      `relay revert change-3` brings the command's version back
    ! set aside .vscode/settings.json, which the command made: it is read by the editor, which may run it
      `relay revert change-4` brings the command's version back
    ! set aside sub/.envrc, which the command made: it is run by the shell
      `relay revert change-5` brings the command's version back
    ");
}

/// The same where the machine allows no namespaces, so that the fence is one of level 2.
fn record_at_level_2(project: &Project, code: &str) -> Ran {
    let relay = program(project, code);
    let mut command = Command::new("unshare");
    let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", line, "sh"]).arg(relay.get_program());
    command.args(relay.get_args());
    project.surround(&mut command);
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env_remove("TMPDIR");
    run(&mut command)
}

/// Each leaves something by which the user's next git runs `pwned`.
const ON_GIT: &[(&str, &str)] = &[
    (
        "commondir",
        "mkdir -p e/refs e/objects; git config -f e/config core.fsmonitor \"$EVIL\"; echo ../e > .git/commondir",
    ),
    ("config", "git config core.fsmonitor \"$EVIL\""),
    ("nested", "git -C nested config core.fsmonitor \"$EVIL\""),
    ("new nested", "git init -q sub; git -C sub config core.fsmonitor \"$EVIL\"; git add sub"),
    (
        "separate",
        "mkdir .git/modules; git init -q --separate-git-dir=.git/modules/sub sub; git -C sub config core.fsmonitor \"$EVIL\"; git add sub",
    ),
    (
        "hidden",
        "mkdir node_modules; git init -q node_modules/x; cd node_modules/x; git config user.name x; git config user.email x; \
         git commit -q --allow-empty -m x; git config core.fsmonitor \"$EVIL\"; cd ../..; git add -f node_modules/x",
    ),
    (
        "bare",
        "rm .git/HEAD; mkdir refs objects; echo 'ref: refs/heads/main' > HEAD; git config -f config core.worktree \"$PWD\"; \
         git config -f config core.fsmonitor \"$EVIL\"",
    ),
    ("included", "git config -f shared core.fsmonitor \"$EVIL\""),
];

#[test]
fn what_a_command_leaves_for_git_to_run_is_taken_away_at_either_level() {
    if repository().is_none() {
        return;
    }
    let has_unshare = run(Command::new("unshare").args(["--user", "--map-root-user", "true"])).code == 0;
    for (name, code) in ON_GIT {
        for (level, record) in [(1, record as fn(&Project, &str) -> Ran), (2, record_at_level_2)] {
            if level == 2 && !has_unshare {
                continue;
            }
            let project = Project::new(&[("a.txt", "one\n")]);
            let git = |words: &str| {
                let mut command = Command::new("git");
                command.args(words.split(' ')).env("HOME", project.home()).current_dir(project.path("."));
                run(&mut command)
            };
            for words in ["init -q", "config include.path ../shared", "init -q nested"] {
                assert_eq!(git(words).code, 0, "{name}: {words}");
            }
            for words in ["config user.name x", "config user.email x", "commit -q --allow-empty -m x"] {
                assert_eq!(git(&format!("-C nested {words}")).code, 0, "{name}: {words}");
            }
            assert_eq!(git("add a.txt nested").code, 0);
            let evil = "EVIL='touch pwned; false'; export EVIL; git config -f x.y a.b c; rm -f x.y;";
            let ran = record(&project, &format!("{evil} {code}"));
            // At level 1 some of it cannot be done to begin with.
            let told = ran.err.contains("it steers git");
            let status = git("status");
            let is_there = project.path("pwned").exists() || project.path("nested/pwned").exists();
            assert!(status.code == 0 && !is_there, "{name} at {level}: {ran:?} {status:?}");
            assert!(told || level == 1, "{name} at {level}: {ran:?}");
        }
    }
}

#[test]
fn a_repository_that_a_command_makes_stays_if_it_is_plain() {
    if repository().is_none() {
        return;
    }
    let project = Project::new(&[("a.txt", "one\n"), (".gitignore", ".relaycode/\n")]);
    let ran = record(&project, "git init -q; git config user.name x; git init -q sub");
    assert!(ran.code == 0 && !ran.err.contains("steers git"), "{ran:?}");
    assert!(project.path(".git/config").exists() && project.path("sub/.git/config").exists());
    let other = Project::new(&[("a.txt", "one\n"), (".gitignore", ".relaycode/\n")]);
    let evil = "git init -q; git config core.fsmonitor ./x; echo evil > .git/hooks/pre-commit";
    let ran = record(&other, evil);
    assert!(!other.path(".git/config").exists() && !other.path(".git/hooks/pre-commit").exists(), "{ran:?}");
    for name in [".git/config", ".git/hooks/pre-commit"] {
        assert!(ran.err.contains(&format!("! {name} was made: it steers git")), "{ran:?}");
    }
}

#[test]
fn an_input_from_a_file_in_tmp_is_read() {
    let Some(project) = repository() else { return };
    let mut command = program(&project, "cat > copy");
    let mut file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    std::io::Write::write_all(&mut file, b"input\n").unwrap();
    command.stdin(fs::File::open(file.path()).unwrap());
    let output = command.output().unwrap();
    assert_eq!(project.text("copy"), "input\n", "{output:?}");
}

#[test]
fn a_file_that_a_rule_denies_is_hidden_from_programs() {
    let Some(project) = repository() else { return };
    project.put("sub/.env", b"TOKEN\n");
    project.done(&["permissions", "add", "deny", "read .env"]);
    let ran = record(&project, "cat sub/.env; git diff --no-index /dev/null sub/.env; true");
    assert!(!ran.out.contains("TOKEN"), "{ran:?}");
}

#[test]
fn what_was_set_aside_is_no_entry_of_its_own_and_only_its_name_brings_it_back() {
    let Some(project) = repository() else { return };
    let ran =
        record(&project, "echo evil > .envrc; mkdir .vscode; echo '{}' > .vscode/t.json; echo fine > b.txt");
    assert_eq!(ran.code, 0, "{ran:?}");
    let is_aside = || !project.path(".envrc").exists() && !project.path(".vscode/t.json").exists();
    assert_eq!((project.log().len(), is_aside()), (1, true));
    for _ in 0..2 {
        project.done(&["undo", "-y"]);
        assert!(is_aside() && !project.path("b.txt").exists());
        project.done(&["redo", "-y"]);
        assert!(is_aside() && project.path("b.txt").exists());
        assert_ne!(project.relay(&["redo", "-y"]).code, 0, "there is nothing more");
        assert!(is_aside());
    }
    let line =
        ran.err.lines().find(|line| line.contains("`relay revert ") && line.contains("brings")).unwrap();
    let id = line.split_whitespace().nth(2).unwrap().trim_end_matches('`');
    project.done(&["revert", id, "-y"]);
    assert_eq!(project.text(".envrc"), "evil\n");
}

#[test]
fn a_prompt_of_which_everything_was_set_aside_is_no_step_of_undo() {
    let Some(project) = repository() else { return };
    assert_eq!(record(&project, "echo fine > b.txt").code, 0);
    assert_eq!(record(&project, "echo evil > .envrc").code, 0);
    assert_eq!(project.log().len(), 2);
    project.done(&["undo", "-y"]);
    assert!(!project.path(".envrc").exists() && !project.path("b.txt").exists());
}

#[test]
fn what_stands_at_a_protected_name_and_fits_no_record_is_moved_away_and_named() {
    let Some(project) = repository() else { return };
    let ran = record(
        &project,
        "truncate -s 70M large; mkdir d; echo evil > d/.envrc; truncate -s 70M d/.envrc; mkfifo .envrc; echo fine > b.txt",
    );
    assert!(!project.path("d/.envrc").exists() && !project.path(".envrc").exists(), "{ran:?}");
    assert_eq!(fs::read_dir(project.path(".relaycode/away")).unwrap().count(), 2);
    relay_snapshot!(ran, @"
    exit 0
    ----- stderr -----
    backed up 3 files, 139 bytes in <duration>
    ✓ recorded change-1 · 1 file +1 · `relay revert <id>` undoes it
    ! changed while it ran, not undoable: large (73.4 MB) was made, and has more than 64 MiB
    ! moved .envrc, which is run by the shell, away: no record can hold it; it is in .relaycode/away/change-1-…-1
    ! moved d/.envrc, which is run by the shell, away: no record can hold it; it is in .relaycode/away/change-1-…-2
    ");
}

#[test]
fn a_command_gets_no_variables_by_which_others_run_code_and_no_open_files() {
    let Some(project) = repository() else { return };
    let outside = tempfile::NamedTempFile::new().unwrap();
    // Opened by whoever starts relay, as a careless program leaves it.
    let mut command = program(&project, "env; echo more >&7");
    let relay = std::mem::replace(&mut command, Command::new("sh"));
    command.args(["-c", "exec 7>\"$1\"; shift; exec \"$@\"", "sh"]).arg(outside.path());
    command.arg(relay.get_program()).args(relay.get_args());
    project.surround(&mut command);
    command.env_remove("TMPDIR").env("PATH", "/usr/bin:/bin").env("KEPT", "yes").env("GITHUB_TOKEN", "TOKEN");
    for name in CLOSED {
        command.env(name, "/x");
    }
    let ran = run(&mut command);
    assert!(ran.out.contains("KEPT=yes") && !ran.out.contains("TOKEN"), "{ran:?}");
    for name in CLOSED {
        assert!(!ran.out.contains(name), "{name}: {ran:?}");
    }
    assert_eq!(fs::read(outside.path()).unwrap(), b"");
}

#[test]
fn what_a_command_leaves_running_is_ended_and_its_keeper_is_out_of_reach() {
    let Some(project) = repository() else { return };
    let ran = record(
        &project,
        "kill -9 $PPID; kill -9 -1; setsid sh -c 'trap : TERM HUP; sleep 100; echo > late' > /dev/null 2>&1 & echo > here",
    );
    assert!(project.path("here").exists() && ran.err.contains("recorded"), "{ran:?}");
    assert!(!project.path("late").exists());
}

#[test]
fn a_command_that_removes_everything_it_can_reach_is_undone() {
    let Some(project) = repository() else { return };
    let mut command =
        program(&project, "cd /; find \"$OLDPWD\" -mindepth 1 -not -path '*/.git*' -delete; true");
    let was = project.tree();
    let ran = run(&mut command);
    assert!(ran.err.contains("recorded") && !project.path("a.txt").exists(), "{ran:?}");
    project.done(&["undo", "-y"]);
    assert_eq!(project.tree(), was);
}

#[test]
fn a_file_without_end_is_named_and_everything_else_comes_back() {
    let Some(project) = repository() else { return };
    // It ends at a limit of the user's own, beyond what a record keeps of a file.
    let ran = record(&project, "echo two > a.txt; ulimit -f 140000; yes > endless; true");
    assert!(ran.err.contains("endless") && ran.err.contains("more than"), "{ran:?}");
    let undone = project.relay(&["undo", "-y"]);
    assert!(undone.code == 6 && project.text("a.txt") == "one\n", "{undone:?}");
}

#[test]
fn an_editor_that_saves_meanwhile_loses_nothing() {
    let Some(project) = repository() else { return };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let mut saves = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                saves += 1;
                // In place, and by another name, as editors do.
                fs::write(project.path("open.txt"), format!("{saves}\n").repeat(2_000)).unwrap();
                fs::write(project.path("open.new"), format!("{saves}\n")).unwrap();
                fs::rename(project.path("open.new"), project.path("renamed.txt")).unwrap();
            }
            saves
        });
        for number in 0..8 {
            let ran = record(&project, &format!("echo {number} > b.txt"));
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        stop.store(true, Ordering::Relaxed);
        let saves = editor.join().unwrap();
        assert_eq!(project.text("open.txt"), format!("{saves}\n").repeat(2_000));
        assert_eq!(project.text("renamed.txt"), format!("{saves}\n"));
    });
    assert_eq!(project.text("b.txt"), "7\n");
}

#[test]
fn a_fenced_command_that_stops_gives_the_terminal_back_and_goes_on() {
    let Some(project) = repository() else { return };
    project.put("job", b"echo before; read line; echo \"after $line\"");
    let script =
        "set -m; \"$R\" record --access workspace -- /bin/sh job; echo \"back $?\"; fg; echo \"end $?\"";
    let mut session =
        Session::start_program(&project, "/bin/bash", &["--norc", "-i", "-c", script], "", &|command| {
            command.env("R", env!("CARGO_BIN_EXE_relay")).env("PATH", "/usr/bin:/bin").env_remove("TMPDIR");
        });
    session.wait_for("before");
    session.type_in("\x1a");
    session.wait_for("back ");
    session.type_in("typed\r");
    session.wait_for("after typed");
    session.wait_for("end 0");
    session.end();
}

#[test]
fn a_rule_allows_a_command_that_would_be_asked_about_and_is_named_where_nobody_can_be_asked() {
    let Some(project) = repository() else { return };
    project.put("sub/run.sh", b"echo ran > ran");
    let ask = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
        command.args(["record", "--access", "ask", "--", "/bin/sh", "run.sh"]).process_group(0);
        project.surround(&mut command);
        command.env_remove("TMPDIR").env("PATH", "/usr/bin:/bin").current_dir(project.path("sub"));
        run(&mut command)
    };
    let mut seen = Transcript::default();
    seen.add("without a rule", &ask());
    seen.add("a rule", &project.relay(&["permissions", "add", "allow", "/bin/sh run.sh"]));
    seen.add("with it", &ask());
    assert_eq!(project.text("sub/ran"), "ran\n");
    relay_snapshot!(seen, @"
    # without a rule
    exit 13
    ----- stderr -----
    ✗ `/bin/sh run.sh`: no rule allows `/bin/sh run.sh`; nothing was changed
      `relay permissions add allow '/bin/sh run.sh'` allows it; `--access full` runs it without a fence

    # a rule
    exit 0
    ----- stdout -----
    ✓ added: allow /bin/sh run.sh (for this project)

    # with it
    exit 0
    ----- stderr -----
    backed up 4 files, 71 bytes in <duration>
    ✓ recorded change-1 · 1 file +1 · `relay revert <id>` undoes it
    ");
}

#[test]
fn the_projects_checks_run_in_a_fence_where_the_user_wants_it() {
    if repository().is_none() {
        return;
    }
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let there = outside.path().join("there");
    let check = format!("touch '{}' && touch made", there.display());
    let project = trusted(
        &[("a.txt", "one\n")],
        serde_json::json!({"patch": {"postCommand": check, "linter": "true"}}),
    );
    fs::write(project.home().join("config.yml"), "patch:\n  commandAccess: workspace\n").unwrap();
    let ran = project.pipe(&["apply", "-", "-y"], edit("a.txt", "one", "two").as_bytes());
    assert!(ran.code != 0 && !there.exists() && project.text("a.txt") == "one\n", "{ran:?}");
    fs::remove_file(project.home().join("config.yml")).unwrap();
    let ran = project.pipe(&["apply", "-", "-y"], edit("a.txt", "one", "two").as_bytes());
    assert!(ran.code == 0 && there.exists() && project.text("a.txt") == "two\n", "{ran:?}");
}
