//! `relay sessions list`: what there is, newest first.

use relaycode_session::list::SessionInfo;
use relaycode_session::sweep;
use relaycode_tui::clock;
use relaycode_tui::look::Look;
use relaycode_tui::outcome;
use relaycode_tui::sessions::list::{self as view, Row};
use serde::Serialize;

use super::place::{Place, about, at_least_one, digits, short, unreadable};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use relaycode_project::config::LogLevel;

/// List the sessions about this directory, newest first
///
/// The number in front is what the other commands take, as well as the id. One that is damaged is marked with `!`.
/// A session that never got an answer is not listed, and goes after a day.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ListArgs {
    /// How many to list
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    limit: usize,

    /// Those of every directory, by id alone: numbers are those of one directory
    #[arg(short, long)]
    all: bool,

    /// Those that never got an answer, too
    #[arg(long)]
    unanswered: bool,
}

impl ListArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let listing = place.listing();
        let listed = listing.list(place.scope(self.all), self.unanswered);
        let mut listed = listed.map_err(|error| unreadable(&listing.sessions(), &error))?;
        // What nobody answered does not stay for ever; whoever wants to see it is not in its way.
        let swept = sweep::sweep(&place.fs, &listed.hidden, clock::seconds());
        listed.hidden.retain(|info| !swept.contains(&info.path));
        let total = listed.sessions.len();
        let digits = digits(&listed.sessions);
        listed.sessions.truncate(self.limit);
        listing.count(&mut listed.sessions);
        for (path, why) in &listed.unreadable {
            let look = context.console.err_look();
            let said = look.safe(&format!("{} cannot be read: {why}", path.display())).into_owned();
            context.beside(LogLevel::Warn, &outcome::remark(&look, &said));
        }
        // Numbers are those of the list that other commands know: of this directory, without the unanswered.
        let numbers = self.numbers(&listed.sessions);
        if context.json() {
            let sessions = listed.sessions.iter().zip(&numbers);
            context.console.json(&ListJson {
                ok: true,
                code: Exit::Done as u8,
                command: "sessions",
                directory: (!self.all).then(|| place.cwd.to_string_lossy().into_owned()),
                sessions: sessions.map(|(info, index)| SessionJson { index: *index, info }).collect(),
                total,
                hidden: listed.hidden.len(),
            });
        } else if context.quiet() {
            for info in &listed.sessions {
                let line = format!("{}\n", context.console.out_look().safe(&info.id));
                context.console.out(&line);
            }
        } else {
            let rows: Vec<Row> = listed
                .sessions
                .iter()
                .zip(numbers)
                .map(|(info, index)| self.row(info, index, digits))
                .collect();
            let look: Look = context.console.out_look();
            let text = view::text(&rows, total - rows.len(), listed.hidden.len(), &look);
            context.console.out(&text);
        }
        Ok(Exit::Done)
    }

    /// The number of each session; none where the list is of all directories, or where one is not in the usual list.
    fn numbers(&self, sessions: &[SessionInfo]) -> Vec<Option<usize>> {
        let mut next = 0;
        let number = |info: &SessionInfo| {
            if self.all || is_hidden(info) {
                return None;
            }
            next += 1;
            Some(next)
        };
        sessions.iter().map(number).collect()
    }

    fn row(&self, info: &SessionInfo, index: Option<usize>, digits: usize) -> Row {
        Row {
            index,
            id: short(&info.id, digits),
            modified: info.modified.clone(),
            messages: info.messages,
            about: about(info),
            cwd: self.all.then(|| info.cwd.clone()),
            unanswered: is_hidden(info),
            damage: info.damage.clone(),
        }
    }
}

/// Whether the usual list leaves it out.
fn is_hidden(info: &SessionInfo) -> bool {
    info.answered == Some(false) && info.damage.is_none()
}

/// What `--json` prints.
#[derive(Serialize)]
struct ListJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    /// The directory they are about; none if of every one.
    directory: Option<String>,
    sessions: Vec<SessionJson<'a>>,
    /// How many there are in all.
    total: usize,
    /// How many were left out because nobody answered.
    hidden: usize,
}

#[derive(Serialize)]
struct SessionJson<'a> {
    index: Option<usize>,
    #[serde(flatten)]
    info: &'a SessionInfo,
}
