//! The conversation's live screen, through the real binary on a real terminal: what a person sees, state by state, and what
//! keys, signals and hostile answers do to it.

mod behaviour;
mod endings;
mod hostile;
mod idle;
mod questions;
mod states;
mod views;

use std::process::Command;
use std::time::Duration;

use regex::Regex;
use relaycode_testkit::git::{GIT_ENV, git};
use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};

use crate::agent_run::{WIRES, serving};
use crate::fixture::scratch_project::Project;

/// Nothing was drawn for so long: it is what a person would look at.
const IDLE: Duration = Duration::from_millis(150);
const PLACEHOLDER: &str = "say what to do";

/// A conversation that is not begun yet.
pub(super) struct LiveStart {
    server: ScriptedServer,
    pub(super) project: Project,
    args: Vec<String>,
    set: Vec<(&'static str, String)>,
    size: (u16, u16),
    /// What is waited for at first.
    first: &'static str,
}

/// A conversation on a terminal.
pub(super) struct LiveConversation {
    pub(super) server: ScriptedServer,
    pub(super) project: Project,
    pub(super) screen: TestScreen,
}

impl LiveStart {
    /// With a model that answers so.
    pub(super) fn of(turns: impl IntoIterator<Item = ScriptedTurn>) -> LiveStart {
        let (server, project) = serving(WIRES[0], turns);
        LiveStart { server, project, args: Vec::new(), set: Vec::new(), size: (80, 30), first: PLACEHOLDER }
    }

    pub(super) fn size(mut self, columns: u16, rows: u16) -> LiveStart {
        self.size = (columns, rows);
        self
    }

    pub(super) fn args(mut self, args: &[&str]) -> LiveStart {
        self.args = args.iter().map(ToString::to_string).collect();
        self
    }

    pub(super) fn env(mut self, key: &'static str, value: &str) -> LiveStart {
        self.set.push((key, value.to_string()));
        self
    }

    /// The user's settings.
    pub(super) fn config(self, yaml: &str) -> LiveStart {
        std::fs::write(self.project.home().join("config.yml"), yaml).unwrap();
        self
    }

    /// What says that it is there.
    pub(super) fn first(mut self, text: &'static str) -> LiveStart {
        self.first = text;
        self
    }

    /// The project is a repository, with its files committed.
    pub(super) fn repository(self) -> LiveStart {
        let root = self.project.path(".");
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "first"]);
        self
    }

    pub(super) fn start(self) -> LiveConversation {
        let screen = open(&self.project, &self.args, &self.set, self.size);
        screen.wait_for_text(self.first);
        LiveConversation { server: self.server, project: self.project, screen }
    }
}

