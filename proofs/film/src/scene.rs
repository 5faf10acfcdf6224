//! The recorded session: a scratch project, four answers of a model, and what a person does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use relaycode_testkit::display::X11;
use relaycode_testkit::screen::{TestScreen, on_terminal};

use super::film::{COLUMNS, Film, Frame, ROWS};

/// For one step.
const LIMIT: Duration = Duration::from_secs(60);
/// A person copies no faster: relay would see a storm.
const BETWEEN: Duration = Duration::from_millis(800);
const NAME: &str = "hello-relay";

/// One action of a person, and what is seen then.
struct Step {
    caption: &'static str,
    act: Act,
    /// On the screen when the step has come to rest …
    seen: &'static str,
    /// … and this in its last line.
    last: &'static str,
    milliseconds: u64,
}

enum Act {
    Type(&'static str),
    /// Copies the answer with this control block, and these blocks before it.
    Copy {
        blocks: &'static str,
        control: &'static str,
    },
}

const WATCHING: &str = "watching the clipboard";

const STEPS: &[Step] = &[
    Step {
        caption: "Start it in your project",
        act: Act::Type("relay watch\r"),
        seen: "? keys",
        last: WATCHING,
        milliseconds: 2_000,
    },
    Step {
        caption: "Copy the model's answer: it is planned, applied, and judged by your linter",
        act: Act::Copy { blocks: GOOD, control: GOOD_CONTROL },
        seen: "applied 3f9c1e2a",
        last: "1 applied",
        milliseconds: 4_000,
    },
    Step {
        caption: "An answer for another version of the file does not fit: it is refused as a whole",
        act: Act::Copy { blocks: STALE, control: SECOND_CONTROL },
        seen: "c copies a repair prompt",
        last: WATCHING,
        milliseconds: 4_000,
    },
    Step {
        caption: "c copies a repair prompt: paste it into the chat",
        act: Act::Type("c"),
        seen: "the repair prompt",
        last: WATCHING,
        milliseconds: 2_500,
    },
    Step {
        caption: "Copy the corrected answer",
        act: Act::Copy { blocks: MENDED, control: SECOND_CONTROL },
        seen: "applied 7b1d40c6",
        last: "2 applied",
        milliseconds: 3_000,
    },
    Step {
        caption: "u takes the last change back, byte for byte",
        act: Act::Type("u"),
        seen: "undone: feat: greet as one does in the morning",
        last: WATCHING,
        milliseconds: 3_000,
    },
    Step {
        caption: "This one does not compile, so you are asked",
        act: Act::Copy { blocks: BAD, control: BAD_CONTROL },
        seen: "went from 0 to 1 error",
        last: "keep? [y/N]",
        milliseconds: 3_500,
    },
    Step {
        caption: "d shows the diff",
        act: Act::Type("d\r"),
        seen: "@@ -1,4 +1,4 @@",
        last: "keep? [y/N]",
        milliseconds: 3_000,
    },
    Step {
        caption: "Enter is a no: everything is put back",
        act: Act::Type("\r"),
        seen: "everything was put back",
        last: WATCHING,
        milliseconds: 3_500,
    },
];

pub(super) fn play(relay: &Path) -> anyhow::Result<Film> {
    let desktop = X11::start().context("a desktop is needed: install Xvfb and xclip")?;
    let folder = tempfile::tempdir().context("making a folder for the session")?;
    let stage = Stage { relay, project: folder.path().join(NAME), home: folder.path().join("home") };
    let named = stage.set_up()?;
    let mut shell = on_terminal("sh");
    shell.current_dir(&stage.project).env("PS1", "$ ").env_remove("ENV");
    stage.surround(&mut shell)?;
    desktop.surround(&mut shell);
    let screen = TestScreen::start(shell, COLUMNS, ROWS);
    screen.wait_for_text("$");
    let mut frames = vec![Frame::of(&screen.raw(), STEPS[0].caption, 700)];
    for step in STEPS {
        match &step.act {
            Act::Type(keys) => screen.type_keys(keys),
            Act::Copy { blocks, control } => {
                thread::sleep(BETWEEN);
                desktop.copy(&format!("{blocks}\n```yaml\n{named}\n{control}```\n"));
            }
        }
        screen.wait_for(|screen| rests(&screen.text(), step), LIMIT);
        frames.push(Frame::of(&screen.raw(), step.caption, step.milliseconds));
    }
    screen.type_keys("q");
    screen.wait_for_text("no longer watching");
    Ok(Film { frames })
}

fn rests(shown: &str, step: &Step) -> bool {
    shown.contains(step.seen) && shown.lines().last().is_some_and(|line| line.contains(step.last))
}

/// Where the session plays.
struct Stage<'r> {
    relay: &'r Path,
    project: PathBuf,
    home: PathBuf,
}

