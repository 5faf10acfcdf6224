//! What it costs while nothing happens, and how soon a key is seen while much does.

use std::thread::sleep;
use std::time::{Duration, Instant};

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::GENEROUS_TIMEOUT;

use super::LiveConversation;

/// How long nothing happens.
const QUIET: Duration = Duration::from_secs(3);

#[test]
fn an_idle_conversation_wakes_up_never() {
    let live = LiveConversation::of([ScriptedTurn::text("Here.")]);
    live.ask("Hello", "Here.");
    live.settled();
    let before = live.screen.usage();
    sleep(QUIET);
    let after = live.screen.usage();
    println!(
        "idle: {} wakeups, {:?}, {} MB own",
        after.wakeups - before.wakeups,
        after.processor - before.processor,
        after.own_memory >> 20
    );
    assert_eq!(after.wakeups - before.wakeups, 0);
    // Somebody looks at another window: that is taken, and nothing follows.
    live.keys("\x1b[O");
    live.screen.wait_for(|screen| screen.usage().wakeups > after.wakeups, GENEROUS_TIMEOUT);
    live.settled();
    let before = live.screen.usage();
    sleep(QUIET);
    assert_eq!(live.screen.usage().wakeups - before.wakeups, 0);
}

#[test]
fn keys_are_seen_at_once_while_a_thousand_pieces_a_second_come() {
    let pieces: Vec<String> = (0..6_000)
        .map(|number| if number % 12 == 11 { format!("w{number}\n") } else { format!("w{number} ") })
        .collect();
    let live = LiveConversation::of([ScriptedTurn::pieces(pieces).with(|turn| turn.chunk_delay_ms = 1)]);
    live.say("Go");
    live.wait("w20 ");
    let mut times = Vec::new();
    let mut typed = String::new();
    for number in 0..40u8 {
        let key = char::from(b'a' + number % 26);
        typed.push(key);
        let wanted = format!("› {typed}");
        let began = Instant::now();
        live.keys(&key.to_string());
        live.screen.wait_for(|screen| screen.text().contains(&wanted), GENEROUS_TIMEOUT);
        times.push(began.elapsed());
    }
    times.sort();
    println!("key to screen: median {:?}, longest {:?}", times[times.len() / 2], times[times.len() - 1]);
    assert!(times[times.len() / 2] < Duration::from_millis(100), "{times:?}");
    live.keys("\x03\x03");
    live.wait_idle();
}

#[test]
fn escape_stops_an_agent_that_streams_fast() {
    let pieces: Vec<String> = (0..20_000).map(|number| format!("w{number} ")).collect();
    let live = LiveConversation::of([
        ScriptedTurn::pieces(pieces).with(|turn| turn.chunk_delay_ms = 1),
        ScriptedTurn::text("Here."),
    ]);
    live.say("Go");
    live.wait("w20 ");
    live.keys("\x1b");
    live.wait("stopped; what was finished stays");
    live.wait_idle();
    live.ask("And now?", "Here.");
}
