//! `relay sessions list`: what there is, newest first.

use relaycode_session::SessionSummary;
use relaycode_session::home::sweep;
use relaycode_tui::clock;
use relaycode_tui::views::sessions::list as view;
use relaycode_tui::views::sessions::list::SessionRow;
use serde_json::json;

use super::locator::{SessionLocator, id_digits, parse_positive, read_failure, session_row};
use crate::{CommandContext, CommandResult, Exit, LogLevel, json};

/// List the sessions about this directory, newest first
///
/// The number in front is what the other commands take, as well as the id. One that is damaged is marked with `!`.
/// A session that never got an answer is not listed, and goes after a day.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsListArgs {
    /// How many to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = parse_positive, alias = "limit")]
    count: usize,

    /// Those of every directory, by id alone: numbers are those of one directory
    #[arg(short, long)]
    all: bool,

    /// Those that never got an answer, too
    #[arg(long)]
    unanswered: bool,
}

impl SessionsListArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let listing = place.listing();
        let listed = listing.list(place.scope(self.all), self.unanswered);
        let mut listed = listed.map_err(|error| read_failure(&listing.sessions(), &error))?;
        // What nobody answered does not stay for ever; whoever wants to see it is not in its way.
        let swept = sweep::sweep_unanswered(&place.fs, &listed.unanswered, clock::unix_seconds());
        listed.unanswered.retain(|info| !swept.contains(&info.path));
        let total = listed.sessions.len();
        let digits = id_digits(&listed.sessions);
        listed.sessions.truncate(self.count);
        listing.count_messages(&mut listed.sessions);
        for (path, why) in &listed.unreadable {
            ctx.eprint_remark(LogLevel::Warn, &format!("{} cannot be read: {why}", path.display()));
        }
        // Numbers are those of the list that other commands know: of this directory, without the unanswered.
        let numbers = self.numbers(&listed.sessions);
        if ctx.is_json() {
            let entry = |(info, index): (&SessionSummary, &Option<usize>)| {
                let mut object = json!({"index": index});
                json::merge(&mut object, json::to_value(info));
                object
            };
            // The directory they are about; none if of every one.
            let directory = (!self.all).then(|| place.cwd.to_string_lossy());
            ctx.print_result(Exit::Done, json!({
                "directory": directory, "sessions": listed.sessions.iter().zip(&numbers).map(entry).collect::<Vec<_>>(),
                "total": total, "hidden": listed.unanswered.len(),
            }));
        } else if ctx.is_quiet() {
            for info in &listed.sessions {
                ctx.console.print(&format!("{}\n", ctx.console.out_style().safe(&info.id)));
            }
        } else {
            let sessions = listed.sessions.iter().zip(numbers);
            let rows: Vec<_> = sessions.map(|(info, index)| self.row(info, index, digits)).collect();
            let look = ctx.console.out_style();
            ctx.console.print(&view::text(&rows, total - rows.len(), listed.unanswered.len(), &look));
        }
        Ok(Exit::Done)
    }

    /// The number of each session; none where the list is of all directories, or where one is not in the usual list.
    fn numbers(&self, sessions: &[SessionSummary]) -> Vec<Option<usize>> {
        let mut next = 0;
        let number = |info: &SessionSummary| {
            if self.all || is_hidden(info) {
                return None;
            }
            next += 1;
            Some(next)
        };
        sessions.iter().map(number).collect()
    }

    fn row(&self, info: &SessionSummary, index: Option<usize>, digits: usize) -> SessionRow {
        let (cwd, unanswered) = (self.all.then(|| info.cwd.clone()), is_hidden(info));
        SessionRow { index, cwd, unanswered, ..session_row(info, digits) }
    }
}

/// Whether the usual list leaves it out.
fn is_hidden(info: &SessionSummary) -> bool {
    info.answered == Some(false) && info.damage.is_none()
}
