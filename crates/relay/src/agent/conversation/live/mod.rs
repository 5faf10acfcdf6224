//! The conversation on a screen of its own: what is finished is ordinary scrollback, the open end of the answer, questions, the
//! editor and the status line are redrawn below it.
//!
//! Keys are read at any time, also while the agent works: what is typed then is said to it as soon as possible. Nothing runs
//! while nothing happens: the screen sleeps until a key, an event, a signal or a time that was set.

mod background;
mod draw;
mod event_feed;
mod keys;
mod look;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_agent::question::AgentQuestion;
use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_llm::request::secrets::Secrets;
use relaycode_tools::JobStatus;
use relaycode_tui::conversation::{ConversationNotice, ConversationView, NoticeSign, TurnSummary};
use relaycode_tui::editor::PromptEditor;
use relaycode_tui::keymap::Keymap;
use relaycode_tui::panels::{JobRow, JobsPanel, QueuedWords, TodoPanel};
use relaycode_tui::question_panel::QuestionPanel;
use relaycode_tui::screen::InlineScreen;
use relaycode_tui::status::StatusFacts;
use relaycode_tui::theme::{ThemeSelection, ThemeStyle};
use relaycode_tui::{Terminal, TypedWords};

use self::background::BackgroundFinds;
use self::event_feed::{EventFeed, ScreenBell};
use super::surface::{ConversationSurface, SurfaceInput};
use super::terminal_lender::TerminalLender;
use crate::agent::open_agent::{AgentSurface, AgentWork, OpenAgent};
use crate::{CommandContext, CommandFailure, CommandResult, SignalGuard};

/// Least time between two frames while events come.
const FRAME_TIME: Duration = Duration::from_millis(16);
/// How often jobs in the background are looked at, while there are any.
const JOB_TIME: Duration = Duration::from_millis(250);
/// Entries of a session that goes on that are shown again.
const REPLAYED_ENTRIES: usize = 60;

pub(super) struct LiveSurface<'a> {
    terminal: Terminal,
    /// The terminal's modes, while the screen has it.
    modes: Option<relaycode_tui::input::ScreenModeGuard>,
    screen: InlineScreen,
    themes: ThemeSelection,
    style: ThemeStyle,
    view: ConversationView,
    editor: PromptEditor,
    keymap: Keymap,
    questions: QuestionPanel,
    /// As the agent asked them.
    asked: HashMap<String, AgentQuestion>,
    queued: QueuedWords,
    todo: TodoPanel,
    jobs: JobsPanel,
    facts: StatusFacts,
    finds: BackgroundFinds,
    bell: ScreenBell,
    lender: Arc<TerminalLender>,
    held: &'a SignalGuard,
    /// Commands that were typed while the agent worked.
    waiting: VecDeque<TypedWords>,
    is_lent: bool,
    is_focused: bool,
    began: Instant,
    last_frame: Instant,
    /// When Ctrl-C was pressed on an empty line.
    quit_asked: Option<Instant>,
    escape_pressed: Option<Instant>,
}

