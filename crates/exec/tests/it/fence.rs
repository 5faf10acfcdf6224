//! A fence at the best level that this machine allows. The whole list of attempts is `proofs/fence`.

use std::fs;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use relaycode_exec::{
    Deadlines, ExecError, ExitReason, FENCE_FAILED_CODE, FenceAccess, FenceChannel, FenceLayer, FenceLevel,
    FenceReport, FenceSpec, Job, JobFence, JobOutput, probe_fence,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::fixture::{Mark, keeper, run, runner, shell, until};

/// A project, a place outside of it, and the best level here; nothing where there is none.
struct Fenced {
    base: TempDir,
    level: FenceLevel,
}

impl Fenced {
    fn new() -> Option<Fenced> {
        let base = tempfile::tempdir().unwrap();
        for name in ["project/.git/hooks", "outside", "temp"] {
            fs::create_dir_all(base.path().join(name)).unwrap();
        }
        let probe = probe_fence(&keeper(), base.path());
        if probe.level == FenceLevel::Open {
            println!("skipped: no fence here: {:?}", probe.reasons);
            return None;
        }
        Some(Fenced { base, level: probe.level })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    fn fence(&self) -> JobFence {
        let project = self.path("project");
        JobFence {
            level: self.level,
            access: FenceAccess::Workspace,
            read_only: vec![project.join(".git/hooks"), project.join(".envrc")],
            masked: vec![self.path("outside")],
            directories: vec![project],
            visible: Vec::new(),
            layers: Vec::new(),
            temp: self.path("temp").into(),
            network: false,
            sockets: Vec::new(),
        }
    }

    /// A job in the project and in the fence.
    fn job(&self, line: &str) -> Job {
        Job { directory: self.path("project"), fence: Some(Box::new(self.fence())), ..shell(line) }
    }

    fn spec(&self, words: &[&str]) -> FenceSpec {
        let project = self.path("project");
        FenceSpec {
            fence: self.fence(),
            directory: project.into(),
            words: words.iter().map(Into::into).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        }
    }

    fn run(&self, line: &str) -> (ExitStatus, FenceReport) {
        let mut channel = FenceChannel::new(&self.spec(&["/bin/sh", "-c", line])).unwrap();
        let status = channel.command(&keeper()).stderr(Stdio::null()).status().unwrap();
        (status, channel.report().unwrap())
    }
}

#[test]
fn a_command_in_a_fence_reaches_nothing_outside() {
    let Some(fenced) = Fenced::new() else { return };
    let outside = fenced.path("outside");
    let socket = UnixListener::bind(outside.join("socket")).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut sleeper = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let place = outside.display();
    fenced.run(&format!("echo mine > {place}/file"));
    fenced.run(&format!("kill -9 {}", sleeper.id()));
    fenced.run(&format!("perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(\"{place}/socket\")'"));
    assert!(!outside.join("file").exists());
    assert!(sleeper.try_wait().unwrap().is_none());
    assert!(socket.accept().is_err());
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();

    let (status, _) = fenced.run("echo inside > new && echo temporary > ${TMPDIR:-/tmp}/new");
    assert!(status.success());
    assert_eq!(fs::read_to_string(fenced.path("project/new")).unwrap(), "inside\n");
    assert_eq!(fs::read_to_string(fenced.path("temp/new")).unwrap(), "temporary\n");
}

#[test]
fn a_temporary_directory_directly_in_tmp_is_no_reason_for_a_weaker_fence() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    let temp = tempfile::tempdir_in("/tmp").unwrap();
    let mut job = fenced.job("echo x > /tmp/a && cat /var/tmp/a");
    if let Some(fence) = &mut job.fence {
        fence.temp = temp.path().into();
    }
    assert_eq!(run(&job).stdout.text(), "x\n");
}

#[test]
fn the_end_of_the_command_is_seen_as_it_was() {
    let Some(fenced) = Fenced::new() else { return };
    assert_eq!(fenced.run("exit 7").0.code(), Some(7));
    assert_eq!(fenced.run("kill -TERM $$").0.signal(), Some(15));
    assert_eq!(fenced.run("kill -KILL $$").0.signal(), Some(9));
    if fenced.level == FenceLevel::Namespaces {
        let end = |line: &str| match fenced.run(line).1 {
            FenceReport::Entered { end: Some(end), .. } => (end.code, end.signal),
            other => panic!("{other:?}"),
        };
        assert_eq!(end("exit 7"), (7, None));
        assert_eq!(end("kill -KILL $$").1, Some(9));
    }
}

#[test]
fn a_program_that_is_not_there_is_a_failure_of_its_own() {
    let Some(fenced) = Fenced::new() else { return };
    let mut channel = FenceChannel::new(&fenced.spec(&["/nowhere/program"])).unwrap();
    let status = channel.command(&keeper()).status().unwrap();
    assert_eq!(status.code(), Some(i32::from(FENCE_FAILED_CODE)));
    let FenceReport::Failed { step, .. } = channel.report().unwrap() else {
        panic!("{:?}", channel.report())
    };
    assert_eq!(step, "start the program");
}

#[test]
fn what_cannot_be_protected_is_named() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    let mut channel = FenceChannel::new(&fenced.spec(&["/bin/sleep", "60"])).unwrap();
    let mut child = channel.command(&keeper()).spawn().unwrap();
    let mut unprotected = Vec::new();
    until("the fence stands", || match channel.report() {
        Ok(FenceReport::Entered { unprotected: named, .. }) => {
            unprotected = named;
            true
        }
        _ => false,
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(unprotected, [fenced.path("project/.envrc")]);
}

#[test]
fn an_input_that_has_no_name_in_the_fence_is_read_all_the_same() {
    let Some(fenced) = Fenced::new() else { return };
    let long = "0123456789\n".repeat(30_000);
    let file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    fs::write(file.path(), &long).unwrap();
    let deleted = fs::File::open(file.path()).unwrap();
    for input in [fs::File::open(file.path()).unwrap(), deleted] {
        let channel = FenceChannel::new(&fenced.spec(&["/usr/bin/wc", "-c"])).unwrap();
        let output = channel.command(&keeper()).stdin(input).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), long.len().to_string(), "{output:?}");
        let _ = fs::remove_file(file.path());
    }
}

