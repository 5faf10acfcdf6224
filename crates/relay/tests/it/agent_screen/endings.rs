//! However relay ends or is stopped, the terminal is the shell's again, and nothing is left running.

use std::fs;
use std::process::Command;

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::{CLEANUP_TIMEOUT, GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use rustix::process::{Signal, test_kill_process};
use serde_json::json;

use super::{LiveConversation, LiveStart, hanging, surround};

/// What the program has switched on and not off again, by what it wrote.
fn left_on(raw: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(raw);
    let modes = [
        ("paste", "\x1b[?2004h", "\x1b[?2004l"),
        ("focus", "\x1b[?1004h", "\x1b[?1004l"),
        ("scheme", "\x1b[?2031h", "\x1b[?2031l"),
        ("keys", "\x1b[>1u", "\x1b[<u"),
        ("xterm keys", "\x1b[>4;2m", "\x1b[>4m"),
        ("frame", "\x1b[?2026h", "\x1b[?2026l"),
        ("hidden cursor", "\x1b[?25l", "\x1b[?25h"),
    ];
    let is_on = |(_, on, off): &&(&str, &str, &str)| text.rfind(on) > text.rfind(off);
    modes.iter().filter(is_on).map(|(name, ..)| *name).collect()
}

#[track_caller]
fn assert_shell_mode(screen: &TestScreen) {
    assert_eq!(left_on(&screen.raw()), Vec::<&str>::new());
    assert!(screen.is_in_shell_mode());
    assert!(!screen.with_emulator(|emulator| emulator.hide_cursor() || emulator.alternate_screen()));
}

#[test]
fn signals_leave_the_terminal_to_the_shell() {
    for signal in [Signal::TERM, Signal::HUP] {
        for is_working in [false, true] {
            let mut live = LiveConversation::of([hanging("one two three")]);
            if is_working {
                live.say("Go");
                live.wait("one");
            }
            live.screen.signal(signal);
            let status = live.screen.wait_exit();
            assert!(!status.success(), "{signal:?} {is_working}: {status:?}");
            assert_shell_mode(&live.screen);
        }
    }
}

#[test]
fn signals_in_a_view_leave_the_terminal_to_the_shell() {
    let mut live = LiveConversation::of([]);
    live.say("/keys");
    live.wait("begin a new line");
    live.screen.signal(Signal::TERM);
    live.screen.wait_exit();
    assert_shell_mode(&live.screen);
}

#[test]
fn after_sigkill_the_reset_makes_the_terminal_usable() {
    let mut live = LiveConversation::of([hanging("one two three")]);
    live.say("Go");
    live.wait("one");
    live.screen.signal(Signal::KILL);
    live.screen.wait_exit();
    // Nobody can clean up after a SIGKILL: this is what is left, and `reset` or the next start of relay ends it.
    let raw = live.screen.raw();
    let left = left_on(&raw);
    assert!(left.contains(&"paste") && left.contains(&"keys"), "{left:?}");
    let reset = [raw.as_slice(), relaycode_tui::screen::RESET_TERMINAL.as_bytes()].concat();
    assert_eq!(left_on(&reset), Vec::<&str>::new());
    // The next start leaves the terminal as a shell has it.
    live.again(&[]);
    live.keys("\x04");
    live.screen.wait_exit();
    assert_shell_mode(&live.screen);
}

#[test]
fn a_window_that_closes_while_it_streams_ends_relay_and_its_commands() {
    let mut live =
        LiveStart::of([ScriptedTurn::text("I run it.")
            .tool("bash", json!({"command": "echo $$ > pid; exec sleep 887043"}))])
        .args(&["run", "--access", "full"])
        .start();
    live.say("Go");
    let pid = poll_until(GENEROUS_TIMEOUT, || {
        fs::read_to_string(live.project.path("pid")).ok()?.trim().parse::<i32>().ok()
    });
    let is_there = || {
        let found = Command::new("pgrep").args(["-f", "sleep 887043"]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).lines().count() > 0
    };
    assert!(pid.is_some() && is_there());
    let relay = live.screen.pid();
    live.screen.hang_up();
    let ended = poll_until(CLEANUP_TIMEOUT, || live.screen.try_exit_status());
    assert!(ended.is_some(), "relay still runs");
    assert!(test_kill_process(relay).is_err());
    assert!(poll_until(CLEANUP_TIMEOUT, || (!is_there()).then_some(())).is_some(), "its command still runs");
}

#[test]
fn a_window_that_closes_while_nothing_happens_ends_relay() {
    let mut live = LiveConversation::of([]);
    live.screen.hang_up();
    assert!(poll_until(CLEANUP_TIMEOUT, || live.screen.try_exit_status()).is_some(), "relay still runs");
}

#[test]
fn ctrl_z_gives_the_shell_its_terminal_and_fg_comes_back() {
    let start = LiveStart::of([ScriptedTurn::text("Here again.")]);
    let mut shell = on_terminal("bash");
    surround(&start.project, &mut shell, &[]);
    shell
        .args(["--norc", "--noprofile", "-i"])
        .env("PS1", "shell> ")
        .env("RELAY", env!("CARGO_BIN_EXE_relay"));
    let screen = TestScreen::start(shell, 80, 30);
    screen.wait_for_text("shell>");
    screen.type_keys("$RELAY\n");
    screen.wait_for_text("say what to do");
    screen.type_keys("half a thought");
    screen.wait_for_text("› half a thought");
    screen.type_keys("\x1a");
    screen.wait_for_text("Stopped");
    // What the shell has now is what it had.
    let text = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(
        text.rfind("\x1b[<u") > text.rfind("\x1b[>1u")
            && text.rfind("\x1b[?1004l") > text.rfind("\x1b[?1004h")
    );
    screen.type_keys("echo in-the-shell-$((1+1))\n");
    screen.wait_for_text("in-the-shell-2");
    screen.type_keys("fg\n");
    screen.wait_for_text("› half a thought");
    screen.type_keys("\x15Hello");
    screen.wait_for_text("› Hello");
    screen.type_keys("\r");
    screen.wait_for_text("15 tokens");
    screen.type_keys("\x04");
    screen.wait_for(|screen| screen.text().trim_end().ends_with("shell>"), GENEROUS_TIMEOUT);
}

#[test]
fn stdin_that_is_no_terminal_does_not_matter() {
    let start = LiveStart::of([ScriptedTurn::text("Heard.")]);
    let mut shell = on_terminal("sh");
    surround(&start.project, &mut shell, &[]);
    shell.args(["-c", "\"$RELAY\" < /dev/null"]).env("RELAY", env!("CARGO_BIN_EXE_relay"));
    let mut screen = TestScreen::start(shell, 80, 30);
    screen.wait_for_text("say what to do");
    screen.type_keys("Hello");
    screen.wait_for_text("› Hello");
    screen.type_keys("\r");
    screen.wait_for_text("15 tokens");
    screen.type_keys("\x04");
    assert!(screen.wait_exit().success());
    assert_shell_mode(&screen);
}

#[test]
fn a_terminal_that_answers_no_query_gets_no_wait_and_one_that_does_gets_no_junk() {
    let mut live = LiveConversation::of([ScriptedTurn::text("Heard.")]);
    live.keys("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?0u\x1b[?62;4c");
    live.ask("Hello", "Heard.");
    let seen = live.screen.scrollback_text();
    assert!(!seen.contains("rgb:") && !seen.contains("62;4c"), "{seen}");
    live.keys("\x04");
    live.screen.wait_exit();
    // A reply that comes late is the shell's to show; there is none of relay's own asking after the first.
    assert_eq!(String::from_utf8_lossy(&live.screen.raw()).matches("\x1b]11;?").count(), 1);
}
