//! `relay sessions repair`: what can be read of a damaged session takes its place, and the original stays beside it.

use std::sync::Arc;

use relaycode_durable::Fs;
use relaycode_session::Session;
use relaycode_session::file::load_report::LoadIssue;
use relaycode_tui::outcome;
use serde_json::json;

use super::locator::{SessionLocator, session_failure};
use crate::{CommandContext, CommandResult, Exit};

/// Oddities that are listed for people; `--json` has more.
const MAX_LISTED: usize = 20;

/// Write what can be read of a damaged session in its place
///
/// The file as it was is kept beside it. A session with which nothing is wrong is left alone.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsRepairArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path
    session: String,
}

impl SessionsRepairArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(Some(&self.session))?;
        let (dir, name) = place.open_dir(&info)?;
        let fs: Arc<dyn Fs> = Arc::new(place.fs);
        let repaired = Session::repair(fs, dir, &name).map_err(|error| session_failure(&error))?;
        let kept = repaired.original.as_ref().map(|name| info.path.with_file_name(name));
        let found = &repaired.report.issues;
        let look = ctx.style();
        if let Some(kept) = &kept {
            let odd = found.iter().take(MAX_LISTED);
            let mut text: String =
                odd.map(|odd| outcome::warning_line(&look, &look.safe(&odd.to_string()))).collect();
            let more = found.len().saturating_sub(MAX_LISTED) as u64 + repaired.report.unlisted;
            if more > 0 {
                text += &outcome::indented_line(&look, &format!("and {more} more"));
            }
            if found.is_empty() {
                text += &outcome::warning_line(&look, "it was of an older format");
            }
            ctx.print(&text);
            ctx.print_success(&format!("repaired; entries now: {}", repaired.entries));
            ctx.print_detail(&format!("the file as it was: {}", kept.display()));
        } else {
            ctx.print_success("nothing to repair");
        }
        let oddity =
            |odd: &LoadIssue| json!({"offset": odd.offset, "len": odd.len, "message": odd.to_string()});
        let oddities: Vec<_> = found.iter().map(oddity).collect();
        Ok(ctx.print_result(
            Exit::Done,
            json!({
                "path": info.path.to_string_lossy(), "repaired": kept.is_some(), "found": oddities,
                "more": repaired.report.unlisted, "entries": repaired.entries,
                "original": kept.map(|kept| kept.to_string_lossy().into_owned()),
            }),
        ))
    }
}
