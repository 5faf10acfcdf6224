//! Where sessions are for somebody who stands in this directory at this terminal, and which one a word means.
//!
//! What tells terminals apart (`KITTY_WINDOW_ID`, `TMUX_PANE`, `TERM_SESSION_ID`, `WT_SESSION`) is read from the
//! environment here and nowhere else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use relaycode_durable::{Fs, FsDir, RealFs};
use relaycode_session::find::list::ListScope;
use relaycode_session::find::resolve::{self, ResolveError, ResolvedSession, SessionTarget};
use relaycode_session::home::terminal::{TerminalBreadcrumb, TerminalHints, TerminalId};
use relaycode_session::{
    BlobStore, HomeLayout, OpenMode, Session, SessionError, SessionLister, SessionSummary,
};
use relaycode_text::width::{Ellipsis, clip};
use relaycode_tui::views::sessions::list::SessionRow;

use crate::{CommandContext, CommandFailure, CommandResult, Exit};

/// Digits of an id that people see at least.
const MIN_ID_DIGITS: usize = 8;

/// The sessions, and from where they are looked at.
pub(crate) struct SessionLocator {
    pub(crate) fs: RealFs,
    pub(crate) layout: HomeLayout,
    pub(crate) cwd: PathBuf,
}

impl SessionLocator {
    pub(crate) fn open(ctx: &CommandContext<'_>) -> CommandResult<SessionLocator> {
        let home = ctx.home.path.as_ref().ok_or_else(|| {
            CommandFailure::usage("relay does not know where sessions are kept")
                .hint("set HOME, or RELAY_HOME to a full path")
        })?;
        let directory = &ctx.options.directory;
        let cwd = directory.canonicalize().map_err(|error| {
            CommandFailure::usage(format!("{} cannot be entered: {error}", directory.display()))
                .hint("give a directory with `-C DIR`")
        })?;
        Ok(SessionLocator { fs: RealFs::default(), layout: HomeLayout::new(home), cwd })
    }

    pub(crate) fn listing(&self) -> SessionLister<'_> {
        SessionLister::new(&self.fs, &self.layout)
    }

    /// The sessions about this directory, or all.
    pub(crate) fn scope(&self, all: bool) -> ListScope<'_> {
        if all { ListScope::All } else { ListScope::Project(&self.cwd) }
    }

    /// The session that a word means, of whatever project.
    pub(crate) fn find(&self, word: Option<&str>) -> CommandResult<SessionSummary> {
        self.resolve(word).map(ResolvedSession::into_summary)
    }

    /// The directory and the name of a session's file.
    pub(crate) fn open_dir(&self, info: &SessionSummary) -> CommandResult<(FsDir, String)> {
        let above = info.path.parent().unwrap_or(Path::new("/"));
        let name = info.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let dir = self.fs.open_root(above).map_err(|error| read_failure(above, &error))?;
        Ok((dir, name))
    }

    /// Opens a session to be read; whoever writes it is not in the way.
    pub(crate) fn open_session(&self, info: &SessionSummary) -> CommandResult<Session> {
        let (dir, name) = self.open_dir(info)?;
        Session::open(Arc::new(self.fs), dir, &name, OpenMode::Read).map_err(|error| session_failure(&error))
    }

    /// The same with the images that it refers to, where there are any.
    pub(crate) fn with_blobs(&self, session: Session) -> Session {
        if !self.layout.blobs_dir().is_dir() {
            return session;
        }
        let fs: Arc<dyn Fs> = Arc::new(self.fs);
        let blobs = fs.open_root(self.layout.home()).and_then(|home| BlobStore::open(fs.clone(), &home));
        match blobs {
            Ok(blobs) => session.with_blobs(Arc::new(blobs)),
            Err(_) => session,
        }
    }

    /// The next time, this session is the newest of this terminal. Nothing depends on it.
    pub(crate) fn note_for_terminal(&self, session: &Session) {
        let Some(terminal) = TerminalId::from_hints(&terminal_hints()) else { return };
        let session = self.layout.project_dir(&self.cwd).join(session.name());
        let crumb = TerminalBreadcrumb { cwd: self.cwd.clone(), session };
        let _ = crumb.write(&self.fs, &self.layout, &terminal);
    }

    fn resolve(&self, word: Option<&str>) -> CommandResult<ResolvedSession> {
        let terminal = TerminalId::from_hints(&terminal_hints());
        let crumb = terminal.and_then(|terminal| TerminalBreadcrumb::read(&self.fs, &self.layout, &terminal));
        let target = word.map_or(SessionTarget::Newest, SessionTarget::parse);
        resolve::resolve_session(&self.listing(), &self.cwd, &target, crumb.as_ref())
            .map_err(|error| resolve_failure(&error))
    }
}

/// So many digits of an id as tell these apart, and at least eight.
pub(crate) fn id_digits(sessions: &[SessionSummary]) -> usize {
    let mut ids: Vec<&str> = sessions.iter().map(|info| info.id.as_str()).collect();
    ids.sort_unstable();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    // Two of the same name are told apart by nothing.
    let differ = ids.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| shared(pair) + 1);
    differ.max().unwrap_or(0).max(MIN_ID_DIGITS)
}

/// So much of an id.
pub(crate) fn short_id(id: &str, digits: usize) -> String {
    id.chars().take(digits).collect()
}

