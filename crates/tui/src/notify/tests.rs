//! What becomes of the texts, and which terminal is notified how.

use relaycode_text::escape::is_unsafe;

use super::sanitize::sanitize_line;
use super::*;

fn terminal(term: &str) -> TerminalEnv {
    TerminalEnv { term: Some(term.into()), terminal: true, utf8: true, ..TerminalEnv::default() }
}

fn sequence_text(around: TerminalEnv, summary: &str, body: &str) -> String {
    let mut out = Vec::new();
    let notice = Notification { summary: summary.into(), body: body.into(), urgent: false };
    Notifier::new(around).notify(&notice, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn each_terminal_is_told_by_what_it_understands() {
    let some = |text: &str| Some(text.to_owned());
    let xterm = || terminal("xterm-256color");
    for (around, expected) in [
        (terminal("xterm-kitty"), NotifyMethod::Osc9),
        (terminal("xterm-ghostty"), NotifyMethod::Osc9),
        (TerminalEnv { term_program: some("iTerm.app"), ..xterm() }, NotifyMethod::Osc9),
        (TerminalEnv { term_program: some("WezTerm"), ..xterm() }, NotifyMethod::Osc9),
        (TerminalEnv { lc_terminal: some("iTerm2"), ssh: some("a 1 b 22"), ..xterm() }, NotifyMethod::Osc9),
        (TerminalEnv { kitty_window_id: some("1"), ..xterm() }, NotifyMethod::Osc9),
        (terminal("foot"), NotifyMethod::Osc777),
        (terminal("foot-direct"), NotifyMethod::Osc777),
        (terminal("rxvt-unicode-256color"), NotifyMethod::Osc777),
        (TerminalEnv { vte_version: some("7600"), ..xterm() }, NotifyMethod::Osc777),
        (TerminalEnv { vte_version: some("4599"), ..xterm() }, NotifyMethod::Bell),
        (TerminalEnv { vte_version: some("new"), ..xterm() }, NotifyMethod::Bell),
        (TerminalEnv { term_program: some("vscode"), ..xterm() }, NotifyMethod::Bell),
        (TerminalEnv { term_program: some("iTerm.app"), ..terminal("dumb") }, NotifyMethod::Bell),
        (terminal("linux"), NotifyMethod::Bell),
        (TerminalEnv { terminal: true, ..TerminalEnv::default() }, NotifyMethod::Bell),
        (TerminalEnv { terminal: false, ..terminal("foot") }, NotifyMethod::Nothing),
    ] {
        assert_eq!(Notifier::new(around.clone()).method(), expected, "{around:?}");
    }
}

#[test]
fn tmux_and_screen_get_the_bell_whatever_started_them() {
    let outer = TerminalEnv { kitty_window_id: Some("1".into()), ..terminal("tmux-256color") };
    let old = TerminalEnv { tmux: Some("/tmp/tmux-1000/default,9,0".into()), ..terminal("screen-256color") };
    let screen = TerminalEnv { screen: Some("9.pts-0.host".into()), ..terminal("xterm-kitty") };
    for around in [outer, old, screen] {
        assert_eq!(sequence_text(around, "apply?", ""), "\x07");
    }
}

#[test]
fn the_sequences_are_whole_and_say_who_speaks() {
    assert_eq!(sequence_text(terminal("xterm-kitty"), "4", ""), "\x1b]9;relay: 4\x07");
    assert_eq!(sequence_text(terminal("foot"), "apply?", "a;b"), "\x1b]777;notify;relay: apply?;a,b\x07");
    assert_eq!(sequence_text(terminal("rxvt"), "apply?", ""), "\x1b]777;notify;relay: apply?;\x07\x07");
    assert_eq!(sequence_text(TerminalEnv { terminal: false, ..terminal("foot") }, "apply?", ""), "");
}

#[test]
fn an_empty_variable_is_not_set() {
    let around = TerminalEnv::from_lookup(|_| Some(String::new()), true, true);
    assert_eq!(around, TerminalEnv { terminal: true, utf8: true, ..TerminalEnv::default() });
}

/// Texts that try to be obeyed, to hide something or to have no end.
pub(crate) fn hostile_texts() -> Vec<String> {
    vec![
        "\x1b]0;owned\x07\x1b[2J".to_owned(),
        "\u{9d}52;c;aGk=\u{9c}".to_owned(),
        "a\u{202e}b\u{200b}c\u{feff}\u{e0041}".to_owned(),
        "one\r\ntwo\tthree\0".to_owned(),
        "x".repeat(100_000),
        "x ".repeat(100_000),
        "日".repeat(100_000),
        "e\u{301}".repeat(100_000),
        "\u{301}".repeat(100_000),
        "\x1b".repeat(100_000),
        ";".repeat(1000),
    ]
}

#[test]
fn no_text_is_obeyed_hidden_or_longer_than_it_may_be() {
    for text in &hostile_texts() {
        for term in ["xterm-kitty", "foot", "rxvt", "xterm"] {
            let out = sequence_text(terminal(term), text, text);
            let inner = out.trim_start_matches("\x1b]").trim_end_matches('\x07');
            assert!(!inner.chars().any(is_unsafe), "{term}: {inner:?}");
            assert!(inner.matches(';').count() <= 3 && out.len() < 4000, "{term}: {out:?}");
        }
    }
    assert_eq!(sanitize_line("one\r\n two\tthree ", 80, true), "one two three");
    assert_eq!(sanitize_line("größer", 80, false), "gr\\u{f6}\\u{df}er");
    assert_eq!(sanitize_line(&"x".repeat(100), 10, false), "xxxxxxx...");
}
