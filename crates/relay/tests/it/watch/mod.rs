//! `relay watch` on real desktops: what a person copies, presses and sees.
//!
//! Every session is looked at when it ends: its exit code, the terminal, what is left running, and that nothing of a
//! transaction is left open.

mod bulk;
mod clipboard_once;
mod desktop;
mod gate;
mod json_events;
mod keys;
mod manual_mode;
mod planned_once;
mod queue;
mod repair_prompt;
mod repeated_answer;
mod unnamed_project;
mod workflow;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::{Value, json};

use crate::fixture::keyed_project;
use crate::fixture::keyed_project::{Scene, processes_with, wait_until};
use crate::fixture::scratch_project::{Project, Ran, edit, run};
use desktop::Desktop;

/// A linter that takes `BAD` for an error.
const LINTER: &str = "sh check.sh";
const CHECK: &str = "if grep -Hn BAD src/*.txt; then exit 1; fi\n";
const CART: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A project called `shop` under git, with a linter, trusted, and the name that its prompt gives to models.
pub(crate) struct Shop {
    scene: Scene,
    name: String,
}

impl Shop {
    /// Decides by itself where it may.
    pub(crate) fn auto() -> Shop {
        Shop::with(&json!({"projectId": "shop", "patch": {"linter": LINTER}}))
    }

    /// Asks every time.
    pub(crate) fn manual() -> Shop {
        Shop::with(&json!({"projectId": "shop", "patch": {"linter": LINTER, "approvalMode": "manual"}}))
    }

    pub(crate) fn with(config: &Value) -> Shop {
        let files = [("src/cart.txt", CART), ("src/till.txt", CART), ("check.sh", CHECK)];
        let scene = Scene { project: Project::new(&files) };
        git_init(&scene);
        scene.configure(config);
        scene.trust();
        let name = named(&scene.relay(&["prompt"]).out);
        Shop { scene, name }
    }

    /// An answer to this project's prompt.
    pub(crate) fn answer(&self, number: u32, message: &str, blocks: &str) -> String {
        answer(&self.name, number, message, blocks)
    }

    /// An answer that puts `after` in the place of `before` in `src/cart.txt`.
    pub(crate) fn edits(&self, number: u32, before: &str, after: &str) -> String {
        self.answer(number, &format!("{before} becomes {after}"), &edit("src/cart.txt", before, after))
    }

    pub(crate) fn cart(&self) -> String {
        self.scene.text("src/cart.txt")
    }

    /// `relay` on this desktop; nobody is there to ask.
    pub(crate) fn relay(&self, desktop: &Desktop, args: &[&str]) -> Ran {
        run(&mut self.command(desktop, args))
    }

    pub(crate) fn command(&self, desktop: &Desktop, args: &[&str]) -> Command {
        let mut command = self.scene.command(args);
        desktop.surround(&mut command);
        command
    }

    /// The messages of what the log has, oldest first.
    pub(crate) fn messages(&self) -> Vec<String> {
        let log = self.scene.project.log();
        log.iter().rev().filter_map(|entry| entry["summary"].as_str().map(str::to_string)).collect()
    }

    /// `relay watch` in a terminal on this desktop.
    pub(crate) fn watch<'s>(&'s self, desktop: &'s Desktop, args: &[&str]) -> Watch<'s> {
        Watch::start(&self.scene, desktop, args, &[])
    }

    /// What somebody else copies ends the process that holds what relay copied; no other is left.
    pub(crate) fn assert_nothing_runs(&self, desktop: &Desktop) {
        assert_nothing_runs(&self.scene, desktop);
    }
}

pub(crate) fn git_init(scene: &Scene) {
    let mut git = Command::new("git");
    git.args(["init", "--quiet"]).stdin(Stdio::null());
    scene.project.surround(&mut git);
    keyed_project::surround(&mut git);
    assert!(git.status().unwrap().success());
}

/// The name that a prompt tells the model to use.
pub(crate) fn named(prompt: &str) -> String {
    prompt.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap().to_string()
}

