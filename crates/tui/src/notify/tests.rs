//! What becomes of the texts, and which terminal is told how. The desktop's part is tested with real
//! and false buses in `tests/it`.

use relaycode_text::escape::is_unsafe;
use relaycode_text::width::cells;

use super::*;

fn terminal(term: &str) -> Surroundings {
    Surroundings { term: Some(term.into()), terminal: true, utf8: true, ..Surroundings::default() }
}

fn told(around: Surroundings, summary: &str, body: &str) -> String {
    let mut out = Vec::new();
    let notice = Notice { summary: summary.into(), body: body.into(), urgent: false };
    Notifier::new(around).tell(&notice, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn each_terminal_is_told_by_what_it_understands() {
    let some = |text: &str| Some(text.to_owned());
    let xterm = || terminal("xterm-256color");
    for (around, expected) in [
        (terminal("xterm-kitty"), Reach::Osc9),
        (terminal("xterm-ghostty"), Reach::Osc9),
        (Surroundings { term_program: some("iTerm.app"), ..xterm() }, Reach::Osc9),
        (Surroundings { term_program: some("WezTerm"), ..xterm() }, Reach::Osc9),
        (Surroundings { lc_terminal: some("iTerm2"), ssh: some("a 1 b 22"), ..xterm() }, Reach::Osc9),
        (Surroundings { kitty_window_id: some("1"), ..xterm() }, Reach::Osc9),
        (terminal("foot"), Reach::Osc777),
        (terminal("foot-direct"), Reach::Osc777),
        (terminal("rxvt-unicode-256color"), Reach::Osc777),
        (Surroundings { vte_version: some("7600"), ..xterm() }, Reach::Osc777),
        (Surroundings { vte_version: some("4599"), ..xterm() }, Reach::Bell),
        (Surroundings { vte_version: some("new"), ..xterm() }, Reach::Bell),
        (Surroundings { term_program: some("vscode"), ..xterm() }, Reach::Bell),
        (Surroundings { term_program: some("iTerm.app"), ..terminal("dumb") }, Reach::Bell),
        (terminal("linux"), Reach::Bell),
        (Surroundings { terminal: true, ..Surroundings::default() }, Reach::Bell),
        (Surroundings { terminal: false, ..terminal("foot") }, Reach::Nothing),
    ] {
        assert_eq!(Notifier::new(around.clone()).reach(), expected, "{around:?}");
    }
}

#[test]
fn tmux_and_screen_get_the_bell_whatever_started_them() {
    let outer = Surroundings { kitty_window_id: Some("1".into()), ..terminal("tmux-256color") };
    let old = Surroundings { tmux: Some("/tmp/tmux-1000/default,9,0".into()), ..terminal("screen-256color") };
    let screen = Surroundings { screen: Some("9.pts-0.host".into()), ..terminal("xterm-kitty") };
    for around in [outer, old, screen] {
        assert_eq!(told(around, "apply?", ""), "\x07");
    }
}

#[test]
fn the_sequences_are_whole_and_say_who_speaks() {
    assert_eq!(told(terminal("xterm-kitty"), "4", ""), "\x1b]9;relay: 4\x07");
    assert_eq!(told(terminal("foot"), "apply?", "a;b"), "\x1b]777;notify;relay: apply?;a,b\x07");
    assert_eq!(told(terminal("rxvt"), "apply?", ""), "\x1b]777;notify;relay: apply?;\x07\x07");
    assert_eq!(told(Surroundings { terminal: false, ..terminal("foot") }, "apply?", ""), "");
}

#[test]
fn over_ssh_the_desktop_of_the_other_machine_is_left_alone() {
    let address = Some("unix:path=/run/user/1000/bus".to_owned());
    let here = Surroundings { bus_address: address, ..terminal("foot") };
    assert_eq!(Notifier::new(here.clone()).reach(), Reach::Desktop);
    let there = Notifier::new(Surroundings { ssh: Some("a 1 b 22".into()), ..here });
    assert_eq!(there.reach(), Reach::Osc777);
    assert!(matches!(there.probe(), Desk::None));
}

#[test]
fn an_empty_variable_is_not_set_and_the_runtime_directory_needs_its_socket() {
    let around = Surroundings::read(|_| Some(String::new()), true, true);
    assert_eq!(around, Surroundings { terminal: true, utf8: true, ..Surroundings::default() });
    let dir = tempfile::tempdir().unwrap();
    let around = Surroundings { runtime_dir: dir.path().to_str().map(str::to_owned), ..terminal("foot") };
    assert_eq!(Notifier::new(around.clone()).reach(), Reach::Osc777);
    std::fs::write(dir.path().join("bus"), "").unwrap();
    assert_eq!(Notifier::new(around).reach(), Reach::Desktop);
}

#[test]
fn no_text_is_obeyed_hidden_or_longer_than_it_may_be() {
    let hostile = [
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
    ];
    for text in &hostile {
        for term in ["xterm-kitty", "foot", "rxvt", "xterm"] {
            let out = told(terminal(term), text, text);
            let inner = out.trim_start_matches("\x1b]").trim_end_matches('\x07');
            assert!(!inner.chars().any(is_unsafe), "{term}: {inner:?}");
            assert!(inner.matches(';').count() <= 3 && out.len() < 4000, "{term}: {out:?}");
        }
        let note = note(&Notice { summary: text.clone(), body: text.clone(), urgent: true });
        assert!(!note.summary.chars().chain(note.body.chars()).any(is_unsafe));
        assert!(cells(&note.summary) <= SUMMARY && cells(&note.body) <= BODY, "{note:?}");
        assert!(note.summary.len() < 2000 && note.body.len() < 4000);
    }
    assert_eq!(plain("one\r\n two\tthree ", 80, true), "one two three");
    assert_eq!(plain("größer", 80, false), "gr\\u{f6}\\u{df}er");
    assert_eq!(plain(&"x".repeat(100), 10, false), "xxxxxxx...");
}

#[test]
fn the_desktop_gets_no_markup_in_the_body() {
    let text = "<b>bold</b> <img src=\"http://x\"> &lt; \"q\"";
    let note = note(&Notice { summary: text.into(), body: text.into(), urgent: false });
    assert_eq!(note.body, "&lt;b&gt;bold&lt;/b&gt; &lt;img src=\"http://x\"&gt; &amp;lt; \"q\"");
    assert_eq!(note.summary, text);
    let entity = super::note(&Notice { body: "&".repeat(1000), ..Notice::default() }).body;
    assert!(entity.strip_suffix('…').unwrap().replace("&amp;", "").is_empty(), "an entity is never cut");
}
