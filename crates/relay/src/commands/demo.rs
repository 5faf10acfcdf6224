//! `relay demo`: the tour. What relay does, step by step, on a scratch project with a user's directory of its
//! own.
//!
//! Every step says what it is about, runs the commands that a user would type (the same code, in the same
//! process), shows what they print, and checks what became of the project: a step that does not do what it
//! says ends the tour with a failure. However the tour ends, by a signal too, nothing of it is left: no
//! process, no directory, nothing in the user's own.

mod killed;
mod pause;
mod scratch;
mod stage;
mod steps;

use std::io::{self, IsTerminal};

use relaycode_tui::look::Paint;
use serde_json::{Value, json};

use crate::ask;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::signals::Held;

use pause::Pause;
use scratch::Scratch;
use stage::Stage;
use steps::STEPS;

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

/// What the tour ends with: a command, and what it is for.
const NEXT: &[(&str, &str)] = &[
    ("relay init", "once; its prompt goes to your model"),
    ("relay watch", "copy an answer, and it is in the project"),
    ("relay apply answer.md", "the same from a file"),
    ("relay revert", "takes the last change back"),
    ("relay --help", "the rest"),
];

/// How far the tour came.
enum Ended {
    /// To its end.
    Whole,
    /// The user had seen enough.
    Left,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        // Until the scratch project is gone a signal only asks to stop.
        let signals = Held::begin()?;
        let scratch = Scratch::new(self.keep).map_err(|error| scratch::failed(&error))?;
        let mut results = Vec::new();
        let toured = self.tour(&scratch, &signals, &mut results, context);
        let place = scratch.project.to_string_lossy().into_owned();
        let home = scratch.home.to_string_lossy().into_owned();
        let removed = scratch.close();
        let ended = match (toured, removed) {
            (Err(failure), _) => {
                // Whoever wants to keep it wants to look at what went wrong.
                let failure = if self.keep { failure.at(place) } else { failure };
                return self.fails(failure, &results, context);
            }
            (Ok(_), Err(error)) => {
                let failure = Failure::unexpected(format!("the scratch project cannot be removed: {error}"));
                return self.fails(failure.at(place), &results, context);
            }
            (Ok(ended), Ok(())) => ended,
        };
        if context.json() {
            context.object(&json!({
                "ok": true, "code": Exit::Done as u8, "command": "demo", "steps": results,
                "project": self.keep.then_some(place),
            }));
            return Ok(Exit::Done);
        }
        if matches!(ended, Ended::Whole) {
            say_next(context);
        }
        if self.keep {
            let look = context.console.out_look();
            context.console.out(&format!(
                "\nfor relay to know the scratch project's key: RELAY_HOME={}\nthe scratch project is in {}\n",
                look.safe(&home),
                look.safe(&place)
            ));
        }
        Ok(Exit::Done)
    }
}

impl Args {
    /// Goes from step to step. `results` is what happened, for machines.
    fn tour(
        &self,
        scratch: &Scratch,
        signals: &Held,
        results: &mut Vec<Value>,
        context: &mut Context<'_>,
    ) -> Result<Ended, Failure> {
        let terminals = io::stdin().is_terminal() && io::stdout().is_terminal();
        let pause = if self.auto || context.json() || !terminals { None } else { ask::terminal() };
        let pause = pause.map(Pause::new).transpose().map_err(Failure::unexpected)?;
        let heard = !context.json();
        let mut stage = Stage::new(scratch, signals, heard, context.console);
        for (index, step) in STEPS.iter().enumerate() {
            match &pause {
                _ if index == 0 => {}
                // It takes itself away, and leaves an empty line.
                Some(pause) if pause.goes_on(&stage.look(), &|| signals.asked()) => {}
                Some(_) => {
                    stage.not_interrupted()?;
                    return Ok(Ended::Left);
                }
                None => stage.print("\n"),
            }
            stage.begins(index + 1, STEPS.len(), step.says);
            let went = (step.run)(&mut stage);
            let commands = stage.ended();
            results.push(json!({
                "says": step.says, "ok": went.is_ok(),
                "command": commands.first().map(|first| &first.command),
                "code": commands.first().map(|first| first.code),
                "commands": commands,
            }));
            // A signal is what went wrong then, whatever else did.
            stage.not_interrupted()?;
            went.map_err(|failure| match failure.exit {
                Exit::Unexpected => surprise(index + 1, failure),
                _ => failure,
            })?;
        }
        Ok(Ended::Whole)
    }

    /// Says that it failed, to a machine with the steps up to there.
    fn fails(&self, failure: Failure, results: &[Value], context: &mut Context<'_>) -> Result<Exit, Failure> {
        if !context.json() {
            return Err(failure);
        }
        context.object(&json!({
            "ok": false, "code": failure.exit as u8, "command": self.name(), "error": &failure, "steps": results,
        }));
        context.console.failure(&failure, self.name(), false);
        Ok(failure.exit)
    }
}

/// A step did not do what it says.
fn surprise(number: usize, failure: Failure) -> Failure {
    let message = format!("step {number} of the tour did not go as it says: {}", failure.message);
    Failure { message, ..failure }
        .hint("this should not happen: `relay doctor` says what works on this system and what does not")
}

/// What to do in one's own project.
fn say_next(context: &mut Context<'_>) {
    let look = context.console.out_look();
    let mut text = format!("\n{}\n", look.paint(Paint::Strong, "Next, in your own project:"));
    let widest = NEXT.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    // Beside each other where there is room for it.
    let wide = look.columns() >= widest + 46;
    for (command, why) in NEXT {
        if wide {
            text += &format!("  {command:<widest$}   {}\n", look.paint(Paint::Dim, why));
        } else {
            text +=
                &format!("  {command}\n{}\n", look.paint(Paint::Dim, &look.wrap(&format!("    {why}"), 4)));
        }
    }
    context.console.out(&text);
}
