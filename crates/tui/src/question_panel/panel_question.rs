//! A question as data: what is asked, what can be answered, until when.

use std::time::{Duration, Instant};

use relaycode_agent::question::AgentQuestion;
use relaycode_tools::QuestionAbout;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelQuestion {
    pub id: String,
    /// Foreign text, a sentence or more.
    pub text: String,
    pub kind: QuestionKind,
    /// Beside options, words are an answer.
    pub free_text: bool,
    /// Afterwards the default counts.
    pub deadline: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    /// Whether something may be done.
    Permission {
        /// What would run.
        command: Option<String>,
        /// Why it is asked.
        reason: String,
        /// The rule that asks.
        rule: String,
        /// The rule that "always" keeps.
        always: Option<String>,
    },
    Choice {
        options: Vec<String>,
        several: bool,
        /// The option that counts if nobody answers; the safe one.
        default: Option<usize>,
        /// It is about a plan, which stands above.
        is_plan: bool,
    },
    /// Free text.
    Text,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelAnswer {
    Yes,
    /// And from now on.
    Always,
    No {
        reason: Option<String>,
    },
    /// By their places.
    Options(Vec<usize>),
    Text(String),
}

impl PanelQuestion {
    pub(super) fn of_agent(question: &AgentQuestion, now: Instant) -> PanelQuestion {
        let kind = match &question.about {
            Some(QuestionAbout::Permission { command, reason, rule, always }) => QuestionKind::Permission {
                command: command.clone(),
                reason: reason.clone(),
                rule: rule.clone(),
                always: always.clone().filter(|_| question.options.len() > 2),
            },
            _ if question.options.is_empty() => QuestionKind::Text,
            about => QuestionKind::Choice {
                options: question.options.clone(),
                several: question.several,
                default: question.default,
                is_plan: matches!(about, Some(QuestionAbout::Plan { .. })),
            },
        };
        PanelQuestion {
            id: question.id.clone(),
            text: question.text.clone(),
            kind,
            free_text: question.free_text,
            deadline: question.timeout_ms.map(|ms| now + Duration::from_millis(ms)),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind == QuestionKind::Text
    }

    /// What Enter means, among options.
    pub(super) fn safe_option(&self) -> Option<usize> {
        match self.kind {
            QuestionKind::Choice { default, .. } => default,
            _ => None,
        }
    }
}
