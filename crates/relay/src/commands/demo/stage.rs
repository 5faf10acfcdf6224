//! What a step can do: say something, have relay run a command as a user would type it, and show what that
//! really printed. When the tour is for machines, nothing is shown and everything is kept.

use clap::Parser;
use relaycode_tui::look::{Look, Paint, Sign};
use relaycode_tui::number;
use serde::Serialize;

use crate::commands::Cli;
use crate::console::Console;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::signals::Held;

use super::scratch::Scratch;

/// Where a step works and speaks.
pub(super) struct Stage<'a> {
    pub(super) scratch: &'a Scratch,
    pub(super) signals: &'a Held,
    /// The project's name with its key, once the prompt said it.
    pub(super) named: String,
    console: &'a mut Console,
    /// People are there to be shown something.
    heard: bool,
    /// What this step ran.
    ran: Vec<Ran>,
}

/// A command of a step, for machines.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Ran {
    /// The words behind `relay`.
    pub(super) command: Vec<String>,
    /// How it ended; none if it was killed.
    pub(super) code: Option<u8>,
    /// What it printed, on both streams.
    pub(super) said: String,
}

/// What a command printed.
pub(super) struct Said {
    /// On both streams, in the order in which it came.
    pub(super) both: String,
    pub(super) out: String,
    pub(super) err: String,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        scratch: &'a Scratch,
        signals: &'a Held,
        heard: bool,
        console: &'a mut Console,
    ) -> Stage<'a> {
        Stage { scratch, signals, named: String::new(), console, heard, ran: Vec::new() }
    }

    /// How what is shown wants to be written. The tour is for reading: its sentences are broken into lines
    /// wherever they go.
    pub(super) fn look(&self) -> Look {
        let look = self.console.out_look();
        Look { width: Some(look.columns()), ..look }
    }

    /// A step begins with what it is about.
    pub(super) fn begins(&mut self, number: usize, of: usize, says: &str) {
        let look = self.look();
        let says = look.paint(Paint::Strong, &look.wrap(&format!("{number}/{of}  {says}"), 5));
        self.print(&format!("{says}\n"));
    }

    /// The step is over; what it ran.
    pub(super) fn ended(&mut self) -> Vec<Ran> {
        self.console.flush();
        std::mem::take(&mut self.ran)
    }

    /// Says something between two commands, as a shell's comment, since relay itself did not print it. It is
    /// safe already.
    pub(super) fn says(&mut self, text: &str) {
        let look = self.look();
        let text = look.paint(Paint::Dim, &look.wrap(&format!("# {text}"), 2));
        self.print(&format!("{text}\n"));
    }

    /// A user types this, and relay prints that. It has to end so.
    pub(super) fn shows(&mut self, words: &[&str], expected: Exit) -> Result<Said, Failure> {
        self.types(words);
        let said = self.runs(words, expected);
        if let Some(last) = self.ran.last() {
            let both = last.said.clone();
            self.print(&both);
        }
        said
    }

    /// Prints a command as a user types it.
    pub(super) fn types(&mut self, words: &[&str]) {
        let typed = self.look().paint(Paint::Dim, &format!("$ relay {}", words.join(" ")));
        self.print(&format!("\n{typed}\n"));
        // A command may speak to the terminal itself: while a linter runs, say.
        self.console.flush();
    }

    /// Runs a command; what it printed is shown by whoever wants it. It has to end so.
    pub(super) fn runs(&mut self, words: &[&str], expected: Exit) -> Result<Said, Failure> {
        let cli = Cli::try_parse_from(["relay"].iter().chain(words)).map_err(Failure::unexpected)?;
        let (mut console, kept) = self.console.kept();
        let home = self.scratch.own();
        let act = cli.command.act();
        let ended = act.run(&mut Context { options: &cli.options, console: &mut console, home: &home });
        let code = ended.unwrap_or_else(|failure| {
            console.failure(&failure, act.name(), cli.options.json);
            failure.exit
        });
        console.finish()?;
        let kept = kept.take();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let said = Said { both: text(kept.both), out: text(kept.out), err: text(kept.err) };
        self.keeps(words, Some(code as u8), &said.both);
        if code != expected {
            return Err(unlike(&format!(
                "`relay {}` ended with code {}, not {}",
                words.join(" "),
                code as u8,
                expected as u8
            )));
        }
        Ok(said)
    }

    /// A command was run: machines are told.
    pub(super) fn keeps(&mut self, words: &[&str], code: Option<u8>, said: &str) {
        let command = words.iter().map(ToString::to_string).collect();
        self.ran.push(Ran { command, code, said: said.to_string() });
    }

    /// A part of what a command printed, each line cut to the screen.
    pub(super) fn quotes<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        let look = self.look();
        for line in lines {
            let line = look.clip(&line.replace('\t', "    "), look.columns().saturating_sub(1));
            self.print(&format!("{line}\n"));
        }
    }

    /// So many lines are not shown.
    pub(super) fn leaves_out(&mut self, lines: usize, what: &str) {
        let look = self.look();
        let text = format!("{} {}{what}", look.sign(Sign::More), number(lines, "line"));
        self.print(&format!("{}\n", look.paint(Paint::Dim, &text)));
    }

    /// Prints what is safe already.
    pub(super) fn print(&mut self, text: &str) {
        if self.heard {
            self.console.out(text);
        }
    }

    /// An answer of the model, saved to a file.
    pub(super) fn saves(&self, name: &str, answer: &str) -> Result<(), Failure> {
        self.scratch.write(name, &answer.replace("{id}", &self.named))
    }

    /// A signal ends the tour.
    pub(super) fn not_interrupted(&self) -> Result<(), Failure> {
        if !self.signals.asked() {
            return Ok(());
        }
        let message = "interrupted; the tour touched nothing of yours";
        Err(Failure::new(Exit::Interrupted, "interrupted", message))
    }
}

/// It has to be so.
pub(super) fn holds(is_so: bool, otherwise: &str) -> Result<(), Failure> {
    if is_so { Ok(()) } else { Err(unlike(otherwise)) }
}

/// Something is not as the step says.
pub(super) fn unlike(what: &str) -> Failure {
    Failure::unexpected(what)
}
