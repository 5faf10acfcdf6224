//! No terminal at all: what is clean is applied, what needs a person is reported.

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use rustix::process::Signal;

use super::*;

#[test]
fn without_a_terminal_what_is_clean_is_applied_and_the_rest_is_reported() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let (mut relay, said) = watched.piped(&desktop, &[], |_| {});
    let both = || said.all();
    desktop.copy(&watched.keyed("one", "ONE"));
    wait_until("it applies", || both().contains("✓ applied"));
    assert_eq!(watched.text(), "ONE\ntwo\nthree\n");
    desktop.copy(&watched.bare("two", "TWO"));
    wait_until("it reports", || both().contains("does not carry this project's key"));
    assert_eq!(watched.text(), "ONE\ntwo\nthree\n");
    desktop.copy(&watched.keyed("three", "THREE"));
    wait_until("it goes on", || both().matches("✓ applied").count() == 2);
    relay.signal(Signal::TERM);
    assert_eq!(
        relay.wait_exit(crate::fixture::keyed_project::LONG).and_then(|status| status.code()),
        Some(130),
        "{}",
        both()
    );
    let said = both();
    assert!(!said.contains('\x1b') && !said.contains("? keys"), "{said}");
    watched.scene.assert_settled();
}

#[test]
fn for_a_machine_every_outcome_is_an_object_on_a_line_of_its_own() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let (mut relay, said) = watched.piped(&desktop, &["--json", "-q"], |_| {});
    let lines = || -> Vec<Value> {
        let text = said.out();
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    wait_until("it watches", || lines().len() == 1);
    desktop.copy(&watched.keyed("one", "ONE"));
    wait_until("it applies", || lines().len() == 2);
    desktop.copy(&watched.bare("two", "TWO"));
    wait_until("it reports", || lines().len() == 3);
    relay.signal(Signal::TERM);
    relay.wait_exit(crate::fixture::keyed_project::LONG);
    let lines = lines();
    assert_eq!(lines[0]["event"], "watching");
    assert_eq!((&lines[1]["event"], &lines[1]["ok"]), (&"outcome".into(), &true.into()), "{lines:?}");
    assert_eq!((&lines[2]["event"], &lines[2]["ok"]), (&"outcome".into(), &false.into()), "{lines:?}");
    // No option of watch would answer it: any page can write a clipboard.
    assert_eq!(lines[2]["error"]["hint"], "run it in a terminal, where you are asked");
    assert_eq!(watched.text(), "ONE\ntwo\nthree\n");
}
