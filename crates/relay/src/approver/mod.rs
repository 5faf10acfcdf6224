//! The person at the terminal as the one who says yes.
//!
//! Every question is asked on the terminal itself, never on stdin, and its default is the safe answer: the
//! end of input, an empty line and words that nobody understands are a no, an interrupt and a terminal
//! that goes away stop everything. A yes carries the digest of what was shown. Foreign text is escaped
//! before it is shown, in the pager too. Each question has a file of its own.

mod apply;
pub(crate) mod edit;
mod keep;
pub(crate) mod pager;
mod pick;
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
use relaycode_door::{ApprovalQuestion, ApprovalReason, ApprovalReply, Approver, DoorEvent, plan_digest};
use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use relaycode_ledger::Digest;
use relaycode_tui::views::rules::{self, AskedIn};
use relaycode_tui::views::{card, gate, question};
use relaycode_tui::{DiffLayout, OutputStyle, PromptAnswer, StreamWidth, Terminal, outcome};

use crate::{CommandResult, LogLevel, SignalGuard, UserPrograms, questions};

use pager::Pager;
use spinner::Spinner;

/// Asks the person at the terminal, and shows them how it goes.
///
/// Whoever uses it flushes what they wrote to stdout and stderr before the first question: the
/// questions go to the terminal by a way of their own.
pub(crate) struct TerminalApprover {
    setup: ApproverSetup,
    hooks: ApproverHooks,
    spinner: Option<Spinner>,
    /// The digest of the plan that was last shown.
    pub(crate) shown_digest: Option<Digest>,
    /// Somebody sat at the terminal and answered.
    pub(crate) was_answered: bool,
    /// The terminal went away: nobody will answer any more.
    terminal_gone: bool,
}

/// Where changes come in one after the other, and the terminal is read between them, too.
pub(crate) struct ApproverSession {
    /// The time that cards show.
    pub(crate) clock: String,
    pub(crate) terminal: Option<Terminal>,
    /// Hears of every question before it is asked.
    pub(crate) on_question: OnQuestion,
    /// What is said beside a question while it is open; safe to print.
    pub(crate) news: QuestionNews,
}

/// What it is told in advance.
pub(crate) struct ApproverSetup {
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
    pub(crate) style: OutputStyle,
    /// The user's editor and pager.
    pub(crate) programs: UserPrograms,
}

/// What it needs of the system, so that a test can stand in.
struct ApproverHooks {
    /// The terminal, if there is one with somebody at it.
    open: OpenTerminal,
    on_question: OnQuestion,
    news: QuestionNews,
    /// Whether a signal asked to stop.
    stop: Box<dyn Fn() -> bool>,
    /// Runs an editor or a pager.
    run: RunProgram,
    /// Where progress and remarks go.
    err: Option<File>,
    /// That is a terminal, where a line can be drawn over.
    err_is_terminal: bool,
}

