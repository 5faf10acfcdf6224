//! A session of `relay watch`: what comes in is taken up in its order, keys are obeyed in between, and nothing runs
//! while nothing happens.
//!
//! Finished output is ordinary output; only the live line at the bottom is drawn over. While a change is taken up,
//! or the user's pager or editor has the terminal, nobody else reads from it.

mod keys;
mod offer;
mod reload;
mod status;
mod taking;
mod telling;

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use relaycode_change::limits::Limits;
use relaycode_door::{Consent, Door};
use relaycode_ledger::{Part, TxId};
use relaycode_project::config::LogLevel;
use relaycode_tui::input::decode::Paste;
use relaycode_tui::input::{Listening, Next, Terminal};
use relaycode_tui::live::Live;
use relaycode_tui::notify::Notifier;
use relaycode_tui::{clock, outcome};
use relaycode_watch::bulk::Bulk;
use relaycode_watch::clipboard::{self, Choice, ClipboardError, NoClipboard};
use relaycode_watch::config::ConfigWatch;
use relaycode_watch::feed::Feed;
use relaycode_watch::inbox::{Arrival, How, Inbox, Passed};
use relaycode_watch::seen::Seen;
use relaycode_watch::sieve;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use crate::answer::Given;
use crate::ask;
use crate::context::Context;
use crate::desktop;
use crate::failure::{Exit, Failure, State};
use crate::project::Project;
use crate::signals::Held;
use crate::terminal::Environment;
use offer::Last;
use status::Status;

/// A clipboard that went away is looked for again after this long, then twice as long, and so on.
const AGAIN: Duration = Duration::from_secs(2);
/// … up to this long.
const AGAIN_AT_MOST: Duration = Duration::from_secs(60);

/// A session.
pub(crate) struct Session<'s, 'c> {
    context: &'s mut Context<'c>,
    given: &'s Given,
    consent: Consent,
    door: Door,
    /// Which clipboard the user wants.
    choice: Choice,
    inbox: Inbox,
    /// `None`: there is no clipboard, or not any more.
    feed: Option<Feed>,
    /// When to look for a clipboard again, and how long to wait after that.
    again: Option<(Instant, Duration)>,
    interval: Arc<AtomicU64>,
    config: Option<ConfigWatch>,
    /// When the configuration is read again: a moment after it was touched last.
    reload: Option<Instant>,
    /// The configuration was broken when it was read last.
    broken: bool,
    terminal: Option<Terminal>,
    listening: Option<Listening>,
    live: Live,
    notifier: Arc<Notifier>,
    signals: Rc<Held>,
    seen: Seen,
    bulk: Bulk,
    last: Last,
    /// What this session applied and did not undo, newest last.
    applied: Vec<TxId>,
    status: Status,
    /// That there are answers for another checkout was said.
    told_of_checkouts: bool,
    /// Nobody else watches this checkout; `None` where that cannot be known.
    _alone: Option<Part>,
}

/// Whether a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    Leave,
    /// A signal asked to stop, or the terminal went.
    Stop,
}

impl<'s, 'c> Session<'s, 'c> {
    /// Begins to watch.
    pub(crate) fn begin(
        consent: Consent,
        given: &'s Given,
        context: &'s mut Context<'c>,
    ) -> Result<Session<'s, 'c>, Failure> {
        let project = Project::open(context)?;
        project.recover(context)?;
        let door = project.door(context)?;
        if door.loaded.file.is_none() {
            return Err(Failure::usage(
                "this project has no configuration, and so no name that answers could give",
            )
            .hint("`relay init` makes one"));
        }
        let choice = desktop::choice()?;
        let alone = alone(&door)?;
        let signals = Rc::new(Held::begin()?);
        let terminal = ask::terminal();
        let inbox = Inbox::new().map_err(Failure::unexpected)?;
        signals.ring(&inbox).map_err(Failure::unexpected)?;
        let watched = door.config();
        let interval = Arc::new(AtomicU64::new(watched.watcher.clipboard_poll_interval));
        let notifier = Arc::new(Notifier::new(desktop::surroundings(terminal.is_some())));
        let screen = (!context.json() && io::stdout().is_terminal() && !Environment::read().dumb)
            .then(|| io::stdout().as_fd().try_clone_to_owned().ok().map(std::fs::File::from))
            .flatten();
        let mut session = Session {
            context,
            given,
            consent,
            door,
            choice,
            inbox,
            feed: None,
            again: None,
            interval,
            config: None,
            reload: None,
            broken: false,
            listening: None,
            terminal,
            live: Live::on(screen),
            notifier,
            signals,
            seen: Seen::default(),
            bulk: Bulk::default(),
            last: Last::default(),
            applied: Vec::new(),
            status: Status::default(),
            told_of_checkouts: false,
            _alone: alone,
        };
        session.watch_config();
        let opened = session.open();
        // Before the first line is there to read: what is pasted from then on is marked, and not echoed.
        session.listening = session.terminal.as_ref().map(Terminal::listen);
        session.greet(opened)?;
        Ok(session)
    }

