//! `relay demo`: relay's main job on a scratch project, step by step.
//!
//! Every step is an answer, the command that a user would type, and what that command really prints:
//! the same code runs, in the same process. A later release adds its steps to [`STEPS`].

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Parser;
use relaycode_project::config::LogLevel;
use relaycode_tui::look::Paint;
use serde_json::json;

use crate::console::Console;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::signals::Held;

/// Show what relay does, on a scratch project that is removed afterwards
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Do not wait for Enter between the steps (nobody is waited for without a terminal)
    #[arg(long)]
    auto: bool,

    /// Keep the scratch project and say where it is
    #[arg(long)]
    keep: bool,
}

/// One thing to see.
struct Step {
    /// What it is about, in a sentence or two.
    says: &'static str,
    /// What happens to the scratch project before the command runs.
    before: Before,
    /// What the user would type after `relay`.
    command: &'static [&'static str],
}

/// What happens before a command runs.
enum Before {
    /// Nothing.
    Nothing,
    /// An answer is saved: the file's name, and its text.
    Answer(&'static str, &'static str),
    /// Somebody edits a file by hand: the file, what stood there, and what stands there now.
    Edit(&'static str, &'static str, &'static str),
}

/// The scratch project.
const PROJECT: &[(&str, &str)] = &[
    ("src/cart.ts", include_str!("demo/project/cart.ts")),
    ("src/format.ts", include_str!("demo/project/format.ts")),
];

const STEPS: &[Step] = &[
    Step {
        says: "An answer as a model writes it: a new file and two edits. relay finds every place and shows the plan.",
        before: Before::Answer("good.md", include_str!("demo/good.md")),
        command: &["preview", "good.md"],
    },
    Step {
        says: "The same edit with spaces where the file has tabs, and less indented. It still fits in one place only; the new lines get the file's own tabs.",
        before: Before::Answer("drifted.md", include_str!("demo/drifted.md")),
        command: &["preview", "drifted.md"],
    },
    Step {
        says: "This answer was written for an older version of the file. relay does not guess: it refuses, and says what is there instead.",
        before: Before::Answer("stale.md", include_str!("demo/stale.md")),
        command: &["preview", "stale.md"],
    },
    Step {
        says: "The same with --repair: a text to paste back to the model, so that its next answer fits.",
        before: Before::Answer("stale.md", include_str!("demo/stale.md")),
        command: &["preview", "stale.md", "--repair", "--quiet"],
    },
    Step {
        says: "Here the text to replace stands in the file twice, and nothing tells which place is meant. Taking the first would be a guess.",
        before: Before::Answer("twice.md", include_str!("demo/twice.md")),
        command: &["preview", "twice.md"],
    },
    Step {
        says: "Now the first answer for real: every file or none. Without -y relay would ask first.",
        before: Before::Answer("good.md", include_str!("demo/good.md")),
        command: &["apply", "good.md", "-y"],
    },
    Step {
        says: "Everything that was applied is recorded, beside the project's files, in .relaycode.",
        before: Before::Nothing,
        command: &["log"],
    },
    Step {
        says: "Somebody edits src/cart.ts by hand, and then the change is taken back. The later edit stays.",
        before: Before::Edit("src/cart.ts", "Math.max(total, 3)", "Math.max(total, 4)"),
        command: &["revert"],
    },
    Step {
        says: "A revert is a change like any other: it is recorded, and reverting it brings everything back.",
        before: Before::Nothing,
        command: &["log"],
    },
];

const AFTERWARDS: &[&str] = &[
    "preview only looks; apply changes everything or nothing, and revert takes it back.",
    "next: save an answer of your model to a file and run `relay apply answer.md` in your project, \
     or pipe it in: `relay apply -`. `relay --help` says the rest.",
];

impl Act for Args {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let scratch = Scratch::new(self.keep)
            .map_err(|error| Failure::unexpected(format!("the scratch project cannot be made: {error}")))?;
        let waits = !self.auto && io::stdin().is_terminal() && io::stdout().is_terminal();
        if context.json() {
            return for_machines(self, &scratch, context);
        }
        for (index, step) in STEPS.iter().enumerate() {
            if index > 0 && waits && !wait(context) {
                break;
            }
            show(step, index + 1, context)?;
        }
        let look = context.console.out_look();
        context.console.out("\n");
        for line in AFTERWARDS {
            let line = look.paint(Paint::Strong, &look.wrap(line, 6));
            context.console.out(&format!("{line}\n"));
        }
        if self.keep {
            let root = scratch.root.to_string_lossy();
            let root = context.console.out_look().safe(&root).into_owned();
            context.console.out(&format!("the scratch project is in {root}\n"));
        }
        Ok(Exit::Done)
    }
}

