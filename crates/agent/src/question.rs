//! Questions to people: each with an id, a deadline and a default. Whoever answers first decides; everybody is told.
//!
//! Invariant: a question ends, by an answer, its deadline or the end of the run; after that no answer counts.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use relaycode_llm::CancelToken;
use relaycode_tools::{HostAnswer, HostQuestion, QuestionAbout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{AgentEvent, EventLog};

/// Questions that may be open at once.
const MAX_OPEN: usize = 100;
/// How soon a run that is ended is noticed.
const TICK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentQuestion {
    pub id: String,
    /// The call that asks.
    pub tool_call_id: String,
    pub text: String,
    /// What can be chosen; empty: free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// More than one option may be chosen.
    #[serde(default)]
    pub several: bool,
    /// The option that counts if nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<usize>,
    /// Milliseconds from when it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Beside the options, words are an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free_text: bool,
    /// What kind of question it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<QuestionAbout>,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerReceipt {
    Accepted,
    /// Somebody else was first, or it was too late.
    AlreadyAnswered,
    UnknownQuestion,
    /// It names options that there are not, or none or several where one is asked for.
    NotAnOption,
}

#[derive(Default)]
pub(crate) struct QuestionBoard {
    state: Mutex<BoardState>,
    bell: Condvar,
}

#[derive(Default)]
struct BoardState {
    asked: u64,
    open: HashMap<String, OpenQuestion>,
    /// Somebody is there who can answer.
    attended: bool,
    /// No question waits longer.
    longest: Option<Duration>,
}

struct OpenQuestion {
    question: AgentQuestion,
    answer: Option<HostAnswer>,
    /// Somebody is at it: no deadline counts.
    is_held: bool,
}

impl QuestionBoard {
    /// Says whether somebody can answer.
    pub(crate) fn set_attended(&self, attended: bool) {
        self.lock().attended = attended;
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.lock().attended
    }

    pub(crate) fn set_longest(&self, longest: Option<Duration>) {
        self.lock().longest = longest;
    }

    /// Those without an answer, in the order in which they were asked.
    pub(crate) fn open(&self) -> Vec<AgentQuestion> {
        let state = self.lock();
        let open = state.open.values().filter(|open| open.answer.is_none());
        let mut open: Vec<AgentQuestion> = open.map(|open| open.question.clone()).collect();
        open.sort_by_key(|question| question.id[1..].parse::<u64>().unwrap_or_default());
        open
    }

    /// Asks and waits.
    pub(crate) fn ask(&self, asked: &HostQuestion, cancel: &CancelToken, events: &EventLog) -> HostAnswer {
        self.ask_board(asked, cancel, events, None)
    }

    /// The same about a plan: words are an answer, too. `opened` is told the question once everybody was.
    pub(crate) fn ask_about_plan(
        &self,
        asked: &HostQuestion,
        cancel: &CancelToken,
        events: &EventLog,
        opened: &dyn Fn(&AgentQuestion),
    ) -> HostAnswer {
        self.ask_board(asked, cancel, events, Some(opened))
    }

    fn ask_board(
        &self,
        asked: &HostQuestion,
        cancel: &CancelToken,
        events: &EventLog,
        opened: Option<&dyn Fn(&AgentQuestion)>,
    ) -> HostAnswer {
        let (id, until, question) = {
            let mut state = self.lock();
            if !state.attended || state.open.len() >= MAX_OPEN {
                return HostAnswer::Unavailable;
            }
            state.asked += 1;
            let id = format!("q{}", state.asked);
            let deadline = asked.deadline.into_iter().chain(state.longest).min();
            let question = AgentQuestion::new(&id, asked, deadline);
            state.open.insert(
                id.clone(),
                OpenQuestion { question: question.clone(), answer: None, is_held: false },
            );
            (id, deadline.map(|deadline| Instant::now() + deadline), question)
        };
        events.publish(AgentEvent::QuestionAsked { question: question.clone() });
        if let Some(opened) = opened {
            opened(&question);
        }
        let mut state = self.lock();
        let answer = loop {
            if let Some(answer) = state.open.get_mut(&id).and_then(|open| open.answer.take()) {
                break answer;
            }
            if cancel.is_cancelled() {
                break HostAnswer::Stop;
            }
            let is_held = state.open.get(&id).is_some_and(|open| open.is_held);
            let until = until.filter(|_| !is_held);
            let left = until.map_or(TICK, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break HostAnswer::TimedOut;
            }
            state = self.bell.wait_timeout(state, left.min(TICK)).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.open.remove(&id);
        drop(state);
        events.publish(AgentEvent::QuestionAnswered { id, answer: answer.clone() });
        answer
    }

    /// Answers from any client; the first one counts.
    pub(crate) fn answer(&self, id: &str, answer: HostAnswer) -> AnswerReceipt {
        let mut state = self.lock();
        let asked = state.asked;
        let Some(open) = state.open.get_mut(id) else {
            let number = id.strip_prefix('q').and_then(|number| number.parse::<u64>().ok());
            return match number {
                Some(number) if (1..=asked).contains(&number) => AnswerReceipt::AlreadyAnswered,
                _ => AnswerReceipt::UnknownQuestion,
            };
        };
        if open.answer.is_some() {
            return AnswerReceipt::AlreadyAnswered;
        }
        if !open.accepts(&answer) {
            return AnswerReceipt::NotAnOption;
        }
        open.answer = Some(answer);
        self.bell.notify_all();
        AnswerReceipt::Accepted
    }

    /// Somebody begins to answer: from now on the question waits for them.
    pub(crate) fn hold(&self, id: &str) {
        if let Some(open) = self.lock().open.get_mut(id) {
            open.is_held = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BoardState> {
        // Each change leaves the board consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenQuestion {
    fn accepts(&self, answer: &HostAnswer) -> bool {
        match answer {
            HostAnswer::Options { chosen } => {
                let question = &self.question;
                chosen.iter().all(|at| *at < question.options.len())
                    && (question.several || chosen.len() == 1)
            }
            HostAnswer::Text { .. } => self.question.options.is_empty() || self.question.free_text,
            HostAnswer::Stop => true,
            HostAnswer::TimedOut | HostAnswer::Unavailable => false,
        }
    }
}

impl AgentQuestion {
    fn new(id: &str, asked: &HostQuestion, deadline: Option<Duration>) -> AgentQuestion {
        AgentQuestion {
            id: id.to_string(),
            tool_call_id: asked.call.clone(),
            text: asked.text.clone(),
            options: asked.options.clone(),
            several: asked.several,
            default: asked.default,
            timeout_ms: deadline.map(|deadline| u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)),
            free_text: asked.free_text,
            about: asked.about.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventPoll;

    fn question(deadline: Option<Duration>) -> HostQuestion {
        HostQuestion {
            call: "c1".into(),
            text: "Which colour?".into(),
            options: vec!["red".into(), "blue".into()],
            several: false,
            default: Some(0),
            deadline,
            ..HostQuestion::default()
        }
    }

    fn chosen(at: usize) -> HostAnswer {
        HostAnswer::Options { chosen: vec![at] }
    }

    #[test]
    fn nobody_there_is_said_at_once() {
        let board = QuestionBoard::default();
        let answer = board.ask(&question(None), &CancelToken::default(), &EventLog::default());
        assert_eq!(answer, HostAnswer::Unavailable);
    }

    #[test]
    fn the_first_answer_wins_and_the_second_is_told() {
        let (board, events) = (QuestionBoard::default(), EventLog::default());
        board.set_attended(true);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| board.ask(&question(None), &CancelToken::default(), &events));
            let EventPoll::Event(event) = events.poll(0, None) else { panic!("no question") };
            let AgentEvent::QuestionAsked { question } = &event.event else { panic!("another event") };
            assert_eq!(question.id, "q1");
            assert_eq!(board.answer("q1", chosen(2)), AnswerReceipt::NotAnOption);
            assert_eq!(board.answer("q2", chosen(0)), AnswerReceipt::UnknownQuestion);
            assert_eq!(board.answer("q1", chosen(1)), AnswerReceipt::Accepted);
            assert_eq!(board.answer("q1", chosen(0)), AnswerReceipt::AlreadyAnswered);
            assert_eq!(asked.join().unwrap(), chosen(1));
        });
        assert_eq!(board.answer("q1", chosen(0)), AnswerReceipt::AlreadyAnswered);
    }

    #[test]
    fn no_question_waits_longer_than_it_may_and_open_ones_are_listed() {
        let (board, events) = (QuestionBoard::default(), EventLog::default());
        board.set_attended(true);
        board.set_longest(Some(Duration::ZERO));
        assert_eq!(board.ask(&question(None), &CancelToken::default(), &events), HostAnswer::TimedOut);
        let EventPoll::Event(event) = events.poll(0, None) else { panic!("no question") };
        let AgentEvent::QuestionAsked { question: asked } = &event.event else { panic!("another event") };
        assert_eq!(asked.timeout_ms, Some(0));
        board.set_longest(None);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| board.ask(&question(None), &CancelToken::default(), &events));
            events.poll(2, None);
            assert_eq!(board.open().iter().map(|open| open.id.as_str()).collect::<Vec<_>>(), ["q2"]);
            board.answer("q2", HostAnswer::Stop);
            asking.join().unwrap();
        });
        assert!(board.open().is_empty());
    }

    #[test]
    fn a_question_that_somebody_is_at_waits_for_them_and_takes_words_where_it_says_so() {
        let (board, events) = (QuestionBoard::default(), EventLog::default());
        board.set_attended(true);
        let asked = HostQuestion { free_text: true, ..question(Some(Duration::from_secs(600))) };
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| board.ask(&asked, &CancelToken::default(), &events));
            events.poll(0, None);
            board.hold("q1");
            assert!(board.lock().open["q1"].is_held);
            let words = HostAnswer::Text { text: "neither".into() };
            assert_eq!(board.answer("q1", words.clone()), AnswerReceipt::Accepted);
            assert_eq!(asking.join().unwrap(), words);
        });
    }

    #[test]
    fn a_question_ends_with_its_deadline_and_with_the_run() {
        let (board, events) = (QuestionBoard::default(), EventLog::default());
        board.set_attended(true);
        let cancel = CancelToken::default();
        assert_eq!(board.ask(&question(Some(Duration::ZERO)), &cancel, &events), HostAnswer::TimedOut);
        cancel.cancel();
        assert_eq!(board.ask(&question(None), &cancel, &events), HostAnswer::Stop);
        let EventPoll::Event(last) = events.poll(3, None) else { panic!("no event") };
        assert!(
            matches!(&last.event, AgentEvent::QuestionAnswered { answer: HostAnswer::Stop, .. }),
            "{last:?}"
        );
    }
}
