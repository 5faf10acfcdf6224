//! The person at the terminal as the one who says yes.
//!
//! Every question is asked on the terminal itself, never on stdin, and its default is the safe answer: the
//! end of input, an empty line and words that nobody understands are a no, an interrupt and a terminal
//! that goes away stop everything. A yes carries the digest of what was shown. Foreign text is escaped
//! before it is shown, in the pager too. Each question has a file of its own.

mod apply;
mod edit;
mod keep;
pub(crate) mod pager;
mod pick;
mod scratch;
pub(crate) mod spinner;
#[cfg(test)]
mod tests;
mod trust;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::rc::Rc;

use relaycode_change::plan::Plan;
use relaycode_change::proposal::Proposal;
use relaycode_door::{Approver, Event, Question, Reply};
use relaycode_exec::{ExecError, Finished, Job, Runner};
use relaycode_ledger::Digest;
use relaycode_project::config::LogLevel;
use relaycode_tui::diff::Layout;
use relaycode_tui::input::{Answer, Terminal};
use relaycode_tui::look::{AsStream, Look};
use relaycode_tui::{card, gate, outcome, question};

use crate::ask;
use crate::failure::Failure;
use crate::programs::Programs;
use crate::signals::Held;
use pager::Pager;
use spinner::Spinner;

/// Asks the person at the terminal, and shows them how it goes.
///
/// Whoever uses it flushes what they wrote to stdout and stderr before the first question: the
/// questions go to the terminal by a way of their own.
pub(crate) struct TerminalApprover {
    setup: Setup,
    outside: Outside,
    spinner: Option<Spinner>,
    /// The digest of the plan that was last shown.
    shown: Option<Digest>,
    /// The terminal went away: nobody will answer any more.
    gone: bool,
}

/// What it is told in advance.
pub(crate) struct Setup {
    /// What the change is called where its author gave it no title.
    pub(crate) name: String,
    /// The time that cards are to show, where changes come in one after the other: then each is shown as soon as it
    /// is known what it does.
    pub(crate) clock: Option<String>,
    /// The file that names the project's commands.
    pub(crate) config: String,
    /// Show the diff below the card.
    pub(crate) diff: bool,
    /// How much people want to hear beside the questions.
    pub(crate) level: LogLevel,
    /// No spinner: what goes on is for a machine.
    pub(crate) json: bool,
    /// How stderr wants to be written to; the width of the terminal is its own.
    pub(crate) look: Look,
    /// The user's editor and pager.
    pub(crate) programs: Programs,
}

/// What it needs of the system, so that a test can stand in.
struct Outside {
    /// The terminal, if there is one with somebody at it.
    open: Box<dyn Fn() -> Option<Terminal>>,
    /// Whether a signal asked to stop.
    stop: Box<dyn Fn() -> bool>,
    /// Runs an editor or a pager.
    run: Run,
    /// Where progress and remarks go.
    err: Option<File>,
    /// That is a terminal, where a line can be drawn over.
    err_is_terminal: bool,
}

/// Runs a program that has the terminal to its end. What is typed meanwhile is meant for it.
pub(crate) type Run = Box<dyn Fn(&Job) -> Result<Finished, ExecError>>;

impl TerminalApprover {
    /// An approver at the process's own terminal. While it lives, signals only ask to stop.
    pub(crate) fn new(setup: Setup, runner: Runner) -> Result<TerminalApprover, Failure> {
        TerminalApprover::at(setup, runner, Box::new(ask::terminal))
    }

    /// An approver at the terminal that `open` gives.
    pub(crate) fn at(
        setup: Setup,
        runner: Runner,
        open: Box<dyn Fn() -> Option<Terminal>>,
    ) -> Result<TerminalApprover, Failure> {
        let held = Rc::new(Held::begin()?);
        let signals = Rc::clone(&held);
        let outside = Outside {
            open,
            stop: Box::new(move || held.asked()),
            run: programs_at_the_terminal(runner, signals),
            err: io::stderr().as_fd().try_clone_to_owned().ok().map(File::from),
            err_is_terminal: io::stderr().is_terminal(),
        };
        Ok(TerminalApprover::with(setup, outside))
    }

