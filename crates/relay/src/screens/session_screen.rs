//! The stored conversations: to choose one, rename one, delete one.

use std::sync::Arc;

use relaycode_session::format::header::TitleSource;
use relaycode_session::home::remove::remove_session;
use relaycode_session::{OpenMode, Session, SessionSummary};
use relaycode_tui::session_picker::{SessionOutcome, SessionPicker};

use super::ScreenSession;
use crate::CommandResult;
use crate::commands::sessions::locator::{SessionLocator, read_failure, session_failure};

/// Sessions that are listed.
const MAX_SESSIONS: usize = 2_000;

/// The one that was chosen.
pub(crate) struct PickedSession {
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) is_other_project: bool,
}

/// Shows the sessions until one is chosen. `None`: none was.
pub(crate) fn choose_session(
    locator: &SessionLocator,
    current: Option<&str>,
    views: &mut ScreenSession<'_>,
) -> CommandResult<Option<PickedSession>> {
    let list = |all: bool| -> CommandResult<Vec<SessionSummary>> {
        let listing = locator.listing();
        let listed = listing.list(locator.scope(all), false);
        let mut sessions = listed.map_err(|error| read_failure(&listing.sessions(), &error))?.sessions;
        sessions.truncate(MAX_SESSIONS);
        listing.count_messages(&mut sessions);
        Ok(sessions)
    };
    let mut picker = SessionPicker::new(&locator.cwd, current, list(false)?);
    loop {
        match views.show(&mut picker) {
            Some(SessionOutcome::Resume { id, cwd, is_other_project, .. }) => {
                return Ok(Some(PickedSession { id, cwd, is_other_project }));
            }
            Some(SessionOutcome::LoadAll) => picker.set_all(list(true)?),
            Some(SessionOutcome::Delete { id, path }) => {
                remove_session(&locator.fs, &path).map_err(|error| session_failure(&error))?;
                picker.remove(&id);
            }
            Some(SessionOutcome::Rename { id, title, .. }) => {
                let (dir, name) = locator.open_dir(&locator.find(Some(&id))?)?;
                let mut session = Session::open(Arc::new(locator.fs), dir, &name, OpenMode::Write)
                    .map_err(|error| session_failure(&error))?;
                let named = session.set_title(&title, TitleSource::User);
                named.map_err(|error| session_failure(&error))?;
            }
            None | Some(SessionOutcome::Closed | SessionOutcome::Quit | SessionOutcome::AlreadyThere) => {
                return Ok(None);
            }
            Some(SessionOutcome::Ignored | SessionOutcome::Changed) => {}
        }
    }
}
