//! Without a clipboard: what is pasted is taken for an answer that comes in, and never for keys.

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;

use super::*;

/// What is said about a paste at a question.
const NO_ANSWER: &str = "(pasted text is no answer";

#[test]
fn without_a_clipboard_it_says_so_and_takes_what_is_pasted() {
    let watched = Watched::new();
    let screen = watched.pasting();
    let seen = screen.text();
    assert!(seen.contains("the clipboard cannot be watched") && seen.contains("paste answers"), "{seen}");
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
    assert_eq!(watched.text(), "ONE\ntwo\nthree\n");
}

#[test]
fn a_clipboard_that_is_not_wanted_is_not_looked_at() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.start(|command| {
        desktop.surround(command);
        command.env("RELAY_CLIPBOARD", "none");
    });
    screen.wait_for_text(PASTING);
    desktop.copy(&watched.keyed("one", "ONE"));
    screen.paste(&watched.keyed("two", "TWO"));
    screen.wait_for_text("✓ applied");
    assert_eq!(watched.text(), "one\nTWO\nthree\n");
}

#[test]
fn neither_a_terminal_nor_a_clipboard_is_wrong_usage() {
    let watched = Watched::new();
    let ran = watched.scene.relay(&["watch"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("nothing to watch") && ran.err.contains("`relay doctor`"), "{ran:?}");
}

#[test]
fn a_burst_from_a_terminal_that_marks_no_paste_is_one_all_the_same() {
    let watched = Watched::new();
    let screen = watched.start(|command| {
        command.env("TERM", "dumb");
    });
    screen.wait_for_text("paste answers into this window");
    for (long, before) in [(0, "one"), (3_000, "two")] {
        let lines = "u\nq\ny\n".repeat(long + 1);
        let text = format!("u\nq\ny\n{lines}{}q\n", watched.keyed(before, &before.to_uppercase()));
        screen.send(text.replace('\n', "\r").as_bytes());
        wait_said(&screen, "✓ applied", if long == 0 { 1 } else { 2 });
    }
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
    assert_eq!(watched.scene.project.log().len(), 2);
}

#[test]
fn what_is_pasted_at_a_question_is_no_answer_and_is_taken_up_afterwards() {
    let watched = Watched::new();
    let screen = watched.pasting();
    screen.paste(&watched.bare("one", "ONE"));
    screen.wait_for_text("apply? [y/N]");
    screen.paste(&watched.keyed("two", "TWO"));
    screen.wait_for_text("(pasted text is no answer)");
    screen.type_keys("n\r");
    screen.wait_for_text("✓ applied");
    assert_eq!(watched.text(), "one\nTWO\nthree\n");
}

#[test]
fn what_is_pasted_while_a_gate_runs_is_taken_up_afterwards() {
    let watched = Watched::with_slow_gate();
    let screen = watched.pasting();
    screen.paste(&watched.keyed("one", "ONE"));
    watched.gate_runs();
    // Keys do not count, pastes do.
    screen.type_keys("q");
    screen.paste(&watched.keyed("two", "TWO"));
    screen.type_keys("q");
    fs::remove_file(watched.home("hold")).unwrap();
    wait_said(&screen, "✓ applied", 2);
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
}

#[test]
fn a_paste_that_pretends_to_end_says_no_yes() {
    let watched = Watched::new();
    let screen = watched.pasting();
    screen.paste(&watched.bare("one", "ONE"));
    screen.wait_for_text("apply? [y/N]");
    // Wherever one read ends and the next begins: a terminal hands over some 4 000 bytes at once.
    for length in [0, 4_076, 4_077, 4_078, 4_079, 4_080, 4_081, 4_082, 4_083, 4_084, 4_085] {
        let before = said(&screen, NO_ANSWER);
        let text = "x".repeat(length);
        screen.send(format!("\x1b[200~{text}\x1b[201~y\ryes\ry\r\x1b[201~y\r").as_bytes());
        wait_said(&screen, NO_ANSWER, before + 1);
    }
    // Also when it comes in two pieces.
    for _ in 0..10 {
        let before = said(&screen, NO_ANSWER);
        screen.send(b"\x1b[200~text\x1b[201~");
        screen.send(b"y\r");
        wait_said(&screen, NO_ANSWER, before + 1);
    }
    assert!(screen.text().contains("4 wait already: this one is not taken"), "{}", screen.text());
    screen.type_keys("n\r");
    screen.wait_for_text("nothing was changed");
    assert_eq!(watched.text(), BEFORE);
}

#[test]
fn what_is_no_answer_is_remarked_on_and_not_shown() {
    let watched = Watched::new();
    let screen = watched.pasting();
    screen.paste("my password is hunter2\nand this is a second line\n");
    screen.wait_for_text("pasted: nothing that changes a file");
    screen.send(b"\x1b[200~\xff\xfe hunter2\x1b[201~");
    screen.wait_for_text("pasted: text that is not UTF-8");
    screen.send(b"\x1b[200~");
    screen.send(&vec![b'h'; 5 << 20]);
    screen.send(b"\x1b[201~");
    screen.wait_for_text("pasted: more text than an answer may have");
    screen.type_keys("?");
    screen.wait_for_text("leave");
    let raw = screen.raw();
    assert!(!String::from_utf8_lossy(&raw).contains("hunter2"), "{}", screen.text());
    assert!(!String::from_utf8_lossy(&raw).contains("hhhh"));
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
}
