//! Jobs that cannot be started, and where they run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, ExitReason, Job, JobCommand, JobEnvironment, KEEPER_ARGUMENT, Runner};

use crate::fixture::{keeper, run, runner, shell};

fn refused(job: &Job) -> ExecError {
    runner().run(job, &|| false, &mut |_| {}).unwrap_err()
}

#[test]
fn a_program_that_is_not_there_is_told_from_one_that_cannot_be_run() {
    let place = tempfile::tempdir().unwrap();
    let missing = [Job::argv(["no-such-program-here"], "/"), Job::argv(["./nothing"], place.path())];
    for job in missing.into_iter().chain([Job::argv([""], "/"), Job::argv(Vec::<String>::new(), "/")]) {
        assert!(matches!(refused(&job), ExecError::NotFound { .. }), "{:?}", refused(&job));
    }
    fs::write(place.path().join("plain"), "text").unwrap();
    fs::write(place.path().join("orphan"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(place.path().join("orphan"), fs::Permissions::from_mode(0o755)).unwrap();
    for words in [vec!["./plain"], vec!["./orphan"], vec!["/"], vec!["true", "a\0b"]] {
        let error = refused(&Job::argv(words, place.path()));
        assert!(matches!(error, ExecError::CannotRun { .. }), "{error:?}");
    }
    // The same, found by PATH.
    let set = vec![("PATH".into(), place.path().into())];
    let environment = JobEnvironment { set, ..JobEnvironment::default() };
    let error = refused(&Job { environment: environment.clone(), ..Job::argv(["orphan"], "/") });
    assert!(matches!(error, ExecError::CannotRun { .. }), "{error:?}");
    let error = refused(&Job { environment, ..Job::argv(["seq"], "/") });
    assert!(matches!(error, ExecError::NotFound { program } if program == "seq"));
}

#[test]
fn a_program_in_the_directory_of_the_job_is_not_found_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("bin")).unwrap();
    for name in ["seq", "bin/seq"] {
        fs::write(place.path().join(name), "#!/bin/sh\necho hostile\n").unwrap();
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for relative in [".", "", "bin", "./bin", "bin/../bin"] {
        for path in [format!("{relative}:/usr/bin:/bin"), format!("/usr/bin:/bin:{relative}")] {
            let environment =
                JobEnvironment { set: vec![("PATH".into(), path.into())], ..JobEnvironment::default() };
            let finished = run(&Job { environment, ..Job::argv(["seq", "1"], place.path()) });
            assert_eq!(finished.stdout.text(), "1\n");
        }
        let set = vec![("PATH".into(), relative.into())];
        let environment = JobEnvironment { set, ..JobEnvironment::default() };
        let error = refused(&Job { environment, ..Job::argv(["seq"], place.path()) });
        assert!(matches!(error, ExecError::NotFound { .. }), "{relative}: {error:?}");
    }
}

/// What a job finds by name is what it was started with: `#!/usr/bin/env node` must not mean the project's `./node`.
#[test]
fn a_program_in_the_directory_of_the_job_is_not_found_by_the_job_either() {
    let place = tempfile::tempdir().unwrap();
    let hostile = place.path().join("node-for-relay");
    fs::write(&hostile, "#!/bin/sh\necho hostile\n").unwrap();
    fs::set_permissions(&hostile, fs::Permissions::from_mode(0o755)).unwrap();
    let script = place.path().join("script");
    fs::write(&script, "#!/usr/bin/env node-for-relay\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: &str, job: Job| {
        let set = vec![("PATH".into(), path.into())];
        Job { environment: JobEnvironment { set, ..JobEnvironment::default() }, ..job }
    };
    for path in
        [".:/usr/bin:/bin", "/usr/bin:/bin:.", ":/usr/bin:/bin", "/usr/bin:/bin:", "/usr/bin::/bin", ".", ""]
    {
        for job in [Job::shell("node-for-relay", place.path()), Job::argv(["./script"], place.path())] {
            let finished = run(&with_path(path, job));
            assert_eq!(finished.reason, ExitReason::Exited(127), "{path:?}");
            assert!(!finished.stdout.text().contains("hostile"), "{path:?}");
        }
    }
    let handed_on = run(&with_path(":/usr/bin:bin:/bin:./x:", Job::shell("echo $PATH", "/")));
    assert_eq!(handed_on.stdout.text(), "/usr/bin:/bin\n");
}

#[test]
fn a_keeper_is_found_among_the_ancestors_by_its_label() {
    let line = format!("env -i {} ancestors friend", keeper().display());
    let counted = |runner: Runner| {
        let finished = runner.run(&shell(&line), &|| false, &mut |_| {}).unwrap();
        finished.stdout.text()
    };
    assert_eq!(counted(runner()), "Some(0)\n");
    assert_eq!(counted(runner().with_label("other")), "Some(0)\n");
    assert_eq!(counted(runner().with_label("friend")), "Some(1)\n");
}

#[test]
fn a_directory_that_cannot_be_entered_is_said_to_be() {
    let place = tempfile::tempdir().unwrap();
    let gone = place.path().join("gone");
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    for directory in [gone, file] {
        match refused(&Job::argv(["true"], &directory)) {
            ExecError::Directory { directory: said, .. } => assert_eq!(said, directory),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_job_runs_in_its_directory_also_by_a_relative_path() {
    let place = tempfile::tempdir().unwrap();
    symlink("/bin/pwd", place.path().join("where")).unwrap();
    let finished = run(&Job::argv(["./where", "-P"], place.path()));
    let real = fs::canonicalize(place.path()).unwrap();
    assert_eq!(finished.stdout.text().trim_end(), real.to_str().unwrap());
}

#[test]
fn words_are_not_read_by_a_shell_and_a_line_is_one() {
    let finished = run(&Job::argv(["printf", "%s|", "$HOME", "a b", "`id`", "\u{1f980}"], "/"));
    assert_eq!(finished.stdout.text(), "$HOME|a b|`id`|\u{1f980}|");
    assert_eq!(run(&shell("echo a   b | tr a-z A-Z")).stdout.text(), "A B\n");
    // A line that looks like an option is a line.
    assert_eq!(run(&shell("-x")).reason, ExitReason::Exited(127));
}

#[test]
fn codes_and_signals_come_through() {
    for code in [0, 1, 7, 255] {
        let end = run(&shell(&format!("exit {code}"))).reason;
        assert_eq!((end, end.is_success()), (ExitReason::Exited(code), code == 0));
    }
    for signal in [9, 11, 15] {
        assert_eq!(run(&shell(&format!("kill -{signal} $$"))).reason, ExitReason::Signalled(signal));
    }
}

#[test]
fn a_keeper_that_is_none_is_an_error() {
    for program in ["/no/such/keeper", "/bin/true", "/bin/cat", "/bin/echo"] {
        let error = Runner::new(program.into()).run(&shell("true"), &|| false, &mut |_| {}).unwrap_err();
        assert!(matches!(error, ExecError::Keeper { .. }), "{program}: {error:?}");
    }
}

#[test]
fn a_keeper_without_an_order_says_nothing_and_goes() {
    let said = Command::new(keeper()).arg(KEEPER_ARGUMENT).stdin(Stdio::null()).output().unwrap();
    assert!(said.stdout.is_empty() && said.stderr.is_empty());
    assert!(!said.status.success());
}

#[test]
fn a_program_is_named_by_its_first_word_or_its_line() {
    assert_eq!(JobCommand::Argv(vec!["git".into(), "log".into()]).name(), "git");
    assert_eq!(JobCommand::Shell("make fmt".to_string()).name(), "make fmt");
}

/// What a keeper costs, the best of several. Printed, and bounded far above what it takes.
#[test]
fn a_keeper_costs_little() {
    let job = Job::argv(["true"], "/");
    let time = |work: &dyn Fn()| {
        let once = |_| {
            let began = Instant::now();
            work();
            began.elapsed()
        };
        (0..50).map(once).min().unwrap()
    };
    let plain = time(&|| assert!(Command::new("true").status().unwrap().success()));
    let kept = time(&|| assert!(run(&job).reason.is_success()));
    println!("plain {plain:?}, kept {kept:?}");
    assert!(kept < plain + Duration::from_millis(500), "plain {plain:?}, kept {kept:?}");
}