    /// Watches until somebody says that it is enough.
    pub(crate) fn run(mut self) -> Result<Exit, Failure> {
        let mut go = Go::On;
        while go == Go::On {
            self.draw();
            go = self.wait();
            if go == Go::On {
                go = self.work()?;
            }
        }
        self.live.erase();
        if !self.bulk.is_empty() {
            let said = collected(self.bulk.len());
            self.remark(&said);
        }
        self.context.object(&json!({"event": "ended", "command": "watch"}));
        match go {
            Go::Stop => {
                let failure = Failure::new(Exit::Interrupted, "interrupted", self.status.farewell());
                // What the session applied stays applied.
                let idle = self.status.applied == 0 && self.status.undone == 0;
                Err(if idle { failure.left(State::Unchanged) } else { failure })
            }
            _ => {
                let look = self.context.look();
                self.context.say(&outcome::done(&look, &self.status.farewell()));
                Ok(Exit::Done)
            }
        }
    }

    /// Opens the clipboard and begins to watch it.
    fn open(&mut self) -> Result<(), NoClipboard> {
        let clipboard = clipboard::open(&desktop::desktop(), self.choice)?;
        self.status.clipboard = Some(clipboard.name());
        let feed = Feed::start(clipboard, Arc::clone(&self.interval), Limits::default(), self.inbox.clone());
        self.feed = feed.ok();
        Ok(())
    }

    /// Waits for something to happen. What happened to the inbox is seen to by [`work`](Session::work).
    fn wait(&mut self) -> Go {
        let until = self.until();
        let next = match &self.terminal {
            Some(terminal) => terminal.next(self.inbox.bell(), until),
            None => wait_for(&self.inbox, until),
        };
        if self.signals.asked() {
            return Go::Stop;
        }
        match next {
            Next::Key(key) => self.key(key).unwrap_or(Go::On),
            Next::Paste(paste) => {
                self.pasted(paste);
                Go::On
            }
            Next::Woken => {
                self.inbox.hush();
                Go::On
            }
            Next::Late => Go::On,
            Next::Gone(_) => Go::Stop,
        }
    }

    /// The time at which something is due.
    fn until(&self) -> Option<Instant> {
        let bulk = Duration::from_millis(self.door.config().watcher.bulk_timeout);
        let again = self.again.map(|(when, _)| when);
        [self.bulk.due(bulk), again, self.reload].into_iter().flatten().min()
    }

    /// Does what there is to do.
    fn work(&mut self) -> Result<Go, Failure> {
        self.measure();
        if self.signals.continued()
            && let Some(listening) = &self.listening
        {
            listening.again();
            self.live.lost();
        }
        self.see_to_config();
        self.look_for_clipboard();
        self.take_bulk(false)?;
        while let Some(arrival) = self.inbox.take() {
            self.arrived(arrival)?;
            if self.signals.asked() {
                return Ok(Go::Stop);
            }
        }
        self.take_bulk(false)?;
        Ok(if self.signals.asked() { Go::Stop } else { Go::On })
    }

    /// Lays lines out in the size that the terminal has now.
    fn measure(&mut self) {
        if self.signals.resized() {
            self.context.console.measure();
        }
    }

    fn arrived(&mut self, arrival: Arrival) -> Result<(), Failure> {
        match arrival {
            Arrival::Text { text, how } if self.door.config().watcher.enable_bulk_processing => {
                self.bulk.add(text, how, Instant::now());
            }
            Arrival::Text { text, how } => self.take(text, how, false)?,
            Arrival::Passed(passed) => self.status.remark(match passed {
                Passed::TooLarge => "copied: more text than an answer may have",
                Passed::NotUtf8 => "copied: text that is not UTF-8",
                Passed::Silent => "copied: something that its program does not hand over",
            }),
            Arrival::Restless => {
                self.remark(
                    "the clipboard changes all the time: only what it comes to rest with is looked at",
                );
            }
            Arrival::Dropped(count) => {
                let said =
                    if count == 1 { "one more copy".to_string() } else { format!("{count} more copies") };
                self.remark(&format!("{said} came meanwhile: not looked at"));
            }
            Arrival::Gone(gone) => self.lost(&gone),
        }
        Ok(())
    }