/// A number of sessions: none is no list.
pub(crate) fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number, 1 or more".to_string()),
    }
}

/// What a session is called: its title, or what was said first.
pub(crate) fn session_title(info: &SessionSummary) -> String {
    let first = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or_default();
    first.chars().take(MAX_TITLE_CHARS).collect()
}

/// A session as the lists show it.
pub(crate) fn session_row(info: &SessionSummary, digits: usize) -> SessionRow {
    SessionRow {
        id: short_id(&info.id, digits),
        modified: info.modified.clone(),
        messages: info.messages,
        about: session_title(info),
        damage: info.damage.clone(),
        ..SessionRow::default()
    }
}

/// Copies of one session.
fn have_same_id(sessions: &[SessionSummary]) -> bool {
    sessions.windows(2).all(|pair| pair[0].id == pair[1].id)
}

/// Cells of what a session is about where several are named in a sentence.
const MAX_NAME_CELLS: usize = 40;
/// Characters of a title that are worth carrying around.
const MAX_TITLE_CHARS: usize = 500;

fn resolve_failure(error: &ResolveError) -> CommandFailure {
    let named = |sessions: &[SessionSummary]| {
        let digits = id_digits(sessions);
        let line = |info: &SessionSummary| {
            let words: String = session_title(info).split_whitespace().take(6).collect::<Vec<_>>().join(" ");
            let words = clip(&words, MAX_NAME_CELLS, Ellipsis::Unicode);
            format!("{} {words}", short_id(&info.id, digits)).trim_end().to_string()
        };
        sessions.iter().map(line).collect::<Vec<_>>().join(", ")
    };
    let usage = |kind, hint: String| CommandFailure::new(Exit::Usage, kind, error).hint(hint);
    match error {
        ResolveError::None { .. } => {
            usage("unknown", "`relay sessions --all` lists those of other directories".to_string())
        }
        ResolveError::Unknown { nearest, .. } if nearest.is_empty() => {
            usage("unknown", "`relay sessions` lists them, with `--all` of every directory".to_string())
        }
        ResolveError::Unknown { nearest, .. } => usage("unknown", format!("did you mean {}", named(nearest))),
        ResolveError::Ambiguous { candidates, .. } if have_same_id(candidates) => {
            let paths: Vec<_> = candidates.iter().map(|info| info.path.display().to_string()).collect();
            usage("ambiguous", format!("they have the same id; give the path: {}", paths.join(", ")))
        }
        ResolveError::Ambiguous { candidates, .. } => {
            usage("ambiguous", format!("use more of the id: {}", named(candidates)))
        }
        ResolveError::NotASession { .. } => {
            let format = "a session is a file of lines of JSON that begins with a header";
            usage("notASession", format!("{format}; `relay sessions` lists them"))
        }
        ResolveError::Io { path, .. } => CommandFailure::unexpected(error).place(path.display()),
    }
}

/// What keeps something from being done with a session.
pub(crate) fn session_failure(error: &SessionError) -> CommandFailure {
    match error {
        SessionError::Missing { .. } => CommandFailure::new(Exit::Usage, "unknown", error),
        SessionError::InUse { .. } => CommandFailure::refused("inUse", error),
        SessionError::Newer { .. } => CommandFailure::new(Exit::Usage, "newer", error),
        SessionError::NotAFile { .. } => CommandFailure::new(Exit::Usage, "notASession", error),
        SessionError::NotDurable { .. } => CommandFailure::new(Exit::DiskDoubt, "doubt", error),
        _ => CommandFailure::unexpected(error),
    }
}

/// A directory or file that cannot be read.
pub(crate) fn read_failure(path: &Path, error: &io::Error) -> CommandFailure {
    io_failure("the sessions cannot be read", path, error)
}

/// A directory that a session cannot be put into.
pub(crate) fn write_failure(path: &Path, error: &io::Error) -> CommandFailure {
    io_failure("the session cannot be written", path, error).unchanged()
}

fn io_failure(what: &str, path: &Path, error: &io::Error) -> CommandFailure {
    let failure = if relaycode_durable::fs::is_link(error) {
        CommandFailure::usage(format!("{what}: a link stands where a directory has to be"))
            .hint("put the directory itself there, or set RELAY_HOME to where it is")
    } else if error.kind() == io::ErrorKind::NotFound {
        CommandFailure::usage(format!("{what}: there is no such directory"))
            .hint("make relay's home, or set RELAY_HOME to one that exists")
    } else {
        CommandFailure::unexpected(format!("{what}: {error}"))
    };
    failure.place(path.display())
}

fn terminal_hints() -> TerminalHints {
    let set = |name: &str| std::env::var(name).ok();
    TerminalHints {
        tty: tty_name(),
        kitty_window_id: set("KITTY_WINDOW_ID"),
        tmux_pane: set("TMUX_PANE"),
        term_session_id: set("TERM_SESSION_ID"),
        wt_session: set("WT_SESSION"),
    }
}

/// The terminal's device, from whichever stream is one.
fn tty_name() -> Option<String> {
    let name = |fd: rustix::fd::BorrowedFd<'_>| rustix::termios::ttyname(fd, Vec::new()).ok();
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    streams.into_iter().find_map(name).and_then(|name| name.into_string().ok())
}
