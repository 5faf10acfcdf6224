//! What stands in the way on disk: files that may not be written, things that are no files, and a
//! ledger directory that is not one. Whatever it is, nothing of the project is lost or half done.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, makedev, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::fixture::scratch_project::{Project, Ran, edit, run, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const DELETE: &str = "//TODO: delete this file\n";

fn project() -> Project {
    Project::new(&[("a.txt", "one\n"), ("d/b.txt", "two\n")])
}

fn mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Every way to touch `path` is refused, together with the good edit before it.
fn refused(project: &Project, path: &str, code: i32, said: &str) {
    let good = edit("a.txt", "one", "1");
    let before = project.tree();
    for bad in [edit(path, "two", "2"), whole(path, "new\n"), format!("```text // {path}\n{DELETE}```\n")] {
        let ran = project.apply(&(good.clone() + &bad));
        assert_eq!(ran.code, code, "{path}: {ran:?}");
        assert!(ran.err.contains("nothing was changed"), "{path}: {}", ran.err);
        assert!(ran.err.contains(said), "{path}: {said:?} is missing in {}", ran.err);
        assert_eq!(project.tree(), before, "{path}");
    }
    assert_eq!(project.log().len(), 0);
}

#[test]
fn a_read_only_file_is_refused() {
    let project = project();
    mode(&project, "d/b.txt", 0o444);
    refused(&project, "d/b.txt", 3, "read-only");
}

