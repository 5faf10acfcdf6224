//! Conversations: both sides speak while the job runs.

use std::time::{Duration, Instant};

use relaycode_exec::{Deadlines, ExitReason, Job, JobInput, JobOutcome, JobOutput, LiveJob, ProcessEvent};

use crate::fixture::{Mark, runner, shell};

const PATIENCE: Duration = Duration::from_secs(30);

fn start(line: &str) -> LiveJob {
    runner().start(&Job { input: JobInput::Piped, output: JobOutput::Separate, ..shell(line) }).unwrap()
}

/// Reads until standard output holds this.
fn hear(live: &mut LiveJob, wanted: &str) -> String {
    let mut heard = String::new();
    while !heard.contains(wanted) {
        match live.next_event(&|| false, PATIENCE).unwrap() {
            ProcessEvent::Stdout(bytes) => heard.push_str(&String::from_utf8_lossy(&bytes)),
            ProcessEvent::Stderr(_) => {}
            other => panic!("{other:?} after {heard:?}"),
        }
    }
    heard
}

fn over(live: &mut LiveJob, stop: &dyn Fn() -> bool) -> JobOutcome {
    loop {
        match live.next_event(stop, PATIENCE).unwrap() {
            ProcessEvent::Finished(finished) => return *finished,
            ProcessEvent::Timeout => panic!("nothing came"),
            ProcessEvent::Stdout(_) | ProcessEvent::Stderr(_) => {}
        }
    }
}

#[test]
fn what_is_said_is_answered_while_the_job_runs() {
    let mut live = start("while read line; do echo \"heard $line\"; done; echo bye");
    for word in ["one", "two", "three"] {
        live.send(format!("{word}\n").as_bytes());
        assert_eq!(hear(&mut live, "\n"), format!("heard {word}\n"));
    }
    live.close_input();
    assert_eq!(hear(&mut live, "bye"), "bye\n");
    let finished = over(&mut live, &|| false);
    assert_eq!(finished.reason, ExitReason::Exited(0));
    assert!(live.next_event(&|| false, Duration::ZERO).is_err(), "it is over, and says so");
}

#[test]
fn a_wait_without_a_word_ends_in_time_and_costs_no_job() {
    let mut live = start("read line; echo \"$line\"");
    let began = Instant::now();
    assert_eq!(live.next_event(&|| false, Duration::from_millis(120)).unwrap(), ProcessEvent::Timeout);
    assert!(began.elapsed() >= Duration::from_millis(120));
    live.send(b"late\n");
    assert_eq!(hear(&mut live, "late"), "late\n");
}

#[test]
fn more_than_a_pipe_holds_goes_both_ways_at_once() {
    let mut live = start("cat");
    let text = vec![b'x'; 3 << 20];
    live.send(&text);
    live.close_input();
    let mut came = 0;
    loop {
        match live.next_event(&|| false, PATIENCE).unwrap() {
            ProcessEvent::Stdout(bytes) => came += bytes.len(),
            ProcessEvent::Finished(finished) => {
                assert_eq!((finished.reason, came), (ExitReason::Exited(0), text.len()));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(live.unsent_bytes(), 0);
}

#[test]
fn a_job_that_reads_nothing_takes_nothing_and_can_be_ended() {
    let mut live = start("sleep 600");
    live.send(&vec![b'x'; 1 << 20]);
    assert_eq!(live.next_event(&|| false, Duration::from_millis(100)).unwrap(), ProcessEvent::Timeout);
    assert!(live.unsent_bytes() > 0);
    assert_eq!(live.end().unwrap().unwrap().reason, ExitReason::Stopped);
}

#[test]
fn stopping_ends_it_and_all_who_left_its_group() {
    let mark = Mark::new();
    let line = "setsid sh -c 'trap \"\" TERM; sleep 600' & echo up; sleep 600";
    let job = mark.on(Job { input: JobInput::Piped, output: JobOutput::Separate, ..shell(line) });
    let mut live = runner().start(&job).unwrap();
    hear(&mut live, "up");
    assert_eq!(over(&mut live, &|| true).reason, ExitReason::Stopped);
    mark.must_be_gone();
}

#[test]
fn letting_go_of_it_ends_it() {
    let mark = Mark::new();
    let job =
        mark.on(Job { input: JobInput::Piped, output: JobOutput::Separate, ..shell("echo up; sleep 600") });
    let mut live = runner().start(&job).unwrap();
    hear(&mut live, "up");
    drop(live);
    mark.must_be_gone();
}

#[test]
fn one_that_printed_all_the_time_is_not_idle_and_one_that_did_not_is() {
    let deadlines = Deadlines { idle: Some(Duration::from_millis(300)), ..Deadlines::default() };
    let job =
        Job { input: JobInput::Piped, output: JobOutput::Separate, deadlines, ..shell("echo up; sleep 600") };
    let mut live = runner().start(&job).unwrap();
    assert_eq!(over(&mut live, &|| false).reason, ExitReason::Idle);
}

#[test]
fn a_program_that_is_not_there_is_told_by_the_first_word() {
    let job = Job { input: JobInput::Piped, ..Job::argv(["relay-no-such-program"], "/") };
    let mut live = runner().start(&job).unwrap();
    let error = live.next_event(&|| false, PATIENCE).unwrap_err();
    assert!(error.to_string().contains("relay-no-such-program"), "{error}");
}
