//! The edges of `relay watch`: its configuration changes, others watch too, there is no clipboard or it goes away,
//! it is flooded, interrupted, stopped, or nobody is at a terminal.

mod clipboard_noise;
mod display_restart;
mod exit_paths;
mod idle;
mod no_terminal;
mod notifications;
mod osc;
mod pasting;
mod polling;
mod reload;
mod suspend;
mod two_watchers;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::display::X11;
use relaycode_testkit::process::{ChildGuard, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::fixture::keyed_project::{Scene, processes_with, wait_until};
use crate::fixture::scratch_project::edit;

/// The live line of a session with a clipboard.
const WATCHING: &str = "watching the clipboard (X11)";
/// The live line of a session without.
const PASTING: &str = "waiting for what is pasted";
/// What every project here begins with.
const BEFORE: &str = "one\ntwo\nthree\n";

/// A project that is to be watched.
struct Watched {
    scene: Scene,
    /// The project's id with its key.
    id: String,
}

impl Watched {
    /// Trusted, with a linter that is content.
    fn new() -> Watched {
        Watched::with(&json!({"linter": "true"}))
    }

    /// With these keys under `patch`, trusted.
    fn with(patch: &Value) -> Watched {
        let scene = Scene::trusted(&[("a.txt", BEFORE)], patch);
        let prompt = scene.relay(&["prompt"]);
        let id = prompt.out.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap().to_string();
        Watched { scene, id }
    }

    /// With a linter that, once `ONE` is in the file, says that it runs, and stays while it is held.
    fn with_slow_gate() -> Watched {
        let watched = Watched::with(&json!({"linter": "sh gate.sh"}));
        let home = watched.scene.project.home().to_str().unwrap().to_string();
        let script = format!(
            "grep -q ONE a.txt || exit 0\ntouch {home}/running\nwhile [ -e {home}/hold ]; do sleep 0.02; done\n"
        );
        watched.scene.project.put("gate.sh", script.as_bytes());
        fs::write(watched.home("hold"), "").unwrap();
        watched
    }

    fn home(&self, name: &str) -> PathBuf {
        self.scene.project.home().join(name)
    }

    fn gate_runs(&self) {
        wait_until("the gate runs", || self.home("running").exists());
    }

    /// An answer with the key.
    fn keyed(&self, before: &str, after: &str) -> String {
        answer(&self.id, before, after)
    }

    /// An answer without.
    fn bare(&self, before: &str, after: &str) -> String {
        answer("shop", before, after)
    }

    fn configure(&self, config: &Value) {
        self.scene.configure(config);
    }

    /// Without a clipboard, as over SSH.
    fn pasting(&self) -> TestScreen {
        let screen = self.start(|_| {});
        screen.wait_for_text(PASTING);
        screen
    }

    fn on(&self, desktop: &X11) -> TestScreen {
        let screen = self.start(|command| desktop.surround(command));
        screen.wait_for_text(WATCHING);
        screen
    }

    fn start(&self, change: impl FnOnce(&mut Command)) -> TestScreen {
        let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
        command.arg("watch");
        self.surround(&mut command);
        change(&mut command);
        TestScreen::start(command, 100, 40)
    }

    /// Without a terminal, and everything that it says; it watches.
    fn piped(&self, desktop: &X11, args: &[&str], change: impl FnOnce(&mut Command)) -> (ChildGuard, Said) {
        let mut command = self.scene.command(&[&["watch"], args].concat());
        desktop.surround(&mut command);
        change(&mut command);
        let said = Said { out: self.home("out"), err: self.home("err") };
        command.stdin(Stdio::null());
        command.stdout(File::create(&said.out).unwrap()).stderr(File::create(&said.err).unwrap());
        let relay = ChildGuard::start(&mut command).unwrap();
        // What is said is there at once, not when it ends.
        wait_until("it watches", || said.out().contains("shop"));
        (relay, said)
    }

    fn surround(&self, command: &mut Command) {
        self.scene.project.surround(command);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("TERM", "xterm-256color").env("NO_COLOR", "1");
    }

    fn text(&self) -> String {
        self.scene.text("a.txt")
    }

    /// Nothing was applied, nothing is open, nothing runs.
    fn assert_untouched(&self, case: &str) {
        assert_eq!(self.text(), BEFORE, "{case}");
        self.scene.assert_settled();
        let home = self.scene.project.home().to_str().unwrap();
        wait_until(&format!("{case}: everything ends"), || processes_with(home).is_empty());
        assert!(self.scene.project.log().is_empty(), "{case}");
        let recovered = self.scene.relay(&["recover"]);
        assert_eq!(recovered.code, 0, "{case}: {recovered:?}");
    }
}

/// What a watcher without a terminal said.
struct Said {
    out: PathBuf,
    err: PathBuf,
}

impl Said {
    fn out(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    fn all(&self) -> String {
        self.out() + &fs::read_to_string(&self.err).unwrap()
    }
}

fn answer(id: &str, before: &str, after: &str) -> String {
    let edit = edit("a.txt", before, after);
    format!("Here it is.\n\n{edit}\n```yaml\nprojectId: {id}\ngitCommitMsg: \"{after}\"\n```\n")
}

/// How often it was said.
fn said(screen: &TestScreen, text: &str) -> usize {
    screen.scrollback_text().matches(text).count()
}

/// Waits until it was said so often.
fn wait_said(screen: &TestScreen, text: &str, count: usize) {
    screen.wait_for(|screen| said(screen, text) >= count, crate::fixture::keyed_project::LONG);
}

/// How often the process has gone to sleep by itself, by thread.
fn sleeps(pid: Pid) -> BTreeMap<String, u64> {
    let mut slept = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap().flatten() {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let count = line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0);
        *slept.entry(name.trim().to_string()).or_default() += count;
    }
    slept
}

/// Waits until whatever it began with is done: it has not been awake for a while. How often it had gone to sleep by then.
fn wait_idle(screen: &TestScreen) -> BTreeMap<String, u64> {
    let (mut slept, mut since) = (sleeps(screen.pid()), Instant::now());
    poll_until(crate::fixture::keyed_project::LONG, || {
        let now = sleeps(screen.pid());
        if now != slept {
            (slept, since) = (now, Instant::now());
        }
        (since.elapsed() > Duration::from_millis(300)).then_some(())
    });
    slept
}
