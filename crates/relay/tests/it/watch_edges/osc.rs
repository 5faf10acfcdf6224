//! Copying without a clipboard goes out through the terminal (OSC 52), also within tmux.

use relaycode_testkit::missing::{Missing, find};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::{output, poll_until};

use super::*;
use crate::fixture::keyed_project::LONG;

#[test]
fn the_prompt_goes_out_through_the_terminal() {
    let watched = Watched::new();
    let screen = watched.pasting();
    screen.type_keys("p");
    screen.wait_for_text("was sent to the terminal's clipboard");
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    let (_, sent) = raw.split_once("\x1b]52;c;").expect("a copy");
    let (sent, _) = sent.split_once('\x07').expect("its end");
    let prompt = watched.scene.relay(&["prompt"]).out;
    assert_eq!(decoded(sent).trim_end(), prompt.trim_end());
}

#[test]
fn tmux_takes_what_is_copied() {
    let watched = Watched::new();
    let tmux = or_skip!(Tmux::start(&watched));
    let screen = |text: &str| {
        let shown =
            poll_until(LONG, || Some(tmux.run(&["capture-pane", "-p"])).filter(|shown| shown.contains(text)));
        shown.unwrap_or_else(|| panic!("{text:?} is missing in\n{}", tmux.run(&["capture-pane", "-p"])))
    };
    screen(PASTING);
    tmux.run(&["send-keys", "p"]);
    screen("was sent to the terminal's clipboard");
    let prompt = watched.scene.relay(&["prompt"]).out;
    let buffer = poll_until(LONG, || Some(tmux.run(&["show-buffer"])).filter(|buffer| !buffer.is_empty()));
    assert_eq!(buffer.unwrap_or_default().trim_end(), prompt.trim_end());
}

/// A session of tmux with relay in it, on a socket of its own.
struct Tmux<'w> {
    watched: &'w Watched,
}

impl<'w> Tmux<'w> {
    fn start(watched: &'w Watched) -> Result<Tmux<'w>, Missing> {
        find("tmux")?;
        fs::write(watched.home("tmux.conf"), "set -s set-clipboard on\n").unwrap();
        let tmux = Tmux { watched };
        tmux.run(&["new-session", "-d", "-x", "100", "-y", "40", env!("CARGO_BIN_EXE_relay"), "watch"]);
        Ok(tmux)
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        self.watched.surround(&mut command);
        command.arg("-S").arg(self.watched.home("tmux")).arg("-f").arg(self.watched.home("tmux.conf"));
        let said = output(command.args(args), b"", LONG).unwrap().unwrap_or_default();
        String::from_utf8(said).unwrap()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// Base64, the other way round.
fn decoded(text: &str) -> String {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<usize> = text.trim_end_matches('=').chars().map(|c| DIGITS.find(c).unwrap()).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend((0..group.len() - 1).map(|at| u8::try_from(bits >> (16 - 8 * at) & 255).unwrap()));
    }
    String::from_utf8(bytes).unwrap()
}
