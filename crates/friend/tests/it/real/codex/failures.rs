//! How a turn of codex fails and ends, and that nothing of it is left.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::{Friend, FriendContext, FriendFailure};
use relaycode_project::access::Access;
use relaycode_testkit::model;
use relaycode_testkit::process::CLEANUP_TIMEOUT;
use relaycode_testkit::process_table::kill_matching;

use super::fixture::{shell, stage};
use crate::keeper_fixture::runner;

/// A model that never says a word. (After ten seconds codex tells it that a command still runs.)
fn silent() -> model::ScriptedTurn {
    model::ScriptedTurn::text("x")
        .with(|turn| turn.stall_before_headers = Some(model::TurnDelay::Forever(true)))
}

#[test]
fn a_turn_that_takes_too_long_is_ended_with_everything_it_started() {
    let stage = stage!([shell("setsid sleep 300 & sleep 300"), silent()]);
    let mut turn = stage.turn("Sleep.");
    // Enough to begin with, also for one that has to wait for its turn.
    turn.limits.total = Duration::from_secs(20);
    let came = std::thread::scope(|scope| {
        scope.spawn(|| stage.sleeps());
        stage.go(&turn)
    });
    assert!(matches!(came.failure(), FriendFailure::TimedOut { idle: false, .. }), "{:?}", came.failure());
    assert!(came.took < turn.limits.total + CLEANUP_TIMEOUT, "{:?}", came.took);
    assert_eq!(stage.left(), []);
}

#[test]
fn a_model_that_says_nothing_is_not_waited_for_longer_than_idle() {
    let stage = stage!([silent().repeat(9)]);
    let mut turn = stage.turn("Hello?");
    // As long as it takes to begin.
    let begun = [4, 8, 16, 32].into_iter().find(|seconds| {
        turn.limits.idle = Duration::from_secs(*seconds);
        let came = stage.go(&turn);
        assert!(matches!(came.failure(), FriendFailure::TimedOut { idle: true, .. }), "{:?}", came.failure());
        assert_eq!(stage.left(), []);
        !stage.server.turns().is_empty()
    });
    assert!(begun.is_some(), "it never asked its model");
}

#[test]
fn a_server_that_refuses_connections_is_noticed_early() {
    let stage = stage!([]);
    stage.configure("http://127.0.0.1:9", "", "");
    for way in ["app-server", "exec"] {
        let came = stage.go(&stage.turn("Hello?"));
        assert!(matches!(came.failure(), FriendFailure::Unreachable { .. }), "{way}: {:?}", came.failure());
        assert!(came.took < Duration::from_secs(100), "{way}: {:?}", came.took);
        assert!(came.events.contains(&FriendEvent::Ready { transport: way }));
        assert!(came.events.iter().any(|event| matches!(event, FriendEvent::Retrying(_))));
        assert_eq!(stage.left(), []);
        stage.without_app_server();
    }
}

#[test]
fn a_refused_key_and_a_broken_server_are_told_apart() {
    let stage =
        stage!([model::ScriptedTurn::status(401).repeat(2), model::ScriptedTurn::status(500).repeat(8)]);
    let came = stage.go(&stage.turn("Hello?"));
    assert!(
        matches!(came.failure(), FriendFailure::NotSignedIn { said, .. } if said.contains("401")),
        "{:?}",
        came.failure()
    );
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), FriendFailure::Failed { .. }), "{:?}", came.failure());
}

#[test]
fn without_an_account_nothing_is_asked_and_the_look_says_so() {
    let stage = stage!([]);
    let world = FriendContext {
        runner: runner(),
        home: None,
        env_var: &|_| None,
        stop_requested: &|| false,
        depth: 0,
    };
    let presence = stage.codex.probe(&world);
    assert_eq!(presence.version.as_deref(), Some(stage.version));
    assert_eq!((presence.signed_in, presence.trouble), (None, None), "its provider is the user's own");
    fs::write(stage.codex_home().join("config.toml"), "model = \"gpt-5.5\"\n").unwrap();
    let presence = stage.codex.probe(&world);
    assert_eq!(presence.signed_in, Some(false));
    assert!(presence.trouble.unwrap().contains("codex login"));
    assert!(matches!(stage.go(&stage.turn("Hello?")).failure(), FriendFailure::NotSignedIn { .. }));
    fs::write(stage.codex_home().join("auth.json"), "{\"OPENAI_API_KEY\": \"sk-not-a-real-key\"}").unwrap();
    assert_eq!(stage.codex.probe(&world).signed_in, Some(true));
    assert_eq!(stage.left(), []);
}

#[test]
fn a_codex_that_is_killed_is_started_again_unless_it_may_have_changed_something() {
    for access in [Access::ReadOnly, Access::Workspace] {
        let stage = stage!([silent(), model::ScriptedTurn::text("The second time.")]);
        let mut turn = stage.turn("Hello?");
        turn.access = access;
        let came = std::thread::scope(|scope| {
            scope.spawn(|| {
                stage.server.wait_for(|requests| requests.iter().any(model::RecordedRequest::is_turn));
                assert!(kill_matching(stage.ours()) > 0, "it runs");
            });
            stage.go(&turn)
        });
        if access == Access::ReadOnly {
            assert_eq!(came.answer().text, "The second time.");
        } else {
            assert!(
                matches!(came.failure(), FriendFailure::Failed { said, .. } if said.contains("signal 9"))
            );
            assert_eq!(stage.server.turns().len(), 1, "the prompt was said once");
        }
        assert_eq!(stage.left(), []);
    }
}

#[test]
fn a_stop_ends_the_turn_and_all_its_processes_quickly() {
    let stage = stage!([shell("setsid sleep 300 & sleep 300"), silent()]);
    let stop = AtomicBool::new(false);
    let mut asked = None;
    let came = std::thread::scope(|scope| {
        let asked = &mut asked;
        scope.spawn(|| {
            stage.sleeps();
            *asked = Some(Instant::now());
            stop.store(true, Ordering::SeqCst);
        });
        stage.go_until(&stage.turn("Sleep."), &|| stop.load(Ordering::SeqCst), &mut |_| {})
    });
    let took = asked.unwrap().elapsed();
    assert!(matches!(came.failure(), FriendFailure::Cancelled { .. }), "{:?}", came.failure());
    assert!(took < CLEANUP_TIMEOUT, "{took:?}");
    assert_eq!(stage.left(), []);
}