    fn with(setup: Setup, outside: Outside) -> TerminalApprover {
        TerminalApprover { setup, outside, spinner: None, shown: None, gone: false }
    }

    /// The digest of the plan whose card the person saw last.
    pub(crate) fn shown(&self) -> Option<Digest> {
        self.shown
    }

    /// Shows what is about to be done, where that is wanted at once.
    fn admitted(&mut self, proposal: &Proposal, plan: &Plan, digest: Digest) {
        let Some(clock) = &self.setup.clock else { return };
        if self.shown.replace(digest) != Some(digest) {
            let name = &self.setup.name;
            self.beside(LogLevel::Info, &card::at(clock, proposal, plan, name, &self.setup.look));
        }
    }

    /// A line beside the questions, for who wants to hear what is of this level.
    fn beside(&self, level: LogLevel, text: &str) {
        if level > self.setup.level {
            return;
        }
        match (&self.spinner, &self.outside.err) {
            (Some(spinner), _) => spinner.say(text),
            // Whoever closed stderr wants to hear nothing.
            (None, Some(err)) => drop((&mut &*err).write_all(text.as_bytes())),
            (None, None) => {}
        }
    }
}

/// Runs programs that have the terminal; Ctrl-C is theirs then.
pub(crate) fn programs_at_the_terminal(runner: Runner, signals: Rc<Held>) -> Run {
    Box::new(move |job: &Job| {
        let finished = runner.run(job, &|| signals.told_to_end(), &mut |_| {});
        signals.forget_interrupt();
        finished
    })
}

impl Approver for TerminalApprover {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn decide(&mut self, question: &Question<'_>) -> Reply {
        self.spinner = None;
        if self.stopped() {
            return Reply::Stop;
        }
        let Some(terminal) = (self.outside.open)() else {
            return Reply::Nobody;
        };
        let mut asking = Asking {
            look: self.setup.look.on(terminal.file()),
            terminal,
            setup: &self.setup,
            outside: &self.outside,
            misunderstood: 0,
            gone: false,
        };
        let asked = match question {
            Question::Trust { wants, before } => trust::ask(&mut asking, question, wants, *before),
            Question::NewChange { id, answer } => trust::ask_new(&mut asking, question, *id, *answer),
            Question::Apply { proposal, plan, digest, rules } => {
                let shown = self.shown.replace(*digest) == Some(*digest);
                let change = apply::Offer { question, proposal, plan, digest: *digest, rules };
                apply::ask(&mut asking, &change, shown)
            }
            Question::Keep { plan, digest, gate, rules } => {
                keep::ask(&mut asking, question, &keep::OnDisk { plan, digest: *digest, gate, rules })
            }
        };
        self.gone |= asking.gone;
        asked.unwrap_or_else(|decided| decided)
    }

    fn event(&mut self, event: &Event<'_>) {
        let look = self.setup.look;
        match event {
            Event::Begins { step, command } => {
                self.spinner = None;
                let quiet =
                    self.setup.level < LogLevel::Info || self.setup.json || !self.outside.err_is_terminal;
                let err = self.outside.err.as_ref().filter(|_| !quiet).and_then(|err| err.try_clone().ok());
                self.spinner = err.and_then(|err| Spinner::begin(err, *step, command, look));
            }
            Event::Prints { bytes } => {
                if let Some(spinner) = &self.spinner {
                    spinner.prints(bytes);
                }
            }
            Event::Ends { report } => {
                self.spinner = None;
                self.beside(LogLevel::Debug, &gate::ran(report, &look));
            }
            Event::Admitted { proposal, plan, digest } => self.admitted(proposal, plan, *digest),
            Event::OnDisk { .. } | Event::PuttingBack => {}
            // Also to who wants to hear little: the yes that was given counts no longer.
            Event::PlannedAgain { paths } => {
                self.beside(LogLevel::Error, &question::planned_again(paths, &look));
            }
            Event::Remark { text } => self.beside(LogLevel::Warn, &outcome::remark(&look, &look.safe(text))),
        }
    }

