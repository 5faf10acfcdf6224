//! What every friend that is spoken to by the Agent Client Protocol has to do, whoever it is.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use relaycode_friend::friend::answer::DeclinedActionKind;
use relaycode_friend::{FriendEvent, FriendFailure, TurnMemory, friends};
use relaycode_project::access::Access;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use relaycode_testkit::process::CLEANUP_TIMEOUT;

use super::fixture::{Came, House};

fn text(came: &Came) -> &str {
    match &came.answer {
        Ok(answer) => &answer.text,
        Err(failure) => panic!("{failure} {:#?}", came.events),
    }
}

fn kinds(came: &Came) -> Vec<DeclinedActionKind> {
    let declined = &came.answer.as_ref().unwrap().declined;
    declined.iter().map(|declined| declined.kind).collect()
}

pub(super) fn answers_piece_by_piece(name: &str) {
    let pieces = ["It is ", "a heron, ", "I think."];
    let Some(house) = House::of(name, [ScriptedTurn::pieces(pieces)]) else { return };
    let before = house.tree();
    let came = house.run(&house.turn("Which bird is it?"));
    assert_eq!(text(&came), pieces.concat());
    let streamed = came.events.iter().filter(|event| matches!(event, FriendEvent::Text(_))).count();
    assert!(streamed >= 2, "{:#?}", came.events);
    assert_eq!(came.events.first(), Some(&FriendEvent::Ready { transport: "acp" }));
    let answer = came.answer.as_ref().unwrap();
    assert_eq!((answer.transport, answer.session.as_deref()), ("acp", None));
    assert!(answer.usage.is_some() && answer.model.is_some(), "{answer:#?}");
    assert_eq!(house.tree(), before);
}

pub(super) fn takes_a_prompt_larger_than_an_argument(name: &str) {
    let line = "All of this is to be read, down to the last word.\n";
    let prompt = format!("{}The last word is heron.", line.repeat(180_000 / line.len()));
    let Some(house) = House::of(name, [ScriptedTurn::text("It is heron.")]) else { return };
    let came = house.run(&house.turn(&prompt));
    assert_eq!(text(&came), "It is heron.");
    let body = house.server.turns()[0].body.to_string();
    assert!(body.contains("The last word is heron."));
    assert_eq!(body.matches("down to the last word.").count(), 180_000 / line.len());
}

/// What a model says that wants to write, to change and to run.
fn wants_everything(name: &str) -> Vec<ScriptedTurn> {
    let agent = relaycode_testkit::agents::find_by_name(name).unwrap();
    let mut turns = vec![agent.write_file_turn(ScriptedTurn::text("I write."), "new.txt", "hello\n")];
    turns.extend(agent.replace_turns(ScriptedTurn::text("I change."), "old.txt", "two", "zwei"));
    turns.push(agent.shell_call_turn(ScriptedTurn::text("I run."), "echo ran > ran.txt"));
    turns.push(ScriptedTurn::text("I could not."));
    turns
}

pub(super) fn is_declined_what_writes_or_runs(name: &str) {
    let Some(house) = House::of(name, wants_everything(name)) else { return };
    let before = house.tree();
    let came = house.run(&house.turn("Change everything."));
    assert_eq!(text(&came), "I could not.");
    assert_eq!(
        kinds(&came),
        [DeclinedActionKind::Write, DeclinedActionKind::Write, DeclinedActionKind::Command]
    );
    assert!(came.events.contains(&FriendEvent::AnswerRestarted), "{:#?}", came.events);
    assert_eq!(house.tree(), before);
}

