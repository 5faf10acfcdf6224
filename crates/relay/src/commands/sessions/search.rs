//! `relay sessions search`: words in what was said.

use std::time::{Duration, Instant};

use relaycode_session::SessionSummary;
use relaycode_session::find::search::{self, SearchHit, SearchWords};
use relaycode_tui::pluralize;
use relaycode_tui::views::sessions::hits as view;
use relaycode_tui::views::sessions::hits::SessionMatch;
use serde_json::json;

use super::locator::{SessionLocator, id_digits, parse_positive, read_failure, session_title, short_id};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, SignalGuard, json};

/// Messages that are shown of one session.
const MAX_HITS_SHOWN: usize = 3;

/// Find messages that have all the words, newest session first
///
/// Upper and lower case are the same. What was said, tools' results and summaries are searched on all branches.
/// Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsSearchArgs {
    /// What to look for
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,

    /// In the sessions of every directory
    #[arg(short, long)]
    all: bool,

    /// How many sessions to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = parse_positive, alias = "limit")]
    count: usize,
}

impl SessionsSearchArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let words = SearchWords::parse(&self.words.join(" "))
            .ok_or_else(|| CommandFailure::usage("give a word to look for"))?;
        let place = SessionLocator::open(ctx)?;
        let listing = place.listing();
        let listed = listing.list(place.scope(self.all), true);
        let sessions = listed.map_err(|error| read_failure(&listing.sessions(), &error))?.sessions;
        let signals = SignalGuard::acquire()?;
        let (mut found, mut searched, mut skipped, mut more) = (Vec::new(), 0, 0, false);
        let mut last_told = Instant::now();
        for info in &sessions {
            if found.len() == self.count {
                more = true;
                break;
            }
            if last_told.elapsed() >= PROGRESS_INTERVAL {
                last_told = Instant::now();
                let all = pluralize(sessions.len(), "session");
                ctx.eprint_at(LogLevel::Info, &format!("searched {searched} of {all}\n"));
            }
            let stop = || signals.stop_requested();
            let hits = match search::search_session(&place.fs, info, &words, MAX_HITS_SHOWN, &stop) {
                Ok(hits) => hits,
                Err(error) => {
                    let said = format!("{} cannot be read: {error}", info.path.display());
                    ctx.eprint_remark(LogLevel::Warn, &said);
                    continue;
                }
            };
            if hits.stopped {
                return Err(CommandFailure::interrupted().unchanged());
            }
            searched += 1;
            skipped += hits.skipped;
            if !hits.hits.is_empty() {
                found.push((info, hits.hits));
            }
        }
        if skipped > 0 {
            let lines = pluralize(skipped, "line");
            ctx.eprint_remark(LogLevel::Warn, &format!("{lines} too long to search"));
        }
        self.print_hits(&sessions, &found, searched, more, ctx);
        Ok(Exit::Done)
    }

    fn print_hits(
        &self,
        sessions: &[SessionSummary],
        found: &[(&SessionSummary, Vec<SearchHit>)],
        searched: usize,
        more: bool,
        ctx: &mut CommandContext<'_>,
    ) {
        if ctx.is_json() {
            let session = |(info, hits): &(&SessionSummary, Vec<SearchHit>)| {
                let mut object = json::to_value(info);
                object["hits"] = json!(hits);
                object
            };
            // `more`: not all sessions were looked at, because there were enough hits.
            let sessions: Vec<_> = found.iter().map(session).collect();
            ctx.print_result(Exit::Done, json!({"sessions": sessions, "searched": searched, "more": more}));
            return;
        }
        let look = ctx.console.out_style();
        if found.is_empty() {
            ctx.print_info(&view::no_matches(searched, &look));
            return;
        }
        if ctx.is_quiet() {
            for (info, _) in found {
                ctx.console.print(&format!("{}\n", look.safe(&info.id)));
            }
            return;
        }
        let digits = id_digits(sessions);
        let shown: Vec<SessionMatch> = found
            .iter()
            .map(|(info, hits)| SessionMatch {
                id: short_id(&info.id, digits),
                modified: info.modified.clone(),
                about: session_title(info),
                cwd: self.all.then(|| info.cwd.clone()),
                hits: hits.iter().map(|hit| (hit.role.clone(), hit.clip.clone())).collect(),
            })
            .collect();
        ctx.console.print(&view::text(&shown, &look));
        if more {
            let said = format!("\nthere may be more; `-n {}` looks further\n", self.count.saturating_mul(5));
            ctx.console.print(&look.wrap(&said, 2));
        }
    }
}

/// Nobody wonders before, and nobody wants to hear it more often.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(3);