    fn stopped(&self) -> bool {
        self.gone || (self.outside.stop)()
    }
}

/// Words that nobody understands before they are taken as a no.
const MISUNDERSTOOD: usize = 5;

/// One question, from its first line to its answer. Functions that ask return the reply as an error
/// where it is decided early: an interrupt, the end of input, an empty line.
struct Asking<'a> {
    terminal: Terminal,
    look: Look,
    setup: &'a Setup,
    outside: &'a Outside,
    misunderstood: usize,
    gone: bool,
}

/// A line that was typed: its first word in small letters, and the rest as it is.
struct Said {
    word: String,
    rest: String,
}

impl Said {
    fn of(line: &str) -> Said {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        Said { word: word.to_lowercase(), rest: rest.trim().to_string() }
    }

    /// A yes and nothing else.
    fn is_yes(&self) -> bool {
        self.rest.is_empty() && matches!(self.word.as_str(), "y" | "yes")
    }
}

impl Asking<'_> {
    fn say(&mut self, text: &str) {
        self.terminal.say(text);
    }

    /// Shows text that may be long.
    fn show(&self, text: &dyn Fn(&Look) -> String) {
        let Asking { terminal, look, setup, outside, .. } = self;
        Pager { terminal, look: *look, programs: &setup.programs, run: &outside.run }.show(text);
    }

    /// How a diff is laid out: in two columns if that is wanted, as wide as the terminal is.
    fn layout(&self, side: bool) -> Layout {
        layout(&self.terminal, side)
    }

    fn remark(&mut self, text: &str) {
        let text = outcome::remark(&self.look, &self.look.safe(text));
        self.say(&text);
    }

    /// A line; `None` if it is empty or the input ended.
    fn line(&mut self, prompt: &str) -> Result<Option<String>, Reply> {
        match self.terminal.prompt(prompt, &self.look, &*self.outside.stop) {
            Answer::Line(line) => Ok(Some(line).filter(|line| !line.is_empty())),
            Answer::End => Ok(None),
            Answer::Stopped => Err(Reply::Stop),
            Answer::Gone(_) => {
                self.gone = true;
                Err(Reply::Stop)
            }
        }
    }

    /// What was typed; nothing is a no.
    fn hear(&mut self, prompt: &str) -> Result<Said, Reply> {
        let line = self.line(prompt)?;
        line.map(|line| Said::of(&line)).ok_or(Reply::No { reason: None })
    }

    /// Explains the keys to somebody who was not understood; after a while that is a no.
    fn explain(&mut self, keys: question::Keys) -> Result<(), Reply> {
        self.misunderstood += 1;
        if self.misunderstood > MISUNDERSTOOD {
            return Err(Reply::No { reason: None });
        }
        self.show_keys(keys);
        Ok(())
    }

    fn show_keys(&mut self, keys: question::Keys) {
        let text = question::keys(keys, &self.look);
        self.say(&text);
    }

    /// The reason for a no: what was typed behind it, else what is typed now.
    fn reason(&mut self, rest: &str) -> Result<Reply, Reply> {
        if !rest.is_empty() {
            return Ok(no_because(rest));
        }
        let line = self.line("  why? one line for your model; Enter gives no reason  ")?;
        Ok(no_because(&line.unwrap_or_default()))
    }
}

/// How a diff is laid out at a terminal.
pub(crate) fn layout(terminal: &Terminal, side: bool) -> Layout {
    match terminal.file().columns().filter(|_| side) {
        Some(columns) => Layout::SideBySide { columns },
        None => Layout::Unified,
    }
}

/// A no with a reason, if there is one.
fn no_because(words: &str) -> Reply {
    let words = words.strip_prefix("because ").unwrap_or(words).trim();
    Reply::No { reason: Some(words.to_string()).filter(|reason| !reason.is_empty()) }
}
