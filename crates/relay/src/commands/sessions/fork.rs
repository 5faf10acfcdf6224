//! `relay sessions fork`: another session out of one, about this directory.

use relaycode_session::SessionHeader;
use relaycode_session::home::layout;
use serde_json::json;

use super::locator::{SessionLocator, session_failure, write_failure};
use crate::{CommandContext, CommandFailure, CommandResult, Exit};

/// Copy a session into this directory, to go on here
///
/// All branches come along; the original stays as it is.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsForkArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path
    session: String,
}

impl SessionsForkArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(Some(&self.session))?;
        let session = place.open_session(&info)?;
        let from = session.header();
        let header = SessionHeader {
            title: from.title.clone(),
            title_source: from.title_source,
            ..SessionHeader::new(place.cwd.to_string_lossy())
        };
        let began = header.timestamp.parse().map_err(CommandFailure::unexpected)?;
        let (id, name) = (header.id.clone(), layout::session_file_name(began, &header.id));
        let to = place.layout.create_project_dir(&place.fs, &place.cwd);
        let to = to.map_err(|error| write_failure(&place.layout.project_dir(&place.cwd), &error))?;
        let forked = session.fork(&to, &name, header).map_err(|error| session_failure(&error))?;
        let path = place.layout.project_dir(&place.cwd).join(&name);
        let entries = if forked.len() == 1 { "entry" } else { "entries" };
        ctx.print_success(&format!("forked {} into {id}, {} {entries}", session.id(), forked.len()));
        Ok(ctx.print_result(Exit::Done, json!({
            "id": id, "path": path.to_string_lossy(), "parentSession": session.id(), "entries": forked.len(),
        })))
    }
}
