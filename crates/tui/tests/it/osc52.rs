//! Copying inside a real tmux.

use std::process::Command;

use relaycode_testkit::missing::find;
use relaycode_testkit::or_skip;
use relaycode_tui::notify::TerminalEnv;
use relaycode_tui::osc52;

use crate::desktop::wait_for;

/// Ends with the test.
struct Tmux {
    dir: tempfile::TempDir,
}

impl Tmux {
    fn run(&self, arguments: &[&str]) -> std::process::Output {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.dir.path().join("socket")).args(["-f", "/dev/null"]).args(arguments);
        tmux.env_remove("TMUX").env("TERM", "xterm").output().unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn tmux_takes_the_longest_text_once_the_clipboard_is_on() {
    or_skip!(find("tmux"));
    let tmux = Tmux { dir: tempfile::tempdir().unwrap() };
    let text: String = ('!'..='~').cycle().take(osc52::LIMIT).collect();
    let around = TerminalEnv { tmux: Some("inside".to_owned()), ..TerminalEnv::default() };
    let file = tmux.dir.path().join("sequence");
    std::fs::write(&file, osc52::copy_sequence(&text, &around).unwrap()).unwrap();
    let show = format!("cat '{}'; printf shown; exec sleep 60", file.display());
    assert!(
        tmux.run(&["start-server", ";", "set", "-s", "set-clipboard", "on", ";", "new-session", "-d", &show])
            .status
            .success()
    );
    let copied =
        wait_for("the copy", || Some(tmux.run(&["show-buffer"])).filter(|output| output.status.success()));
    assert!(copied.stdout == text.as_bytes(), "{} bytes arrived", copied.stdout.len());
    // Neither form leaves anything on the screen.
    let screen = wait_for("the screen", || {
        let screen = String::from_utf8_lossy(&tmux.run(&["capture-pane", "-p"]).stdout).trim().to_owned();
        screen.contains("shown").then_some(screen)
    });
    assert_eq!(screen, "shown");
}