fn surround(project: &Project, command: &mut Command, set: &[(&'static str, String)]) {
    project.surround(command);
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm-256color")
        .envs(GIT_ENV)
        .envs(set.iter().map(|(key, value)| (key, value)));
}

fn open(project: &Project, args: &[String], set: &[(&'static str, String)], size: (u16, u16)) -> TestScreen {
    let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
    surround(project, &mut command, set);
    command.args(args);
    TestScreen::start(command, size.0, size.1)
}

impl LiveConversation {
    pub(super) fn of(turns: impl IntoIterator<Item = ScriptedTurn>) -> LiveConversation {
        LiveStart::of(turns).start()
    }

    /// Begins again, as after the end of the first.
    #[track_caller]
    pub(super) fn again(&mut self, args: &[&str]) {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        self.screen = open(&self.project, &args, &[], (80, 30));
        self.screen.wait_for_text("? keys");
    }

    #[track_caller]
    pub(super) fn wait(&self, text: &str) {
        self.screen.wait_for_text(text);
    }

    #[track_caller]
    pub(super) fn wait_gone(&self, text: &str) {
        self.screen.wait_for(|screen| !screen.text().contains(text), GENEROUS_TIMEOUT);
    }

    #[track_caller]
    pub(super) fn keys(&self, keys: &str) {
        self.screen.type_keys(keys);
    }

    /// Types a line, and sends it when it is seen: what comes together is taken for a paste.
    #[track_caller]
    pub(super) fn say(&self, line: &str) {
        self.keys(line);
        let end: String = line.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
        self.wait(&end);
        self.keys("\r");
    }

    /// Says a line, and waits until the agent is done and `text` is there.
    #[track_caller]
    pub(super) fn ask(&self, line: &str, text: &str) {
        self.say(line);
        self.screen.wait_for_line(text);
        self.wait(PLACEHOLDER);
        self.wait_idle();
    }

    /// Waits until nothing is worked on.
    #[track_caller]
    pub(super) fn wait_idle(&self) {
        self.screen.wait_for(|screen| !is_busy(&screen.text()), GENEROUS_TIMEOUT);
    }

    /// Keys that come together with a question were meant for something else: they count from half a second on.
    pub(super) fn wait_until_keys_count(&self) {
        self.settled();
        std::thread::sleep(relaycode_tui::question_panel::SETTLE_TIME);
    }

    /// Bodies of the model's requests.
    pub(super) fn body(&self, number: usize) -> String {
        self.server.wait_for(|requests| requests.len() > number);
        self.server.requests()[number].body.to_string()
    }

    /// The screen when nothing moves on it but a spinner, with fixed times and names.
    #[track_caller]
    pub(super) fn settled(&self) -> String {
        self.settle(|screen| screen.text())
    }

    /// The same in colours.
    #[track_caller]
    pub(super) fn coloured(&self) -> String {
        self.settle(TestScreen::coloured)
    }

    #[track_caller]
    fn settle(&self, look: impl Fn(&TestScreen) -> String) -> String {
        let mut seen = String::new();
        let rested = poll_until(GENEROUS_TIMEOUT, || {
            let before = std::mem::replace(&mut seen, self.fixed(&look(&self.screen)));
            let moved = || (self.fixed(&look(&self.screen)) != seen).then_some(());
            (before == seen && poll_until(IDLE, moved).is_none()).then_some(())
        });
        assert!(rested.is_some(), "it does not come to rest:\n{seen}");
        seen
    }

    /// Names and times that are others in every run, as text of the same width.
    fn fixed(&self, text: &str) -> String {
        let name =
            self.project.path("x").parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let text = text.replace(&name, "project-000000");
        let home = self.project.home().file_name().unwrap().to_string_lossy().into_owned();
        let text = text.replace(&home, "home-000000");
        let text = text.replace(&self.server.address().port().to_string(), "40000");
        replace_all(
            &text,
            &[
                ("[⠁-⣿]", "⠋"),
                (r"(?m)(  +| · )\d+(\.\d)? m?s$", ""),
                (r"\b\d+ kB\b", "2 kB"),
                (r"\b\d+ (m?s)\b", "1 s"),
                (r"\b[0-9a-f]{32}\b", "00000000000000000000000000000000"),
                (
                    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
                    "00000000-0000-0000-0000-000000000000",
                ),
                (r"\b(now|\d+ s ago|just now)\b", "now"),
                (r"\b\d\d:\d\d\b", "12:34"),
                (r"\b20\d\d-\d\d-\d\d\b", "2026-01-01"),
            ],
        )
    }
}

fn replace_all(text: &str, filters: &[(&str, &str)]) -> String {
    filters.iter().fold(text.to_string(), |text, (pattern, with)| {
        Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned()
    })
}

/// Whether a spinner turns.
fn is_busy(text: &str) -> bool {
    text.contains(|c| ('\u{2801}'..='\u{28ff}').contains(&c))
}

/// An answer that stays open after its first piece until somebody stops it.
pub(super) fn hanging(text: &str) -> ScriptedTurn {
    ScriptedTurn::text(text)
        .with(|turn| turn.hang_s = Some(relaycode_testkit::model::TurnDelay::Forever(true)))
}
