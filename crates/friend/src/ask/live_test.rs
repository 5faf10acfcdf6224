//! Whether a friend really answers: the smallest question there is, with nothing to look at and nothing to change.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::access::Access;
use relaycode_text::width::clip_for_message;

use crate::friend::Friend;
use crate::friend::depth;
use crate::friend::depth::RelayDepthError;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::{FriendTurn, TurnLimits, TurnMemory, TurnTask};

/// How long it may take in all. A model on one's own machine may have to be loaded first.
pub const LIVE_TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// What it is asked.
const QUESTION: &str = "Answer with the one word: ready";
/// Cells of the answer that are kept.
const SAID: usize = 60;

/// A friend that answered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveTestReport {
    /// How long it took.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// Which model answered, if the friend says.
    pub model: Option<String>,
    /// By which way.
    pub way: &'static str,
    /// The beginning of what it said, fit to be shown.
    pub said: String,
    /// What a person should know beside it.
    pub remarks: Vec<String>,
}

/// Why there is no word.
#[derive(Debug, thiserror::Error)]
pub enum LiveTestError {
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] RelayDepthError),
    /// The friend failed.
    #[error(transparent)]
    Friend(#[from] FriendFailure),
}

/// Asks a friend for one word, read-only, within [`LIVE_TEST_TIMEOUT`], in a new empty directory in `scratch`, which is gone afterwards.
///
/// # Errors
/// Why it was not asked, or did not answer.
pub fn run_live_test(
    friend: &dyn Friend,
    model: Option<&str>,
    scratch: &Path,
    world: &FriendContext<'_>,
) -> Result<LiveTestReport, LiveTestError> {
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
    let turn = FriendTurn {
        task: TurnTask::Prompt(QUESTION.to_string()),
        directory: directory.clone(),
        access: Access::ReadOnly,
        model: model.map(str::to_string),
        schema: None,
        memory: TurnMemory::None,
        limits: TurnLimits::new(LIVE_TEST_TIMEOUT, LIVE_TEST_TIMEOUT),
    };
    let answered = friend.run_turn(&turn, world, &mut |_| {});
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
