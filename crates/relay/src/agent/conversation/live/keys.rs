//! What keys do: in the editor, at a question, and those that belong to the conversation itself.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use relaycode_agent::UserPrompt;
use relaycode_llm::message::UserContent;
use relaycode_tui::TypedWords;
use relaycode_tui::conversation::{ConversationNotice, NoticeSign};
use relaycode_tui::editor::{EditorImage, EditorMessage, EditorOutcome};
use relaycode_tui::input::decode::PastedText;
use relaycode_tui::input::{KeyCode, KeyPress, ScreenEvent};
use relaycode_tui::keymap::KeyAction;
use relaycode_tui::question_panel::QuestionKeyOutcome;

use super::{FRAME_TIME, LiveSurface, unusable};
use crate::agent::attachments::{names_files, read_attachment};
use crate::agent::conversation::surface::SurfaceInput;
use crate::agent::open_agent::AgentWork;
use crate::approver::edit::edit_text;
use crate::approver::terminal_program_runner;
use crate::{CommandResult, SignalGuard, UserPrograms};

/// Within this time a second Ctrl-C leaves, and a second Escape opens the tree.
const TWICE: Duration = Duration::from_millis(500);
/// Cards that are shown whole.
const EXPANDED_CARDS: usize = 5;
/// Bytes of a path that is dragged here.
const MAX_PATH_BYTES: usize = 4_096;

