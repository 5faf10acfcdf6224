//! Have a friend review what a branch adds, or what is not committed yet.
//!
//! A friend's own review comes first where it has one and nothing is wanted that it cannot do: a prompt, some files,
//! a form, a verdict, uncommitted work. If it fails, the difference goes to the friend as a prompt, in what is left
//! of the same time, and that is told. A difference that is empty or that git cannot give is an error: a failed
//! review never reads as a pass.

use std::path::{Component, Path};

use relaycode_project::git::{DiffBase, Git, GitDiff, GitError};
use serde_json::Value;

use crate::ask::run::{AskRun, OptionalTreeCheck};
use crate::ask::verdict;
use crate::ask::verdict::{ReviewVerdict, VerdictError};
use crate::ask::{self, AskError, AskFailure, AskOptions, AskOutcome, AskPromptBuilder};
use crate::friend::Friend;
use crate::friend::depth;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::{TurnMemory, TurnTask};
use crate::prompt::diff;
use crate::prompt::diff::{SentDiffScope, SentSummary};
use crate::prompt::schema::AnswerSchema;

/// What is asked when nobody says.
pub const PROMPT: &str = "Review the following changes.";

/// What a friend shall review.
#[derive(Debug, Clone)]
pub struct ReviewRequest {
    /// What the branch is compared with; `None`: what is found ([`Git::default_base`]).
    pub base: Option<String>,
    /// Only these files and directories: relative to the project's root, or absolute. Empty: all.
    pub paths: Vec<String>,
    /// What is asked; `None`: [`PROMPT`].
    pub prompt: Option<String>,
    /// What goes with it ([`crate::context`]).
    pub context: Option<String>,
    /// Whether the uncommitted work is reviewed with what is committed.
    pub uncommitted: bool,
    /// Whether it has to come to a verdict.
    pub verdict: bool,
    /// On which terms.
    pub options: AskOptions,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewOutcome {
    /// The review in the friend's words, and what was sent.
    pub outcome: AskOutcome,
    /// What it was compared with.
    pub base: DiffBase,
    /// What it comes to, if a verdict was wanted. There is none without one then.
    pub verdict: Option<ReviewVerdict>,
}

/// Has a friend review.
///
/// # Errors
/// Why there is no review, or no verdict.
pub fn review(
    friend: &dyn Friend,
    reviewing: &ReviewRequest,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(FriendEvent),
) -> Result<ReviewOutcome, AskError> {
    let terms = &reviewing.options;
    let limits = terms.turn_limits()?;
    let root = terms.real_directory()?;
    terms.check_access(friend)?;
    if reviewing.prompt.as_deref().is_some_and(ask::is_blank) {
        return Err(AskError::NoPrompt);
    }
    let schema = answer_schema(reviewing)?;
    let context = ask::check_context(reviewing.context.as_deref())?;
    let git = Git::new(&world.runner, &root);
    let base = match &reviewing.base {
        Some(name) => git.resolve_base(name)?,
        None => git.default_base()?,
    };
    depth::check_depth(world.depth)?;
    let paths = git_paths(&reviewing.paths, &root)?;
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (diff, sent) = diff::diff_for_review(&git, &base, &paths, reviewing.uncommitted)?;
    let could = can_use_own(friend, reviewing) && matches!(sent.scope, SentDiffScope::Branch { .. });
    let own = could && git.is_ref_name(&base)?;
    let request = request(reviewing);
    let letter =
        AskPromptBuilder { root: &root, request: &request, context, diff: &diff, schema: schema.as_ref() };
    // Written before anything is sent, so that what is too large is known; a friend that looks for itself does
    // not need it.
    let letter = diff::check_diff_size(&diff).and_then(|()| letter.build(friend, sent.clone()));
    let letter = letter.map_err(|error| error.with_base(&base));
    let letter = if own { letter } else { Ok(letter?) };
    let none = SentSummary::new(SentDiffScope::FriendOwnDiff { base: base.clone() }, &GitDiff::default());
    let looked = SentSummary { uncommitted_left_out: sent.uncommitted_left_out, ..none };
    if could && !own {
        let why = format!("its own review compares with branches and tags, and {} is neither", base.name);
        hear(FriendEvent::Fallback(why));
    }
    if own { &looked } else { &sent }.report(hear);
    let session = ask::new_run(friend, world, terms, (&root, schema.as_ref(), limits));
    let watch = session.begin_tree_check(terms.check_tree, &git);
    let asked = match (own, &watch) {
        (_, Err(_)) => session.finish(Err(session.cancelled_failure()), watch, sent),
        (true, Ok(_)) => run_own_review(&session, (&base, looked), letter, watch, hear),
        (false, Ok(_)) => letter.and_then(|(prompt, sent)| {
            let answer = session.run_turn(TurnTask::Prompt(prompt), hear);
            session.finish(answer, watch, sent)
        }),
    }?;
    conclude(friend, reviewing, &root, base, asked)
}

/// The friend's own review; if that fails in a way that may be its own fault, the difference as a prompt.
fn run_own_review(
    session: &AskRun<'_>,
    (base, looked): (&DiffBase, SentSummary),
    letter: Result<(String, SentSummary), AskError>,
    watch: Result<OptionalTreeCheck, FriendFailure>,
    hear: &mut dyn FnMut(FriendEvent),
) -> Result<AskOutcome, AskError> {
    // By its name, which was looked up: codex compares with branches and tags, and with no commit.
    let own = session.run_turn(TurnTask::Review { base: base.name.clone() }, hear);
    let failure = match own {
        Err(failure) if allows_fallback(&failure) => failure,
        ended => return session.finish(ended, watch, looked),
    };
    hear(FriendEvent::AnswerRestarted);
    match letter {
        Ok((prompt, sent)) => {
            hear(FriendEvent::Fallback(format!(
                "its own review failed ({failure}); the difference is sent to it"
            )));
            sent.report(hear);
            let answer = session.run_turn(TurnTask::Prompt(prompt), hear);
            session.finish(answer, watch, sent)
        }
        // Too large to be sent: what the friend said is why there is no review.
        Err(error) => {
            hear(FriendEvent::Fallback(format!("the difference cannot be sent instead: {error}")));
            session.finish(Err(failure), watch, looked)
        }
    }
}

/// Whether the same friend may do better when it is asked another way. Not after a refusal of ours, when its time
/// is over or somebody broke it off, nor where every way needs what is missing.
fn allows_fallback(failure: &FriendFailure) -> bool {
    match failure {
        FriendFailure::Unsupported { .. }
        | FriendFailure::NoAnswer { .. }
        | FriendFailure::SchemaMismatch { .. }
        | FriendFailure::Failed { .. }
        | FriendFailure::AnswerTooLarge { .. }
        | FriendFailure::InputStalled { .. }
        | FriendFailure::Exec { .. } => true,
        FriendFailure::NotInstalled { .. }
        | FriendFailure::TooOld { .. }
        | FriendFailure::UnknownVersion { .. }
        | FriendFailure::NotSignedIn { .. }
        | FriendFailure::AccessMismatch { .. }
        | FriendFailure::UnknownSession { .. }
        | FriendFailure::Unreachable { .. }
        | FriendFailure::TimedOut { .. }
        | FriendFailure::Cancelled { .. } => false,
    }
}

/// Whether the friend's own review does what is wanted.
fn can_use_own(friend: &dyn Friend, reviewing: &ReviewRequest) -> bool {
    friend.abilities().review
        && reviewing.prompt.is_none()
        && reviewing.context.is_none()
        && reviewing.paths.is_empty()
        && reviewing.options.schema.is_none()
        && !reviewing.verdict
        && !reviewing.uncommitted
        && reviewing.options.memory == TurnMemory::None
}

/// The form that the answer has to have.
fn answer_schema(reviewing: &ReviewRequest) -> Result<Option<AnswerSchema>, AskError> {
    match (&reviewing.options.schema, reviewing.verdict) {
        (Some(_), true) => Err(AskError::SchemaAndVerdict),
        (None, true) => Ok(Some(AnswerSchema::new(verdict::verdict_schema())?)),
        (schema, false) => Ok(schema.clone().map(AnswerSchema::new).transpose()?),
    }
}

fn request(reviewing: &ReviewRequest) -> String {
    let prompt = reviewing.prompt.as_deref().unwrap_or(PROMPT);
    if reviewing.verdict {
        format!("{}\n\n{}", prompt.trim(), verdict::VERDICT_REQUEST)
    } else {
        prompt.to_string()
    }
}

/// What the answer comes to.
fn conclude(
    friend: &dyn Friend,
    reviewing: &ReviewRequest,
    root: &Path,
    base: DiffBase,
    mut asked: AskOutcome,
) -> Result<ReviewOutcome, AskError> {
    if !reviewing.verdict {
        return Ok(ReviewOutcome { outcome: asked, base, verdict: None });
    }
    let friend = friend.name().to_string();
    match ReviewVerdict::from_json(asked.answer.value.as_ref().unwrap_or(&Value::Null), root) {
        Ok(verdict) => {
            asked.answer.remarks.extend(verdict.remarks.iter().cloned());
            Ok(ReviewOutcome { outcome: asked, base, verdict: Some(verdict) })
        }
        Err(VerdictError::Abstained(summary)) => {
            Err(AskError::Abstained { friend, summary, outcome: Box::new(asked) })
        }
        Err(VerdictError::Malformed(fault)) => {
            let AskOutcome { answer, sent, tree_check: looked, took } = asked;
            let failure = FriendFailure::SchemaMismatch { friend, fault, text: answer.text };
            Err(AskError::Friend(Box::new(AskFailure { failure, sent, tree_check: looked, took })))
        }
    }
}

/// Paths of the project as git takes them; the project itself is no limit.
fn git_paths(given: &[String], root: &Path) -> Result<Vec<String>, AskError> {
    let mut paths = Vec::new();
    for path in given {
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
        let mut parts = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(part) => parts.extend(part.to_str()),
                Component::CurDir => {}
                _ => return Err(GitError::BadPath { path: path.clone() }.into()),
            }
        }
        if path.is_empty() {
            return Err(GitError::BadPath { path: path.clone() }.into());
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        paths.push(parts.join("/"));
    }
    Ok(paths)
}
