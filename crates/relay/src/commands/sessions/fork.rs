//! `relay sessions fork`: another session out of one, about this directory.

use relaycode_session::{Header, layout};
use relaycode_tui::outcome;
use serde_json::json;

use super::place::{Place, failed, unwritable};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Copy a session into this directory, to go on here
///
/// All branches come along; the original stays as it is.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ForkArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path
    #[arg(value_name = "SESSION")]
    session: String,
}

impl ForkArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let info = place.find(Some(&self.session))?;
        let session = place.read(&info)?;
        let from = session.header();
        let header = Header {
            title: from.title.clone(),
            title_source: from.title_source,
            ..Header::new(place.cwd.to_string_lossy())
        };
        let began = header.timestamp.parse().map_err(Failure::unexpected)?;
        let (id, name) = (header.id.clone(), layout::file_name(began, &header.id));
        let to = place.layout.make_project(&place.fs, &place.cwd);
        let to = to.map_err(|error| unwritable(&place.layout.project(&place.cwd), &error))?;
        let forked = session.fork(&to, &name, header).map_err(|error| failed(&error))?;
        let path = place.layout.project(&place.cwd).join(&name);
        let look = context.look();
        let entries = if forked.len() == 1 { "entry" } else { "entries" };
        let said = format!("forked {} into {id}, {} {entries}", session.id(), forked.len());
        context.say(&outcome::done(&look, &look.safe(&said)));
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "sessions", "id": id, "path": path.to_string_lossy(),
            "parentSession": session.id(), "entries": forked.len(),
        }));
        Ok(Exit::Done)
    }
}