impl ConversationSurface for LiveSurface<'_> {
    fn agent_surface(&self) -> AgentSurface {
        AgentSurface::Screen(self.lender.clone())
    }

    fn begin(&mut self, open: &OpenAgent, ctx: &mut CommandContext<'_>) {
        self.begin_view(open, ctx);
        self.update_facts(open);
        self.finds.look(open);
        self.draw();
    }

    fn read(
        &mut self,
        open: &OpenAgent,
        patience: Option<Duration>,
        held: &SignalGuard,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<SurfaceInput> {
        if let Some(words) = self.waiting.pop_front() {
            self.echo(&words);
            return Ok(SurfaceInput::Said(words));
        }
        let since = Instant::now();
        let jobs = &open.agent.workspace().jobs;
        self.update_facts(open);
        self.finds.look(open);
        loop {
            self.bell.clear();
            if held.termination_requested() {
                return Ok(SurfaceInput::Leave);
            }
            if jobs.has_unshown() {
                return Ok(SurfaceInput::JobEnded);
            }
            let idle_left = patience.map(|patience| patience.saturating_sub(since.elapsed()));
            if idle_left.is_some_and(|left| left.is_zero()) {
                return Ok(SurfaceInput::Idle);
            }
            self.take_finds();
            self.draw();
            let runs = jobs.list().iter().any(|job| job.status == JobStatus::Running);
            let job_time = runs.then_some(JOB_TIME);
            let wait = [idle_left, job_time, self.next_change()].into_iter().flatten().min();
            if let Some(input) = self.wait_idle(wait, ctx)? {
                return Ok(input);
            }
        }
    }

    fn follow(
        &mut self,
        work: &AgentWork<'_>,
        _secrets: Option<&Secrets>,
        held: &SignalGuard,
        _ctx: &mut CommandContext<'_>,
    ) {
        let feed = EventFeed::new(self.bell.clone());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| feed.pump(work));
            while !is_over.load(Ordering::SeqCst) {
                self.bell.clear();
                let (events, ended) = feed.take();
                for event in events {
                    self.apply(&event);
                }
                if self.lender.is_wanted() {
                    self.leave_screen();
                    self.lender.lend_until_returned();
                    self.enter_screen();
                }
                if held.stop_requested() {
                    work.handle.abort();
                }
                is_over.store(ended, Ordering::SeqCst);
                self.take_finds();
                if ended || self.last_frame.elapsed() >= FRAME_TIME {
                    self.draw();
                }
                if !ended {
                    self.wait_working(work);
                }
            }
        });
        self.questions.clear();
        self.asked.clear();
        self.queued = QueuedWords::default();
    }

    fn set_lent(&mut self, is_lent: bool, ctx: &mut CommandContext<'_>) -> bool {
        let was_lent = std::mem::replace(&mut self.is_lent, is_lent);
        match (was_lent, is_lent) {
            (false, true) => {
                self.draw_finished();
                self.leave_screen();
            }
            (true, false) => {
                ctx.console.flush();
                self.enter_screen();
            }
            _ => {}
        }
        was_lent
    }

    fn show_output(&mut self, _text: &str, _ctx: &mut CommandContext<'_>) {
        // Its card shows what it printed.
    }

    fn remark(&mut self, line: &str, _ctx: &mut CommandContext<'_>) {
        self.view.push_notice(ConversationNotice::new(NoticeSign::Plain, line));
    }

    fn summarize(&mut self, summary: TurnSummary, _ctx: &mut CommandContext<'_>) {
        self.view.push_turn_summary(summary);
    }

    fn offer(&mut self, text: &str, _ctx: &mut CommandContext<'_>) {
        self.editor.set_text(text);
    }

    fn keys_sentence(&self) -> &'static str {
        "Esc stops the agent, Ctrl-C clears the line, Ctrl-D on an empty line leaves; `/keys` lists all keys"
    }

    fn end(&mut self, ctx: &mut CommandContext<'_>) {
        ctx.console.flush();
        self.draw_finished();
        self.leave_screen();
        self.is_lent = true;
    }
}

impl LiveSurface<'_> {
    /// What an event means beside what the view makes of it.
    fn apply(&mut self, event: &SequencedEvent) {
        let now = Instant::now();
        self.view.apply(event, now);
        match &event.event {
            AgentEvent::QuestionAsked { question } => {
                self.questions.ask(question, now);
                self.asked.insert(question.id.clone(), question.clone());
                if !self.is_focused {
                    self.ring_terminal();
                }
            }
            AgentEvent::QuestionAnswered { id, .. } => {
                self.questions.withdraw(id);
                self.asked.remove(id);
            }
            AgentEvent::QueueUpdate { steering, follow_up } => {
                self.queued = QueuedWords { steering: steering.clone(), follow_up: follow_up.clone() };
            }
            AgentEvent::ModeChanged { mode, .. } => {
                self.facts.mode = Some(mode.clone()).filter(|mode| mode != "none");
            }
            AgentEvent::AgentEnd { usage, .. } => self.facts.cost += usage.cost,
            AgentEvent::ToolExecutionEnd { tool_name, card, .. } if tool_name == "todo_write" => {
                self.take_todo(card);
            }
            _ => {}
        }
    }

    /// How things stand; the agent is here.
    fn update_facts(&mut self, open: &OpenAgent) {
        let workspace = open.agent.workspace();
        let model = &open.models.first;
        self.facts.model = model.model.selector();
        self.facts.thinking = model.model.reasoning.then(|| model.thinking.name().to_string());
        self.facts.access = workspace.access.to_string();
        self.facts.mode = open.agent.mode().map(str::to_string);
        let window = model.model.context_window;
        self.facts.context_percent = open.agent.context_tokens().saturating_mul(100).checked_div(window);
        self.todo.phases = workspace.todo_phases();
        let listed = workspace.jobs.list();
        self.jobs.rows = listed.iter().map(JobRow::from).collect();
        self.facts.jobs = listed.iter().filter(|job| job.status == JobStatus::Running).count();
    }

    /// A line that was sent, where no event will say so.
    fn echo(&mut self, words: &TypedWords) {
        let is_command = words.text().starts_with(['/', '!']);
        if is_command {
            self.view.push_typed(words.text());
        }
    }
}

fn unusable(why: &str) -> CommandFailure {
    CommandFailure::unexpected(format!("the terminal cannot be used: {why}"))
}