pub(super) fn remembers_and_stays_read_only(name: &str) {
    let mut turns = vec![ScriptedTurn::text("It is a heron.")];
    turns.extend(wants_everything(name));
    turns.push(ScriptedTurn::text("A heron, as I said."));
    let Some(house) = House::of(name, turns) else { return };
    let before = house.tree();
    let mut turn = house.turn("Which bird is it?");
    turn.memory = TurnMemory::Begin;
    let came = house.run(&turn);
    assert_eq!(text(&came), "It is a heron.");
    let id = came.answer.unwrap().session.unwrap();

    let mut turn = house.turn("And now change everything.");
    turn.memory = TurnMemory::Resume(id.clone());
    let came = house.run(&turn);
    assert_eq!(text(&came), "I could not.", "{:#?}", came.events);
    assert_eq!(came.answer.as_ref().unwrap().session, Some(id.clone()));
    assert_eq!(
        kinds(&came),
        [DeclinedActionKind::Write, DeclinedActionKind::Write, DeclinedActionKind::Command]
    );
    assert_eq!(house.tree(), before);
    let body = house.server.turns()[1].body.to_string();
    assert!(body.contains("Which bird is it?") && body.contains("It is a heron."), "{body}");

    let mut turn = house.turn("Which bird was it?");
    turn.memory = TurnMemory::Resume(id);
    let came = house.run(&turn);
    assert_eq!(text(&came), "A heron, as I said.", "{:#?}", came.events);
    let body = house.server.turns().last().unwrap().body.to_string();
    assert!(body.contains("It is a heron.") && body.contains("I could not."), "{body}");
}

pub(super) fn does_not_know_a_session_that_is_not_there(name: &str, id: &str) {
    let Some(house) = House::of(name, [ScriptedTurn::text("Never.")]) else { return };
    let mut turn = house.turn("Which bird is it?");
    turn.memory = TurnMemory::Resume(id.to_string());
    let came = house.run(&turn);
    assert!(matches!(came.answer, Err(FriendFailure::UnknownSession { .. })), "{:#?}", came.answer);
    assert_eq!(house.server.turns().len(), 0, "nothing was sent");
}

pub(super) fn writes_in_its_workspace_and_nowhere_else(name: &str) {
    let agent = relaycode_testkit::agents::find_by_name(name).unwrap();
    let server = ScriptedServer::start(Script::new(Vec::new()));
    let url = server.url();
    let Some(house) = House::at(name, server, &url) else { return };
    let outside = house.scratch.home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(house.scratch.project().join(".git")).unwrap();
    symlink(&outside, house.scratch.project().join("link")).unwrap();
    let there = outside.join("there.txt").to_str().unwrap().to_string();
    house.server.push(&agent.write_file_turn(ScriptedTurn::text("In."), "src/new.txt", "hello\n"));
    for turn in agent.replace_turns(ScriptedTurn::text("In."), "old.txt", "two", "zwei") {
        house.server.push(&turn);
    }
    for path in [there.as_str(), "link/there.txt", ".git/hooks", "../up.txt"] {
        house.server.push(&agent.write_file_turn(ScriptedTurn::text("Out."), path, "hello\n"));
    }
    house.server.push(&agent.shell_call_turn(ScriptedTurn::text("Run."), "echo ran > ran.txt"));
    house.server.push(&ScriptedTurn::text("Done."));
    let mut turn = house.turn("Change everything.");
    turn.access = Access::Workspace;
    let came = house.run(&turn);
    assert_eq!(text(&came), "Done.");
    let has = |path: &str| fs::read_to_string(house.scratch.project().join(path)).unwrap_or_default();
    assert_eq!((has("src/new.txt").as_str(), has("old.txt").as_str()), ("hello\n", "one\nzwei\nthree\n"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{:#?}", came.events);
    assert!(!house.scratch.project().join("../up.txt").exists());
    assert_eq!(fs::read_dir(house.scratch.project().join(".git")).unwrap().count(), 0);
    assert_eq!(has("ran.txt"), "");
    let declined = kinds(&came);
    assert_eq!(declined.last(), Some(&DeclinedActionKind::Command), "{declined:?}");
    assert_eq!(declined.len(), 5, "{:#?}", came.answer.unwrap().declined);
}

pub(super) fn does_everything_with_full_access(name: &str) {
    let Some(house) = House::of(name, wants_everything(name)) else { return };
    let mut turn = house.turn("Change everything.");
    turn.access = Access::Full;
    let came = house.run(&turn);
    assert_eq!(text(&came), "I could not.");
    let has = |path: &str| fs::read_to_string(house.scratch.project().join(path)).unwrap_or_default();
    assert_eq!(
        (has("new.txt").as_str(), has("old.txt").as_str(), has("ran.txt").as_str()),
        ("hello\n", "one\nzwei\nthree\n", "ran\n"),
        "{:#?}",
        came.events
    );
    assert_eq!(kinds(&came), []);
}

pub(super) fn runs_out_of_time(name: &str) {
    let silent =
        ScriptedTurn::text("Never.").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true)));
    let Some(house) = House::of(name, [silent.repeat(99)]) else { return };
    let mut turn = house.turn("Which bird is it?");
    // As long as it takes to begin.
    let begun = [4, 8, 16, 32].into_iter().find(|seconds| {
        turn.limits.idle = Duration::from_secs(*seconds);
        let came = house.run(&turn);
        assert!(matches!(came.answer, Err(FriendFailure::TimedOut { idle: true, .. })), "{:#?}", came.answer);
        !house.server.turns().is_empty()
    });
    assert!(begun.is_some(), "{name} never asked its model");

    let mut turn = house.turn("Which bird is it?");
    turn.limits.total = Duration::from_millis(1500);
    let came = house.run(&turn);
    assert!(matches!(came.answer, Err(FriendFailure::TimedOut { idle: false, .. })), "{:#?}", came.answer);
    assert!(came.took < Duration::from_secs(30), "{:?}", came.took);
}