type OpenTerminal = Box<dyn Fn() -> Option<Terminal>>;
type OnQuestion = Box<dyn Fn(&ApprovalQuestion<'_>)>;
type QuestionNews = Box<dyn Fn() -> Option<String>>;

/// Runs a program that has the terminal to its end. What is typed meanwhile is meant for it.
pub(crate) type RunProgram = Box<dyn Fn(&Job) -> Result<JobOutcome, ExecError>>;

impl TerminalApprover {
    /// An approver at the terminal of a session, else at the process's own. While it lives, signals only ask to
    /// stop.
    pub(crate) fn new(
        mut setup: ApproverSetup,
        runner: Runner,
        session: Option<ApproverSession>,
    ) -> CommandResult<TerminalApprover> {
        let held = Rc::new(SignalGuard::acquire()?);
        let signals = Rc::clone(&held);
        let (open, on_question, news): (OpenTerminal, OnQuestion, QuestionNews) = match session {
            Some(ApproverSession { clock, terminal, on_question, news }) => {
                setup.clock = Some(clock);
                (Box::new(move || terminal.clone()), on_question, news)
            }
            None => (Box::new(questions::open_terminal), Box::new(|_| {}), Box::new(|| None)),
        };
        let outside = ApproverHooks {
            open,
            on_question,
            news,
            stop: Box::new(move || held.stop_requested()),
            run: terminal_program_runner(runner, signals),
            err: io::stderr().as_fd().try_clone_to_owned().ok().map(File::from),
            err_is_terminal: io::stderr().is_terminal(),
        };
        Ok(TerminalApprover::with_hooks(setup, outside))
    }

    fn with_hooks(setup: ApproverSetup, hooks: ApproverHooks) -> TerminalApprover {
        let (shown_digest, was_answered, terminal_gone) = (None, false, false);
        TerminalApprover { setup, hooks, spinner: None, shown_digest, was_answered, terminal_gone }
    }

    /// Shows what is about to be done, where that is wanted at once.
    fn show_admitted(&mut self, proposal: &Proposal, plan: &Plan, digest: Digest) {
        let Some(clock) = &self.setup.clock else { return };
        if self.shown_digest.replace(digest) != Some(digest) {
            let name = &self.setup.name;
            self.eprint_at(LogLevel::Info, &card::text(clock, proposal, plan, name, &self.setup.style));
        }
    }

    /// A line beside the questions, for who wants to hear what is of this level.
    fn eprint_at(&self, level: LogLevel, text: &str) {
        if level > self.setup.level {
            return;
        }
        match (&self.spinner, &self.hooks.err) {
            (Some(spinner), _) => spinner.print_above(text),
            // Whoever closed stderr wants to hear nothing.
            (None, Some(err)) => drop((&mut &*err).write_all(text.as_bytes())),
            (None, None) => {}
        }
    }
}

/// Runs programs that have the terminal; Ctrl-C is theirs then.
pub(crate) fn terminal_program_runner(runner: Runner, signals: Rc<SignalGuard>) -> RunProgram {
    Box::new(move |job: &Job| {
        let finished = runner.run(job, &|| signals.termination_requested(), &mut |_| {});
        signals.clear_interrupt();
        finished
    })
}

impl Approver for TerminalApprover {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        self.spinner = None;
        if self.stop_requested() {
            return ApprovalReply::Stop;
        }
        let Some(terminal) = (self.hooks.open)() else {
            return ApprovalReply::Unavailable;
        };
        (self.hooks.on_question)(question);
        self.was_answered = true;
        let mut asking = QuestionDialog {
            style: self.setup.style.for_stream(terminal.file()),
            terminal,
            setup: &self.setup,
            hooks: &self.hooks,
            misunderstood: 0,
            terminal_gone: false,
        };
        let asked = match question {
            ApprovalQuestion::Trust { wants, before } => {
                trust::ask_trust(&mut asking, question, wants, *before)
            }
            ApprovalQuestion::NewChange { id, answer } => {
                trust::ask_new_change(&mut asking, question, *id, *answer)
            }
            ApprovalQuestion::Apply { proposal, plan, digest, rules } => {
                let shown = self.shown_digest.replace(*digest) == Some(*digest);
                let change = apply::ApplyPrompt { question, proposal, plan, digest: *digest, rules };
                apply::ask_apply(&mut asking, &change, shown)
            }
            ApprovalQuestion::Keep { proposal, plan, digest, gate, rules } => {
                // What is on disk may differ from it: a command of the project may have reformatted it.
                let planned = plan_digest(plan);
                let shown = self.shown_digest.replace(planned) == Some(planned);
                let change = keep::KeepPrompt { question, proposal, plan, digest: *digest, gate, rules };
                keep::ask_keep(&mut asking, &change, shown)
            }
        };
        self.terminal_gone |= asking.terminal_gone;
        asked.unwrap_or_else(|decided| decided)
    }

    fn on_event(&mut self, event: &DoorEvent<'_>) {
        let look = self.setup.style;
        match event {
            DoorEvent::StepStarted { step, command } => {
                self.spinner = None;
                let quiet =
                    self.setup.level < LogLevel::Info || self.setup.json || !self.hooks.err_is_terminal;
                let err = self.hooks.err.as_ref().filter(|_| !quiet).and_then(|err| err.try_clone().ok());
                self.spinner = err.and_then(|err| Spinner::for_step(err, *step, command, look));
            }
            DoorEvent::StepOutput { bytes } => {
                if let Some(spinner) = &self.spinner {
                    spinner.push_output(bytes);
                }
            }
            DoorEvent::StepFinished { report } => {
                self.spinner = None;
                self.eprint_at(LogLevel::Debug, &gate::step_summary(report, &look));
            }
            DoorEvent::Admitted { proposal, plan, digest } => self.show_admitted(proposal, plan, *digest),
            DoorEvent::FilesWritten { .. } | DoorEvent::PuttingBack => {}
            // Also to who wants to hear little: the yes that was given counts no longer.
            DoorEvent::Replanned { paths } => {
                self.eprint_at(LogLevel::Error, &question::replanned_warning(paths, &look));
            }
            DoorEvent::Remark { text } => {
                self.eprint_at(LogLevel::Warn, &outcome::warning_line(&look, &look.safe(text)));
            }
        }
    }

    fn stop_requested(&self) -> bool {
        self.terminal_gone || (self.hooks.stop)()
    }
}

/// Words that nobody understands before they are taken as a no.
const MAX_MISUNDERSTOOD: usize = 5;

