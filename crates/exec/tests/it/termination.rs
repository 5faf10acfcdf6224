//! Jobs that are ended, and those that leave somebody behind.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_exec::{Deadlines, ExitReason, Job, JobOutcome};

use crate::fixture::{Mark, run, runner, shell};

const SOON: Duration = Duration::from_millis(300);

/// Runs a marked job and sees to it that nobody is left.
fn to_the_last(job: Job) -> JobOutcome {
    let mark = Mark::new();
    let finished = run(&mark.on(job));
    mark.must_be_gone();
    assert_eq!(finished.escaped, 0);
    finished
}

/// Runs a marked job until it prints something, then stops it; nobody is left.
fn stopped_when_it_speaks(job: Job) -> JobOutcome {
    let mark = Mark::new();
    let spoke = AtomicBool::new(false);
    let finished = runner()
        .run(&mark.on(job), &|| spoke.load(Ordering::SeqCst), &mut |_| spoke.store(true, Ordering::SeqCst))
        .unwrap();
    mark.must_be_gone();
    assert_eq!((finished.reason, finished.escaped), (ExitReason::Stopped, 0));
    finished
}

#[test]
fn a_job_that_takes_too_long_is_ended() {
    let mut job = shell("echo begun; sleep 1000; echo never");
    job.deadlines.total = Some(SOON);
    let finished = to_the_last(job);
    assert_eq!(finished.reason, ExitReason::DeadlinePassed);
    assert_eq!(finished.stdout.text(), "begun\n");
    assert!(finished.took >= SOON && finished.took < Duration::from_secs(20));
}

#[test]
fn a_job_that_falls_silent_is_ended_and_one_that_speaks_is_not() {
    let mut job = shell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; sleep 1000");
    job.deadlines.idle = Some(Duration::from_millis(400));
    let finished = to_the_last(job);
    assert_eq!(finished.reason, ExitReason::Idle);
    assert_eq!(finished.stdout.text(), "1\n2\n3\n4\n5\n6\n");
    // On standard error it speaks as well.
    let mut job =
        Job { output: relaycode_exec::JobOutput::Separate, ..shell("sleep 0.2; echo x >&2; sleep 0.2") };
    job.deadlines.idle = Some(Duration::from_secs(10));
    assert_eq!(to_the_last(job).reason, ExitReason::Exited(0));
}

#[test]
fn a_job_is_asked_first_and_may_tidy_up() {
    let mut job = shell("trap 'echo tidy; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    job.deadlines.grace = Duration::from_secs(20);
    let finished = stopped_when_it_speaks(job);
    assert!(finished.stdout.text().ends_with("tidy\n"), "{finished:?}");
    assert!(finished.took < Duration::from_secs(15));
}

#[test]
fn a_job_that_does_not_listen_is_ended_all_the_same() {
    let job = shell("trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done");
    stopped_when_it_speaks(job);
}

#[test]
fn stopped_processes_are_ended() {
    stopped_when_it_speaks(shell("sleep 1000 & kill -STOP $!; echo ready; kill -STOP $$; sleep 1000"));
}

#[test]
fn daemons_are_ended_whatever_they_do_to_leave() {
    let daemons =
        "setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; setsid sleep 1000 & sleep 1000' &) ;
        (sleep 1000 <&- >&- 2>&- &)";
    let finished = to_the_last(shell(&format!("{daemons}; sleep 0.2; echo done; exit 4")));
    assert_eq!(finished.reason, ExitReason::Exited(4));
    assert_eq!(finished.stdout.text(), "done\n");
    assert!(finished.left_behind >= 4, "{}", finished.left_behind);
    let mut job = shell(&format!("{daemons}; sleep 1000"));
    job.deadlines.total = Some(SOON);
    let finished = to_the_last(job);
    assert_eq!((finished.reason, finished.left_behind), (ExitReason::DeadlinePassed, 0));
}

#[test]
fn one_that_holds_the_output_open_does_not_hold_up_the_end() {
    let mut job = shell("sleep 1000 & echo done");
    job.deadlines.grace = Deadlines::default().grace;
    let began = Instant::now();
    let finished = to_the_last(job);
    assert_eq!((finished.reason, finished.left_behind), (ExitReason::Exited(0), 1));
    assert_eq!(finished.stdout.text(), "done\n");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn what_one_left_behind_prints_while_it_ends_is_kept() {
    let line =
        "sh -c 'trap \"echo bye; exit\" TERM; echo up; while :; do sleep 0.01; done' & read x; echo done";
    let mut job = shell(&format!("{{ {line}; }} < /dev/null; sleep 0.3"));
    job.deadlines.grace = Duration::from_secs(20);
    let finished = to_the_last(job);
    assert!(finished.stdout.text().ends_with("bye\n"), "{:?}", finished.stdout.text());
}

#[test]
fn who_ends_by_itself_a_moment_later_was_not_left_behind() {
    let finished = to_the_last(shell("(sleep 0.03; echo last) & echo first"));
    assert_eq!((finished.reason, finished.left_behind), (ExitReason::Exited(0), 0));
    assert_eq!(finished.stdout.text(), "first\nlast\n");
}

#[test]
fn a_storm_of_processes_is_ended() {
    // Bounded, should it not be: 4 × 600 that ignore SIGTERM.
    let one = "(i=0; while [ $i -lt 600 ]; do sleep 60 & i=$((i+1)); done; sleep 60) &";
    let mut job = shell(&format!("trap '' TERM; {one} {one} {one} {one} echo ready; wait"));
    job.deadlines.grace = Duration::from_secs(20);
    let finished = stopped_when_it_speaks(job);
    assert!(finished.took < Duration::from_secs(15), "{:?}", finished.took);
}

#[test]
fn one_that_is_never_the_same_process_for_long_is_ended() {
    // Each starts the next and goes. Bounded, should it not be caught.
    let line = "trap '' TERM; f() { [ $1 -gt 50000 ] && exit; f $(($1+1)) & exit; }; echo ready; f 0";
    let mark = Mark::new();
    let finished = run(&mark.on(shell(line)));
    mark.must_be_gone();
    assert_eq!((finished.reason, finished.escaped), (ExitReason::Exited(0), 0));
    assert!(finished.took < Duration::from_secs(10), "{:?}", finished.took);
}

#[test]
fn names_of_processes_do_not_hide_them() {
    let place = tempfile::tempdir().unwrap();
    let odd = place.path().join("x) S 1 1 (y");
    std::fs::copy("/bin/sleep", &odd).unwrap();
    let line = format!("(setsid '{}' 1000 &); sleep 0.1; echo ready", odd.display());
    let finished = to_the_last(shell(&line));
    assert_eq!(finished.left_behind, 1);
}

#[test]
fn a_panic_of_the_watcher_leaves_nobody() {
    let mark = Mark::new();
    let job = mark.on(shell("(setsid sleep 1000 &); echo ready; sleep 1000"));
    let caught =
        std::panic::catch_unwind(|| runner().run(&job, &|| false, &mut |_| panic!("of the watcher")));
    assert!(caught.is_err());
    mark.must_be_gone();
}
