//! How a friend ends that does not by itself: its time is over, or somebody types Ctrl-C. Nothing of it is left.

use std::fs;
use std::path::{Path, PathBuf};

use relaycode_testkit::model::{RecordedRequest, ScriptedTurn, TurnDelay};
use relaycode_testkit::process::{CLEANUP_TIMEOUT, poll_until};
use rustix::process::Pid;

use super::fixture::{LONG, Stage, all, each};

/// A model that never comes to an end.
fn endless() -> ScriptedTurn {
    ScriptedTurn::text("On and on and on.").with(|turn| {
        turn.never_end = true;
        turn.chunk_delay_ms = 50;
    })
}

/// A model that begins and never goes on. (To claude the same piece again and again is a broken stream, after a while.)
fn silent() -> ScriptedTurn {
    ScriptedTurn::text("I begin, and then.").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)))
}

#[test]
fn every_friend_runs_out_of_time_and_leaves_nobody() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says([silent().repeat(99)]);
        let before = stage.tree();
        // As long as it takes to begin, also for the slow.
        let begun = ["6", "12", "24", "48"].into_iter().find(|seconds| {
            let words = ["ask", "Which bird is it?", "--to", name, "--timeout", seconds];
            let ran = stage.run(&words).ends(name, 12);
            assert!(ran.err.contains(name), "{name}: {ran:#?}");
            assert_eq!(stage.tree(), before, "{name}");
            let asked = stage.server.turns().len();
            println!("{name}: {seconds} s are over after {:?}, {asked} asked, 0 processes left", ran.took);
            asked > 0
        });
        assert!(begun.is_some(), "{name} never asked its model");
    });
}

#[test]
fn every_friend_is_gone_soon_after_an_interrupt() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says([endless().repeat(9)]);
        interrupted(stage, &["ask", "Which bird is it?", "--to", name], || stage.wait_until_asked());
    });
}

#[test]
fn what_a_friend_started_and_let_go_is_gone_with_it() {
    let Some(stage) = Stage::of("codex") else { return };
    // After ten seconds codex tells its model that the command still runs.
    stage.says([
        stage.agent().shell_call_turn(ScriptedTurn::text("I sleep."), "setsid sleep 300 & sleep 300"),
        silent(),
    ]);
    let sleeps = |pid: &Pid| {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        words.starts_with(b"sleep\0")
    };
    interrupted(&stage, &["ask", "Sleep.", "--to", "codex"], || {
        let both = || stage.scratch.left_running().iter().filter(|pid| sleeps(pid)).count() == 2;
        poll_until(LONG, || both().then_some(())).unwrap();
    });
}

#[test]
fn a_friend_that_is_broken_off_at_work_leaves_the_project_and_no_copy() {
    each(["codex", "claude"], |stage| {
        stage.says(stage.works().into_iter().take(1));
        stage.says([endless().repeat(9)]);
        let before = stage.tree();
        interrupted(stage, &["do", "Make it better.", "--to", stage.name, "-y"], || {
            let asked = |requests: &[RecordedRequest]| requests.iter().filter(|it| it.is_turn()).count() >= 2;
            assert!(stage.server.wait_within(LONG, asked), "{}", stage.name);
        });
        assert_eq!(stage.tree(), before, "{}", stage.name);
        let copies = found(&stage.scratch.home().join("relay"), "new.txt");
        assert_eq!(copies, [] as [PathBuf; 0], "{}", stage.name);
    });
}

/// Every file of that name below a folder.
fn found(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| match path.is_dir() {
        true => found(&path, name),
        false => Some(path).filter(|path| path.ends_with(name)).into_iter().collect(),
    };
    entries.flat_map(below).collect()
}

/// Breaks relay off once it is as far as `wait` says.
fn interrupted(stage: &Stage, words: &[&str], wait: impl Fn()) {
    let mut gone = None;
    let ran = stage.run_until(words, |relay| {
        wait();
        gone = Some((stage.scratch.left_running().len(), stage.interrupt(relay)));
    });
    let ran = ran.ends(stage.name, 130);
    let (were, gone) = gone.unwrap();
    println!("{}: {were} processes were gone after {gone:?}", stage.name);
    assert!(gone < CLEANUP_TIMEOUT, "{}: {gone:?} {ran:#?}", stage.name);
}
