//! How a turn may end badly: refused, broken off, too late, unheard. Nothing is left running (the stage looks).

use std::thread;
use std::time::Duration;

use relaycode_friend::FriendFailure;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_testkit::model::{self, TurnDelay};
use relaycode_testkit::process::CLEANUP_TIMEOUT;

use super::fixture::{LONG, stage};

fn hanging() -> model::ScriptedTurn {
    model::ScriptedTurn::text("Well, then").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)))
}

#[test]
fn one_that_takes_too_long_is_ended_by_the_total_and_by_the_idle_limit() {
    for by_silence in [false, true] {
        let stage = stage!([hanging().repeat(9)]);
        let mut turn = stage.turn("Take your time.");
        // As long as it takes to begin.
        let begun = [8, 16, 32].into_iter().map(Duration::from_secs).find(|limit| {
            turn.limits =
                if by_silence { TurnLimits::new(LONG, *limit) } else { TurnLimits::new(*limit, LONG) };
            let came = stage.go(&turn);
            let failure = came.failure();
            assert!(
                matches!(failure, FriendFailure::TimedOut { idle, .. } if *idle == by_silence),
                "{failure:?}"
            );
            assert!(came.took < *limit + CLEANUP_TIMEOUT, "{:?}", came.took);
            !stage.server.turns().is_empty()
        });
        assert!(begun.is_some(), "it never asked its model");
    }
}

#[test]
fn one_that_is_cancelled_is_gone_at_once() {
    let stage = stage!([hanging()]);
    let stopped = std::sync::Mutex::new(None);
    let came = stage.go_until(&stage.turn("Take your time."), &|| {
        let stop = !stage.server.turns().is_empty();
        if stop {
            stopped.lock().unwrap().get_or_insert_with(std::time::Instant::now);
        }
        stop
    });
    assert!(matches!(came.failure(), FriendFailure::Cancelled { .. }));
    let since = stopped.lock().unwrap().unwrap().elapsed();
    assert!(since < CLEANUP_TIMEOUT, "{since:?}");
}

#[test]
fn a_server_that_refuses_connections_is_noticed_early() {
    let stage = stage!(at "http://127.0.0.1:9");
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), FriendFailure::Unreachable { .. }), "{:?}", came.failure());
    assert!(came.took < Duration::from_secs(55), "{:?}", came.took);
    assert!(came.events.iter().any(|event| matches!(event, FriendEvent::Retrying(_))));
}

#[test]
fn a_key_that_is_refused_and_one_that_is_not_there_mean_not_signed_in() {
    let stage = stage!([model::ScriptedTurn::status(401).repeat(9)]);
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), FriendFailure::NotSignedIn { said, .. } if said.contains("401")));
    stage.switch("no-key");
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), FriendFailure::NotSignedIn { said, .. } if said.contains("logged in")));
}

#[test]
fn a_server_that_fails_is_a_failure_with_its_words_and_never_an_answer() {
    for (status, words) in [(500, "500"), (400, "400"), (429, "429")] {
        let stage = stage!([model::ScriptedTurn::status(status).repeat(9)]);
        let came = stage.go(&stage.turn("Hello?"));
        assert!(
            matches!(came.failure(), FriendFailure::Failed { said, .. } if said.contains(words)),
            "{:?}",
            came.failure()
        );
    }
}

#[test]
fn a_server_that_stumbles_once_is_asked_again() {
    let stage = stage!([
        model::ScriptedTurn::status(503),
        model::ScriptedTurn::text("Half of").with(|turn| turn.disconnect_after = Some(4)),
        model::ScriptedTurn::text("All of it."),
    ]);
    let came = stage.go(&stage.turn("Hello?"));
    assert_eq!((came.answer().text.as_str(), came.shown().as_str()), ("All of it.", "All of it."));
}

#[test]
fn one_that_is_killed_is_a_failure_that_says_so() {
    let stage = stage!([hanging()]);
    let came = thread::scope(|scope| {
        scope.spawn(|| {
            stage.server.wait_for(|requests| requests.iter().any(model::RecordedRequest::is_turn));
            stage.scratch.kill();
        });
        stage.go(&stage.turn("Take your time."))
    });
    assert!(
        matches!(came.failure(), FriendFailure::Failed { said, .. } if said.contains("signal 9")),
        "{:?}",
        came.failure()
    );
}

#[test]
fn one_that_says_nothing_gave_no_answer() {
    let stage = stage!([model::ScriptedTurn::text("").repeat(9)]);
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), FriendFailure::NoAnswer { .. }), "{came:?}");
}