impl Stage<'_> {
    /// Creates the project; returns its name for answers.
    fn set_up(&self) -> anyhow::Result<String> {
        let source = self.project.join("src");
        fs::create_dir_all(&source)?;
        let manifest =
            format!("[package]\nname = \"{NAME}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
        fs::write(self.project.join("Cargo.toml"), manifest)?;
        fs::write(source.join("main.rs"), "fn main() {\n    println!(\"Hello, world!\");\n}\n")?;
        self.run("cargo", &["check", "--quiet", "--offline"])?;
        self.run_relay(&["init", "--quiet"])?;
        let config = self.project.join("relaycode.config.json");
        let text = fs::read_to_string(&config)?.replace("\"linter\": \"\"", "\"linter\": \"cargo check\"");
        fs::write(&config, text)?;
        self.run_relay(&["trust", "-y", "--quiet"])?;
        let prompt = self.run_relay(&["prompt"])?;
        let named = prompt.lines().find(|line| line.starts_with("projectId:"));
        Ok(named.context("the prompt names no project")?.to_owned())
    }

    fn run_relay(&self, args: &[&str]) -> anyhow::Result<String> {
        self.run(&self.relay.to_string_lossy(), args)
    }

    fn run(&self, program: &str, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.project);
        self.surround(&mut command)?;
        let done = command.output().with_context(|| format!("running {program}"))?;
        if !done.status.success() {
            bail!("{program} {} failed: {}", args.join(" "), String::from_utf8_lossy(&done.stderr));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// The same environment on every machine.
    fn surround(&self, command: &mut Command) -> anyhow::Result<()> {
        let own = self.relay.parent().context("relay lies nowhere")?.to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path)))?;
        command.env("PATH", path).env("RELAY_HOME", &self.home).env("LC_ALL", "C.UTF-8");
        for name in STRANGE {
            command.env_remove(name);
        }
        Ok(())
    }
}

/// Variables that would make the session look or end differently.
const STRANGE: &[&str] = &[
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_MANIFEST_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "EDITOR",
    "KITTY_WINDOW_ID",
    "LC_TERMINAL",
    "NO_COLOR",
    "PAGER",
    "RELAY_CLIPBOARD",
    "RELAY_PAGER",
    "RUSTFLAGS",
    "SSH_CONNECTION",
    "STY",
    "TERM_PROGRAM",
    "TMUX",
    "VISUAL",
    "VTE_VERSION",
    "XDG_RUNTIME_DIR",
];

const GOOD: &str = r#"The greeting gets a function of its own, so that it can be tested.

```rust // src/main.rs multi-search-replace
<<<<<<< SEARCH
fn main() {
    println!("Hello, world!");
}
=======
mod greet;

fn main() {
    println!("{}", greet::greet("world"));
}
>>>>>>> REPLACE
```

```rust // src/greet.rs
/// What we say to somebody.
pub fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}
```
"#;
const GOOD_CONTROL: &str = r#"uuid: 3f9c1e2a-5b77-4c1e-9a90-6a1f6f0b2c11
gitCommitMsg: "refactor: move the greeting into its own module"
"#;

const STALE: &str = r#"```rust // src/greet.rs multi-search-replace
<<<<<<< SEARCH
    format!("Hello, {name}")
=======
    format!("Good morning, {name}!")
>>>>>>> REPLACE
```
"#;
const MENDED: &str = r#"```rust // src/greet.rs multi-search-replace
<<<<<<< SEARCH
    format!("Hello, {name}!")
=======
    format!("Good morning, {name}!")
>>>>>>> REPLACE
```
"#;
const SECOND_CONTROL: &str = r#"uuid: 7b1d40c6-0c5e-4f0b-8a52-3d8f5e1c9a27
gitCommitMsg: "feat: greet as one does in the morning"
"#;

const BAD: &str = r#"```rust // src/greet.rs multi-search-replace
<<<<<<< SEARCH
    format!("Hello, {name}!")
=======
    format!("Good {}, {name}!", daytime())
>>>>>>> REPLACE
```
"#;
const BAD_CONTROL: &str = r#"uuid: c2f3a9d1-64de-4b7c-9f1e-0a7b5c3d2e18
gitCommitMsg: "feat: say which time of day it is"
"#;
