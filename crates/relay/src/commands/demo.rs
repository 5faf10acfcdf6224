//! `relay demo`: relay's main job on a scratch project, step by step.
//!
//! Every step is an answer, the command that a user would type, and what that command really prints:
//! the same code runs, in the same process. A later release adds its steps to [`STEPS`].

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Parser;

use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::terminal::Paint;

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
    /// The file that holds the answer.
    answer: &'static str,
    text: &'static str,
    /// What the user would type after `relay`.
    command: &'static [&'static str],
}

/// The scratch project.
const PROJECT: &[(&str, &str)] = &[
    ("src/cart.ts", include_str!("demo/project/cart.ts")),
    ("src/format.ts", include_str!("demo/project/format.ts")),
];

const STEPS: &[Step] = &[
    Step {
        says: "An answer as a model writes it: a new file and two edits. relay finds every place and shows the plan.",
        answer: "good.md",
        text: include_str!("demo/good.md"),
        command: &["preview", "good.md"],
    },
    Step {
        says: "The same edit with spaces where the file has tabs, and less indented. It still fits in one place only; the new lines get the file's own tabs.",
        answer: "drifted.md",
        text: include_str!("demo/drifted.md"),
        command: &["preview", "drifted.md"],
    },
    Step {
        says: "This answer was written for an older version of the file. relay does not guess: it refuses, and says what is there instead.",
        answer: "stale.md",
        text: include_str!("demo/stale.md"),
        command: &["preview", "stale.md"],
    },
    Step {
        says: "The same with --repair: a text to paste back to the model, so that its next answer fits.",
        answer: "stale.md",
        text: include_str!("demo/stale.md"),
        command: &["preview", "stale.md", "--repair", "--quiet"],
    },
    Step {
        says: "Here the text to replace stands in the file twice, and nothing tells which place is meant. Taking the first would be a guess.",
        answer: "twice.md",
        text: include_str!("demo/twice.md"),
        command: &["preview", "twice.md"],
    },
];

const AFTERWARDS: &[&str] = &[
    "Nothing was changed in any step: preview only looks.",
    "next: save an answer of your model to a file and run `relay preview answer.md` in your project, \
     or pipe it in: `relay preview -`. `relay preview --help` says the rest.",
];

/// Runs every step.
pub(crate) fn run(args: &Args, console: &mut Console) -> Result<Exit, Failure> {
    let scratch = Scratch::new(args.keep)
        .map_err(|error| Failure::unexpected(format!("the scratch project cannot be made: {error}")))?;
    let waits = !args.auto && io::stdin().is_terminal() && io::stdout().is_terminal();
    for (index, step) in STEPS.iter().enumerate() {
        if index > 0 && waits && !wait(console) {
            break;
        }
        show(step, index + 1, console)?;
    }
    let look = console.out_look();
    console.out("\n");
    for line in AFTERWARDS {
        let line = look.paint(Paint::Strong, &look.wrap(line, 6));
        console.out(&format!("{line}\n"));
    }
    if args.keep {
        let root = scratch.root.to_string_lossy();
        let root = console.out_look().safe(&root).into_owned();
        console.out(&format!("the scratch project is in {root}\n"));
    }
    Ok(Exit::Done)
}

fn show(step: &Step, number: usize, console: &mut Console) -> Result<(), Failure> {
    let look = console.out_look();
    let says = format!("{number}/{}  {}", STEPS.len(), step.says);
    let says = look.paint(Paint::Strong, &look.wrap(&says, 5));
    let typed = look.paint(Paint::Dim, &format!("$ relay {}", step.command.join(" ")));
    let gap = if number > 1 { "\n" } else { "" };
    console.out(&format!("{gap}{says}\n\n{typed}\n"));
    fs::write(step.answer, step.text)
        .map_err(|error| Failure::unexpected(format!("{} cannot be written: {error}", step.answer)))?;
    let words = ["relay"].iter().chain(step.command);
    let cli = super::Cli::try_parse_from(words).map_err(Failure::unexpected)?;
    // The scratch project goes, and a copy of its ledger would stay.
    cli.command.run(console, &Home::default())?;
    console.flush();
    Ok(())
}

/// Waits for Enter; `false` if the user wants no more.
fn wait(console: &mut Console) -> bool {
    let look = console.err_look();
    console.flush();
    console.err(&format!("\n{}", look.paint(Paint::Dim, "Enter goes on, q ends: ")));
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