/// An answer for the project of this name.
pub(crate) fn answer(name: &str, number: u32, message: &str, blocks: &str) -> String {
    format!(
        "I looked at it.\n\n{blocks}\n```yaml\nprojectId: {name}\nuuid: {}\ngitCommitMsg: {message:?}\n```\n",
        uuid(number)
    )
}

pub(crate) fn uuid(number: u32) -> String {
    format!("{number:08x}-d9cb-469f-a165-70867728950e")
}

/// A session at a terminal.
pub(crate) struct Watch<'s> {
    scene: &'s Scene,
    desktop: &'s Desktop,
    screen: TestScreen,
    /// How much of what was said was waited for.
    passed: Cell<usize>,
}

/// Asks the terminal to mark pasted text, and no longer.
const MARK: &str = "\x1b[?2004h";
const NO_MARK: &str = "\x1b[?2004l";
/// A thread that did nothing for this long waits for news.
const AT_REST: Duration = Duration::from_millis(60);

/// Runs relay, and notes how the terminal was before and after; stdout may go elsewhere.
const AROUND: &str = r#"stty -g > "$NOTES"
if [ -n "$OUT" ]; then "$@" > "$OUT"; else "$@"; fi
code=$?
stty -g >> "$NOTES"
exit $code"#;

impl<'s> Watch<'s> {
    /// With more in its environment; `OUT` is a file for its stdout.
    pub(crate) fn start(
        scene: &'s Scene,
        desktop: &'s Desktop,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> Watch<'s> {
        let mut command = on_terminal("sh");
        command.args(["-c", AROUND, "sh", env!("CARGO_BIN_EXE_relay"), "watch"]).args(args);
        scene.project.surround(&mut command);
        keyed_project::surround(&mut command);
        desktop.surround(&mut command);
        command.env("TERM", "xterm-256color").env("NOTES", scene.project.home().join("notes"));
        command.envs(environment.iter().copied());
        let watch =
            Watch { scene, desktop, screen: TestScreen::start(command, 100, 30), passed: Cell::new(0) };
        if environment.iter().all(|(name, _)| *name != "OUT") {
            watch.expect("relay 0.1");
            watch.live(&format!("watching the clipboard ({})", desktop.name()));
        }
        watch
    }

    /// Waits until `text` was said, behind what was waited for before.
    #[track_caller]
    pub(crate) fn expect(&self, text: &str) {
        let found = |screen: &TestScreen| {
            let said = screen.scrollback_text();
            let at = said.get(self.passed.get()..).and_then(|new| new.find(text));
            at.map(|at| self.passed.get() + at + text.len())
        };
        self.waiting(&format!("{text:?}"), &|screen| found(screen).is_some());
        self.passed.set(found(&self.screen).unwrap());
    }

    /// Waits until the line at the bottom says `text`; then keys are heard.
    #[track_caller]
    pub(crate) fn live(&self, text: &str) {
        self.waiting(&format!("a live line with {text:?}"), &|screen| {
            live_line(screen).is_some_and(|line| line.contains(text))
        });
    }

    #[track_caller]
    fn waiting(&self, what: &str, wanted: &dyn Fn(&TestScreen) -> bool) {
        let start = Instant::now();
        while !wanted(&self.screen) {
            let said = self.screen.scrollback_text();
            assert!(start.elapsed() < GENEROUS_TIMEOUT, "{what} did not appear in\n{said}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Presses a key, as soon as keys are heard.
    #[track_caller]
    pub(crate) fn press(&self, key: &str) {
        self.live("");
        self.screen.type_keys(key);
    }

    /// Answers the question that is asked next.
    #[track_caller]
    pub(crate) fn reply(&self, question: &str, line: &str) {
        self.expect(question);
        self.screen.type_keys(&format!("{line}\r"));
    }

    /// Types a line.
    pub(crate) fn type_line(&self, line: &str) {
        self.screen.type_keys(&format!("{line}\r"));
    }

    pub(crate) fn copy(&self, text: &str) {
        self.desktop.copy(text);
    }

    /// Copies, and waits until relay has read it: the thread that reads the clipboard was at work, and is at rest.
    pub(crate) fn copy_and_let_it_be_read(&self, text: &str) {
        let before = self.reader();
        self.copy(text);
        let (mut last, mut since) = (before.clone(), Instant::now());
        wait_until("the clipboard is not read", || {
            let now = self.reader();
            if now != last {
                (last, since) = (now, Instant::now());
            }
            last != before && last.1 && since.elapsed() > AT_REST
        });
    }

    /// How often the thread that reads the clipboard has run, and what it does now.
    fn reader(&self) -> (String, bool) {
        let shell = self.screen.pid().as_raw_nonzero();
        let relay = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
        let threads = fs::read_dir(format!("/proc/{}/task", relay.trim())).unwrap();
        let name = |path: &Path| fs::read_to_string(path.join("comm")).unwrap_or_default();
        let is_it = |path: &PathBuf| name(path).trim() == "clipboard";
        let thread = threads.map(|thread| thread.unwrap().path()).find(is_it).unwrap();
        let ran = fs::read_to_string(thread.join("schedstat")).unwrap();
        let state = fs::read_to_string(thread.join("stat")).unwrap();
        (ran, state.contains(") S "))
    }

    /// Copies an answer that is for somebody else, and waits until relay has seen it: what is copied next is news.
    #[track_caller]
    pub(crate) fn copy_something_else(&self) {
        self.copy(&answer("elsewhere", 99, "for another project", &edit("src/cart.txt", "one", "1")));
        self.live("copied: an answer for another project");
    }

    /// Everything that was said.
    pub(crate) fn said(&self) -> String {
        self.screen.scrollback_text()
    }

    /// Leaves with `q`; everything that was said.
    #[track_caller]
    pub(crate) fn leave(self) -> String {
        self.press("q");
        self.ended(0)
    }

    /// The same where no live line shows from when on keys are heard: what is typed before is forgotten.
    #[track_caller]
    pub(crate) fn leave_unseen(mut self) -> String {
        let mut left = || {
            self.screen.type_keys("q");
            poll_until(Duration::from_secs(1), || self.screen.try_exit_status())
        };
        assert!(poll_until(GENEROUS_TIMEOUT, &mut left).is_some(), "{}", self.said());
        self.ended(0)
    }

    /// The session ended, and left everything as it should be; everything that was said.
    #[track_caller]
    pub(crate) fn ended(mut self, code: i32) -> String {
        let status = self.screen.wait_exit();
        let said = self.said();
        assert_eq!(status.code(), Some(code), "{said}");
        self.assert_terminal_restored();
        self.scene.assert_settled();
        assert_nothing_runs(self.scene, self.desktop);
        said
    }

    #[track_caller]
    fn assert_terminal_restored(&self) {
        let raw = String::from_utf8_lossy(&self.screen.raw()).into_owned();
        let (on, off) = (raw.rfind(MARK), raw.rfind(NO_MARK));
        assert!(off > on, "pasted text is still marked: {on:?} {off:?}");
        assert!(self.screen.with_emulator(|screen| !screen.hide_cursor()), "the cursor is hidden");
        let notes = fs::read_to_string(self.scene.project.home().join("notes")).unwrap();
        let modes: Vec<&str> = notes.lines().collect();
        assert_eq!((modes.len(), modes[0]), (2, modes[1]), "the terminal's modes");
    }
}

/// The live line: the cursor rests at its beginning. Below finished output the line of the cursor is empty, and
/// behind a question the cursor is at its end.
fn live_line(screen: &TestScreen) -> Option<String> {
    screen.with_emulator(|screen| {
        let (row, column) = screen.cursor_position();
        let line = screen.rows(0, screen.size().1).nth(usize::from(row))?.trim_end().to_string();
        (column == 0 && !line.is_empty()).then_some(line)
    })
}

/// Nothing of the project runs but what holds copied text, and that ends when somebody else copies.
#[track_caller]
fn assert_nothing_runs(scene: &Scene, desktop: &Desktop) {
    let marker = scene.project.path("").to_str().unwrap().trim_end_matches('/').to_string();
    let holds = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("__hold"))
    };
    wait_until("a process is left", || processes_with(&marker).iter().all(&holds));
    if !processes_with(&marker).is_empty() {
        desktop.copy("something that somebody else copied");
    }
    wait_until("what was copied is still held", || processes_with(&marker).is_empty());
}
