//! Questions that wait for a person: one at a time at the bottom of the screen, the others behind it.
//!
//! ```text
//!   ! bash wants to run outside the fence                          1 of 2 questions
//!       npm publish
//!     it needs the network
//!     y once · a always `npm publish` here · n no, and say why · w which rule
//! ```
//!
//! Invariants: what was typed before a question could be seen is no answer to it; Enter gives the safe answer and no other; every
//! question is answered once, also when somebody else was first.

mod answer_text;
mod draw;
mod panel_question;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_agent::question::AgentQuestion;
use relaycode_tools::HostAnswer;

pub use draw::QuestionLines;
pub use panel_question::{PanelAnswer, PanelQuestion, QuestionKind};

use crate::input::{KeyCode, KeyPress};
use answer_text::AnswerLine;

/// Keys that come sooner after a question appeared were meant for something else.
pub const SETTLE_TIME: Duration = Duration::from_millis(500);
/// Questions that wait.
const MAX_WAITING: usize = 200;

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionKeyOutcome {
    /// No question is open, or the key is none of its: it may mean something elsewhere.
    Ignored,
    /// Taken; the lines may have changed.
    Taken,
    /// The same, and somebody is at this question now: it should not run out.
    Begun {
        id: String,
    },
    Answered {
        id: String,
        answer: PanelAnswer,
    },
}

/// The questions, and where the answer to the first of them is.
#[derive(Debug, Default)]
pub struct QuestionPanel {
    waiting: VecDeque<PanelQuestion>,
    state: DialogState,
}

/// How far the first question is.
#[derive(Debug, Default)]
struct DialogState {
    /// When it could be seen first.
    shown: Option<Instant>,
    /// Somebody pressed a key for it.
    is_begun: bool,
    /// Options that are chosen so far, and the one the cursor is on.
    chosen: Vec<usize>,
    cursor: usize,
    /// Somebody moved it, or marked something.
    has_moved: bool,
    /// Words are typed.
    typing: Option<AnswerLine>,
    /// Which rule asks is shown.
    is_explained: bool,
    /// What each key does is shown.
    shows_keys: bool,
    /// The first line of a long text that is shown.
    scroll: usize,
    /// A key that means nothing here.
    hint: Option<String>,
}

impl QuestionPanel {
    /// A question of the agent's.
    pub fn ask(&mut self, question: &AgentQuestion, now: Instant) {
        self.push(PanelQuestion::of_agent(question, now));
    }

    /// Any question. Too many are not kept: whoever asked hears of it.
    pub fn push(&mut self, question: PanelQuestion) -> bool {
        if self.waiting.len() >= MAX_WAITING || self.waiting.iter().any(|open| open.id == question.id) {
            return false;
        }
        if self.waiting.is_empty() {
            self.state = DialogState::of(&question);
        }
        self.waiting.push_back(question);
        true
    }

    /// It was answered elsewhere, or nobody waits for it any more.
    pub fn withdraw(&mut self, id: &str) {
        let is_first = self.waiting.front().is_some_and(|question| question.id == id);
        self.waiting.retain(|question| question.id != id);
        if is_first {
            self.begin_next();
        }
    }

    /// Withdraws all.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.state = DialogState::default();
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The question that is asked.
    pub fn current(&self) -> Option<&PanelQuestion> {
        self.waiting.front()
    }

    /// The lines were drawn: from soon on, keys count.
    pub fn mark_shown(&mut self, now: Instant) {
        if !self.waiting.is_empty() {
            self.state.shown.get_or_insert(now);
        }
    }

    /// When the time that is left reads different; `None`: nothing changes by itself.
    pub fn next_tick(&self, now: Instant) -> Option<Duration> {
        let until = self.waiting.front()?.deadline.filter(|_| !self.state.is_begun)?;
        let left = until.saturating_duration_since(now);
        (!left.is_zero()).then(|| Duration::from_millis(u64::from(left.subsec_millis()) + 1))
    }

    fn begin_next(&mut self) {
        self.state = self.waiting.front().map(DialogState::of).unwrap_or_default();
    }

