//! relay or the keeper dies in the middle.

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
