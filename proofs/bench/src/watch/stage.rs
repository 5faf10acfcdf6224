//! A desktop, a project and a watcher in a terminal.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use relaycode_testkit::display::{ClipboardOwner, Missing, Wayland, X11};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{relay, run, scratch};
use crate::startup::beside_this_one;
use relaycode_testkit::checkout;

/// Far more than anything that goes well takes.
pub(super) const LIMIT: Duration = Duration::from_secs(30);
/// Functions of the project's file.
const FUNCTIONS: usize = 40;
/// The one that answers change.
const CHANGED: usize = 24;

/// Which clipboard is watched, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    X11,
    Wayland,
    /// X11's, polled every so many milliseconds.
    Polled(u64),
    None,
}

impl Stage {
    pub(super) fn name(self) -> String {
        match self {
            Stage::X11 => "X11".to_owned(),
            Stage::Wayland => "Wayland".to_owned(),
            Stage::Polled(interval) => format!("polling {interval}"),
            Stage::None => "no clipboard".to_owned(),
        }
    }

    /// Milliseconds that may pass before the clipboard is read.
    pub(super) fn interval(self) -> u64 {
        if let Stage::Polled(interval) = self { interval } else { 0 }
    }
}

/// The desktop itself, with an owner of its clipboard.
pub(super) struct Desktop {
    owner: Option<ClipboardOwner>,
    x11: Option<X11>,
    wayland: Option<Wayland>,
}

impl Desktop {
    fn start(stage: Stage) -> Result<Desktop, Missing> {
        let mut desktop = Desktop { owner: None, x11: None, wayland: None };
        match stage {
            Stage::X11 | Stage::Polled(_) => {
                let x11 = X11::start()?;
                desktop.owner = Some(x11.owner());
                desktop.x11 = Some(x11);
            }
            Stage::Wayland => {
                let wayland = Wayland::start()?;
                desktop.owner = Some(wayland.owner());
                desktop.wayland = Some(wayland);
            }
            Stage::None => {}
        }
        Ok(desktop)
    }

    fn surround(&self, command: &mut Command) {
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"]
        {
            command.env_remove(name);
        }
        if let Some(x11) = &self.x11 {
            x11.surround(command);
        }
        if let Some(wayland) = &self.wayland {
            wayland.surround(command);
        }
    }
}

/// How changes are decided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// No gate; the user has said yes beforehand.
    None,
    /// A command that does nothing, and the policy decides.
    True,
}

/// A watcher, with everything it needs.
pub(super) struct Watched {
    pub(super) screen: TestScreen,
    pub(super) started: Instant,
    desktop: Desktop,
    /// The project's name for answers.
    id: String,
    /// Answers so far.
    number: usize,
    _scratch: TempDir,
}

impl Watched {
    /// Starts one in its own project, and waits until it watches.
    pub(super) fn start(stage: Stage, gate: Gate) -> anyhow::Result<Result<Watched, Missing>> {
        Ok(Watched::timed(stage, gate)?.map(|(watched, _)| {
            watched.wait_ready();
            watched
        }))
    }

    /// Also returns the time to its first line.
    pub(super) fn timed(stage: Stage, gate: Gate) -> anyhow::Result<Result<(Watched, Duration), Missing>> {
        let desktop = match Desktop::start(stage) {
            Ok(desktop) => desktop,
            Err(missing) => return Ok(Err(missing)),
        };
        let project = Project::make(stage, gate)?;
        let id = project.id()?;
        let started = Instant::now();
        let screen = TestScreen::start(project.watcher(stage, gate, &desktop)?, 100, 30);
        let watched = Watched { screen, started, desktop, id, number: 0, _scratch: project.scratch };
        let line = watched.wait("relay ").duration_since(started);
        Ok(Ok((watched, line)))
    }

    /// Waits until this is on the screen; returns when.
    pub(super) fn wait(&self, text: &str) -> Instant {
        self.screen.wait_for(|screen| screen.text().contains(text), LIMIT);
        Instant::now()
    }

    /// Waits for the live line: nothing is being done.
    pub(super) fn wait_ready(&self) -> Instant {
        let live = |line: &str| line.ends_with("? keys") && !line.starts_with("relay ");
        self.screen.wait_for(|screen| screen.text().lines().last().is_some_and(live), LIMIT);
        Instant::now()
    }

