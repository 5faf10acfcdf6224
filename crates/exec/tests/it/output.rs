//! What a job reads and prints.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use relaycode_exec::{CaptureLimits, ExitReason, Job, JobEnvironment, JobInput, JobOutput, SpillTarget};

use crate::fixture::{keeper, run, runner, shell};

#[test]
fn standard_output_and_error_are_kept_apart() {
    let finished = run(&Job { output: JobOutput::Separate, ..shell("echo out; echo err >&2") });
    assert_eq!(finished.reason, ExitReason::Exited(0));
    assert_eq!(finished.stdout.text(), "out\n");
    assert_eq!(finished.stderr.text(), "err\n");
    assert_eq!((finished.left_behind, finished.escaped), (0, 0));
}

#[test]
fn together_they_come_in_the_order_in_which_they_were_written() {
    let line = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    let finished = run(&shell(line));
    let expected: String = (0..500).map(|number| format!("o{number}\ne{number}\n")).collect();
    assert_eq!(finished.stdout.text(), expected);
    assert_eq!(finished.stderr.text(), "");
}

#[test]
fn output_beyond_the_cap_keeps_beginning_and_end_to_the_byte() {
    let (head, tail) = (100, 50);
    let all: String = (1..=1000).map(|number| format!("{number}\n")).collect();
    for (count, dropped) in [(150, 0), (151, 1), (all.len(), all.len() - 150)] {
        let line = format!("seq 1 1000 | head -c {count}");
        let finished = run(&Job { capture: CaptureLimits { head, tail, spill: None }, ..shell(&line) });
        assert_eq!(finished.stdout.dropped, dropped as u64);
        if dropped == 0 {
            assert_eq!(finished.stdout.head, &all.as_bytes()[..count]);
            assert!(finished.stdout.tail.is_empty());
        } else {
            assert_eq!(finished.stdout.head, &all.as_bytes()[..head]);
            assert_eq!(finished.stdout.tail, &all.as_bytes()[count - tail..count]);
        }
    }
}

