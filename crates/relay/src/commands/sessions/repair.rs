//! `relay sessions repair`: what can be read of a damaged session takes its place, and the original stays beside it.

use std::sync::Arc;

use relaycode_durable::Fs;
use relaycode_session::Session;
use relaycode_tui::outcome;
use serde_json::json;

use super::place::{Place, failed};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Oddities that are listed for people; `--json` has more.
const LISTED: usize = 20;

/// Write what can be read of a damaged session in its place
///
/// The file as it was is kept beside it. A session with which nothing is wrong is left alone.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RepairArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path
    #[arg(value_name = "SESSION")]
    session: String,
}

impl RepairArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let info = place.find(Some(&self.session))?;
        let (dir, name) = place.at(&info)?;
        let fs: Arc<dyn Fs> = Arc::new(place.fs);
        let repaired = Session::repair(fs, dir, &name).map_err(|error| failed(&error))?;
        let kept = repaired.original.as_ref().map(|name| info.path.with_file_name(name));
        let found = &repaired.report.oddities;
        let look = context.look();
        if kept.is_none() {
            context.say(&outcome::done(&look, "nothing to repair"));
        } else {
            let mut text = String::new();
            for oddity in found.iter().take(LISTED) {
                text += &outcome::remark(&look, &look.safe(&oddity.to_string()));
            }
            let more = found.len().saturating_sub(LISTED) as u64 + repaired.report.more;
            if more > 0 {
                text += &outcome::aside(&look, &format!("and {more} more"));
            }
            if found.is_empty() {
                text += &outcome::remark(&look, "it was of an older format");
            }
            context.tell(&text);
            context.say(&outcome::done(&look, &format!("repaired; entries now: {}", repaired.entries)));
            if let Some(kept) = &kept {
                let said = format!("the file as it was: {}", look.safe(&kept.display().to_string()));
                context.say(&outcome::aside(&look, &said));
            }
        }
        let oddities: Vec<_> = found
            .iter()
            .map(|odd| json!({"offset": odd.offset, "len": odd.len, "message": odd.to_string()}))
            .collect();
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "sessions", "path": info.path.to_string_lossy(),
            "repaired": kept.is_some(), "found": oddities, "more": repaired.report.more, "entries": repaired.entries,
            "original": kept.map(|kept| kept.to_string_lossy().into_owned()),
        }));
        Ok(Exit::Done)
    }
}
