//! The conversation on a screen of its own: what is finished is ordinary scrollback, the open end of the answer, questions, the
//! editor and the status line are redrawn below it.
//!
//! Keys are read at any time, also while the agent works: what is typed then is said to it as soon as possible. Nothing runs
//! while nothing happens: the screen sleeps until a key, an event, a signal or a time that was set.

mod background;
mod completions;
mod draw;
mod event_feed;
mod keys;
mod look;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_agent::question::AgentQuestion;
use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_exec::Runner;
use relaycode_llm::request::secrets::Secrets;
use relaycode_project::config::TerminalConfig;
use relaycode_tools::{CardBody, JobStatus, ToolCard};
use relaycode_tui::completion::CompletionPopup;
use relaycode_tui::conversation::{
    ConversationNotice, ConversationSettings, ConversationView, NoticeSign, TurnSummary,
};
use relaycode_tui::editor::{EditorMessage, PromptEditor};
use relaycode_tui::input::{RawGuard, TERMINAL_QUERIES};
use relaycode_tui::keymap::{KeyAction, Keymap};
use relaycode_tui::panels::{JobRow, JobsPanel, QueuedWords, TodoPanel, todo_progress};
use relaycode_tui::question_panel::QuestionPanel;
use relaycode_tui::screen::{InlineScreen, ScreenTraits};
use relaycode_tui::status::StatusFacts;
use relaycode_tui::theme::{ColorDepth, TerminalColorEnv, ThemeSelection, ThemeStyle};
use relaycode_tui::{Terminal, TypedWords};
use serde_json::Value;

