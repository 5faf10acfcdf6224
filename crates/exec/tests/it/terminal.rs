//! Jobs with a terminal: one of their own, or the user's.

use relaycode_exec::{ExitReason, Job, JobInput, JobOutput};

use crate::fixture::{Mark, keeper, run, shell};

const PTY: JobOutput = JobOutput::Pty { rows: 33, columns: 101 };

fn at_a_terminal(line: &str, typed: &[u8]) -> Job {
    Job { output: PTY, input: JobInput::Bytes(typed.to_vec()), ..shell(line) }
}

#[test]
fn a_terminal_of_its_own_is_one_and_has_its_size() {
    let line = "test -t 0 && test -t 1 && test -t 2 && stty size && : > /dev/tty && echo ok";
    let finished = run(&Job { output: PTY, ..shell(line) });
    assert_eq!(
        (finished.reason, finished.stdout.text().as_str()),
        (ExitReason::Exited(0), "33 101\r\nok\r\n")
    );
}

#[test]
fn what_is_typed_is_read() {
    let finished =
        run(&at_a_terminal("stty -echo; read line; echo \"<$line>\"; cat", b"some words\nmore\n\x04"));
    let said = finished.stdout.text();
    assert!(said.contains("<some words>"), "{said:?}");
    assert!(said.ends_with("more\r\n"), "{said:?}");
    assert_eq!(finished.reason, ExitReason::Exited(0));
}

#[test]
fn a_typed_interrupt_reaches_the_job_and_not_the_keeper() {
    // Without a shell that waits: some lose an interrupt that comes while they start a program.
    let finished = run(&at_a_terminal("exec sleep 1000", b"\x03"));
    assert_eq!(finished.reason, ExitReason::Signalled(2));
    let finished =
        run(&at_a_terminal("trap 'echo caught; exit 5' INT QUIT; while :; do sleep 0.01; done", b"\x03"));
    assert!(
        matches!(finished.reason, ExitReason::Exited(5) | ExitReason::Signalled(2)),
        "{:?}",
        finished.reason
    );
}

#[test]
fn all_that_a_terminal_showed_is_kept() {
    let finished = run(&Job { output: PTY, ..shell("seq 1 20000") });
    let all: String = (1..=20_000).map(|number| format!("{number}\r\n")).collect();
    assert_eq!(finished.stdout.head.len(), all.len());
    assert!(finished.stdout.head == all.as_bytes());
}

#[test]
fn who_leaves_a_terminal_is_ended_too() {
    let mark = Mark::new();
    let line = "trap '' HUP TERM; (setsid sleep 1000 &); sleep 1000 & sleep 0.1; echo done";
    let finished = run(&mark.on(Job { output: PTY, ..shell(line) }));
    assert_eq!((finished.reason, finished.left_behind), (ExitReason::Exited(0), 2));
    mark.must_be_gone();
}

#[test]
fn a_job_that_lets_go_of_its_terminal_is_not_ended_by_that() {
    let line = "echo one; exec <&- >&- 2>&-; sleep 0.2; exec > /dev/tty; echo two; exit 6";
    let finished = run(&Job { output: PTY, ..shell(line) });
    assert_eq!((finished.reason, finished.stdout.text().as_str()), (ExitReason::Exited(6), "one\r\ntwo\r\n"));
}

/// relay at a terminal, running a job on that terminal.
fn on_the_users_terminal(line: &str, typed: &[u8]) -> String {
    let words = [keeper().into_os_string(), "terminal".into(), line.into()];
    let job = Job { output: PTY, input: JobInput::Bytes(typed.to_vec()), ..Job::argv(words, "/") };
    let finished = run(&job);
    assert_eq!(finished.reason, ExitReason::Exited(0), "{}", finished.stdout.text());
    finished.stdout.text()
}

#[test]
fn the_users_terminal_is_handed_on_in_the_foreground() {
    let line = "test -t 0 && test -t 1 && test -t 2 && stty size && read x && echo \"<$x>\"";
    let said = on_the_users_terminal(line, b"words\n");
    assert!(said.contains("33 101\r\n"), "{said}");
    assert!(said.contains("<words>\r\n"), "{said}");
    assert!(said.contains("end Exited(0), left behind 0, seen 0"), "{said}");
}

#[test]
fn an_interrupt_at_the_users_terminal_is_outlived_by_the_keeper() {
    let line = "trap 'exit 9' INT; stty intr x; echo; kill -INT 0; while :; do sleep 0.01; done";
    let said = on_the_users_terminal(line, b"");
    assert!(said.contains("end Exited(9)"), "{said}");
}

#[test]
fn without_a_terminal_a_job_that_needs_one_is_refused() {
    let words = [keeper().into_os_string(), "terminal".into(), "true".into()];
    let finished = run(&Job::argv(words, "/"));
    assert_eq!(finished.stdout.text(), "failed: `true` needs a terminal, and there is none\n");
}