#[test]
fn a_command_has_so_many_processes_and_its_deadline_holds() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    // Never more than this, whatever the fence does.
    let line = "perl -e 'my $n = 0; for (1..5000) { my $p = fork(); last if !defined $p; if (!$p) { sleep 100; exit } $n++ } \
                print \"made $n\\n\"; $| = 1; print \"\\n\"; sleep 100'";
    let total = Some(Duration::from_secs(15));
    let deadlines = Deadlines { total, grace: Duration::from_millis(100), ..Deadlines::default() };
    let ran = run(&Job { deadlines, ..fenced.job(line) });
    assert_eq!(ran.reason, ExitReason::DeadlinePassed, "{ran:?}");
    assert!(ran.took < Duration::from_secs(30), "{ran:?}");
    let text = ran.stdout.text();
    let made: u32 = text.lines().find_map(|line| line.strip_prefix("made ")).unwrap().parse().unwrap();
    let counts = !rustix::process::geteuid().is_root() || made < 5_000;
    assert!(made <= 4_096 || !counts, "{made}");
}

#[test]
fn one_socket_is_open_and_the_others_of_its_directory_are_not() {
    let Some(fenced) = Fenced::new() else { return };
    let sockets = fenced.path("outside");
    let open = UnixListener::bind(sockets.join("open")).unwrap();
    let closed = UnixListener::bind(sockets.join("closed")).unwrap();
    open.set_nonblocking(true).unwrap();
    closed.set_nonblocking(true).unwrap();
    let place = sockets.display();
    let line = format!(
        "use IO::Socket::UNIX; IO::Socket::UNIX->new('{place}/closed'); IO::Socket::UNIX->new('{place}/open') or die"
    );
    let mut spec = fenced.spec(&["/usr/bin/perl", "-e", &line]);
    spec.fence.sockets = vec![sockets.join("open")];
    let mut channel = FenceChannel::new(&spec).unwrap();
    let status = channel.command(&keeper()).status().unwrap();
    if fenced.level == FenceLevel::Namespaces {
        assert!(status.success(), "{:?}", channel.report());
        assert!(open.accept().is_ok() && closed.accept().is_err());
    } else {
        assert!(matches!(channel.report(), Ok(FenceReport::Failed { .. })));
    }
}

#[test]
fn nothing_outlives_the_command_or_the_stage_outside() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    let line = "setsid sleep 300 & setsid sh -c 'sleep 300; :' &";
    let start = |more: &str| {
        let mark = Mark::new();
        let mut spec = fenced.spec(&["/bin/sh", "-c", &format!("{line} {more}")]);
        spec.environment.push((Mark::NAME.into(), mark.value().into()));
        let channel = FenceChannel::new(&spec).unwrap();
        (channel.command(&keeper()).spawn().unwrap(), mark)
    };
    let (mut ended, mark) = start("sleep 0.1");
    assert!(ended.wait().unwrap().success());
    mark.must_be_gone();

    let (mut killed, mark) = start("sleep 300");
    until("it runs", || mark.found().len() >= 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    until("all are gone", || mark.found().is_empty());
}

