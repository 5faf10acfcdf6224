//! A session of `relay watch` on a screen of 100 columns, and what is seen there as text that is the same every
//! time.

use std::time::Duration;

use relaycode_testkit::display::X11;
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::Value;

use crate::fixture::keyed_project::Scene;

const COLUMNS: u16 = 100;
const ROWS: u16 = 46;
/// Nothing was drawn for so long: it is what a person would look at.
const IDLE: Duration = Duration::from_millis(120);

/// A session that is not begun yet.
pub(super) struct Ready<'d> {
    pub(super) scene: Scene,
    desk: Option<&'d X11>,
    args: Vec<&'static str>,
    set: Vec<(&'static str, &'static str)>,
    columns: u16,
}

/// A session.
pub(super) struct Shot {
    pub(super) scene: Scene,
    pub(super) screen: TestScreen,
    id: String,
    plain: bool,
}

impl Shot {
    /// A project with these files and this configuration, which is trusted.
    pub(super) fn of(files: &[(&str, &str)], config: &Value) -> Ready<'static> {
        let scene = Scene::untrusted(files, &Value::Null);
        scene.configure(config);
        Ready { scene, desk: None, args: vec!["watch"], set: Vec::new(), columns: COLUMNS }
    }

    /// An answer with the key of this checkout.
    pub(super) fn keyed(&self, blocks: &str, message: &str) -> String {
        format!("{blocks}\n```yaml\nprojectId: {}\ngitCommitMsg: {message:?}\n```\n", self.id)
    }

    #[track_caller]
    pub(super) fn wait(&self, text: &str) {
        self.wait_times(text, 1);
    }

    /// Presses a key when nothing is asked and nothing else goes on: what is typed meanwhile does not count.
    #[track_caller]
    pub(super) fn press(&self, key: &str) {
        let live = ["watching the ", "waiting for ", "copied: "];
        let idle = |screen: &TestScreen| {
            let text = screen.text();
            let last = text.lines().last().unwrap_or_default();
            live.iter().any(|begins| last.starts_with(begins)) || last.contains(" collected ")
        };
        self.screen.wait_for(idle, GENEROUS_TIMEOUT);
        self.screen.type_keys(key);
    }

    /// Waits until it is there so many times.
    #[track_caller]
    pub(super) fn wait_times(&self, text: &str, times: usize) {
        self.screen
            .wait_for(|screen| (screen.text() + "\n").matches(text).count() >= times, GENEROUS_TIMEOUT);
    }

    /// The screen, when nothing moves on it any more.
    #[track_caller]
    pub(super) fn settled(&self) -> String {
        let mut seen = self.seen();
        let rested = poll_until(GENEROUS_TIMEOUT, || {
            let before = std::mem::replace(&mut seen, self.rested());
            (before == seen).then_some(())
        });
        assert!(rested.is_some(), "it does not come to rest:\n{seen}");
        seen
    }

    /// Compares the screen, when nothing moves on it any more, with the snapshot of this name.
    #[track_caller]
    pub(super) fn snap(&self, name: &str) {
        let seen = self.settled();
        insta::with_settings!({snapshot_path => "../snapshots", omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(name, seen);
        });
    }

    /// What is seen after the session has been idle.
    pub(super) fn rested(&self) -> String {
        let version = self.screen.raw().len();
        // Ends early when something moves.
        let _moved = poll_until(IDLE, || (self.screen.raw().len() != version).then_some(()));
        self.seen()
    }

    fn seen(&self) -> String {
        let text = if self.plain { self.screen.text() } else { self.screen.coloured() };
        self.fixed(&text)
    }

    /// Times, ids and keys as fixed text of the same width.
    fn fixed(&self, text: &str) -> String {
        let key = self.id.rsplit('.').next().unwrap_or_default();
        let mut text = text.replace(key, "k3yk3yk3yk");
        for (number, entry) in self.scene.project.log().iter().rev().enumerate() {
            let id = entry["id"].as_str().or(entry["uuid"].as_str()).unwrap_or_default();
            if let Some(short) = id.get(..8) {
                text = text.replace(short, &format!("{:08}", number + 1));
            }
        }
        let lines = text.lines().map(|line| timed(&spun(line)));
        lines.collect::<Vec<String>>().join("\n")
    }
}

/// A line with the time of its card, and of a check, fixed.
fn timed(line: &str) -> String {
    let mut line = line.to_owned();
    let digits = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() >= 5 && bytes[2] == b':' && [0, 1, 3, 4].iter().all(|at| bytes[*at].is_ascii_digit())
    };
    let clock = line.char_indices().map(|(at, _)| at).find(|at| *at < 30 && digits(&line[*at..]));
    if let Some(at) = clock {
        line.replace_range(at..at + 5, "14:02");
    }
    if let Some(at) = line.find("checked in ").map(|at| at + "checked in ".len())
        && let Some(end) = line[at..].find("s, ").map(|end| at + end)
    {
        line.replace_range(at..end, "3.2 ");
    }
    line
}

/// A spinner at its first position.
fn spun(line: &str) -> String {
    match line.strip_prefix(['/', '-', '\\', '|']) {
        Some(rest) if rest.starts_with(' ') => {
            let rest = rest.split("  ").next().unwrap_or(rest);
            format!("/{rest}")
        }
        _ => line.to_owned(),
    }
}

impl<'d> Ready<'d> {
    pub(super) fn desk<'n>(self, desk: &'n X11) -> Ready<'n> {
        Ready { desk: Some(desk), scene: self.scene, args: self.args, set: self.set, columns: self.columns }
    }

    pub(super) fn args(mut self, args: &[&'static str]) -> Ready<'d> {
        self.args = args.to_vec();
        self
    }

    pub(super) fn columns(mut self, columns: u16) -> Ready<'d> {
        self.columns = columns;
        self
    }

    pub(super) fn env(mut self, key: &'static str, value: &'static str) -> Ready<'d> {
        self.set.push((key, value));
        self
    }

    /// Begins.
    pub(super) fn start(self) -> Shot {
        self.scene.trust();
        let prompt = self.scene.relay(&["prompt"]).out;
        let id = prompt.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap().to_owned();
        let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
        self.scene.project.surround(&mut command);
        command.args(&self.args).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color").env("PAGER", "cat");
        command.envs(self.set.iter().copied());
        if let Some(desk) = self.desk {
            desk.surround(&mut command);
        }
        let screen = TestScreen::start(command, self.columns, ROWS);
        let plain = self.set.iter().any(|(key, _)| *key != "LC_ALL");
        let shot = Shot { scene: self.scene, screen, id, plain };
        // The live line, or where there is none the first one.
        let desk = if self.desk.is_some() { "watching the" } else { "waiting for" };
        shot.wait(if self.set.contains(&("TERM", "dumb")) { "? keys" } else { desk });
        shot
    }
}
