//! Ctrl-Z and `fg`, in a real shell.

use relaycode_testkit::missing::find;
use relaycode_testkit::or_skip;

use super::*;

fn shell(watched: &Watched) -> TestScreen {
    let mut command = on_terminal("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    watched.surround(&mut command);
    command.env("PS1", "$ ").env("RELAY", env!("CARGO_BIN_EXE_relay")).env("HISTFILE", "");
    let screen = TestScreen::start(command, 100, 40);
    screen.wait_for_text("$");
    screen.type_keys("\"$RELAY\" watch\r");
    screen.wait_for_text(PASTING);
    screen
}

#[test]
fn after_a_stop_the_live_line_and_the_keys_come_back() {
    or_skip!(find("bash"));
    let watched = Watched::new();
    let screen = shell(&watched);
    screen.type_keys("\x1a");
    screen.wait_for_text("Stopped");
    screen.type_keys("clear; fg\r");
    screen.wait_for(
        |screen| screen.text().contains(PASTING) && !screen.text().contains("Stopped"),
        crate::fixture::keyed_project::LONG,
    );
    assert!(!screen.is_in_shell_mode());
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
    screen.wait_for_text(PASTING);
    screen.type_keys("q");
    screen.wait_for_text("no longer watching");
}

#[test]
fn after_a_stop_a_question_stands_there_again_and_pasted_text_is_still_no_answer() {
    or_skip!(find("bash"));
    let watched = Watched::new();
    let screen = shell(&watched);
    screen.paste(&watched.bare("one", "ONE"));
    screen.wait_for_text("apply? [y/N]");
    screen.type_keys("\x1a");
    screen.wait_for_text("Stopped");
    screen.type_keys("clear; fg\r");
    screen.wait_for(
        |screen| screen.text().contains("apply? [y/N]") && !screen.text().contains("Stopped"),
        crate::fixture::keyed_project::LONG,
    );
    assert!(!screen.is_in_shell_mode());
    screen.paste("y\ny\n");
    screen.wait_for_text("(pasted text is no answer)");
    screen.type_keys("n\r");
    screen.wait_for_text("nothing was changed");
    assert_eq!(watched.text(), BEFORE);
}
