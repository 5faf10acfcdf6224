//! Whether a friend really answers: the smallest question there is, with nothing to look at and nothing to change.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_text::width::clip_for_message;

use crate::friend::depth;
use crate::{AskError, AskRequest, Friend, FriendContext, FriendFailure, FriendTurn, TurnLimits};

/// How long it may take in all. A model on one's own machine may have to be loaded first.
pub const LIVE_TEST_TIMEOUT: Duration = Duration::from_secs(60);
const QUESTION: &str = "Answer with the one word: ready";
/// Cells of the answer that are kept.
const SAID: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveTestReport {
    /// How long it took.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// Which model answered, if the friend says.
    pub model: Option<String>,
    pub way: &'static str,
    /// The beginning of what it said, fit to be shown.
    pub said: String,
    pub remarks: Vec<String>,
}

/// Asks a friend for one word, read-only, within [`LIVE_TEST_TIMEOUT`], in a new empty directory in `scratch`, which is gone afterwards.
pub fn run_live_test(
    friend: &dyn Friend,
    model: Option<&str>,
    scratch: &Path,
    world: &FriendContext<'_>,
) -> Result<LiveTestReport, AskError> {
    depth::check_depth(world.depth)?;
    let began = Instant::now();
    let failed = |error: std::io::Error| FriendFailure::Failed {
        friend: friend.name().to_string(),
        said: format!("no empty directory could be made in {}: {error}", scratch.display()),
    };
    // A friend is told a path without links.
    let directory =
        scratch.canonicalize().map_err(failed)?.join(format!("try-{}", uuid::Uuid::new_v4().simple()));
    std::fs::create_dir(&directory).map_err(failed)?;
    let limits = TurnLimits::new(LIVE_TEST_TIMEOUT, LIVE_TEST_TIMEOUT);
    let model = model.map(str::to_string);
    let request = AskRequest { model, ..AskRequest::new(QUESTION, directory.clone(), limits) };
    let answered = friend
        .run_prompt(QUESTION, &mut FriendTurn { request: &request, world, fence: None, hear: &mut |_| {} });
    // What it left there is no use to anybody; that it cannot be removed is no reason to say that it failed.
    let _ = std::fs::remove_dir_all(&directory);
    let answer = answered?;
    Ok(LiveTestReport {
        took: began.elapsed(),
        model: answer.model,
        way: answer.transport,
        said: clip_for_message(answer.text.trim(), SAID),
        remarks: answer.remarks,
    })
}

fn milliseconds<S: serde::Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}