#[test]
fn what_does_not_fit_is_in_the_spill_file_from_its_first_byte() {
    let place = tempfile::tempdir().unwrap();
    let spill = |name: &str| Some(SpillTarget { file: place.path().join(name), max_bytes: 1 << 20 });
    let kept = |name: &str| CaptureLimits { head: 10, tail: 10, spill: spill(name) };
    let line = "seq 1 10000; seq 1 20000 >&2";
    let finished = run(&Job { output: JobOutput::Separate, capture: kept("all"), ..shell(line) });
    for (captured, last) in [(&finished.stdout, 10_000), (&finished.stderr, 20_000)] {
        let file = captured.spill_file.as_ref().unwrap();
        let all: String = (1..=last).map(|number| format!("{number}\n")).collect();
        assert_eq!(fs::read_to_string(file).unwrap(), all);
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let fits = run(&Job { capture: kept("never"), ..shell("echo fits") });
    assert_eq!(fits.stdout.spill_file, None);
    assert!(!place.path().join("never").exists());
    // A file that is there is not touched, and the job does not suffer.
    fs::write(place.path().join("mine"), "mine").unwrap();
    let taken = run(&Job { capture: kept("mine"), ..shell("seq 1 1000") });
    assert_eq!((taken.reason, taken.stdout.spill_file), (ExitReason::Exited(0), None));
    assert_eq!(fs::read_to_string(place.path().join("mine")).unwrap(), "mine");
}

#[test]
fn two_hundred_megabytes_take_no_memory() {
    let said = Command::new(keeper()).args(["together", "head -c 200000000 /dev/zero"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.starts_with("end Exited(0), left behind 0, seen 200000000, children 0, "), "{said}");
    let peak = said.split("peak ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(peak.parse::<u64>().unwrap() < 24 << 10, "{peak} KiB");
}

#[test]
fn every_chunk_is_shown_as_it_comes() {
    let mut seen = Vec::new();
    let job = Job { capture: CaptureLimits { head: 1, tail: 1, spill: None }, ..shell("seq 1 50000") };
    runner().run(&job, &|| false, &mut |bytes| seen.extend_from_slice(bytes)).unwrap();
    let all: String = (1..=50_000).map(|number| format!("{number}\n")).collect();
    assert!(seen == all.as_bytes());
}

#[test]
fn input_larger_than_a_pipe_arrives_whole_and_ends() {
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let kept = CaptureLimits { head: bytes.len(), tail: 0, spill: None };
    let job = Job { input: JobInput::Bytes(bytes.clone()), capture: kept, ..shell("cat") };
    let finished = run(&job);
    assert!(finished.stdout.head == bytes);
    // One that does not want it is no trouble.
    let unread = Job { input: JobInput::Bytes(bytes), ..shell("exec <&-; echo done") };
    assert_eq!(run(&unread).stdout.text(), "done\n");
    assert_eq!(run(&Job { input: JobInput::Bytes(Vec::new()), ..shell("wc -c") }).stdout.text().trim(), "0");
    assert_eq!(run(&shell("wc -c")).stdout.text().trim(), "0");
}

#[test]
fn the_environment_is_changed_as_asked_and_only_for_the_job() {
    let environment = JobEnvironment {
        remove: vec!["CARGO_MANIFEST_DIR".into(), "RELAY_TEST_SET".into()],
        remove_prefixes: vec!["CARGO_PKG_".to_string()],
        set: vec![("RELAY_TEST_SET".into(), "a b\n$c".into()), ("CARGO_PKG_NAME".into(), "mine".into())],
    };
    let line = "env | grep -c ^CARGO_MANIFEST_DIR=; env | grep ^CARGO_PKG_; echo \"$RELAY_TEST_SET\"; test -n \"$PATH\"";
    let finished = run(&Job { environment, ..shell(line) });
    assert_eq!(finished.stdout.text(), "0\nCARGO_PKG_NAME=mine\na b\n$c\n");
    assert_eq!(finished.reason, ExitReason::Exited(0));
}

#[test]
fn no_descriptor_of_relay_reaches_a_job() {
    let line = "i=3; while [ $i -lt 300 ]; do [ -e /proc/self/fd/$i ] && echo $i; i=$((i+1)); done; true";
    // Whoever started this test may have left some open, which every process has then.
    let usual = Command::new("/bin/sh").args(["-c", line]).output().unwrap();
    for output in [JobOutput::Separate, JobOutput::Merged, JobOutput::Pty { rows: 5, columns: 5 }] {
        let finished = run(&Job { output, input: JobInput::Bytes(b"x".to_vec()), ..shell(line) });
        // A terminal shows what is typed, whenever that is.
        let said = finished.stdout.text().replace("\r\n", "\n").replace('x', "");
        assert_eq!(said.as_bytes(), usual.stdout, "{output:?}");
    }
}

/// relay with streams of ours, running a job that has them.
fn passing_on(how: &str, line: &str, input: &[u8]) -> relaycode_exec::JobOutcome {
    let words = [keeper().into_os_string(), how.into(), line.into()];
    run(&Job { input: JobInput::Bytes(input.to_vec()), ..Job::argv(words, "/") })
}

#[test]
fn relays_own_streams_are_passed_on_as_they_are() {
    let finished = passing_on("streams", "cat; echo err >&2; exit 3", b"in\xff\0\n");
    assert!(finished.stdout.head.starts_with(b"in\xff\0\n"), "{:?}", finished.stdout.text());
    assert!(
        finished.stdout.text().contains("end Exited(3), left behind 0, seen 0"),
        "{:?}",
        finished.stdout.text()
    );
    assert_eq!(finished.stderr.text(), "err\n");
    let finished = passing_on("aside", "echo out; echo err >&2", b"");
    assert_eq!(finished.stderr.text(), "out\nerr\n");
    assert!(finished.stdout.text().starts_with("end Exited(0)"), "{:?}", finished.stdout.text());
}

#[test]
fn what_the_keeper_holds_is_held_until_the_job_is_over_and_never_by_the_job() {
    let place = tempfile::tempdir().unwrap();
    let file = fs::File::create(place.path().join("held-by-the-keeper")).unwrap();
    let line = "for who in $PPID $$; do ls -l /proc/$who/fd | grep -c held-by-the-keeper; done";
    let job = Job { keep_open: Some(std::sync::Arc::new(file.into())), ..shell(line) };
    assert_eq!(run(&job).stdout.text(), "1\n0\n");
}
