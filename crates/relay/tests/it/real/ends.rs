//! How a friend ends that does not by itself: its time is over, or somebody types Ctrl-C. Nothing of it is left.

use std::time::Duration;

use relaycode_testkit::model::{Turn, Wait};

use super::stage::{ALL, Stage, each};

/// Promised to be less than 2.5 s; a machine that has much to do may take longer.
const GONE: Duration = Duration::from_secs(5);

/// A model that never comes to an end.
fn endless() -> Turn {
    Turn::text("On and on and on.").with(|turn| {
        turn.never_end = true;
        turn.chunk_delay_ms = 50;
    })
}

/// A model that begins and never goes on. (To claude the same piece again and again is a broken stream, after a while.)
fn silent() -> Turn {
    Turn::text("I begin, and then.").with(|turn| turn.hang_s = Some(Wait::Forever(true)))
}

#[test]
fn every_friend_runs_out_of_time_and_leaves_nobody() {
    each(&ALL, |stage| {
        let name = stage.name;
        stage.says([silent().repeat(9)]);
        let before = stage.tree();
        let ran = stage.run(&["ask", "Which bird is it?", "--to", name, "--timeout", "6"]).ends(name, 12);
        assert!(ran.err.contains(name), "{name}: {ran:#?}");
        assert_eq!(stage.tree(), before, "{name}");
        println!("{name}: 6 s are over after {:?}, 0 processes left", ran.took);
    });
}

#[test]
fn every_friend_is_gone_soon_after_an_interrupt() {
    each(&ALL, |stage| {
        let name = stage.name;
        stage.says([endless().repeat(9)]);
        interrupted(stage, &["ask", "Which bird is it?", "--to", name]);
    });
}

fn interrupted(stage: &Stage, words: &[&str]) {
    let mut gone = None;
    let ran = stage.run_until(words, |relay| {
        stage.wait_until_asked();
        gone = Some((stage.scratch.left_running().len(), stage.interrupt(relay)));
    });
    let ran = ran.ends(stage.name, 130);
    let (were, gone) = gone.unwrap();
    println!("{}: {were} processes were gone after {gone:?}", stage.name);
    assert!(gone < GONE, "{}: {gone:?} {ran:#?}", stage.name);
}