impl LiveSurface<'_> {
    /// Waits, at most so long, and does what is to be done while nothing is worked on.
    pub(super) fn wait_idle(&mut self, wait: Option<Duration>) -> CommandResult<Option<SurfaceInput>> {
        match self.wait_event(wait) {
            ScreenEvent::Key(key) => self.press_idle(key),
            ScreenEvent::Disconnected(why) => Err(unusable(&why)),
            event => {
                self.take_event(event);
                Ok(None)
            }
        }
    }

    /// The same while the agent works; a terminal that is gone stops it. Returns whether something was typed.
    pub(super) fn wait_working(&mut self, work: &AgentWork<'_>, has_news: bool) -> bool {
        // What came just after a frame is drawn with the next one.
        let frame = has_news.then(|| FRAME_TIME.saturating_sub(self.last_frame.elapsed()));
        let wait = [self.next_change(), frame].into_iter().flatten().min();
        let event = self.wait_event(wait);
        let is_typed = matches!(event, ScreenEvent::Key(_) | ScreenEvent::Paste(_));
        match event {
            ScreenEvent::Key(key) => self.press_working(key, work),
            ScreenEvent::Disconnected(_) => {
                work.handle.abort();
                self.is_lent = true;
                // It says so at once, again and again, until the agent has ended.
                std::thread::sleep(FRAME_TIME);
            }
            event => self.take_event(event),
        }
        is_typed
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
            ScreenEvent::Resize { columns, rows } => self.resize(columns, rows),
            ScreenEvent::Focus(is_focused) => {
                self.is_focused = is_focused;
                self.reload_theme();
            }
            ScreenEvent::Reply(reply) => self.take_reply(&reply),
            _ => {}
        }
        self.save_draft_if_due();
    }

    fn press_idle(&mut self, key: KeyPress) -> CommandResult<Option<SurfaceInput>> {
        let now = Instant::now();
        if key.code != KeyCode::Escape {
            self.escape_pressed = None;
        }
        Ok(match self.edit(key) {
            EditorOutcome::Submit => {
                let message = self.editor.take();
                if message.words.text().trim().is_empty() && message.images.is_empty() {
                    return Ok(None);
                }
                self.forget_draft();
                self.echo(&message.words);
                self.finds.keep_prompt(message.words.text(), &self.root);
                Some(SurfaceInput::Said(message))
            }
            EditorOutcome::Unhandled(action) => self.act_idle(action, now),
            _ => None,
        })
    }

    fn act_idle(&mut self, action: KeyAction, now: Instant) -> Option<SurfaceInput> {
        let command = |text: &str| {
            let words = TypedWords::new(text.to_string(), Vec::new());
            Some(SurfaceInput::Said(EditorMessage { words, images: Vec::new() }))
        };
        match action {
            KeyAction::Interrupt => {
                let is_second = self.escape_pressed.is_some_and(|first| now.duration_since(first) < TWICE);
                self.escape_pressed = Some(now);
                if is_second && self.editor.is_empty() {
                    self.escape_pressed = None;
                    return self.double_escape.and_then(command);
                }
                None
            }
            KeyAction::Clear => {
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
            KeyAction::Exit => Some(SurfaceInput::Leave),
            KeyAction::CycleAccess => Some(SurfaceInput::CycleAccess),
            KeyAction::ChooseModel => command("/model"),
            KeyAction::ShowJobs => command("/jobs"),
            KeyAction::ShowKeys => command("/keys"),
            KeyAction::ExternalEditor => {
                self.edit_outside();
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
            QuestionKeyOutcome::Taken => return,
        }
        match self.edit(key) {
            EditorOutcome::Submit => self.say_while_working(work, false),
            EditorOutcome::Unhandled(KeyAction::Queue) => self.say_while_working(work, true),
            EditorOutcome::Unhandled(KeyAction::TakeBack) => self.take_back(work),
            EditorOutcome::Unhandled(KeyAction::Interrupt) => {
                work.handle.abort();
                self.take_back(work);
            }
            EditorOutcome::Unhandled(KeyAction::Clear) => {
                if self.editor.is_empty() {
                    work.handle.abort();
                    self.take_back(work);
                } else {
                    self.editor.clear();
                }
            }
            EditorOutcome::Unhandled(action) => self.act_anywhere(action),
            _ => {}
        }
    }

    /// What the same keys do whether the agent works or not.
    fn act_anywhere(&mut self, action: KeyAction) {
        match action {
            KeyAction::ToggleThinking => {
                let shows = !self.view.settings().show_thinking;
                self.view.set_show_thinking(shows);
                self.notice(if shows { "thinking is shown from now on" } else { "thinking is folded" });
            }
            KeyAction::ToggleExpand => {
                let width = self.screen.width();
                let mut lines = self.view.expanded(EXPANDED_CARDS, &self.style, width);
                if !lines.is_empty() {
                    lines.insert(0, String::new());
                }
                self.print_lines(&lines);
            }
            KeyAction::Suspend => self.suspend(),
            _ => {}
        }
    }

    /// Said to the agent as soon as possible, or when it is done; commands wait until it is.
    fn say_while_working(&mut self, work: &AgentWork<'_>, is_follow_up: bool) {
        let message = self.editor.take();
        let text = message.words.text().trim().to_string();
        if text.is_empty() && message.images.is_empty() {
            return;
        }
        self.forget_draft();
        self.finds.keep_prompt(&text, &self.root);
        // Files and images are attached when the agent is back.
        if text.starts_with(['/', '!']) || names_files(&message.words) || !message.images.is_empty() {
            self.waiting.push_back(message);
            return self.notice(&format!("when the agent is done: {text}"));
        }
        let prompt = UserPrompt::text(&text);
        let queued = if is_follow_up { work.handle.follow_up(prompt) } else { work.handle.steer(prompt) };
        if let Err(error) = queued {
            self.notice(&error.to_string());
            self.editor.set_text(&text);
        }
    }

    /// What was not said yet becomes text of the editor again.
    fn take_back(&mut self, work: &AgentWork<'_>) {
        let texts: Vec<String> =
            work.handle.take_queued().iter().map(|prompt| prompt.first_text().to_string()).collect();
        if texts.is_empty() {
            return;
        }
        let typed = self.editor.take().words;
        let parts = texts.iter().map(String::as_str).chain([typed.text()]);
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        self.editor.set_text(&parts.join("\n"));
    }

    /// A key for the completions, else for the editor.
    fn edit(&mut self, key: KeyPress) -> EditorOutcome {
        let outcome = match self.press_completion(key) {
            Some(outcome) => outcome,
            None => self.editor.handle_key(key, &self.keymap),
        };
        self.after_edit(&outcome);
        outcome
    }

    /// A file that is dragged here comes as a paste of its path: an image goes along as one.
    fn paste(&mut self, paste: &PastedText) {
        let outcome = match dragged_image(&String::from_utf8_lossy(&paste.bytes)) {
            Some(image) => self.editor.add_image(image),
            None => self.editor.paste(paste),
        };
        self.after_edit(&outcome);
    }

    fn after_edit(&mut self, outcome: &EditorOutcome) {
        match outcome {
            EditorOutcome::Changed | EditorOutcome::Submit => self.draft.note_change(),
            EditorOutcome::Refused(refusal) => self.notice(&refusal.to_string()),
            _ => {}
        }
        self.update_completion();
    }

    /// Somebody who looks elsewhere hears that a question waits.
    pub(super) fn ring_terminal(&mut self) {
        self.terminal.write_bytes(b"\x07");
    }

    /// Back to the shell, until `fg`.
    fn suspend(&mut self) {
        self.save_draft();
        self.leave_screen();
        // The whole group, as the terminal does it for Ctrl-Z.
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        self.enter_screen();
    }

    /// The text in the user's own editor.
    fn edit_outside(&mut self) {
        let text = self.editor.take();
        self.leave_screen();
        let edited = match (self.runner.clone(), SignalGuard::acquire()) {
            (Some(runner), Ok(signals)) => {
                let run = terminal_program_runner(runner, Rc::new(signals));
                edit_text(&UserPrograms::from_env(), &run, "prompt.md", text.words.text().as_bytes())
            }
            _ => Err("the text cannot be handed to an editor".to_string()),
        };
        self.enter_screen();
        match edited {
            Ok(bytes) => drop(self.editor.set_text(String::from_utf8_lossy(&bytes).trim_end())),
            Err(why) => {
                self.editor.set_text(text.words.text());
                self.notice(&why);
            }
        }
    }

    pub(super) fn notice(&mut self, text: &str) {
        self.view.push_notice(ConversationNotice::new(NoticeSign::Plain, text));
    }
}

/// The image that a pasted text names with its whole path, quoted or not.
fn dragged_image(text: &str) -> Option<EditorImage> {
    let text = text.trim();
    let path = text.trim_matches(['\'', '"']).replace("\\ ", " ");
    let path = Path::new(path.strip_prefix("file://").unwrap_or(&path));
    if text.len() > MAX_PATH_BYTES || !path.is_absolute() {
        return None;
    }
    let name = path.file_name()?.to_str()?.to_string();
    match read_attachment(path, &name).ok()? {
        UserContent::Image(image) => {
            Some(EditorImage { name, mime_type: image.mime_type, size: None, data: image.data.into() })
        }
        UserContent::Text(_) => None,
    }
}
