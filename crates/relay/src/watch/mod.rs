//! A session of `relay watch`: what comes in is taken up in its order, keys are obeyed in between, and nothing runs
//! while nothing happens.
//!
//! Finished output is ordinary output; only the live line at the bottom is drawn over. While a change is taken up,
//! or the user's pager or editor has the terminal, nobody else reads from it.

mod keys;
mod last_answer;
mod notices;
mod reload;
mod status;
mod submit;

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use relaycode_door::{Consent, Door};
use relaycode_ledger::{InstanceClaim, TxId};
use relaycode_tui::input::CbreakGuard;
use relaycode_tui::input::decode::PastedText;
use relaycode_tui::live_line::LiveLine;
use relaycode_tui::notify::Notifier;
use relaycode_tui::{Terminal, TerminalEvent, clock, pluralize};
use relaycode_watch::bulk::BulkCollector;
use relaycode_watch::clipboard::{self, ClipboardBackend, ClipboardError, ClipboardUnavailable};
use relaycode_watch::config::ConfigWatcher;
use relaycode_watch::feed::ClipboardFeed;
use relaycode_watch::filter;
use relaycode_watch::inbox::{ClipboardSkipReason, Inbox, InboxEvent, InboxSource};
use relaycode_watch::seen_texts::SeenTexts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use crate::{
    CommandContext, CommandFailure, CommandResult, ConsoleEnv, Exit, LogLevel, Project, SignalGuard, desktop,
    questions,
};

use last_answer::LastAnswer;
use status::WatchStatus;

/// A clipboard that went away is looked for again after this long, then twice as long, and so on.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// … up to this long.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

pub(crate) struct WatchSession<'s, 'c> {
    ctx: &'s mut CommandContext<'c>,
    consent: Consent,
    door: Door,
    /// Which clipboard the user wants.
    choice: ClipboardBackend,
    inbox: Inbox,
    /// `None`: there is no clipboard, or not any more.
    feed: Option<ClipboardFeed>,
    /// When to look for a clipboard again, and how long to wait after that.
    clipboard_retry: Option<(Instant, Duration)>,
    interval: Arc<AtomicU64>,
    config: Option<ConfigWatcher>,
    /// When the configuration is read again: a moment after it was touched last.
    reload_at: Option<Instant>,
    /// The configuration was broken when it was read last.
    config_broken: bool,
    terminal: Option<Terminal>,
    listening: Option<CbreakGuard>,
    live: LiveLine,
    notifier: Arc<Notifier>,
    signals: Rc<SignalGuard>,
    seen_texts: SeenTexts,
    bulk: BulkCollector,
    last_answer: LastAnswer,
    /// What this session applied, newest last.
    applied: Vec<TxId>,
    status: WatchStatus,
    /// Somebody wanted to leave while an answer was planned.
    leaving: Option<WatchFlow>,
    /// That there are answers for another checkout was said.
    checkouts_reported: bool,
    /// Nobody else watches this checkout; `None` where that cannot be known.
    _watch_lock: Option<InstanceClaim>,
}

/// Whether a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchFlow {
    Continue,
    Quit,
    /// A signal asked to stop, or the terminal went.
    Stop,
}

impl<'s, 'c> WatchSession<'s, 'c> {
    pub(crate) fn start(consent: Consent, ctx: &'s mut CommandContext<'c>) -> CommandResult<Self> {
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let door = project.into_door(ctx)?;
        if door.loaded.file.is_none() {
            let said = "this project is not set up yet";
            return Err(CommandFailure::usage(said).hint("`relay init` sets it up"));
        }
        let choice = desktop::clipboard_choice()?;
        let alone = lock_watch(&door)?;
        let signals = Rc::new(SignalGuard::acquire()?);
        let terminal = questions::open_terminal();
        let inbox = Inbox::new().map_err(CommandFailure::unexpected)?;
        signals.wake_inbox(&inbox).map_err(CommandFailure::unexpected)?;
        let watched = door.config();
        let interval = Arc::new(AtomicU64::new(watched.watcher.clipboard_poll_interval));
        let notifier = Arc::new(Notifier::new(desktop::terminal_env(terminal.is_some())));
        let screen = (!ctx.is_json() && io::stdout().is_terminal() && !ConsoleEnv::from_env().dumb)
            .then(|| io::stdout().as_fd().try_clone_to_owned().ok().map(std::fs::File::from))
            .flatten();
        let mut session = WatchSession {
            ctx,
            consent,
            door,
            choice,
            inbox,
            feed: None,
            clipboard_retry: None,
            interval,
            config: None,
            reload_at: None,
            config_broken: false,
            listening: None,
            terminal,
            live: LiveLine::new(screen),
            notifier,
            signals,
            seen_texts: SeenTexts::default(),
            bulk: BulkCollector::default(),
            last_answer: LastAnswer::default(),
            applied: Vec::new(),
            status: WatchStatus::default(),
            leaving: None,
            checkouts_reported: false,
            _watch_lock: alone,
        };
        session.watch_config();
        let opened = session.open_clipboard();
        // Before the first line is there to read: what is pasted from then on is marked, and not echoed.
        session.listening = session.terminal.as_ref().map(Terminal::enter_cbreak);
        session.print_greeting(opened)?;
        Ok(session)
    }

