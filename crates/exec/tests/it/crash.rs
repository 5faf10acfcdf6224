//! relay or the keeper dies in the middle, also by the job's own hand.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use relaycode_exec::ExitReason;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::fixture::{Mark, keeper, runner, shell, until};

const DAEMONS: &str = "setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & sleep 1000' &)
    trap '' TERM; sleep 1000";

#[test]
fn when_relay_is_killed_nothing_is_left() {
    for whole_group in [false, true] {
        let mark = Mark::new();
        let mut relay = Command::new(keeper())
            .args(["together", DAEMONS])
            .env(Mark::NAME, mark.value())
            .process_group(0)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // relay, keeper, the shell, and five more.
        until("the daemons", || mark.found().len() >= 7);
        let pid = Pid::from_child(&relay);
        match whole_group {
            false => kill_process(pid, Signal::KILL).unwrap(),
            true => kill_process_group(pid, Signal::KILL).unwrap(),
        }
        relay.wait().unwrap();
        until("nobody with the mark", || mark.found().is_empty());
    }
}

#[test]
fn a_relay_that_stands_still_does_not_hold_up_the_deadline() {
    let mark = Mark::new();
    let mut job = mark.on(shell("echo ready; sleep 1000"));
    job.deadlines.total = Some(std::time::Duration::from_millis(300));
    // The watcher is relay's only thread: while it waits, relay reads nothing and asks nothing.
    let finished = runner()
        .run(&job, &|| false, &mut |_| until("the end of the job", || mark.found().is_empty()))
        .unwrap();
    assert_eq!(finished.reason, ExitReason::DeadlinePassed);
}

#[test]
fn when_the_keeper_is_killed_relay_ends_what_it_kept() {
    let mark = Mark::new();
    let line =
        "trap '' TERM HUP; sleep 1000 & (sleep 1000 &) ; sh -c 'sleep 1000 & sleep 1000' & echo $PPID; wait";
    let mut said = String::new();
    let finished = runner()
        .run(&mark.on(shell(line)), &|| false, &mut |bytes| {
            said.push_str(std::str::from_utf8(bytes).unwrap());
            until("the others", || mark.found().len() >= 6);
            let keeper = Pid::from_raw(said.trim().parse().unwrap()).unwrap();
            kill_process(keeper, Signal::KILL).unwrap();
        })
        .unwrap();
    assert_eq!(finished.reason, ExitReason::KeeperLost);
    until("nobody with the mark", || mark.found().is_empty());
}

/// The job ends its own keeper and leaves daemons behind, which no group and no session leads to.
#[test]
fn a_job_that_kills_its_keeper_leaves_nobody_who_writes() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("written");
    let script = place.path().join("writer.sh");
    let endless = format!("trap '' TERM HUP\nwhile :; do echo x >> {}; sleep 0.01; done\n", file.display());
    std::fs::write(&script, endless).unwrap();
    let daemon = format!("(setsid sh -c 'setsid sh {} & exit' &)", script.display());
    for line in [
        format!("{daemon}; until [ -s {} ]; do sleep 0.01; done; kill -9 $PPID; sleep 1000", file.display()),
        // And is gone itself.
        format!("{daemon}; until [ -s {} ]; do sleep 0.01; done; kill -9 $PPID", file.display()),
        format!("{daemon}; kill -9 $PPID"),
    ] {
        let mark = Mark::new();
        let mut stranger = Command::new("sleep").arg("1000").spawn().unwrap();
        // The system counts time in steps of 10 ms; relay itself starts nothing beside keepers.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let finished = runner().run(&mark.on(shell(&line)), &|| false, &mut |_| {}).unwrap();
        mark.must_be_gone();
        assert_eq!((finished.reason, finished.escaped), (ExitReason::KeeperLost, 0), "{line}");
        let size = || std::fs::metadata(&file).map_or(0, |meta| meta.len());
        let before = size();
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(size(), before);
        let _ = std::fs::remove_file(&file);
        assert!(stranger.try_wait().unwrap().is_none(), "a child that is none of the keeper's was ended");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}

#[test]
fn the_loss_of_one_keeper_does_not_touch_the_job_of_another() {
    let other =
        std::thread::spawn(|| runner().run(&shell("sleep 1; exit 5"), &|| false, &mut |_| {}).unwrap());
    for _ in 0..3 {
        let finished = runner().run(&shell("kill -9 $PPID; sleep 1000"), &|| false, &mut |_| {}).unwrap();
        assert_eq!((finished.reason, finished.escaped), (ExitReason::KeeperLost, 0));
    }
    assert_eq!(other.join().unwrap().reason, ExitReason::Exited(5));
}

#[test]
fn a_keeper_that_is_asked_to_end_ends_its_job() {
    let mark = Mark::new();
    let job = mark.on(shell("(setsid sleep 1000 &); kill -TERM $PPID; sleep 1000"));
    let finished = runner().run(&job, &|| false, &mut |_| {}).unwrap();
    assert_eq!(finished.reason, ExitReason::KeeperLost);
    mark.must_be_gone();
}

#[test]
fn relay_has_no_children_when_a_job_is_over() {
    let line = "(setsid sleep 1000 &); (exit 3) & sleep 0.1";
    let mut relay = Command::new(keeper()).args(["together", line]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    relay.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    relay.wait().unwrap();
    assert!(said.starts_with("end Exited(0), left behind 1, seen 0, children 0,"), "{said}");
}
