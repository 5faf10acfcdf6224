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
    for path in [".envrc", ".vscode/settings.json", "sub/.envrc"] {
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
        ("mine\n", true)
    );
    relay_snapshot!(seen, @"
    # makes them
    exit 0
    ----- stderr -----
    backed up 3 files, 191 bytes in <duration>
    ✓ recorded change-1 · 4 files +4 · `relay revert <id>` undoes it
    ! the command made .git/hooks, which can make git run something
      look at it before you run git; `rm -r .git/hooks` removes it
    ! set aside .envrc, which the command made: it is run by the shell
      `relay revert change-2` brings the command's version back
    ! set aside .vscode/settings.json, which the command made: it is read by the editor, which may run it
      `relay revert change-3` brings the command's version back
    ! set aside sub/.envrc, which the command made: it is run by the shell
      `relay revert change-4` brings the command's version back
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
    command.env_remove("TMPDIR").env("PATH", "/usr/bin:/bin").env("KEPT", "yes");
    for name in CLOSED {
        command.env(name, "/x");
    }
    let ran = run(&mut command);
    assert!(ran.out.contains("KEPT=yes"), "{ran:?}");
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