    /// Watches until somebody says that it is enough.
    pub(crate) fn run(mut self) -> CommandResult {
        let mut go = WatchFlow::Continue;
        while go == WatchFlow::Continue {
            self.draw_live_line();
            go = self.wait_for_event();
            if go == WatchFlow::Continue {
                go = self.process_pending()?;
            }
        }
        self.live.erase();
        if !self.bulk.is_empty() {
            let said = unprocessed_message(self.bulk.len());
            self.eprint_remark(&said);
        }
        self.ctx.print_json(&json!({"event": "ended", "command": "watch"}));
        match go {
            WatchFlow::Stop => {
                let message = self.status.closing_line();
                let failure = CommandFailure { message, ..CommandFailure::interrupted() };
                // What the session applied stays applied.
                let idle = self.status.applied == 0 && self.status.undone == 0;
                Err(if idle { failure.unchanged() } else { failure })
            }
            _ => {
                self.ctx.print_success(&self.status.closing_line());
                Ok(Exit::Done)
            }
        }
    }

    /// Opens the clipboard and begins to watch it.
    fn open_clipboard(&mut self) -> Result<(), ClipboardUnavailable> {
        let clipboard = clipboard::open(&desktop::desktop_from_env(), self.choice)?;
        self.status.clipboard = Some(clipboard.name());
        let (interval, inbox) = (Arc::clone(&self.interval), self.inbox.clone());
        self.feed = ClipboardFeed::start(clipboard, interval, self.door.limits(), inbox).ok();
        Ok(())
    }

    /// Waits for something to happen. What happened to the inbox is seen to by [`work`](Session::work).
    fn wait_for_event(&mut self) -> WatchFlow {
        let until = self.next_deadline();
        let next = match &self.terminal {
            Some(terminal) => terminal.wait_event(self.inbox.bell(), until),
            None => wait_for_inbox(&self.inbox, until),
        };
        if self.signals.stop_requested() {
            return WatchFlow::Stop;
        }
        match next {
            TerminalEvent::Key(key) => self.handle_key(key).unwrap_or(WatchFlow::Continue),
            TerminalEvent::Paste(paste) => {
                self.handle_paste(paste);
                WatchFlow::Continue
            }
            TerminalEvent::Wakeup => {
                self.inbox.clear_bell();
                WatchFlow::Continue
            }
            TerminalEvent::Timeout => WatchFlow::Continue,
            TerminalEvent::Disconnected(_) => WatchFlow::Stop,
        }
    }

    /// The time at which something is due.
    fn next_deadline(&self) -> Option<Instant> {
        let bulk = Duration::from_millis(self.door.config().watcher.bulk_timeout);
        let again = self.clipboard_retry.map(|(when, _)| when);
        [self.bulk.deadline(bulk), again, self.reload_at].into_iter().flatten().min()
    }

    /// Does what there is to do.
    fn process_pending(&mut self) -> CommandResult<WatchFlow> {
        self.update_width();
        if self.signals.take_continued()
            && let Some(listening) = &self.listening
        {
            listening.reapply();
            self.live.forget_drawn();
        }
        self.reload_if_due();
        self.retry_clipboard();
        self.process_bulk(false)?;
        while let Some(arrival) = self.inbox.take() {
            self.handle_arrival(arrival)?;
            if let Some(leave) = self.wants_to_leave() {
                return Ok(leave);
            }
        }
        self.process_bulk(false)?;
        Ok(self.wants_to_leave().unwrap_or(WatchFlow::Continue))
    }

    /// Whether a signal came, or somebody left while an answer was planned.
    fn wants_to_leave(&self) -> Option<WatchFlow> {
        self.leaving.or(self.signals.stop_requested().then_some(WatchFlow::Stop))
    }

    /// Lays lines out in the size that the terminal has now.
    fn update_width(&mut self) {
        if self.signals.take_resized() {
            self.ctx.console.update_width();
        }
    }

