//! A clipboard that changes all the time, says the same again and again, or hands relay its own text back.

use std::time::{Duration, Instant};

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use relaycode_testkit::process::poll_until;

use super::*;
use crate::fixture::keyed_project::LONG;

/// Many changes, as fast as programs can copy.
const MANY: usize = 50;
/// In a storm the clipboard is looked at more often than this.
const REST: Duration = Duration::from_millis(700);

/// Waits until the thread that watches the clipboard has nothing more to do.
fn at_rest(screen: &TestScreen) {
    let (mut before, mut since) = (None, Instant::now());
    let rested = poll_until(LONG, || {
        let now = sleeps(screen.pid()).remove("clipboard");
        if now != before {
            (before, since) = (now, Instant::now());
        }
        (since.elapsed() > REST).then_some(())
    });
    assert!(rested.is_some(), "the clipboard never came to rest");
}

/// What the card of an answer begins with.
const CARD: &str = "▸ ";

#[test]
fn a_storm_of_answers_becomes_two_questions_at_most() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    for number in 0..MANY {
        desktop.copy(&watched.bare("one", &format!("number {number}")));
    }
    screen.wait_for_text("apply? [y/N]");
    at_rest(&screen);
    assert_eq!(said(&screen, CARD), 1, "{}", screen.text());
    screen.type_keys("n\r");
    wait_said(&screen, CARD, 2);
    // The first question may stand there twice: once more below the news that another answer waits.
    let asks =
        |screen: &TestScreen| screen.text().rsplit(CARD).next().is_some_and(|c| c.contains("apply? [y/N]"));
    screen.wait_for(asks, LONG);
    assert!(screen.text().contains(&format!("number {}", MANY - 1)), "the last one: {}", screen.text());
    screen.type_keys("n\r");
    screen.wait_for_text(WATCHING);
    assert_eq!(said(&screen, CARD), 2, "{}", screen.text());
    assert_eq!(said(&screen, "the clipboard keeps changing"), 1, "{}", screen.text());
    assert_eq!(watched.text(), BEFORE);
}

#[test]
fn a_storm_of_plain_text_is_nobody_s_business() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    let (shown, cpu, began) = (screen.raw().len(), screen.cpu_time(), Instant::now());
    for number in 0..MANY {
        desktop.copy(&format!("just text {number}"));
    }
    let (used, took) = (screen.cpu_time().saturating_sub(cpu), began.elapsed());
    assert!(used < took / 10, "{used:?} of {took:?}");
    at_rest(&screen);
    assert_eq!(screen.raw().len(), shown, "{}", screen.text());
}

#[test]
fn the_same_answer_again_and_again_is_said_once() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    let answer = watched.keyed("one", "ONE");
    for _ in 0..MANY {
        desktop.copy(&answer);
    }
    screen.wait_for_text("✓ applied");
    at_rest(&screen);
    desktop.copy(&watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    assert!(said(&screen, "the same answer again") <= 1, "{}", screen.text());
    assert_eq!(said(&screen, "the clipboard keeps changing"), 0, "{}", screen.text());
}

#[test]
fn what_relay_copied_itself_is_no_news_whoever_copies_it_again() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    screen.type_keys("p");
    screen.wait_for_text("is on the clipboard");
    let prompt = desktop.paste();
    assert!(prompt.contains(&watched.id));
    desktop.copy(&prompt);
    desktop.copy(&watched.keyed("missing", "there"));
    screen.wait_for_text("c copies a repair prompt");
    screen.wait_for_text(WATCHING);
    screen.type_keys("c");
    wait_said(&screen, "is on the clipboard", 2);
    let repair = desktop.paste();
    assert_ne!(repair, prompt);
    desktop.copy(&repair);
    at_rest(&screen);
    let seen = screen.scrollback_text();
    desktop.copy(&repair);
    at_rest(&screen);
    assert_eq!(screen.scrollback_text(), seen);
    assert_eq!(said(&screen, "▸"), 1, "the answer that was refused, and no other: {seen}");
    assert!(seen.contains(WATCHING) && !seen.contains("the same answer"), "{seen}");
}
