//! What every command gets beside its own arguments: where it works, how it answers, and the two
//! streams.
//!
//! With `--json` one object goes to stdout and everything for people to stderr; with `--quiet` people
//! hear only what is asked or goes wrong. `core.logLevel` says how much else they hear: [`CommandContext::hears`] is
//! the one place that decides.

use std::path::PathBuf;

use relaycode_tui::{OutputStyle, outcome};
use serde::Serialize;
use serde_json::Value;

use crate::terminal::environment::ColorChoice;
use crate::{Console, Exit, LogLevel, RelayHome, json};

/// The options that every command has.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Print one JSON object on stdout, the text for people on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorChoice,
}

/// Where a command works and how it answers.
pub(crate) struct CommandContext<'a> {
    /// What the command is called, in `--json` too.
    pub(crate) command: &'a str,
    pub(crate) options: &'a GlobalArgs,
    pub(crate) console: &'a mut Console,
    pub(crate) home: &'a RelayHome,
    /// The command may change the project.
    pub(crate) may_write: bool,
}

impl CommandContext<'_> {
    /// One object for machines was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.options.json
    }

    /// People want to hear little.
    pub(crate) fn is_quiet(&self) -> bool {
        self.options.quiet
    }

    /// How text for people is written: to stdout, unless that is for an object.
    pub(crate) fn style(&self) -> OutputStyle {
        if self.is_json() { self.console.err_style() } else { self.console.out_style() }
    }

    /// Whether people want to hear what is of this level. `--quiet` leaves failures, whatever is configured.
    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        level <= self.level()
    }

    /// How much people want to hear.
    pub(crate) fn level(&self) -> LogLevel {
        let level = self.console.level;
        if self.is_quiet() { level.min(LogLevel::Error) } else { level }
    }

    /// Says to people what was done.
    pub(crate) fn print_info(&mut self, text: &str) {
        if self.wants(LogLevel::Info) {
            self.print(text);
        }
    }

    /// `✓ …`; whatever is foreign in it is made safe, as in the three below.
    pub(crate) fn print_success(&mut self, said: &str) {
        let look = self.style();
        self.print_info(&outcome::success_line(&look, &look.safe(said)));
    }

    /// A line that belongs to the one above it.
    pub(crate) fn print_detail(&mut self, said: &str) {
        let look = self.style();
        self.print_info(&outcome::indented_line(&look, &look.safe(said)));
    }

    /// `! …` on stderr.
    pub(crate) fn eprint_remark(&mut self, level: LogLevel, said: &str) {
        let look = self.console.err_style();
        self.eprint_at(level, &outcome::warning_line(&look, &look.safe(said)));
    }

    /// A line on stderr that belongs to the one above it.
    pub(crate) fn eprint_detail(&mut self, level: LogLevel, said: &str) {
        let look = self.console.err_style();
        self.eprint_at(level, &outcome::indented_line(&look, &look.safe(said)));
    }

    /// Says something on stderr to people who want to hear what is of this level; `Silent`: to everybody.
    pub(crate) fn eprint_at(&mut self, level: LogLevel, text: &str) {
        if self.wants(level) {
            self.console.eprint(text);
        }
    }

    /// Says to people what they asked for. Beside an object it is only a comment.
    pub(crate) fn print(&mut self, text: &str) {
        if self.is_json() {
            self.eprint_at(LogLevel::Info, text);
        } else {
            self.console.print(text);
        }
    }

    /// Prints what the command found, if an object was asked for: what every one begins with, then `more`.
    pub(crate) fn print_result(&mut self, exit: Exit, more: Value) -> Exit {
        self.print_json(&json::result_json(self.command, exit, more));
        exit
    }

    /// Prints what the command found: as an object, or as the text that `text` makes.
    pub(crate) fn print_either(
        &mut self,
        exit: Exit,
        more: Value,
        text: impl FnOnce(&OutputStyle) -> String,
    ) -> Exit {
        if !self.is_json() {
            let text = text(&self.console.out_style());
            self.console.print(&text);
        }
        self.print_result(exit, more)
    }

    /// Prints the object, if one was asked for.
    pub(crate) fn print_json(&mut self, value: &impl Serialize) {
        if self.is_json() {
            self.console.print_json(value);
        }
    }
}