#[test]
fn an_immutable_file_is_refused() {
    struct Mutable<'p>(&'p Project);
    impl Drop for Mutable<'_> {
        fn drop(&mut self) {
            let _ = Command::new("chattr").arg("-i").arg(self.0.path("d/b.txt")).status();
        }
    }
    let project = project();
    let marked = Command::new("chattr").arg("+i").arg(project.path("d/b.txt")).output();
    if !marked.is_ok_and(|output| output.status.success()) {
        return; // skipped: it takes root, and a file system that has the mark
    }
    let _mutable = Mutable(&project);
    refused(&project, "d/b.txt", 3, "immutable");
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let project = project();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("b.txt"), "two\n").unwrap();
    fs::create_dir(project.path("directory.txt")).unwrap();
    mknodat(CWD, project.path("pipe.txt"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let _socket = UnixListener::bind(project.path("socket.txt")).unwrap();
    symlink("d/b.txt", project.path("inward.txt")).unwrap();
    symlink(outside.path().join("b.txt"), project.path("outward.txt")).unwrap();
    symlink("nowhere", project.path("dangling.txt")).unwrap();
    symlink("d", project.path("within")).unwrap();
    symlink(outside.path(), project.path("without")).unwrap();
    symlink("loop.txt", project.path("loop.txt")).unwrap();
    let mut names = vec![
        ("directory.txt", "directory"),
        ("pipe.txt", "special file"),
        ("socket.txt", "special file"),
        ("inward.txt", "symbolic link"),
        ("outward.txt", "symbolic link"),
        ("dangling.txt", "symbolic link"),
        ("loop.txt", "symbolic link"),
        ("within/b.txt", "symbolic link"),
        ("without/b.txt", "symbolic link"),
        ("a.txt/b.txt", "file"),
        ("pipe.txt/b.txt", "special file"),
    ];
    // Only root makes devices.
    if mknodat(CWD, project.path("null.txt"), FileType::CharacterDevice, Mode::RUSR, makedev(1, 3)).is_ok() {
        names.push(("null.txt", "special file"));
    }
    for (name, said) in names {
        refused(&project, name, 3, said);
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read(outside.path().join("b.txt")).unwrap(), b"two\n");
}

#[test]
fn a_directory_that_vanishes_or_becomes_a_link_is_noticed() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("b.txt"), "two\n").unwrap();
    for link in [false, true] {
        let project = project();
        let answer = edit("a.txt", "one", "1") + &edit("d/b.txt", "two", "2");
        project.put("a.md", answer.as_bytes());
        assert_eq!(project.preview(&answer).code, 0);
        // While the question stands there, between the plan and the change.
        let mut session = Session::start(&project, &["apply", "a.md"], "");
        session.wait_for("apply? [y/N]");
        fs::remove_dir_all(project.path("d")).unwrap();
        if link {
            symlink(outside.path(), project.path("d")).unwrap();
        }
        let before = project.tree();
        session.type_in("y\n");
        let (code, seen) = session.end();
        assert_eq!(code, Some(3), "{seen}");
        assert!(seen.contains("nothing was changed") && seen.contains("d/b.txt"), "{seen}");
        assert_eq!(project.tree(), before);
        let ran = project.apply(&answer);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert_eq!(project.tree(), before);
    }
    assert_eq!(fs::read(outside.path().join("b.txt")).unwrap(), b"two\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// `relay apply -y` as somebody who is not root, with the project and a directory for copies theirs.
fn as_nobody(project: &Project, home: &TempDir, answer: &str) -> Ran {
    const NOBODY: u32 = 65_534;
    project.put("a.md", answer.as_bytes());
    let args = ["apply", "a.md", "-y"];
    if !is_root() {
        return run(&mut project.command(&args));
    }
    let mut open = vec![project.path("."), home.path().to_path_buf()];
    while let Some(path) = open.pop() {
        chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_relay")]);
    command.args(args);
    project.surround(&mut command);
    run(command.env("RELAY_HOME", home.path()))
}

/// Whether a process that is not root can run the binary at all.
fn nobody_can_run(project: &Project, home: &TempDir) -> bool {
    as_nobody(project, home, &whole("probe.txt", "x\n")).code == 0
}

#[test]
fn a_directory_without_write_permission_leaves_everything_as_it_was() {
    let home = TempDir::new().unwrap();
    if !nobody_can_run(&project(), &home) {
        return; // skipped: there is no `setpriv`, or the binary lies where only root may look
    }
    for bad in
        [edit("d/b.txt", "two", "2"), whole("d/new.txt", "x\n"), format!("```text // d/b.txt\n{DELETE}```\n")]
    {
        let project = project();
        let answer = edit("a.txt", "one", "1") + &bad;
        project.put("a.md", answer.as_bytes());
        mode(&project, "d", 0o555);
        let before = project.tree();
        let ran = as_nobody(&project, &home, &answer);
        assert_eq!(ran.code, 1, "{ran:?}");
        let said = ran.err.contains("everything was put back") || ran.err.contains("nothing was changed");
        assert!(said && ran.err.contains("d/"), "{}", ran.err);
        assert_eq!(project.tree(), before, "{}", ran.err);
        mode(&project, "d", 0o755);
        assert_eq!(project.done(&["recover"]), "✓ nothing to recover: no run stopped in the middle\n");
        assert_eq!(as_nobody(&project, &home, &answer).code, 0);
    }
    for (unwritable, code) in [(".", 1), (".relaycode", 1), (".relaycode/tx", 1), (".relaycode/blobs", 0)] {
        let project = project();
        if unwritable != "." {
            assert_eq!(as_nobody(&project, &home, &whole("first.txt", "x\n")).code, 0);
        }
        project.put("a.md", b"");
        mode(&project, unwritable, 0o555);
        let before = project.tree();
        let ran = as_nobody(&project, &home, &edit("a.txt", "one", "1"));
        assert_eq!(ran.code, code, "{unwritable}: {ran:?}");
        if code != 0 {
            let said = ran.err.contains("everything was put back") || ran.err.contains("nothing was changed");
            assert!(said && ran.err.contains(".relaycode"), "{}", ran.err);
            let mut after = project.tree();
            after.insert("a.md".into(), before["a.md"].clone());
            assert_eq!(after, before, "{unwritable}");
        }
        mode(&project, unwritable, 0o755);
    }
}

#[test]
fn a_ledger_that_is_no_directory_is_not_followed() {
    let outside = TempDir::new().unwrap();
    type Make = fn(&Project, &TempDir);
    let cases: [(&str, Make); 3] = [
        ("a file", |project, _| project.put(".relaycode", b"mine\n")),
        ("a link", |project, outside| symlink(outside.path(), project.path(".relaycode")).unwrap()),
        ("a dangling link", |project, _| symlink("nowhere", project.path(".relaycode")).unwrap()),
    ];
    for (what, make) in cases {
        let project = project();
        make(&project, &outside);
        let before = project.tree();
        for args in [&["apply", "a.md", "-y"][..], &["recover"], &["log"], &["revert"], &["show", "1"]] {
            fs::write(project.home().join("a.md"), edit("a.txt", "one", "1")).unwrap();
            let answer = project.home().join("a.md");
            let args: Vec<&str> =
                args.iter().map(|arg| if *arg == "a.md" { answer.to_str().unwrap() } else { arg }).collect();
            let ran = project.relay(&args);
            assert_eq!(ran.code, 1, "{what} {args:?}: {ran:?}");
            assert!(ran.err.contains(".relaycode") && ran.err.contains("nothing was changed"), "{}", ran.err);
            assert_eq!(project.tree(), before);
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{what}");
    }
}

#[test]
fn parts_of_the_ledger_that_are_something_else() {
    let outside = TempDir::new().unwrap();
    // What is missing is made anew.
    for missing in ["tx", "blobs", "undone", "lock", "index", ".gitignore"] {
        let project = project();
        project.applied(&edit("a.txt", "one", "1"));
        let path = project.path(&format!(".relaycode/{missing}"));
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        project.applied(&edit("a.txt", "1", "2"));
        project.done(&["revert"]);
        assert_eq!(project.text("a.txt"), "1\n", "{missing}");
        assert_eq!(project.log().len(), 3, "{missing}");
    }
    // What is in the way is not followed, and not waited for.
    for name in ["tx", "blobs", "undone", "lock", "index"] {
        for what in ["file", "link", "directory", "pipe"] {
            let project = project();
            project.applied(&edit("a.txt", "one", "1"));
            let path = project.path(&format!(".relaycode/{name}"));
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match what {
                "file" => fs::write(&path, "mine").unwrap(),
                "link" => symlink(outside.path(), &path).unwrap(),
                "directory" => fs::create_dir(&path).unwrap(),
                _ => mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap(),
            }
            let ran = project.apply(&edit("a.txt", "1", "2"));
            match ran.code {
                0 => assert_eq!(project.text("a.txt"), "2\n", "{name} {what}: {ran:?}"),
                1 => {
                    assert!(ran.err.contains(".relaycode"), "{name} {what}: {}", ran.err);
                    let said = ["nothing was changed", "everything was put back"];
                    assert!(said.iter().any(|said| ran.err.contains(said)), "{name} {what}: {}", ran.err);
                    assert_eq!(project.text("a.txt"), "1\n", "{name} {what}");
                }
                _ => panic!("{name} {what}: {ran:?}"),
            }
            for args in [&["log"][..], &["show", "1"], &["recover"]] {
                let ran = project.relay(args);
                assert!([0, 1, 2].contains(&ran.code), "{name} {what} {args:?}: {ran:?}");
                assert!(!ran.err.contains("panicked"), "{ran:?}");
            }
        }
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn whoever_has_the_lock_is_waited_for_but_not_for_ever() {
    let project = project();
    project.applied(&edit("a.txt", "one", "1"));
    let lock = File::open(project.path(".relaycode/lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let started = Instant::now();
    // Who only looks does not wait.
    project.done(&["log"]);
    project.done(&["show", "1"]);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    project.put("a.md", edit("a.txt", "1", "2").as_bytes());
    // Who is told to stop stops waiting.
    let mut command = project.command(&["apply", "a.md", "-y"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // It catches signals before it waits: until then one simply ends the process.
    let status = format!("/proc/{}/status", child.id());
    let caught = |text: String| {
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
        mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
    };
    let linux = cfg!(target_os = "linux");
    while linux && child.try_wait().unwrap().is_none() && !fs::read_to_string(&status).is_ok_and(caught) {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(!linux || ran.code == 130, "{ran:?}");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    let mut apply = project.command(&["apply", "a.md", "-y"]);
    let mut revert = project.command(&["revert", "-y"]);
    let rans: Vec<Ran> = std::thread::scope(|scope| {
        let running = [scope.spawn(|| run(&mut apply)), scope.spawn(|| run(&mut revert))];
        running.map(|one| one.join().unwrap()).into()
    });
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    for ran in rans {
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("another relay is writing to this project"), "{}", ran.err);
        assert!(ran.err.contains("nothing was changed"), "{}", ran.err);
    }
    assert_eq!(project.text("a.txt"), "1\n");
    drop(lock);
    assert_eq!(project.relay(&["apply", "a.md", "-y"]).code, 0);
}

#[test]
fn a_project_that_is_gone() {
    let project = project();
    let gone = TempDir::with_prefix("outside-").unwrap();
    let path = gone.path().to_str().unwrap().to_string();
    drop(gone);
    let mut transcript = Transcript::default();
    for args in [&["log", "-C", &path][..], &["recover", "-C", &path], &["revert", "-C", &path]] {
        transcript.add(args[0], &project.relay(args));
    }
    relay_snapshot!(transcript, @"
    # log
    exit 2
    ----- stderr -----
    ✗ the directory <outside> cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`

    # recover
    exit 2
    ----- stderr -----
    ✗ the directory <outside> cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`

    # revert
    exit 2
    ----- stderr -----
    ✗ the directory <outside> cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`
    ");
    let mut command = Command::new("sh");
    let script = "mkdir sub && cd sub && rmdir ../sub && echo x | exec \"$0\" apply - -y";
    command.args(["-c", script, env!("CARGO_BIN_EXE_relay")]);
    project.surround(&mut command);
    let ran = run(command.env("PATH", "/usr/bin:/bin"));
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_home_that_cannot_be_used_is_named_and_stops_nothing() {
    let project = project();
    project.put("a.md", edit("a.txt", "one", "1").as_bytes());
    let file = project.home().join("b.txt");
    fs::write(&file, "b\n").unwrap();
    let ran = run(project.command(&["apply", "a.md", "-y"]).env("RELAY_HOME", &file));
    assert_eq!((ran.code, project.text("a.txt").as_str()), (0, "1\n"), "{ran:?}");
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    ▸ a.md                                                                     1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! relay cannot mark its changes as yours, so undo will ask first: <home>/b.txt cannot be used: Not a directory (os error 20)
    ! your own copy of this project's history cannot be used: cannot open <home>/b.txt: Not a directory (os error 20)
    ");
    let ran = run(project.command(&["revert"]).env("RELAY_HOME", "/proc/nowhere/relay"));
    assert_eq!(
        (ran.code, project.text("a.txt").as_str()),
        (13, "1\n"),
        "nothing tells it from another's: {ran:?}"
    );
    let words = ["revert", "--allow", "foreign-change"];
    let ran = run(project.command(&words).env("RELAY_HOME", "/proc/nowhere/relay"));
    assert_eq!((ran.code, project.text("a.txt").as_str()), (0, "one\n"), "{ran:?}");
}
