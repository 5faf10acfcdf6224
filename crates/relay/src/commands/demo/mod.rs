//! `relay demo`: the tour. What relay does, step by step, on a scratch project with a user's directory of its
//! own.
//!
//! Every step says what it is about, runs the commands that a user would type (the same code, in the same
//! process), shows what they print, and checks what became of the project: a step that does not do what it
//! says ends the tour with a failure. However the tour ends, by a signal too, nothing of it is left: no
//! process, no directory, nothing in the user's own.

mod kill;
mod pause;
mod scratch;
mod stage;
mod steps;

use std::io::{self, IsTerminal};

use relaycode_tui::PaintRole;
use serde_json::{Value, json};

use crate::{CommandContext, CommandFailure, CommandResult, Exit, SignalGuard, questions};

use pause::DemoPause;
use scratch::DemoProject;
use stage::DemoStage;
use steps::STEPS;

/// Show what relay does, on a scratch project that is removed afterwards
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DemoArgs {
    /// Do not wait for Enter between the steps (nobody is waited for without a terminal)
    #[arg(long)]
    auto: bool,

    /// Keep the scratch project and say where it is
    #[arg(long)]
    keep: bool,
}

/// What the tour ends with: a command, and what it is for.
const NEXT_STEPS: &[(&str, &str)] = &[
    ("relay init", "once; its prompt goes to your model"),
    ("relay watch", "copy an answer, and it is in the project"),
    ("relay apply answer.md", "the same from a file"),
    ("relay undo", "takes the last change back; relay redo brings it back"),
    ("relay --help", "the rest"),
];

impl DemoArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        // Until the scratch project is gone a signal only asks to stop.
        let signals = SignalGuard::acquire()?;
        let scratch = DemoProject::new(self.keep).map_err(|error| scratch::scratch_failure(&error))?;
        let mut results = Vec::new();
        let toured = self.run_tour(&scratch, &signals, &mut results, ctx);
        let place = scratch.project.to_string_lossy().into_owned();
        let home = scratch.home.to_string_lossy().into_owned();
        let removed = scratch.close();
        let completed = match (toured, removed) {
            (Err(failure), _) => {
                // Whoever wants to keep it wants to look at what went wrong.
                let failure = if self.keep { failure.place(place) } else { failure };
                return self.report_failure(failure, &results, ctx);
            }
            (Ok(_), Err(error)) => {
                let failure =
                    CommandFailure::unexpected(format!("the scratch project cannot be removed: {error}"));
                return self.report_failure(failure.place(place), &results, ctx);
            }
            (Ok(completed), Ok(())) => completed,
        };
        if ctx.is_json() {
            return Ok(ctx
                .print_result(Exit::Done, json!({"steps": results, "project": self.keep.then_some(place)})));
        }
        if completed {
            print_next_steps(ctx);
        }
        if self.keep {
            let look = ctx.console.out_style();
            ctx.console.print(&format!(
                "\nfor relay to know the scratch project's key: RELAY_HOME={}\nthe scratch project is in {}\n",
                look.safe(&home),
                look.safe(&place)
            ));
        }
        Ok(Exit::Done)
    }
}

impl DemoArgs {
    /// Goes from step to step; `false`: the user had seen enough. `results` is what happened, for machines.
    fn run_tour(
        &self,
        scratch: &DemoProject,
        signals: &SignalGuard,
        results: &mut Vec<Value>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<bool> {
        let terminals = io::stdin().is_terminal() && io::stdout().is_terminal();
        let pause = if self.auto || ctx.is_json() || !terminals { None } else { questions::open_terminal() };
        let pause = pause.map(DemoPause::new).transpose().map_err(CommandFailure::unexpected)?;
        let (visible, project_key, commands) = (!ctx.is_json(), String::new(), Vec::new());
        let mut stage = DemoStage { scratch, signals, project_key, console: ctx.console, visible, commands };
        for (index, step) in STEPS.iter().enumerate() {
            match &pause {
                _ if index == 0 => {}
                // It takes itself away, and leaves an empty line.
                Some(pause) if pause.wait_to_continue(&stage.style(), &|| signals.stop_requested()) => {}
                Some(_) => {
                    stage.check_interrupt()?;
                    return Ok(false);
                }
                None => stage.print("\n"),
            }
            stage.begin_step(index + 1, STEPS.len(), step.intro);
            let went = (step.run)(&mut stage);
            let commands = stage.finish_step();
            results.push(json!({
                "says": step.intro, "ok": went.is_ok(),
                "command": commands.first().map(|first| &first.command),
                "code": commands.first().map(|first| first.code),
                "commands": commands,
            }));
            // A signal is what went wrong then, whatever else did.
            stage.check_interrupt()?;
            went.map_err(|failure| match failure.exit {
                Exit::Unexpected => step_failure(index + 1, failure),
                _ => failure,
            })?;
        }
        Ok(true)
    }

    /// Says that it failed, to a machine with the steps up to there.
    fn report_failure(
        &self,
        failure: CommandFailure,
        results: &[Value],
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult {
        if !ctx.is_json() {
            return Err(failure);
        }
        ctx.print_result(failure.exit, json!({"error": &failure, "steps": results}));
        ctx.console.report_failure(&failure, ctx.command, false);
        Ok(failure.exit)
    }
}

/// A step did not do what it says.
fn step_failure(number: usize, failure: CommandFailure) -> CommandFailure {
    let message = format!("step {number} of the tour did not go as it says: {}", failure.message);
    CommandFailure { message, ..failure }
        .hint("this should not happen: `relay doctor` says what works on this system and what does not")
}

/// What to do in one's own project.
fn print_next_steps(ctx: &mut CommandContext<'_>) {
    let look = ctx.console.out_style();
    let mut text = format!("\n{}\n", look.paint(PaintRole::Strong, "Next, in your own project:"));
    let widest = NEXT_STEPS.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    // Beside each other where there is room for it.
    let wide = look.columns() >= widest + 46;
    for (command, why) in NEXT_STEPS {
        if wide {
            text += &format!("  {command:<widest$}   {}\n", look.paint(PaintRole::Dim, why));
        } else {
            text += &format!(
                "  {command}\n{}\n",
                look.paint(PaintRole::Dim, &look.wrap(&format!("    {why}"), 4))
            );
        }
    }
    ctx.console.print(&text);
}