    /// Takes up what was collected, if it is time or `now`.
    fn take_bulk(&mut self, now: bool) -> Result<(), Failure> {
        let watcher = &self.door.config().watcher;
        let timeout = Duration::from_millis(watcher.bulk_timeout);
        let size = if now || !watcher.enable_bulk_processing { 0 } else { watcher.bulk_size };
        let Some(texts) = self.bulk.ready(size, timeout, Instant::now()) else { return Ok(()) };
        let before = self.status.clone();
        let count = texts.len();
        for (text, how) in texts {
            self.take(text, how, false)?;
            if self.signals.asked() {
                return Ok(());
            }
        }
        if count > 1 {
            let said = self.status.since(&before).unwrap_or_else(|| "nothing to do".to_string());
            self.say_line(&format!("{count} copies were taken up: {said}"));
        }
        Ok(())
    }

    /// Text was pasted into the terminal.
    fn pasted(&mut self, paste: Paste) {
        let limits = Limits::default();
        if paste.cut || paste.bytes.len() > limits.text_bytes {
            return self.status.remark("pasted: more text than an answer may have");
        }
        match String::from_utf8(paste.bytes) {
            Ok(text) if sieve::may_be_a_patch(&text, &limits) => {
                self.inbox.put(Arrival::Text { text, how: How::Pasted }, false);
            }
            Ok(_) => self.status.remark("pasted: nothing that changes a file"),
            Err(_) => self.status.remark("pasted: text that is not UTF-8"),
        }
    }

    fn lost(&mut self, gone: &ClipboardError) {
        self.feed = None;
        self.status.clipboard = None;
        self.again = Some((Instant::now() + AGAIN, AGAIN));
        let look = self.context.look();
        let text = look.safe(&gone.to_string()).into_owned();
        self.remark(&format!("{text}; relay looks for it again. Until then paste into this window"));
    }

    /// Looks whether a clipboard that went away is back.
    fn look_for_clipboard(&mut self) {
        let Some((when, pause)) = self.again else { return };
        if Instant::now() < when {
            return;
        }
        match self.open() {
            Ok(()) => {
                self.again = None;
                self.say_line("the clipboard is back");
            }
            Err(_) => {
                let pause = (pause * 2).min(AGAIN_AT_MOST);
                self.again = Some((Instant::now() + pause, pause));
            }
        }
    }

    /// `✓ …`
    fn say_line(&mut self, text: &str) {
        self.live.erase();
        let text = outcome::done(&self.context.look(), text);
        self.context.say(&text);
        self.context.console.flush();
    }

    /// `! …`; `text` is safe already.
    fn remark(&mut self, text: &str) {
        self.live.erase();
        let text = outcome::remark(&self.context.look(), text);
        self.context.beside(LogLevel::Warn, &text);
    }
}

/// `2 collected copies were not taken up`
fn collected(count: usize) -> String {
    match count {
        1 => "a collected copy was not taken up".to_string(),
        count => format!("{count} collected copies were not taken up"),
    }
}

/// Waits without a terminal.
fn wait_for(inbox: &Inbox, until: Option<Instant>) -> Next {
    let bell = inbox.bell();
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut [PollFd::new(&bell, PollFlags::IN)], left.as_ref()) {
        Ok(0) => Next::Late,
        _ => Next::Woken,
    }
}

/// Two that watch one checkout would both apply.
fn alone(door: &Door) -> Result<Option<Part>, Failure> {
    let said = format!("process {} since {}", std::process::id(), clock::now());
    match door.ledger.alone("watch", &said) {
        Ok(Part::Taken(by)) => {
            let (process, since) = by.split_once(" since ").unwrap_or((&by, ""));
            let process = if process.is_empty() { "another process" } else { process };
            let since =
                if since.is_empty() { String::new() } else { format!(", begun {}", clock::ago(since)) };
            Err(Failure::usage(format!("`relay watch` already runs here ({process}{since})"))
                .hint("use that one, or end it first"))
        }
        Ok(ours) => Ok(Some(ours)),
        // A project that cannot be written to can still be looked at.
        Err(_) => Ok(None),
    }
}