    /// Text that is pasted goes into words that are typed, and answers nothing.
    pub fn handle_paste(&mut self, text: &str, now: Instant) -> QuestionKeyOutcome {
        if self.waiting.is_empty() || !self.is_settled(now) {
            return if self.waiting.is_empty() {
                QuestionKeyOutcome::Ignored
            } else {
                QuestionKeyOutcome::Taken
            };
        }
        if let Some(line) = &mut self.state.typing {
            line.insert(text);
        }
        QuestionKeyOutcome::Taken
    }

    fn is_settled(&self, now: Instant) -> bool {
        self.state.shown.is_some_and(|shown| now.saturating_duration_since(shown) >= SETTLE_TIME)
    }

    pub fn handle_key(&mut self, key: KeyPress, now: Instant) -> QuestionKeyOutcome {
        let Some(question) = self.waiting.front() else { return QuestionKeyOutcome::Ignored };
        // Ctrl-C, Ctrl-Z and the like are never typed by accident, and belong to whoever has the screen.
        if key.ctrl && self.state.typing.is_none() {
            return QuestionKeyOutcome::Ignored;
        }
        if !self.is_settled(now) {
            return QuestionKeyOutcome::Taken;
        }
        self.state.hint = None;
        let outcome = match &mut self.state.typing {
            Some(_) => self.type_key(key),
            None => {
                let (question, state) = (question.clone(), &mut self.state);
                state.press(&question, key)
            }
        };
        let id = self.waiting.front().map(|question| question.id.clone()).unwrap_or_default();
        match outcome {
            KeyMeaning::Nothing => QuestionKeyOutcome::Ignored,
            KeyMeaning::Redraw if !std::mem::replace(&mut self.state.is_begun, true) => {
                QuestionKeyOutcome::Begun { id }
            }
            KeyMeaning::Redraw => QuestionKeyOutcome::Taken,
            KeyMeaning::Answer(answer) => {
                self.waiting.pop_front();
                self.begin_next();
                QuestionKeyOutcome::Answered { id, answer }
            }
        }
    }

    fn type_key(&mut self, key: KeyPress) -> KeyMeaning {
        let Some(line) = &mut self.state.typing else { return KeyMeaning::Nothing };
        match key.code {
            KeyCode::Enter if !key.shift && !key.alt => {
                let text = line.text().trim().to_string();
                let is_no = line.is_reason;
                if text.is_empty() && !is_no {
                    self.state.hint = Some("type an answer, or Esc to leave it".to_string());
                    return KeyMeaning::Redraw;
                }
                KeyMeaning::Answer(match (is_no, text.is_empty()) {
                    (true, true) => PanelAnswer::No { reason: None },
                    (true, false) => PanelAnswer::No { reason: Some(text) },
                    (false, _) => PanelAnswer::Text(text),
                })
            }
            KeyCode::Escape if self.waiting.front().is_some_and(|question| question.is_text()) => {
                KeyMeaning::Nothing
            }
            KeyCode::Escape => {
                self.state.typing = None;
                KeyMeaning::Redraw
            }
            _ if line.edit(key) => KeyMeaning::Redraw,
            _ => KeyMeaning::Nothing,
        }
    }
}

/// What a key means for the question that is asked.
enum KeyMeaning {
    Nothing,
    Redraw,
    Answer(PanelAnswer),
}

impl DialogState {
    fn of(question: &PanelQuestion) -> DialogState {
        let typing = question.is_text().then(|| AnswerLine::new(false));
        let cursor = question.safe_option().unwrap_or(0);
        DialogState { typing, cursor, ..DialogState::default() }
    }

    fn press(&mut self, question: &PanelQuestion, key: KeyPress) -> KeyMeaning {
        match key.code {
            KeyCode::PageDown => {
                self.scroll = self.scroll.saturating_add(10);
                return KeyMeaning::Redraw;
            }
            KeyCode::PageUp => {
                self.scroll = self.scroll.saturating_sub(10);
                return KeyMeaning::Redraw;
            }
            KeyCode::Char('?') => {
                self.shows_keys = !self.shows_keys;
                return KeyMeaning::Redraw;
            }
            _ => {}
        }
        match &question.kind {
            QuestionKind::Permission { always, rule, .. } => {
                self.press_yes_no(question, key, always.is_some(), !rule.is_empty())
            }
            QuestionKind::Choice { options, several, default, .. } => {
                self.press_choice(options.len(), *several, *default, question.free_text, key)
            }
            QuestionKind::Text => KeyMeaning::Nothing,
        }
    }