    fn handle_arrival(&mut self, arrival: InboxEvent) -> CommandResult<()> {
        match arrival {
            InboxEvent::Text(text) if self.door.config().watcher.enable_bulk_processing => {
                self.bulk.add(text, Instant::now());
            }
            InboxEvent::Text(text) => self.process_text(text, false)?,
            InboxEvent::Skipped(passed) => {
                self.status.remark = Some(match passed {
                    ClipboardSkipReason::TooLarge => "copied: more text than an answer may have",
                    ClipboardSkipReason::NotUtf8 => "copied: text that is not UTF-8",
                    ClipboardSkipReason::Silent => "copied: something that its program does not hand over",
                });
            }
            InboxEvent::Storm => {
                let said = "the clipboard keeps changing: relay waits until it settles";
                self.eprint_remark(said);
            }
            InboxEvent::Dropped(count) => {
                let said = pluralize(count, "more copy");
                self.eprint_remark(&format!("{said} came meanwhile: not looked at"));
            }
            InboxEvent::ClipboardLost(gone) => self.handle_clipboard_loss(&gone),
        }
        Ok(())
    }

    /// Takes up what was collected, if it is time or `now`.
    fn process_bulk(&mut self, now: bool) -> CommandResult<()> {
        let watcher = &self.door.config().watcher;
        let timeout = Duration::from_millis(watcher.bulk_timeout);
        let size = if now || !watcher.enable_bulk_processing { 0 } else { watcher.bulk_size };
        let Some(texts) = self.bulk.take_if_ready(size, timeout, Instant::now()) else { return Ok(()) };
        let before = self.status.clone();
        let count = texts.len();
        for text in texts {
            self.process_text(text, false)?;
            if self.wants_to_leave().is_some() {
                return Ok(());
            }
        }
        if count > 1 {
            let said = self.status.summary_since(&before).unwrap_or_else(|| "nothing to do".to_string());
            self.print_done(&format!("{count} copies were taken up: {said}"));
        }
        Ok(())
    }

    /// Text was pasted into the terminal.
    fn handle_paste(&mut self, paste: PastedText) {
        let limits = self.door.limits();
        if paste.truncated || paste.bytes.len() > limits.text_bytes {
            return self.status.remark = Some("pasted: more text than an answer may have");
        }
        let Ok(text) = String::from_utf8(paste.bytes) else {
            return self.status.remark = Some("pasted: text that is not UTF-8");
        };
        match filter::read_text(text, InboxSource::Pasted, &limits) {
            Some(text) => self.inbox.put(InboxEvent::Text(text), false),
            None => self.status.remark = Some("pasted: nothing that changes a file"),
        }
    }

    fn handle_clipboard_loss(&mut self, gone: &ClipboardError) {
        self.feed = None;
        self.status.clipboard = None;
        self.clipboard_retry = Some((Instant::now() + RETRY_DELAY, RETRY_DELAY));
        self.eprint_remark(&format!("{gone}; relay looks for it again. Until then paste into this window"));
    }

    /// Looks whether a clipboard that went away is back.
    fn retry_clipboard(&mut self) {
        let Some((when, pause)) = self.clipboard_retry else { return };
        if Instant::now() < when {
            return;
        }
        match self.open_clipboard() {
            Ok(()) => {
                self.clipboard_retry = None;
                self.print_done("the clipboard is back");
            }
            Err(_) => {
                let pause = (pause * 2).min(MAX_RETRY_DELAY);
                self.clipboard_retry = Some((Instant::now() + pause, pause));
            }
        }
    }

    /// `✓ …`
    fn print_done(&mut self, text: &str) {
        self.live.erase();
        self.ctx.print_success(text);
        self.ctx.console.flush();
    }

    /// `! …`
    fn eprint_remark(&mut self, text: &str) {
        self.live.erase();
        self.ctx.eprint_remark(LogLevel::Warn, text);
    }
}

/// `2 collected copies were not taken up`
fn unprocessed_message(count: usize) -> String {
    let were = if count == 1 { "was" } else { "were" };
    format!("{} {were} not taken up", pluralize(count, "collected copy"))
}

/// Waits without a terminal.
fn wait_for_inbox(inbox: &Inbox, until: Option<Instant>) -> TerminalEvent {
    let bell = inbox.bell();
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut [PollFd::new(&bell, PollFlags::IN)], left.as_ref()) {
        Ok(0) => TerminalEvent::Timeout,
        _ => TerminalEvent::Wakeup,
    }
}

/// Two that watch one checkout would both apply.
fn lock_watch(door: &Door) -> CommandResult<Option<InstanceClaim>> {
    let said = format!("process {} since {}", std::process::id(), clock::now_utc());
    match door.ledger.claim_instance("watch", &said) {
        Ok(InstanceClaim::HeldBy(by)) => {
            let (process, since) = by.split_once(" since ").unwrap_or((&by, ""));
            let process = if process.is_empty() { "another process" } else { process };
            let since =
                if since.is_empty() { String::new() } else { format!(", begun {}", clock::ago(since)) };
            Err(CommandFailure::usage(format!("`relay watch` already runs here ({process}{since})"))
                .hint("use that one, or end it first"))
        }
        Ok(ours) => Ok(Some(ours)),
        // A project that cannot be written to can still be looked at.
        Err(_) => Ok(None),
    }
}
