//! When the desktop is told, and what becomes of the texts. How it is told is tested with real and false buses in
//! `tests/it`.

use relaycode_text::escape::is_unsafe;
use relaycode_text::width::cells;

use super::desktop::to_desktop;
use crate::notify::tests::hostile_texts;
use crate::notify::{
    BODY_CELLS, DesktopProbe, Notification, Notifier, NotifyMethod, SUMMARY_CELLS, TerminalEnv,
};

fn terminal(term: &str) -> TerminalEnv {
    TerminalEnv { term: Some(term.into()), terminal: true, utf8: true, ..TerminalEnv::default() }
}

#[test]
fn over_ssh_the_desktop_of_the_other_machine_is_left_alone() {
    let address = Some("unix:path=/run/user/1000/bus".to_owned());
    let here = TerminalEnv { bus_address: address, ..terminal("foot") };
    assert_eq!(Notifier::new(here.clone()).method(), NotifyMethod::Desktop);
    let there = Notifier::new(TerminalEnv { ssh: Some("a 1 b 22".into()), ..here });
    assert_eq!(there.method(), NotifyMethod::Osc777);
    assert!(matches!(there.probe(), DesktopProbe::None));
}

#[test]
fn the_runtime_directory_needs_its_socket() {
    let dir = tempfile::tempdir().unwrap();
    let around = TerminalEnv { runtime_dir: dir.path().to_str().map(str::to_owned), ..terminal("foot") };
    assert_eq!(Notifier::new(around.clone()).method(), NotifyMethod::Osc777);
    std::fs::write(dir.path().join("bus"), "").unwrap();
    assert_eq!(Notifier::new(around).method(), NotifyMethod::Desktop);
}

#[test]
fn no_text_is_hidden_or_longer_than_it_may_be() {
    for text in hostile_texts() {
        let note = to_desktop(&Notification { summary: text.clone(), body: text, urgent: true });
        assert!(!note.summary.chars().chain(note.body.chars()).any(is_unsafe));
        assert!(cells(&note.summary) <= SUMMARY_CELLS && cells(&note.body) <= BODY_CELLS, "{note:?}");
        assert!(note.summary.len() < 2000 && note.body.len() < 4000);
    }
}

#[test]
fn the_desktop_gets_no_markup_in_the_body() {
    let text = "<b>bold</b> <img src=\"http://x\"> &lt; \"q\"";
    let note = to_desktop(&Notification { summary: text.into(), body: text.into(), urgent: false });
    assert_eq!(note.body, "&lt;b&gt;bold&lt;/b&gt; &lt;img src=\"http://x\"&gt; &amp;lt; \"q\"");
    assert_eq!(note.summary, text);
    let entity = to_desktop(&Notification { body: "&".repeat(1000), ..Notification::default() }).body;
    assert!(entity.strip_suffix('…').unwrap().replace("&amp;", "").is_empty(), "an entity is never cut");
}