pub(super) fn says_early_that_its_server_is_gone(name: &str) {
    let server = ScriptedServer::start(Script::new(Vec::new()));
    let Some(house) = House::at(name, server, "http://127.0.0.1:9") else { return };
    let came = house.run(&house.turn("Which bird is it?"));
    assert!(matches!(came.answer, Err(FriendFailure::Unreachable { .. })), "{:#?}", came.answer);
    assert!(came.took < Duration::from_secs(120), "{:?}", came.took);
}

pub(super) fn says_that_its_key_is_refused(name: &str) {
    let Some(house) = House::of(name, [ScriptedTurn::status(401).repeat(99)]) else { return };
    let came = house.run(&house.turn("Which bird is it?"));
    assert!(matches!(came.answer, Err(FriendFailure::NotSignedIn { .. })), "{:#?}", came.answer);
    assert!(came.took < Duration::from_secs(120), "{:?}", came.took);
}

pub(super) fn says_that_its_server_fails(name: &str) {
    let Some(house) = House::of(name, [ScriptedTurn::status(500).repeat(99)]) else { return };
    let came = house.run(&house.turn("Which bird is it?"));
    assert!(matches!(came.answer, Err(FriendFailure::Failed { .. })), "{:#?}", came.answer);
    assert!(came.took < Duration::from_secs(120), "{:?}", came.took);
}

pub(super) fn gives_no_answer_where_there_is_none(name: &str) {
    let Some(house) = House::of(name, [ScriptedTurn::text("").repeat(9)]) else { return };
    let came = house.run(&house.turn("Which bird is it?"));
    assert!(matches!(came.answer, Err(FriendFailure::NoAnswer { .. })), "{:#?}", came.answer);
}

pub(super) fn is_gone_soon_after_it_is_broken_off(name: &str) {
    let endless = ScriptedTurn::text("On and on.").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let Some(house) = House::of(name, [endless]) else { return };
    let since: Mutex<Option<Instant>> = Mutex::new(None);
    let stop = || since.lock().unwrap().is_some();
    let came = house.run_until(&house.turn("Which bird is it?"), &stop, &mut |event| {
        if matches!(event, FriendEvent::Text(_)) {
            since.lock().unwrap().get_or_insert_with(Instant::now);
        }
    });
    assert!(matches!(came.answer, Err(FriendFailure::Cancelled { .. })), "{:#?}", came.answer);
    let took = since.lock().unwrap().unwrap().elapsed();
    assert!(took < CLEANUP_TIMEOUT, "{took:?}");
}

pub(super) fn is_seen_and_signed_in(name: &str) {
    let Some(house) = House::of(name, []) else { return };
    let friend = friends::find_program_friend(name).unwrap();
    let seen = house.world(&|| false, |world| friend.probe(world));
    assert_eq!(seen.version.as_deref(), Some(house.agent.version()));
    assert_eq!((seen.signed_in, &seen.trouble), (Some(true), &None), "{seen:#?}");
    assert!(seen.found.is_some());
    assert_eq!(house.server.requests().len(), 0, "no model was asked");
}