    /// Returns the moment before the clipboard was taken.
    pub(super) fn copy(&self, text: &str) -> anyhow::Result<Instant> {
        Ok(self.desktop.owner.as_ref().context("there is no clipboard")?.take(text))
    }

    /// The next answer, with the texts of its card and its outcome.
    pub(super) fn next(&mut self) -> (String, String, String) {
        let number = self.number;
        self.number += 1;
        let title = format!("feat: scale step {number:04}");
        let id = format!("{number:08x}");
        let text = format!(
            "The function is scaled anew.\n\n```typescript // src/scale.ts multi-search-replace\n<<<<<<< SEARCH\n{}\
             =======\n{}>>>>>>> REPLACE\n```\n\n```yaml\nprojectId: {}\nuuid: {id}-0c4b-4c1d-9a53-0c2f5d1e7b66\n\
             gitCommitMsg: \"{title}\"\n```\n",
            function(CHANGED, number),
            function(CHANGED, number + 1),
            self.id,
        );
        (text, title, format!("applied {id}"))
    }

    /// An answer for another project.
    pub(super) fn foreign(number: usize) -> String {
        format!(
            "```typescript // src/scale.ts multi-search-replace\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n```\n\n\
             ```yaml\nprojectId: elsewhere.k3yk3yk3yk\ngitCommitMsg: \"feat: foreign {number}\"\n```\n",
            function(CHANGED, number),
            function(CHANGED, number + 1),
        )
    }

    /// Ends the watcher as a user does.
    pub(super) fn leave(mut self) -> anyhow::Result<()> {
        self.screen.type_keys("q");
        let status = self.screen.wait_exit();
        if !status.success() {
            bail!("the watcher ended with {status}:\n{}", self.screen.text());
        }
        Ok(())
    }
}

/// A project that was set up.
struct Project {
    scratch: TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl Project {
    fn make(stage: Stage, gate: Gate) -> anyhow::Result<Project> {
        let scratch = scratch()?;
        let (root, home) = (scratch.path().join("project"), scratch.path().join("home"));
        fs::create_dir_all(root.join("src"))?;
        let file: String = (0..FUNCTIONS).map(|at| function(at, 0)).collect();
        fs::write(root.join("src/scale.ts"), file)?;
        run(relay(Some(&home))?.arg("-C").arg(&root).args(["init", "--id", "bench"]))?;
        let path = root.join("relaycode.config.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path)?)?;
        config["watcher"] = json!({"clipboardPollInterval": stage.interval().max(300)});
        if gate == Gate::True {
            config["patch"]["linter"] = "true".into();
        }
        fs::write(&path, serde_json::to_vec_pretty(&config)?)?;
        run(relay(Some(&home))?.arg("-C").arg(&root).args(["trust", "-y"]))?;
        Ok(Project { scratch, root, home })
    }

    /// Its name for answers: with its key.
    fn id(&self) -> anyhow::Result<String> {
        let mut prompt = relay(Some(&self.home))?;
        prompt.arg("-C").arg(&self.root).arg("prompt").stdin(Stdio::null());
        let said = String::from_utf8(prompt.output()?.stdout)?;
        let id = said.lines().find_map(|line| line.strip_prefix("projectId: "));
        Ok(id.context("the prompt names no project")?.to_owned())
    }

    fn watcher(&self, stage: Stage, gate: Gate, desktop: &Desktop) -> anyhow::Result<Command> {
        let mut command = on_terminal(beside_this_one()?);
        command.arg("watch").current_dir(&self.root);
        command.env("RELAY_HOME", &self.home).env("RELAY_CEILING_DIRECTORIES", checkout::root());
        command.env("LANG", "C.UTF-8").env_remove("NO_COLOR").env_remove("RELAY_CLIPBOARD");
        desktop.surround(&mut command);
        if let Stage::Polled(_) = stage {
            command.env("RELAY_CLIPBOARD", "poll");
        }
        if gate == Gate::None {
            command.arg("-y");
        }
        Ok(command)
    }
}

/// Five lines.
fn function(at: usize, version: usize) -> String {
    format!(
        "export function compute{at}v{version}(value: number): number {{\n    const scaled = value * {version} + {at};\n    \
         const shifted = scaled - {version};\n    return shifted > {version} ? shifted : scaled;\n}}\n"
    )
}

/// Waits between two copies: more often than this is a storm.
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