    fn press_yes_no(
        &mut self,
        question: &PanelQuestion,
        key: KeyPress,
        has_always: bool,
        has_rule: bool,
    ) -> KeyMeaning {
        match key.code {
            KeyCode::Char('y') => KeyMeaning::Answer(PanelAnswer::Yes),
            KeyCode::Char('a') if has_always => KeyMeaning::Answer(PanelAnswer::Always),
            KeyCode::Char('n' | 'r') if question.free_text => {
                self.typing = Some(AnswerLine::new(true));
                KeyMeaning::Redraw
            }
            KeyCode::Char('n') | KeyCode::Enter => KeyMeaning::Answer(PanelAnswer::No { reason: None }),
            KeyCode::Char('w') if has_rule => {
                self.is_explained = !self.is_explained;
                KeyMeaning::Redraw
            }
            KeyCode::Escape => KeyMeaning::Nothing,
            _ => self.explain_keys(),
        }
    }

    fn press_choice(
        &mut self,
        count: usize,
        several: bool,
        default: Option<usize>,
        free_text: bool,
        key: KeyPress,
    ) -> KeyMeaning {
        let digit = match key.code {
            KeyCode::Char(c) => c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()),
            _ => None,
        };
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => {
                self.move_to(if self.cursor == 0 { count.saturating_sub(1) } else { self.cursor - 1 });
            }
            KeyCode::Down | KeyCode::Char('j') => {
                self.move_to(if self.cursor + 1 < count { self.cursor + 1 } else { 0 });
            }
            KeyCode::Char(' ') if several => self.toggle(self.cursor),
            KeyCode::Char('t') if free_text => self.typing = Some(AnswerLine::new(false)),
            // What was marked with keys of its own was chosen; else only the answer that counts without anybody.
            KeyCode::Enter if several && self.has_moved => {
                let mut chosen = self.chosen.clone();
                chosen.sort_unstable();
                return KeyMeaning::Answer(PanelAnswer::Options(chosen));
            }
            KeyCode::Enter if self.has_moved => {
                return KeyMeaning::Answer(PanelAnswer::Options(vec![self.cursor]));
            }
            KeyCode::Enter => match default {
                Some(default) => return KeyMeaning::Answer(PanelAnswer::Options(vec![default])),
                None => self.hint = Some("choose with a number".to_string()),
            },
            KeyCode::Escape => return KeyMeaning::Nothing,
            _ => match digit.filter(|digit| (1..=count).contains(digit)) {
                Some(number) if several => self.toggle(number - 1),
                // With more than nine, a digit is where the cursor goes.
                Some(number) if count > 9 => self.move_to(number - 1),
                Some(number) => return KeyMeaning::Answer(PanelAnswer::Options(vec![number - 1])),
                None => self.hint = Some(format!("a number from 1 to {count}")),
            },
        }
        KeyMeaning::Redraw
    }

    fn move_to(&mut self, at: usize) {
        (self.cursor, self.has_moved) = (at, true);
    }

    fn toggle(&mut self, at: usize) {
        self.move_to(at);
        match self.chosen.iter().position(|chosen| *chosen == at) {
            Some(place) => drop(self.chosen.remove(place)),
            None => self.chosen.push(at),
        }
    }

    fn explain_keys(&mut self) -> KeyMeaning {
        self.hint = Some("one of the keys below".to_string());
        KeyMeaning::Redraw
    }
}

impl PanelAnswer {
    /// As the agent takes it, for a question of its own.
    pub fn to_host(&self, question: &AgentQuestion) -> HostAnswer {
        let option = |at: usize| HostAnswer::Options { chosen: vec![at] };
        let last = question.options.len().saturating_sub(1);
        match self {
            PanelAnswer::Yes => option(0),
            PanelAnswer::Always => option(1.min(last)),
            PanelAnswer::No { reason: Some(text) } if question.free_text => {
                HostAnswer::Text { text: text.clone() }
            }
            PanelAnswer::No { .. } => option(last),
            PanelAnswer::Options(chosen) => HostAnswer::Options { chosen: chosen.clone() },
            PanelAnswer::Text(text) => HostAnswer::Text { text: text.clone() },
        }
    }
}
