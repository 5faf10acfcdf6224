//! What keys do: in the editor, at a question, and those that belong to the conversation itself.

use std::time::{Duration, Instant};

use relaycode_agent::UserPrompt;
use relaycode_tui::TypedWords;
use relaycode_tui::conversation::{ConversationNotice, NoticeSign};
use relaycode_tui::editor::EditorOutcome;
use relaycode_tui::input::{KeyCode, KeyPress, ScreenEvent};
use relaycode_tui::keymap::AppAction;
use relaycode_tui::question_panel::QuestionKeyOutcome;

use super::{LiveSurface, unusable};
use crate::agent::conversation::surface::SurfaceInput;
use crate::agent::open_agent::AgentWork;
use crate::{CommandContext, CommandResult};

/// Within this time a second Ctrl-C leaves, and a second Escape opens the tree.
const TWICE: Duration = Duration::from_millis(500);
/// Cards that are shown whole.
const EXPANDED_CARDS: usize = 5;

impl LiveSurface<'_> {
    /// Waits, at most so long, and does what is to be done while nothing is worked on.
    pub(super) fn wait_idle(
        &mut self,
        wait: Option<Duration>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<Option<SurfaceInput>> {
        match self.wait_event(wait) {
            ScreenEvent::Key(key) => self.press_idle(key, ctx),
            ScreenEvent::Disconnected(why) => Err(unusable(&why)),
            event => {
                self.take_event(event);
                Ok(None)
            }
        }
    }

    /// The same while the agent works; a terminal that is gone stops it.
    pub(super) fn wait_working(&mut self, work: &AgentWork<'_>) {
        let wait = self.next_change();
        match self.wait_event(wait) {
            ScreenEvent::Key(key) => self.press_working(key, work),
            ScreenEvent::Disconnected(_) => {
                work.handle.abort();
                self.is_lent = true;
            }
            event => self.take_event(event),
        }
    }

    fn wait_event(&mut self, wait: Option<Duration>) -> ScreenEvent {
        let until = wait.map(|wait| Instant::now() + wait);
        self.terminal.wait_screen_event(self.bell.fd(), until)
    }

    /// What is no key.
    fn take_event(&mut self, event: ScreenEvent) {
        match event {
            ScreenEvent::Paste(paste) => {
                let text = String::from_utf8_lossy(&paste.bytes);
                if self.questions.handle_paste(&text, Instant::now()) == QuestionKeyOutcome::Ignored {
                    self.paste(&paste);
                }
            }
            ScreenEvent::Focus(is_focused) => self.is_focused = is_focused,
            ScreenEvent::Reply(reply) => self.take_reply(&reply),
            _ => {}
        }
        self.save_draft_if_due();
    }

    fn press_idle(
        &mut self,
        key: KeyPress,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<Option<SurfaceInput>> {
        let now = Instant::now();
        if key.code != KeyCode::Escape {
            self.escape_pressed = None;
        }
        Ok(match self.edit(key) {
            EditorOutcome::Submit => {
                let words = self.take_words();
                if words.text().trim().is_empty() {
                    return Ok(None);
                }
                self.echo(&words);
                Some(SurfaceInput::Said(words))
            }
            EditorOutcome::Action(action) => self.act_idle(action, now, ctx),
            _ => None,
        })
    }

    fn act_idle(
        &mut self,
        action: AppAction,
        now: Instant,
        ctx: &mut CommandContext<'_>,
    ) -> Option<SurfaceInput> {
        let command = |text: &str| Some(SurfaceInput::Said(TypedWords::typed_text(text)));
        match action {
            AppAction::Interrupt => {
                let is_second = self.escape_pressed.is_some_and(|first| now.duration_since(first) < TWICE);
                self.escape_pressed = Some(now);
                if is_second && self.editor.is_empty() {
                    self.escape_pressed = None;
                    return self.double_escape.and_then(command);
                }
                None
            }
            AppAction::Clear => {
                if !self.editor.is_empty() {
                    self.editor.clear();
                    return None;
                }
                if self.quit_asked.replace(now).is_some_and(|first| now.duration_since(first) < TWICE) {
                    return Some(SurfaceInput::Leave);
                }
                self.notice("Ctrl-C again leaves");
                None
            }
            AppAction::Exit => Some(SurfaceInput::Leave),
            AppAction::CycleAccess => Some(SurfaceInput::CycleAccess),
            AppAction::ChooseModel => command("/model"),
            AppAction::Jobs => command("/jobs"),
            AppAction::Undo => command("/undo"),
            AppAction::ExternalEditor => {
                self.edit_outside(ctx);
                None
            }
            other => {
                self.act_anywhere(other);
                None
            }
        }
    }

    fn press_working(&mut self, key: KeyPress, work: &AgentWork<'_>) {
        let now = Instant::now();
        match self.questions.handle_key(key, now) {
            QuestionKeyOutcome::Ignored => {}
            QuestionKeyOutcome::Begun { id } => return work.handle.hold_question(&id),
            QuestionKeyOutcome::Answered { id, answer } => {
                if let Some(question) = self.asked.get(&id) {
                    work.handle.answer(&id, answer.to_host(question));
                }
                return self.questions.withdraw(&id);
            }
            QuestionKeyOutcome::Taken | QuestionKeyOutcome::Show { .. } => return,
        }
        match self.edit(key) {
            EditorOutcome::Submit => self.say_while_working(work, false),
            EditorOutcome::Action(AppAction::Queue) => self.say_while_working(work, true),
            EditorOutcome::Action(AppAction::TakeBack) => self.take_back(work),
            EditorOutcome::Action(AppAction::Interrupt) => {
                work.handle.abort();
                self.take_back(work);
            }
            EditorOutcome::Action(AppAction::Clear) => {
                if self.editor.is_empty() {
                    work.handle.abort();
                    self.take_back(work);
                } else {
                    self.editor.clear();
                }
            }
            EditorOutcome::Action(action) => self.act_anywhere(action),
            _ => {}
        }
    }

    /// What the same keys do whether the agent works or not.
    fn act_anywhere(&mut self, action: AppAction) {
        match action {
            AppAction::ToggleThinking => {
                let shows = !self.view.settings().show_thinking;
                self.view.set_show_thinking(shows);
                self.notice(if shows { "thinking is shown from now on" } else { "thinking is folded" });
            }
            AppAction::Expand => {
                let width = self.screen.width();
                let lines = self.view.expanded(EXPANDED_CARDS, &self.style, width);
                self.print_lines(&lines);
            }
            AppAction::FoldPanels => {
                self.todo.is_folded = !self.todo.is_folded;
                self.jobs.is_folded = self.todo.is_folded;
            }
            AppAction::Suspend => self.suspend(),
            _ => {}
        }
    }

    /// Said to the agent as soon as possible, or when it is done; commands wait until it is.
    fn say_while_working(&mut self, work: &AgentWork<'_>, is_follow_up: bool) {
        let words = self.take_words();
        if words.text().trim().is_empty() {
            return;
        }
        if words.text().starts_with(['/', '!']) {
            let said = format!("{} comes when the agent is done", words.text());
            self.waiting.push_back(words);
            return self.notice(&said);
        }
        let prompt = UserPrompt::text(words.text().trim());
        let queued =
            if is_follow_up { work.handle.follow_up(prompt) } else { work.handle.steer(prompt) };
        if let Err(error) = queued {
            self.notice(&error.to_string());
            self.editor.set_text(words.text());
        }
    }

    /// What was not said yet becomes text of the editor again.
    fn take_back(&mut self, work: &AgentWork<'_>) {
        let texts: Vec<String> =
            work.handle.take_queued().iter().map(|prompt| prompt.first_text().to_string()).collect();
        if texts.is_empty() {
            return;
        }
        let typed = self.take_words();
        let parts = texts.iter().map(String::as_str).chain([typed.text()]);
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        self.editor.set_text(&parts.join("\n"));
    }

    pub(super) fn notice(&mut self, text: &str) {
        self.view.push_notice(ConversationNotice::new(NoticeSign::Plain, text));
    }
}