/// One question, from its first line to its answer. Functions that ask return the reply as an error
/// where it is decided early: an interrupt, the end of input, an empty line.
struct QuestionDialog<'a> {
    terminal: Terminal,
    style: OutputStyle,
    setup: &'a ApproverSetup,
    hooks: &'a ApproverHooks,
    misunderstood: usize,
    terminal_gone: bool,
}

/// An error: the reply, where it is decided early.
type DialogResult<T = ApprovalReply> = Result<T, ApprovalReply>;

/// A line that was typed: its first word in small letters, and the rest as it is.
struct TypedLine {
    word: String,
    rest: String,
}

impl TypedLine {
    fn parse(line: &str) -> TypedLine {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        TypedLine { word: word.to_lowercase(), rest: rest.trim().to_string() }
    }

    /// A yes and nothing else.
    fn is_yes(&self) -> bool {
        self.rest.is_empty() && matches!(self.word.as_str(), "y" | "yes")
    }
}

impl QuestionDialog<'_> {
    fn say(&mut self, text: &str) {
        self.terminal.write_text(text);
    }

    /// Shows text that may be long.
    fn show(&self, text: &dyn Fn(&OutputStyle) -> String) {
        let QuestionDialog { terminal, style: look, setup, hooks: outside, .. } = self;
        Pager { terminal, style: *look, programs: &setup.programs, run: &outside.run }.show(text);
    }

    /// The change that the question is about.
    fn show_card(&mut self, proposal: &Proposal, plan: &Plan) {
        let clock = self.setup.clock.as_deref().unwrap_or_default();
        let text = card::text(clock, proposal, plan, &self.setup.name, &self.style);
        self.say(&text);
    }

    /// Says which rules made relay ask, and what would make it not ask; `digest`: what a yes is for.
    fn explain_rules(&mut self, rules: &[ApprovalReason], digest: Digest) {
        let asked_in = if self.setup.clock.is_some() { AskedIn::Watch } else { AskedIn::Command };
        let text = rules::text(rules, asked_in, Some(digest), &self.style);
        self.say(&text);
    }

    /// How a diff is laid out: in two columns if that is wanted, as wide as the terminal is.
    fn layout(&self, side: bool) -> DiffLayout {
        diff_layout(&self.terminal, side)
    }

    fn remark(&mut self, text: &str) {
        let text = outcome::warning_line(&self.style, &self.style.safe(text));
        self.say(&text);
    }

    /// A line; `None` if it is empty or the input ended.
    fn read_line(&mut self, prompt: &str) -> DialogResult<Option<String>> {
        match self.terminal.prompt_with_news(prompt, &self.style, &*self.hooks.stop, &*self.hooks.news) {
            PromptAnswer::Line(line) => Ok(Some(line).filter(|line| !line.is_empty())),
            PromptAnswer::EndOfInput => Ok(None),
            PromptAnswer::Stopped => Err(ApprovalReply::Stop),
            PromptAnswer::Disconnected(_) => {
                self.terminal_gone = true;
                Err(ApprovalReply::Stop)
            }
        }
    }

    /// What was typed; nothing is a no.
    fn read_reply(&mut self, prompt: &str) -> DialogResult<TypedLine> {
        let line = self.read_line(prompt)?;
        line.map(|line| TypedLine::parse(&line)).ok_or(ApprovalReply::No { reason: None })
    }

    /// Explains the keys to somebody who was not understood; after a while that is a no.
    fn explain_keys(&mut self, keys: question::QuestionKeys) -> DialogResult<()> {
        self.misunderstood += 1;
        if self.misunderstood > MAX_MISUNDERSTOOD {
            return Err(ApprovalReply::No { reason: None });
        }
        self.show_keys(keys);
        Ok(())
    }

    fn show_keys(&mut self, keys: question::QuestionKeys) {
        let text = question::key_help(keys, &self.style);
        self.say(&text);
    }

    /// The reason for a no: what was typed behind it, else what is typed now.
    fn decline_with_reason(&mut self, rest: &str) -> DialogResult {
        if !rest.is_empty() {
            return Ok(decline(rest));
        }
        let line = self.read_line("  why? one line for your model; Enter gives no reason  ")?;
        Ok(decline(&line.unwrap_or_default()))
    }
}

/// How a diff is laid out at a terminal.
pub(crate) fn diff_layout(terminal: &Terminal, side: bool) -> DiffLayout {
    match terminal.file().columns().filter(|_| side) {
        Some(columns) => DiffLayout::SideBySide { columns },
        None => DiffLayout::Unified,
    }
}

/// A no with a reason, if there is one.
fn decline(words: &str) -> ApprovalReply {
    let words = words.strip_prefix("because ").unwrap_or(words).trim();
    ApprovalReply::No { reason: Some(words.to_string()).filter(|reason| !reason.is_empty()) }
}
