//! However it is ended, and whatever it is doing: nothing is half done, nothing runs on, the terminal is as it was.

use relaycode_testkit::missing::find;
use relaycode_testkit::or_skip;
use rustix::process::Signal;

use super::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Doing {
    Nothing,
    Asking,
    Judging,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    CtrlC,
    Told(Signal),
    Closed,
}

fn ends(end: End) {
    or_skip!(find("setsid"));
    for doing in [Doing::Nothing, Doing::Asking, Doing::Judging] {
        let case = format!("{end:?} while {doing:?}");
        let watched = Watched::with_slow_gate();
        let mut screen = watched.pasting();
        match doing {
            Doing::Nothing => {}
            Doing::Asking => {
                screen.paste(&watched.bare("one", "ONE"));
                screen.wait_for_text("apply? [y/N]");
            }
            Doing::Judging => {
                screen.paste(&watched.keyed("one", "ONE"));
                watched.gate_runs();
            }
        }
        assert!(!screen.is_in_shell_mode(), "{case}");
        match end {
            End::CtrlC => screen.type_keys("\x03"),
            End::Told(signal) => screen.signal(signal),
            End::Closed => screen.hang_up(),
        }
        let status = screen.wait_exit();
        assert_eq!(status.code(), Some(130), "{case}: {}", screen.text());
        if end != End::Closed {
            assert!(screen.is_in_shell_mode(), "{case}: {}", screen.text());
            assert!(screen.text().contains("no longer watching"), "{case}: {}", screen.text());
            assert!(!screen.text().contains(PASTING), "{case}: {}", screen.text());
            if doing == Doing::Judging {
                assert!(screen.text().contains("everything was put back"), "{case}: {}", screen.text());
            }
        }
        watched.assert_untouched(&case);
    }
}

#[test]
fn ctrl_c_leaves_nothing_half_done() {
    ends(End::CtrlC);
}

#[test]
fn sigterm_leaves_nothing_half_done() {
    ends(End::Told(Signal::TERM));
}

#[test]
fn sighup_leaves_nothing_half_done() {
    ends(End::Told(Signal::HUP));
}

#[test]
fn a_terminal_that_is_closed_leaves_nothing_half_done() {
    ends(End::Closed);
}

#[test]
fn q_leaves_and_the_terminal_is_as_it_was() {
    let watched = Watched::new();
    let mut screen = watched.pasting();
    screen.type_keys("q");
    assert_eq!(screen.wait_exit().code(), Some(0));
    assert!(screen.is_in_shell_mode() && screen.text().contains("no longer watching"), "{}", screen.text());
    watched.assert_untouched("q");
}

#[test]
fn what_was_applied_is_still_said_when_it_is_interrupted() {
    let watched = Watched::new();
    let mut screen = watched.pasting();
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("1 applied · ? keys");
    screen.type_keys("\x03");
    assert_eq!(screen.wait_exit().code(), Some(130));
    let seen = screen.text();
    assert!(
        seen.contains("no longer watching: 1 applied") && !seen.contains("nothing was changed"),
        "{seen}"
    );
}

#[test]
fn killed_while_a_gate_runs_the_next_one_puts_everything_back() {
    let watched = Watched::with_slow_gate();
    let mut screen = watched.pasting();
    screen.paste(&watched.keyed("one", "ONE"));
    watched.gate_runs();
    assert_ne!(watched.text(), BEFORE);
    screen.signal(Signal::KILL);
    screen.wait_exit();
    let home = watched.scene.project.home().to_str().unwrap();
    wait_until("everything ends", || processes_with(home).is_empty());
    let mut next = watched.pasting();
    next.wait_for_text("put back");
    assert_eq!(watched.text(), BEFORE);
    next.type_keys("q");
    next.wait_exit();
    watched.assert_untouched("killed");
}

#[test]
fn keys_and_signals_are_obeyed_while_an_answer_is_planned() {
    let lines = "0\n1\n".repeat(200_000);
    let hunk = |at: usize| format!("<<<<<<< SEARCH\n{}\n0\n1\n=======\nnew {at}\n>>>>>>> REPLACE\n", at % 2);
    let hunks: String = (0..200).map(hunk).collect();
    for (keys, code) in [("q", 0), ("\x03", 130)] {
        let watched = Watched::new();
        watched.scene.project.put("big.txt", lines.as_bytes());
        let mut screen = watched.pasting();
        let id = &watched.id;
        screen.paste(&format!(
            "```txt // big.txt search-replace\n{hunks}```\n\n```yaml\nprojectId: {id}\n```\n"
        ));
        std::thread::sleep(std::time::Duration::from_millis(250));
        screen.type_keys(keys);
        let start = std::time::Instant::now();
        assert_eq!(screen.wait_exit().code(), Some(code), "{keys:?}: {}", screen.text());
        assert!(start.elapsed() < std::time::Duration::from_secs(1), "{keys:?}: {:?}", start.elapsed());
        assert!(screen.text().contains("no longer watching"), "{}", screen.text());
        watched.assert_untouched(keys);
    }
}