/// Runs every step unheard, and says how each ended.
fn for_machines(args: &Args, scratch: &Scratch, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut steps = Vec::new();
    for step in STEPS {
        let ended = perform(step, &mut Console::unheard())?;
        steps.push(json!({"says": step.says, "command": step.command, "code": ended as u8}));
    }
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "demo", "steps": steps,
        "project": args.keep.then(|| scratch.root.to_string_lossy()),
    }));
    Ok(Exit::Done)
}

fn show(step: &Step, number: usize, context: &mut Context<'_>) -> Result<(), Failure> {
    let look = context.console.out_look();
    let says = format!("{number}/{}  {}", STEPS.len(), step.says);
    let says = look.paint(Paint::Strong, &look.wrap(&says, 5));
    let typed = look.paint(Paint::Dim, &format!("$ relay {}", step.command.join(" ")));
    let gap = if number > 1 { "\n" } else { "" };
    context.console.out(&format!("{gap}{says}\n\n{typed}\n"));
    perform(step, context.console)?;
    context.console.flush();
    Ok(())
}

/// Carries a step out, and says how it ended.
fn perform(step: &Step, console: &mut Console) -> Result<Exit, Failure> {
    prepare(&step.before)
        .map_err(|error| Failure::unexpected(format!("the scratch project cannot be written: {error}")))?;
    let words = ["relay"].iter().chain(step.command);
    let cli = super::Cli::try_parse_from(words).map_err(Failure::unexpected)?;
    // The scratch project goes, and a copy of its ledger would stay.
    let home = Home::default();
    let ended = cli.command.act().run(&mut Context { options: &cli.options, console, home: &home });
    Held::over();
    ended
}

fn prepare(before: &Before) -> io::Result<()> {
    match before {
        Before::Nothing => Ok(()),
        Before::Answer(name, text) => fs::write(name, text),
        Before::Edit(path, from, to) => fs::write(path, fs::read_to_string(path)?.replace(from, to)),
    }
}

/// Waits for Enter; `false` if the user wants no more.
fn wait(context: &mut Context<'_>) -> bool {
    let look = context.console.err_look();
    context.console.flush();
    let asks = format!("\n{}", look.paint(Paint::Dim, "Enter goes on, q ends: "));
    context.beside(LogLevel::Silent, &asks);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).unwrap_or(0);
    read > 0 && !line.trim().eq_ignore_ascii_case("q")
}

/// A directory that the process works in until the demo ends; then it goes.
struct Scratch {
    root: PathBuf,
    /// Where the process worked before.
    home: PathBuf,
    keep: bool,
}

impl Scratch {
    fn new(keep: bool) -> io::Result<Scratch> {
        let home = std::env::current_dir()?;
        let parent = std::env::temp_dir();
        let mut number = 0;
        let root = loop {
            let root = parent.join(format!("relay-demo-{}-{number}", std::process::id()));
            // Never a directory that somebody else made.
            match fs::create_dir(&root) {
                Ok(()) => break root,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        };
        let scratch = Scratch { root, home, keep };
        for (path, text) in PROJECT {
            let full = scratch.root.join(path);
            fs::create_dir_all(full.parent().unwrap_or(&scratch.root))?;
            fs::write(full, text)?;
        }
        std::env::set_current_dir(&scratch.root)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Neither can be helped here: the demo itself is over.
        let _ = std::env::set_current_dir(&self.home);
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}
