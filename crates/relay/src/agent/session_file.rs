//! The session that a run belongs to: a new one, the newest of this directory, one that was named, or a branch of another.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use relaycode_durable::{Fs, RealFs};
use relaycode_session::format::header::TitleSource;
use relaycode_session::home::layout::{same_directory, session_file_name};
use relaycode_session::{BlobStore, OpenMode, Session, SessionHeader};
use relaycode_text::width::clip_for_message;

use crate::commands::sessions::locator::{SessionLocator, session_failure, write_failure};
use crate::{CommandContext, CommandFailure, CommandResult};

/// Cells of a title.
const MAX_TITLE_CELLS: usize = 80;

/// Which session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionChoice<'a> {
    New,
    /// A new one for another command that asks, with its title.
    OfFriend(&'a str),
    Newest,
    Named(&'a str),
}

/// Opens it for writing; nobody else can meanwhile.
pub(crate) fn open_session(choice: SessionChoice<'_>, ctx: &CommandContext<'_>) -> CommandResult<Session> {
    let locator = SessionLocator::open(ctx)?;
    let session = match choice {
        SessionChoice::New => create_session(&locator, None, None)?,
        SessionChoice::OfFriend(title) => create_session(&locator, Some(title), None)?,
        SessionChoice::Newest => continue_session(&locator, None)?,
        SessionChoice::Named(word) => continue_session(&locator, Some(word))?,
    };
    Ok(keep_images_apart(session, &locator))
}

/// A fresh session that goes on with the work of another one.
pub(crate) fn create_child_session(parent: &str, ctx: &CommandContext<'_>) -> CommandResult<Session> {
    let locator = SessionLocator::open(ctx)?;
    let session = create_session(&locator, None, Some(parent))?;
    Ok(keep_images_apart(session, &locator))
}

fn keep_images_apart(session: Session, locator: &SessionLocator) -> Session {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let home = locator.layout.home();
    let blobs = fs.open_root(home).and_then(|home| BlobStore::open(fs.clone(), &home));
    if !session.header().as_friend {
        locator.note_for_terminal(&session);
    }
    match blobs {
        Ok(blobs) => session.with_blobs(Arc::new(blobs)),
        // Images stay in the file.
        Err(_) => session,
    }
}

fn create_session(
    locator: &SessionLocator,
    friend: Option<&str>,
    parent: Option<&str>,
) -> CommandResult<Session> {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let header = SessionHeader {
        as_friend: friend.is_some(),
        title: friend.map(|title| clip_for_message(title.trim(), MAX_TITLE_CELLS)),
        title_source: friend.map(|_| TitleSource::Auto),
        parent_session: parent.map(str::to_string),
        ..SessionHeader::new(locator.cwd.to_string_lossy())
    };
    let dir = locator
        .layout
        .create_project_dir(&*fs, &locator.cwd)
        .map_err(|error| write_failure(&locator.layout.project_dir(&locator.cwd), &error))?;
    let name = session_file_name(Timestamp::now(), &header.id);
    Session::create(fs, dir, &name, header).map_err(|error| session_failure(&error))
}

/// A new session with what another one has up to an entry; nothing of it without one.
pub(crate) fn branch_session(
    from: &Session,
    leaf: Option<&str>,
    ctx: &CommandContext<'_>,
) -> CommandResult<Session> {
    let Some(leaf) = leaf else { return open_session(SessionChoice::New, ctx) };
    let locator = SessionLocator::open(ctx)?;
    let header = SessionHeader {
        title: from.header().title.clone(),
        title_source: from.header().title_source,
        ..SessionHeader::new(locator.cwd.to_string_lossy())
    };
    let dir = locator
        .layout
        .create_project_dir(&RealFs::default(), &locator.cwd)
        .map_err(|error| write_failure(&locator.layout.project_dir(&locator.cwd), &error))?;
    let name = session_file_name(Timestamp::now(), &header.id);
    let branch = from.fork_branch(leaf, &dir, &name, header).map_err(|error| session_failure(&error))?;
    locator.note_for_terminal(&branch);
    Ok(branch)
}

fn continue_session(locator: &SessionLocator, word: Option<&str>) -> CommandResult<Session> {
    let found = locator.find(word)?;
    if !found.cwd.is_empty() && !same_directory(&locator.cwd, &found.cwd) {
        let cwd = Path::new(&found.cwd);
        return Err(CommandFailure::usage(format!("this session is about {}", cwd.display())).hint(format!(
            "`relay -C {} run --resume {}` goes on with it there",
            cwd.display(),
            found.id
        )));
    }
    let (dir, name) = locator.open_dir(&found)?;
    Session::open(Arc::new(RealFs::default()), dir, &name, OpenMode::Write)
        .map_err(|error| session_failure(&error))
}