#[test]
fn with_the_network_allowed_sockets_with_a_path_are_still_refused() {
    let Some(fenced) = Fenced::new() else { return };
    let (tcp, unix) = (
        std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
        UnixListener::bind(fenced.path("project/socket")).unwrap(),
    );
    tcp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let line = format!(
        "use IO::Socket::INET; use IO::Socket::UNIX; IO::Socket::UNIX->new('socket'); \
         IO::Socket::INET->new('127.0.0.1:{}') or die",
        tcp.local_addr().unwrap().port()
    );
    let mut spec = fenced.spec(&["/usr/bin/perl", "-e", &line]);
    spec.fence.network = true;
    let status = FenceChannel::new(&spec).unwrap().command(&keeper()).status().unwrap();
    assert!(status.success());
    assert!(tcp.accept().is_ok() && unix.accept().is_err());
}

#[test]
fn variables_of_the_command_are_not_the_stages() {
    let Some(fenced) = Fenced::new() else { return };
    let library = Path::new("/nowhere/library.so");
    let mut spec = fenced.spec(&["/bin/sh", "-c", "test \"$LD_PRELOAD\" = /nowhere/library.so"]);
    spec.environment.push(("LD_PRELOAD".into(), library.into()));
    let channel = FenceChannel::new(&spec).unwrap();
    let command = channel.command(&keeper());
    assert!(command.get_envs().all(|(name, _)| name != "LD_PRELOAD"));
    let mut command = command;
    let output = command.output().unwrap();
    assert!(output.status.success());
    // The loader complains once, in the command, and not in a stage before it.
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("cannot be preloaded").count(), 1);
}

#[test]
fn a_job_in_a_fence_prints_and_ends_as_without_one() {
    let Some(fenced) = Fenced::new() else { return };
    for output in [JobOutput::Separate, JobOutput::Merged, JobOutput::Pty { rows: 24, columns: 80 }] {
        let job = fenced.job("echo inside > made; echo no > ../outside/made; echo said; exit 7");
        let ran = run(&Job { output, ..job });
        assert_eq!(ran.reason, ExitReason::Exited(7), "{ran:?}");
        assert!(ran.stdout.text().contains("said"), "{ran:?}");
        assert!(fenced.path("project/made").exists() && !fenced.path("outside/made").exists());
        if fenced.level == FenceLevel::Namespaces {
            assert_eq!(ran.unprotected, [fenced.path("project/.envrc")]);
        }
    }
    assert_eq!(run(&fenced.job("kill -TERM $$")).reason, ExitReason::Signalled(15));
}

#[test]
fn a_job_in_a_fence_may_be_given_its_directory_as_seen_from_here() {
    let Some(fenced) = Fenced::new() else { return };
    let up: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
    let project = fenced.path("project");
    let directory = up.join(project.strip_prefix("/").unwrap());
    let ran = run(&Job { directory, ..fenced.job("echo x > made && echo y > .git/hooks/made") });
    assert!(project.join("made").exists(), "{ran:?}");
    assert_eq!(project.join(".git/hooks/made").exists(), fenced.level != FenceLevel::Namespaces);
}

#[test]
fn a_job_in_a_fence_is_ended_by_its_deadline_and_leaves_nobody() {
    let Some(fenced) = Fenced::new() else { return };
    let mark = Mark::new();
    let total = Some(Duration::from_millis(500));
    let deadlines = Deadlines { total, grace: Duration::from_millis(100), ..Deadlines::default() };
    let job =
        mark.on(Job { deadlines, ..fenced.job("trap '' TERM; setsid sleep 300 & sleep 300; sleep 300") });
    assert_eq!(run(&job).reason, ExitReason::DeadlinePassed);
    mark.must_be_gone();

    let mark = Mark::new();
    let ran = run(&mark.on(fenced.job("setsid sleep 300 & exit 0")));
    assert_eq!((ran.reason, ran.left_behind, ran.escaped), (ExitReason::Exited(0), 1, 0));
    mark.must_be_gone();
}

#[test]
fn a_job_whose_fence_or_program_cannot_be_has_not_run() {
    let Some(fenced) = Fenced::new() else { return };
    let refused = |job: &Job| runner().run(job, &|| false, &mut |_| {}).unwrap_err();
    let mut job = fenced.job("echo ran > made");
    if let Some(fence) = &mut job.fence {
        fence.temp = fenced.path("nowhere").into();
        fence.directories.push(fenced.path("nowhere"));
    }
    if fenced.level == FenceLevel::Namespaces {
        assert!(matches!(refused(&job), ExecError::Fence { .. }), "{:?}", refused(&job));
        assert!(!fenced.path("project/made").exists());
    }
    let missing = Job { fence: job.fence.take(), ..Job::argv(["relay-no-such-program"], "/") };
    assert!(matches!(refused(&missing), ExecError::NotFound { .. }));
    fs::write(fenced.path("project/text"), "not a program\n").unwrap();
    let text = Job { fence: Some(Box::new(fenced.fence())), ..Job::argv([fenced.path("project/text")], "/") };
    assert!(matches!(refused(&text), ExecError::CannotRun { .. }), "{:?}", refused(&text));
}

