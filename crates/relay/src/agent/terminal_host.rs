//! The person at the terminal, for tools that need one. Calls run on threads of their own; one question is asked at a time.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use relaycode_door::Approver;
use relaycode_exec::Runner;
use relaycode_tools::{Host, HostAnswer, HostQuestion, ProposedPlan, ToolProgress};
use relaycode_tui::notify::{Notification, Notifier};
use relaycode_tui::{OutputStyle, PromptAnswer, Terminal};

use super::conversation::TerminalLender;
use crate::approver::{ApproverSetup, TerminalApprover};
use crate::{LogLevel, SignalGuard, UserPrograms, desktop, questions};

pub(crate) struct TerminalHost {
    pub(crate) runner: Runner,
    /// The file that names the project's commands.
    pub(crate) config: String,
    pub(crate) level: LogLevel,
    pub(crate) json: bool,
    pub(crate) style: OutputStyle,
    /// `None`: they are switched off.
    pub(crate) notices: Option<QuestionNotices>,
    /// Held while somebody is asked.
    pub(crate) terminal: Mutex<()>,
    /// The screen of a conversation that has the terminal meanwhile.
    pub(crate) lender: Option<Arc<TerminalLender>>,
    /// Stands above the next question.
    pub(crate) plan: Mutex<Option<ProposedPlan>>,
}

/// Tells somebody who looks elsewhere that a question waits.
pub(crate) struct QuestionNotices {
    notifier: Notifier,
    project: String,
}

impl QuestionNotices {
    pub(crate) fn new(root: &Path) -> QuestionNotices {
        let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        QuestionNotices { notifier: Notifier::new(desktop::terminal_env(true)), project }
    }

    fn notify(&self, terminal: &Terminal) {
        let summary = format!("{}: waiting for your answer", self.project);
        let notice = Notification { summary, urgent: true, ..Notification::default() };
        if let Ok(mut terminal) = terminal.file().try_clone() {
            self.notifier.notify(&notice, &mut terminal);
        }
    }
}

impl Host for TerminalHost {
    fn ask(&self, question: &HostQuestion) -> HostAnswer {
        let _asking = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let _borrowed = self.lender.as_ref().map(TerminalLender::borrow);
        let (Some(terminal), Ok(signals)) = (questions::open_terminal(), SignalGuard::acquire()) else {
            return HostAnswer::Unavailable;
        };
        if let Some(notices) = &self.notices {
            notices.notify(&terminal);
        }
        let mut until = question.deadline.map(|deadline| Instant::now() + deadline);
        let mut text = String::new();
        if let Some(plan) = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = write!(text, "\n{}\n", self.style.block(plan.plan.trim_end()));
            let edited = if plan.is_edited { ", edited since the agent wrote it" } else { "" };
            let _ = writeln!(text, "  {}{edited}", self.style.safe(&plan.plan_file.to_string_lossy()));
        }
        let _ = writeln!(text, "\n{}", self.style.safe(&question.text));
        for (at, option) in question.options.iter().enumerate() {
            let _ = writeln!(text, "  {} {}", at + 1, self.style.safe(option));
        }
        if let Some(hint) = default_hint(question) {
            let _ = writeln!(text, "  {hint}");
        }
        text.push_str(if question.options.is_empty() { "> " } else { "number> " });
        loop {
            let is_late = || until.is_some_and(|until| until <= Instant::now());
            match terminal.prompt_until(&text, &self.style, &|| signals.stop_requested(), &is_late) {
                Some(PromptAnswer::Line(line)) => match parse_line(question, line.trim()) {
                    Some(answer) => return answer,
                    None => {
                        // Somebody is there.
                        until = None;
                        text = format!("a number from 1 to {}> ", question.options.len());
                    }
                },
                None => return HostAnswer::TimedOut,
                Some(PromptAnswer::Stopped) => return HostAnswer::Stop,
                Some(PromptAnswer::EndOfInput | PromptAnswer::Disconnected(_)) => {
                    return HostAnswer::Unavailable;
                }
            }
        }
    }

    fn with_approver(&self, _call: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        let _asking = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let _borrowed = self.lender.as_ref().map(TerminalLender::borrow);
        let setup = ApproverSetup {
            name: "the agent's change".to_string(),
            clock: None,
            config: self.config.clone(),
            diff: true,
            // What it does is told as an event.
            level: self.level.min(LogLevel::Warn),
            json: self.json,
            style: self.style,
            programs: UserPrograms::from_env(),
        };
        if let Ok(mut approver) = TerminalApprover::new(setup, self.runner.clone(), None) {
            submit(&mut approver);
        }
    }

    fn show_plan(&self, proposed: &ProposedPlan) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(proposed.clone());
    }

    fn progress(&self, _call: &str, _progress: &ToolProgress) {}
}

/// What Enter alone chooses, and what happens without an answer.
fn default_hint(question: &HostQuestion) -> Option<String> {
    let seconds = question.deadline.map(|deadline| deadline.as_secs());
    match (question.default.map(|at| at + 1), seconds) {
        (Some(number), Some(seconds)) => Some(format!(
            "Enter: {number}; if nothing is typed for {seconds} s, the agent goes on with {number}"
        )),
        (Some(number), None) => Some(format!("Enter: {number}")),
        (None, Some(seconds)) => {
            Some(format!("if nothing is typed for {seconds} s, the agent goes on without an answer"))
        }
        (None, None) => None,
    }
}

/// An empty line is the default, if there is one.
fn parse_line(question: &HostQuestion, line: &str) -> Option<HostAnswer> {
    if question.options.is_empty() {
        return Some(HostAnswer::Text { text: line.to_string() });
    }
    let numbers: Option<Vec<usize>> = if line.is_empty() {
        question.default.map(|at| vec![at])
    } else {
        let words = line.split([',', ' ']).filter(|word| !word.is_empty());
        words.map(|word| word.parse::<usize>().ok()?.checked_sub(1)).collect()
    };
    let fits = |chosen: &Vec<usize>| {
        !chosen.is_empty()
            && chosen.iter().all(|at| *at < question.options.len())
            && (question.several || chosen.len() == 1)
    };
    Some(HostAnswer::Options { chosen: numbers.filter(fits)? })
}
