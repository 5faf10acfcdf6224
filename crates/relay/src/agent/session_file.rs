//! The session that a run belongs to: a new one, the newest of this directory, or one that was named.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use relaycode_durable::{Fs, RealFs};
use relaycode_session::home::layout::{same_directory, session_file_name};
use relaycode_session::{BlobStore, OpenMode, Session, SessionHeader};

use crate::commands::sessions::locator::{SessionLocator, session_failure, write_failure};
use crate::{CommandContext, CommandFailure, CommandResult};

/// Which session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionChoice<'a> {
    New,
    Newest,
    Named(&'a str),
}

/// Opens it for writing; nobody else can meanwhile.
pub(crate) fn open_session(choice: SessionChoice<'_>, ctx: &CommandContext<'_>) -> CommandResult<Session> {
    let locator = SessionLocator::open(ctx)?;
    let session = match choice {
        SessionChoice::New => create_session(&locator)?,
        SessionChoice::Newest => continue_session(&locator, None)?,
        SessionChoice::Named(word) => continue_session(&locator, Some(word))?,
    };
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let home = locator.layout.home();
    let blobs = fs.open_root(home).and_then(|home| BlobStore::open(fs.clone(), &home));
    locator.note_for_terminal(&session);
    Ok(match blobs {
        Ok(blobs) => session.with_blobs(Arc::new(blobs)),
        // Images stay in the file.
        Err(_) => session,
    })
}

fn create_session(locator: &SessionLocator) -> CommandResult<Session> {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let header = SessionHeader::new(locator.cwd.to_string_lossy());
    let dir = locator
        .layout
        .create_project_dir(&*fs, &locator.cwd)
        .map_err(|error| write_failure(&locator.layout.project_dir(&locator.cwd), &error))?;
    let name = session_file_name(Timestamp::now(), &header.id);
    Session::create(fs, dir, &name, header).map_err(|error| session_failure(&error))
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
