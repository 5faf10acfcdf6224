//! `relay sessions search`: words in what was said.

use std::time::{Duration, Instant};

use relaycode_project::config::LogLevel;
use relaycode_session::list::SessionInfo;
use relaycode_session::search::{self, Hit, Words};
use relaycode_tui::number;
use relaycode_tui::outcome;
use relaycode_tui::sessions::hits::{self as view, Found};
use serde::Serialize;

use super::place::{Place, about, at_least_one, digits, short, unreadable};
use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::signals::Held;

/// Messages that are shown of one session.
const PER_SESSION: usize = 3;

/// Find messages that have all the words, newest session first
///
/// Upper and lower case are the same. What was said, tools' results and summaries are searched on all branches.
/// Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SearchArgs {
    /// What to look for
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,

    /// In the sessions of every directory
    #[arg(short, long)]
    all: bool,

    /// How many sessions to show
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    limit: usize,
}

impl SearchArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let words =
            Words::of(&self.words.join(" ")).ok_or_else(|| Failure::usage("there is no word to look for"))?;
        let place = Place::of(context)?;
        let listing = place.listing();
        let listed = listing.list(place.scope(self.all), true);
        let sessions = listed.map_err(|error| unreadable(&listing.sessions(), &error))?.sessions;
        let signals = Held::begin()?;
        let (mut found, mut searched, mut skipped, mut more) = (Vec::new(), 0, 0, false);
        let mut spoken = Spoken::begin();
        for info in &sessions {
            if found.len() == self.limit {
                more = true;
                break;
            }
            spoken.tell(context, searched, sessions.len());
            let hits = match search::search(&place.fs, info, &words, PER_SESSION, &|| signals.asked()) {
                Ok(hits) => hits,
                Err(error) => {
                    let look = context.console.err_look();
                    let said =
                        look.safe(&format!("{} cannot be read: {error}", info.path.display())).into_owned();
                    context.beside(LogLevel::Warn, &outcome::remark(&look, &said));
                    continue;
                }
            };
            if hits.stopped {
                return Err(
                    Failure::new(Exit::Interrupted, "interrupted", "interrupted").left(State::Unchanged)
                );
            }
            searched += 1;
            skipped += hits.skipped;
            if !hits.hits.is_empty() {
                found.push((info, hits.hits));
            }
        }
        if skipped > 0 {
            let look = context.console.err_look();
            let lines = number(usize::try_from(skipped).unwrap_or(usize::MAX), "line");
            context.beside(LogLevel::Warn, &outcome::remark(&look, &format!("{lines} too long to search")));
        }
        self.show(&sessions, &found, searched, more, context);
        Ok(Exit::Done)
    }

    fn show(
        &self,
        sessions: &[SessionInfo],
        found: &[(&SessionInfo, Vec<Hit>)],
        searched: usize,
        more: bool,
        context: &mut Context<'_>,
    ) {
        if context.json() {
            context.console.json(&SearchJson {
                ok: true,
                code: Exit::Done as u8,
                command: "sessions",
                sessions: found.iter().map(|(info, hits)| FoundJson { info, hits }).collect(),
                searched,
                more,
            });
            return;
        }
        let look = context.console.out_look();
        if found.is_empty() {
            context.say(&view::nothing(searched, &look));
            return;
        }
        if context.quiet() {
            for (info, _) in found {
                let line = format!("{}\n", look.safe(&info.id));
                context.console.out(&line);
            }
            return;
        }
        let digits = digits(sessions);
        let shown: Vec<Found> = found
            .iter()
            .map(|(info, hits)| Found {
                id: short(&info.id, digits),
                modified: info.modified.clone(),
                about: about(info),
                cwd: self.all.then(|| info.cwd.clone()),
                hits: hits.iter().map(|hit| (hit.role.clone(), hit.clip.clone())).collect(),
            })
            .collect();
        context.console.out(&view::text(&shown, &look));
        if more {
            let said = format!("\nthere may be more; `-n {}` looks further\n", self.limit.saturating_mul(5));
            context.console.out(&look.wrap(&said, 2));
        }
    }
}

/// Says how far it is, to somebody who has waited for a while.
struct Spoken {
    last: Instant,
}

impl Spoken {
    /// Nobody wonders before, and nobody wants to hear it more often.
    const EVERY: Duration = Duration::from_secs(3);

    fn begin() -> Spoken {
        Spoken { last: Instant::now() }
    }

    fn tell(&mut self, context: &mut Context<'_>, searched: usize, of: usize) {
        if self.last.elapsed() >= Spoken::EVERY {
            self.last = Instant::now();
            context.beside(LogLevel::Info, &format!("searched {searched} of {}\n", number(of, "session")));
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct SearchJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    sessions: Vec<FoundJson<'a>>,
    /// How many sessions were looked at.
    searched: usize,
    /// Not all were: there were enough hits.
    more: bool,
}

#[derive(Serialize)]
struct FoundJson<'a> {
    #[serde(flatten)]
    info: &'a SessionInfo,
    hits: &'a [Hit],
}