#[test]
fn a_layer_looks_written_and_the_users_own_is_not() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    for name in ["cache", "layer"] {
        fs::create_dir(fenced.path(name)).unwrap();
    }
    fs::write(fenced.path("cache/old"), "old\n").unwrap();
    let cache = fenced.path("cache");
    let layer = FenceLayer { directory: cache.clone().into(), kept_in: fenced.path("layer").into() };
    let run_in = |line: &str| {
        let mut job = fenced.job(line);
        if let Some(fence) = &mut job.fence {
            fence.layers.push(layer.clone());
        }
        run(&job)
    };
    let place = cache.display();
    let made = run_in(&format!("echo new > {place}/new && echo more >> {place}/old && cat {place}/old"));
    if !made.reason.is_success() {
        println!("skipped: no layers here: {}", made.stdout.text());
        return;
    }
    assert_eq!(run_in(&format!("cat {place}/*")).stdout.text(), "new\nold\nmore\n");
    assert_eq!(fs::read_to_string(cache.join("old")).unwrap(), "old\n");
    assert!(!cache.join("new").exists());
}

#[test]
fn a_job_in_a_fence_has_no_variable_that_runs_code_but_those_it_was_given() {
    let Some(fenced) = Fenced::new() else { return };
    let mut job = fenced.job("env");
    job.environment.set.push(("PYTHONPATH".into(), "given".into()));
    let said = run(&job).stdout.text();
    assert!(said.contains("PYTHONPATH=given") && said.contains("PATH="), "{said}");
    for gone in ["LD_LIBRARY_PATH=", "GIT_DIR=", "NODE_OPTIONS="] {
        assert!(!said.lines().any(|line| line.starts_with(gone)), "{said}");
    }
}

#[test]
fn a_file_in_a_layer_can_be_written_for_good_and_what_lies_in_tmp_can_be_read() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    for (name, text) in [("state/token", "old\n"), ("state/settings", "mine\n")] {
        fs::create_dir_all(fenced.path(name).parent().unwrap()).unwrap();
        fs::write(fenced.path(name), text).unwrap();
    }
    fs::create_dir(fenced.path("layer")).unwrap();
    let in_tmp = tempfile::tempdir_in("/tmp").unwrap();
    fs::write(in_tmp.path().join("file"), "in tmp\n").unwrap();
    let (state, seen) = (fenced.path("state"), in_tmp.path().canonicalize().unwrap());
    let line = format!(
        "exec 2>/dev/null; cat {1}/file; echo x > {1}/file; echo x > {1}/new; echo new > {0}/token; echo x > {0}/settings; \
         echo x > {0}/made; mv {0}/made {0}/token; true",
        state.display(),
        seen.display()
    );
    let mut job = fenced.job(&line);
    if let Some(fence) = &mut job.fence {
        let kept_in = fenced.path("layer").into();
        fence.layers.push(FenceLayer { directory: state.clone().into(), kept_in });
        fence.directories.push(state.join("token"));
        fence.visible.extend([seen.clone(), "/tmp".into()]);
    }
    let said = run(&job).stdout.text();
    if !fenced.path("layer/upper").exists() {
        println!("skipped: no layers here: {said}");
        return;
    }
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!((said.as_str(), read(seen.join("file")).as_str()), ("in tmp\n", "in tmp\n"));
    assert_eq!(
        (read(state.join("token")).as_str(), read(state.join("settings")).as_str()),
        ("new\n", "mine\n")
    );
    assert!(!state.join("made").exists() && !seen.join("new").exists());
}

#[test]
fn a_stage_that_outlives_its_parent_before_it_asked_to_end_with_it_ends() {
    let Some(fenced) = Fenced::new().filter(|fenced| fenced.level == FenceLevel::Namespaces) else { return };
    for _ in 0..10 {
        let channel = FenceChannel::new(&fenced.spec(&["/bin/sleep", "60"])).unwrap();
        let mut outside = channel.command(&keeper()).stderr(Stdio::null()).spawn().unwrap();
        let children = format!("/proc/{0}/task/{0}/children", outside.id());
        let mut first = None;
        until("the first process inside has begun", || {
            let listed = fs::read_to_string(&children).unwrap();
            first = listed.split_whitespace().next().and_then(|number| Pid::from_raw(number.parse().ok()?));
            first.is_some()
        });
        let first = first.unwrap();
        kill_process(first, Signal::STOP).unwrap();
        outside.kill().unwrap();
        outside.wait().unwrap();
        // It is gone, or will not be for long.
        let _ = kill_process(first, Signal::CONT);
        until("the first process inside has ended", || {
            let stat =
                fs::read_to_string(format!("/proc/{}/stat", first.as_raw_nonzero())).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
    }
}