use self::background::{BackgroundFinds, StoredPrompts};
use self::event_feed::{EventFeed, ScreenBell};
use self::look::{
    DraftFile, choose_theme, double_escape_command, read_keymap, reset_terminal_on_panic, theme_settings,
};
use super::surface::{ConversationSurface, SurfaceInput};
use super::terminal_lender::TerminalLender;
use crate::agent::open_agent::{AgentSurface, AgentWork, OpenAgent};
use crate::terminal::environment;
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
    modes: Option<RawGuard>,
    screen: InlineScreen,
    themes: ThemeSelection,
    style: ThemeStyle,
    view: ConversationView,
    editor: PromptEditor,
    keymap: Keymap,
    /// What is wrong with files of the user's, until it is said.
    problems: Vec<String>,
    questions: QuestionPanel,
    /// As the agent asked them.
    asked: HashMap<String, AgentQuestion>,
    queued: QueuedWords,
    todo: TodoPanel,
    jobs: JobsPanel,
    facts: StatusFacts,
    finds: BackgroundFinds,
    draft: DraftFile,
    completion: CompletionPopup,
    runner: Option<Runner>,
    root: PathBuf,
    /// What Escape pressed twice opens.
    double_escape: Option<&'static str>,
    /// How the key that takes queued words back is called.
    take_back_key: String,
    bell: ScreenBell,
    lender: Arc<TerminalLender>,
    held: &'a SignalGuard,
    /// Commands that were typed while the agent worked.
    waiting: VecDeque<EditorMessage>,
    /// When a new width is taken for certain.
    settles: Option<Instant>,
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
        let door = &open.agent.workspace().door;
        let is_first = self.runner.replace(door.runner.clone()).is_none();
        if is_first {
            // Not before relay is sure to stay: an answer that comes after its end would be typed into the shell.
            self.terminal.write_bytes(TERMINAL_QUERIES.as_bytes());
        }
        self.root.clone_from(&door.root);
        self.offer_commands(ctx);
        self.begin_view(open);
        self.update_facts(open);
        self.finds.look(open);
        self.draw();
    }

    fn read(
        &mut self,
        open: &OpenAgent,
        patience: Option<Duration>,
        held: &SignalGuard,
        _ctx: &mut CommandContext<'_>,
    ) -> CommandResult<SurfaceInput> {
        if let Some(message) = self.waiting.pop_front() {
            self.echo(&message.words);
            return Ok(SurfaceInput::Said(message));
        }
        let since = Instant::now();
        let jobs = &open.agent.workspace().jobs;
        self.update_facts(open);
        self.reload_theme();
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
            if let Some(input) = self.wait_idle(wait)? {
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
        let (mut was_typed, mut has_news) = (false, false);
        std::thread::scope(|scope| {
            scope.spawn(|| feed.pump(work));
            while !is_over.load(Ordering::SeqCst) {
                self.bell.clear();
                let (events, ended) = feed.take();
                has_news |= !events.is_empty();
                for event in events {
                    self.apply(&event);
                }
                // What was said before the question stands above it.
                let is_behind = !ended && self.view.last_seq() < work.handle.last_seq();
                if self.lender.is_wanted() && !is_behind {
                    self.draw_finished();
                    self.leave_screen();
                    self.lender.lend_until_returned();
                    self.enter_screen();
                }
                if held.stop_requested() {
                    work.handle.abort();
                }
                is_over.store(ended, Ordering::SeqCst);
                self.take_finds();
                // What is typed is seen at once.
                if ended || was_typed || self.last_frame.elapsed() >= FRAME_TIME {
                    self.draw();
                    has_news = false;
                }
                if !ended {
                    was_typed = self.wait_working(work, has_news);
                }
            }
        });
        self.view.end_work();
        self.finds.forget_files();
        self.questions.clear();
        self.asked.clear();
        self.queued = QueuedWords::default();
    }

    fn set_lent(&mut self, is_lent: bool, ctx: &mut CommandContext<'_>) -> bool {
        let was_lent = std::mem::replace(&mut self.is_lent, is_lent);
        match (was_lent, is_lent) {
            (false, true) => {
                self.draw_finished();
                if self.view.is_below_words() {
                    self.print_lines(&[String::new()]);
                }
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

    fn summarize(&mut self, summary: &TurnSummary, _ctx: &mut CommandContext<'_>) {
        self.view.push_turn_summary(*summary);
    }

    fn offer(&mut self, text: &str, _ctx: &mut CommandContext<'_>) {
        self.editor.set_text(text);
    }

    fn shows_ends(&self) -> bool {
        true
    }

    fn view_style(&self) -> Option<ThemeStyle> {
        Some(self.style.clone())
    }

    fn set_look(&mut self, config: &TerminalConfig) {
        if let Some(error) = self.themes.set_settings(theme_settings(config)) {
            self.view.push_notice(ConversationNotice::new(NoticeSign::Attention, error.to_string()));
        }
        self.view.set_show_thinking(config.show_thinking);
        self.double_escape = double_escape_command(config.double_escape);
        self.use_theme();
    }

    fn preview_theme(&mut self, name: Option<&str>) {
        match name {
            // One that cannot be used is told when it is chosen.
            Some(name) => drop(self.themes.preview(name)),
            None => self.themes.end_preview(),
        }
        self.use_theme();
    }

    fn theme_setting(&self) -> &'static str {
        self.themes.slot().setting()
    }

    fn keymap(&self) -> Option<&Keymap> {
        Some(&self.keymap)
    }

    fn keys_sentence(&self) -> &'static str {
        "Esc stops the agent, Ctrl-C clears the line, Ctrl-D on an empty line leaves; `/keys` lists all keys"
    }

    fn end(&mut self, ctx: &mut CommandContext<'_>) {
        ctx.console.flush();
        self.save_draft();
        self.finds.finish();
        self.draw_finished();
        self.leave_screen();
        self.is_lent = true;
    }
}

impl<'a> LiveSurface<'a> {
    /// The screen, before it shows anything.
    pub(super) fn new(
        terminal: Terminal,
        held: &'a SignalGuard,
        config: &TerminalConfig,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<LiveSurface<'a>> {
        let bell = ScreenBell::new().map_err(CommandFailure::unexpected)?;
        held.ring_on_signal(&|| bell.writer()).map_err(CommandFailure::unexpected)?;
        let home = ctx.home.path.as_deref();
        let variable = environment::variable;
        let colors = TerminalColorEnv::from_lookup(variable);
        let (themes, theme_error) = choose_theme(config, home, &colors);
        let output = ctx.console.out_style();
        let depth = if output.color { colors.color_depth() } else { ColorDepth::None };
        let style = ThemeStyle::new(output, themes.theme().clone(), depth);
        let (columns, rows) = terminal.size().unwrap_or((80, 24));
        let reflows = ScreenTraits::reflows(variable);
        let screen = InlineScreen::new(ScreenTraits { columns, rows, reflows, utf8: output.utf8 });
        let (keymap, problems) = read_keymap(home);
        let take_back_key = keymap.hint(KeyAction::TakeBack).unwrap_or_default();
        let settings = ConversationSettings {
            show_thinking: config.show_thinking,
            expand_key: keymap.hint(KeyAction::ToggleExpand).unwrap_or_default(),
            unfold_key: keymap.hint(KeyAction::ToggleThinking).unwrap_or_default(),
        };
        let now = Instant::now();
        let lender = Arc::new(TerminalLender::default());
        let rings = bell.clone();
        lender.set_bell(move || rings.ring());
        let mut editor = PromptEditor::default();
        editor.set_placeholder("say what to do");
        if let Some(home) = home {
            editor.set_search_source(Box::new(StoredPrompts::new(home)));
        }
        let mut surface = LiveSurface {
            modes: Some(terminal.enter_raw()),
            terminal,
            screen,
            themes,
            style,
            view: ConversationView::new(settings, None, now),
            editor,
            keymap,
            problems: theme_error.into_iter().chain(problems).collect(),
            questions: QuestionPanel::default(),
            asked: HashMap::new(),
            queued: QueuedWords::default(),
            todo: TodoPanel::default(),
            jobs: JobsPanel::default(),
            facts: StatusFacts { hint: "? keys".to_string(), ..StatusFacts::default() },
            finds: BackgroundFinds::new(home, bell.clone()),
            draft: DraftFile::new(home, &ctx.options.directory),
            completion: CompletionPopup::default(),
            runner: None,
            root: PathBuf::new(),
            double_escape: double_escape_command(config.double_escape),
            take_back_key,
            bell,
            lender,
            held,
            waiting: VecDeque::new(),
            settles: None,
            is_lent: false,
            is_focused: true,
            began: now,
            last_frame: now,
            quit_asked: None,
            escape_pressed: None,
        };
        surface.restore_draft();
        reset_terminal_on_panic();
        Ok(surface)
    }

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
        if words.text().starts_with(['/', '!']) {
            self.view.push_typed(words.text());
        }
    }

    fn take_todo(&mut self, card: &Value) {
        if let CardBody::Todo { phases } = ToolCard::from_value(card).body {
            self.facts.todo = Some(todo_progress(&phases)).filter(|(_, all)| *all > 0);
            self.todo.phases = phases;
        }
    }
}

fn unusable(why: &str) -> CommandFailure {
    CommandFailure::unexpected(format!("the terminal cannot be used: {why}"))
}
