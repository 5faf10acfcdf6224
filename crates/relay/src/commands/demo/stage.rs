//! What a step can do: say something, have relay run a command as a user would type it, and show what that
//! really printed. When the tour is for machines, nothing is shown and everything is kept.

use relaycode_tui::{Glyph, OutputStyle, PaintRole, pluralize};
use serde::Serialize;

use super::scratch::DemoProject;
use crate::commands::parse_args;
use crate::{CommandContext, CommandFailure, CommandResult, Console, Exit, SignalGuard};

/// Where a step works and speaks.
pub(super) struct DemoStage<'a> {
    pub(super) scratch: &'a DemoProject,
    pub(super) signals: &'a SignalGuard,
    /// The project's name with its key, once the prompt said it.
    pub(super) project_key: String,
    pub(super) console: &'a mut Console,
    /// People are there to be shown something.
    pub(super) visible: bool,
    /// What this step ran.
    pub(super) commands: Vec<DemoCommand>,
}

/// A command of a step, for machines.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DemoCommand {
    /// The words behind `relay`.
    pub(super) command: Vec<String>,
    /// How it ended; none if it was killed.
    pub(super) code: Option<u8>,
    /// What it printed, on both streams.
    pub(super) said: String,
}

/// What a command printed.
pub(super) struct DemoOutput {
    /// On both streams, in the order in which it came.
    pub(super) both: String,
    pub(super) out: String,
    pub(super) err: String,
}

impl<'a> DemoStage<'a> {
    /// How what is shown wants to be written. The tour is for reading: its sentences are broken into lines
    /// wherever they go.
    pub(super) fn style(&self) -> OutputStyle {
        let look = self.console.out_style();
        OutputStyle { width: Some(look.columns()), ..look }
    }

    /// A step begins with what it is about.
    pub(super) fn begin_step(&mut self, number: usize, of: usize, says: &str) {
        let look = self.style();
        let says = look.paint(PaintRole::Strong, &look.wrap(&format!("{number}/{of}  {says}"), 5));
        self.print(&format!("{says}\n"));
    }

    /// The step is over; what it ran.
    pub(super) fn finish_step(&mut self) -> Vec<DemoCommand> {
        self.console.flush();
        std::mem::take(&mut self.commands)
    }

    /// Says something between two commands, as a shell's comment, since relay itself did not print it. It is
    /// safe already.
    pub(super) fn print_comment(&mut self, text: &str) {
        let look = self.style();
        let text = look.paint(PaintRole::Dim, &look.wrap(&format!("# {text}"), 2));
        self.print(&format!("{text}\n"));
    }

    /// A user types this, and relay prints that. It has to end so.
    pub(super) fn run_and_show(&mut self, words: &[&str], expected: Exit) -> CommandResult<DemoOutput> {
        self.print_command_line(words);
        let said = self.run_relay(words, expected);
        if let Some(last) = self.commands.last() {
            let both = last.said.clone();
            self.print(&both);
        }
        said
    }

    /// Prints a command as a user types it.
    pub(super) fn print_command_line(&mut self, words: &[&str]) {
        let typed = self.style().paint(PaintRole::Dim, &format!("$ relay {}", words.join(" ")));
        self.print(&format!("\n{typed}\n"));
        // A command may speak to the terminal itself: while a linter runs, say.
        self.console.flush();
    }

    /// Runs a command; what it printed is shown by whoever wants it. It has to end so.
    pub(super) fn run_relay(&mut self, words: &[&str], expected: Exit) -> CommandResult<DemoOutput> {
        let parsed = parse_args(["relay"].iter().chain(words)).map_err(CommandFailure::unexpected)?;
        let (options, command, name) = parsed;
        let (mut console, kept) = self.console.capturing();
        let home = self.scratch.relay_home();
        let may_write = command.may_write();
        let mut ctx = CommandContext {
            command: &name,
            options: &options,
            console: &mut console,
            home: &home,
            may_write,
        };
        let code = command.run(&mut ctx).unwrap_or_else(|failure| {
            console.report_failure(&failure, &name, options.json);
            failure.exit
        });
        console.finish()?;
        let kept = kept.take();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let said = DemoOutput { both: text(kept.both), out: text(kept.out), err: text(kept.err) };
        self.record_command(words, Some(code as u8), &said.both);
        if code != expected {
            let (command, code, expected) = (words.join(" "), code as u8, expected as u8);
            let said = format!("`relay {command}` ended with code {code}, not {expected}");
            return Err(CommandFailure::unexpected(said));
        }
        Ok(said)
    }

    /// A command was run: machines are told.
    pub(super) fn record_command(&mut self, words: &[&str], code: Option<u8>, said: &str) {
        let command = words.iter().map(ToString::to_string).collect();
        self.commands.push(DemoCommand { command, code, said: said.to_string() });
    }

    /// A part of what a command printed, each line cut to the screen.
    pub(super) fn print_quoted<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        let look = self.style();
        for line in lines {
            let line = look.clip(&line.replace('\t', "    "), look.columns().saturating_sub(1));
            self.print(&format!("{line}\n"));
        }
    }

    /// So many lines are not shown.
    pub(super) fn print_omitted(&mut self, lines: usize, what: &str) {
        let look = self.style();
        let text = format!("{} {}{what}", look.glyph(Glyph::More), pluralize(lines, "line"));
        self.print(&format!("{}\n", look.paint(PaintRole::Dim, &text)));
    }

    /// Prints what is safe already.
    pub(super) fn print(&mut self, text: &str) {
        if self.visible {
            self.console.print(text);
        }
    }

    /// An answer of the model, saved to a file.
    pub(super) fn save_answer(&self, name: &str, answer: &str) -> CommandResult<()> {
        self.scratch.write(name, &answer.replace("{id}", &self.project_key))
    }

    /// A signal ends the tour.
    pub(super) fn check_interrupt(&self) -> CommandResult<()> {
        if !self.signals.stop_requested() {
            return Ok(());
        }
        let message = "interrupted; the tour touched nothing of yours";
        Err(CommandFailure::new(Exit::Interrupted, "interrupted", message))
    }
}

/// It has to be so.
pub(super) fn ensure(is_so: bool, otherwise: &str) -> CommandResult<()> {
    if is_so { Ok(()) } else { Err(CommandFailure::unexpected(otherwise)) }
}
