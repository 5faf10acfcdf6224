//! The person at the terminal, for tools that need one. Calls run on threads of their own; one question is asked at a time.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use relaycode_door::Approver;
use relaycode_exec::Runner;
use relaycode_tools::{Host, HostAnswer, HostQuestion, ToolProgress};
use relaycode_tui::{OutputStyle, PromptAnswer};

use crate::approver::{ApproverSetup, TerminalApprover};
use crate::{LogLevel, SignalGuard, UserPrograms, questions};

pub(crate) struct TerminalHost {
    pub(crate) runner: Runner,
    /// The file that names the project's commands.
    pub(crate) config: String,
    pub(crate) level: LogLevel,
    pub(crate) json: bool,
    pub(crate) style: OutputStyle,
    /// Held while somebody is asked.
    pub(crate) terminal: Mutex<()>,
}

impl Host for TerminalHost {
    fn ask(&self, question: &HostQuestion) -> HostAnswer {
        let _asking = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(terminal), Ok(signals)) = (questions::open_terminal(), SignalGuard::acquire()) else {
            return HostAnswer::Unavailable;
        };
        let until = question.deadline.map(|deadline| Instant::now() + deadline);
        let is_late = || until.is_some_and(|until| until <= Instant::now());
        let mut text = format!("\n{}\n", self.style.safe(&question.text));
        for (at, option) in question.options.iter().enumerate() {
            let _ = writeln!(text, "  {} {}", at + 1, self.style.safe(option));
        }
        text.push_str(if question.options.is_empty() { "> " } else { "number> " });
        loop {
            match terminal.prompt(&text, &self.style, &|| signals.stop_requested() || is_late()) {
                PromptAnswer::Line(line) => match parse_line(question, line.trim()) {
                    Some(answer) => return answer,
                    None => text = format!("a number from 1 to {}> ", question.options.len()),
                },
                PromptAnswer::Stopped if is_late() => return HostAnswer::TimedOut,
                PromptAnswer::Stopped => return HostAnswer::Stop,
                PromptAnswer::EndOfInput | PromptAnswer::Disconnected(_) => return HostAnswer::Unavailable,
            }
        }
    }

    fn with_approver(&self, _call: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        let _asking = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn progress(&self, _call: &str, _progress: &ToolProgress) {}
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
