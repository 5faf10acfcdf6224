//! Ask a friend: everything is checked before anything is sent, and what comes back is checked before it counts.
//!
//! The order of the checks is fixed, cheapest first: prompt, time, project, access, schema, context, difference,
//! size of the whole, depth. A friend that failed never reads as an answer. With read-only access the project is
//! compared afterwards ([`crate::tree`]), also after a failure; a difference is told, and does not take the answer
//! away.

mod error;
pub mod live_test;
mod options;
pub mod review;
pub(crate) mod run;
pub mod verdict;

use std::path::Path;
use std::time::Duration;

use relaycode_project::git::{Git, GitDiff};

pub use error::{AskError, AskFailure};
pub use options::AskOptions;

use crate::friend::Friend;
use crate::friend::answer::FriendAnswer;
use crate::friend::depth;
use crate::friend::event::FriendEvent;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::{TurnLimits, TurnTask};
use crate::prompt::diff;
use crate::prompt::diff::{SentDiffScope, SentSummary};
use crate::prompt::envelope::PromptEnvelope;
use crate::prompt::limits::{NAMED_FILES, PromptSizeLimit};
use crate::prompt::schema::AnswerSchema;
use crate::tree_check::TreeCheckReport;
use run::AskRun;

/// What a friend is asked.
#[derive(Debug, Clone)]
pub struct AskRequest {
    /// The question.
    pub prompt: String,
    /// What goes with it ([`crate::context`]).
    pub context: Option<String>,
    /// Whether a difference goes with it.
    pub include_diff: bool,
    /// On which terms.
    pub options: AskOptions,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskOutcome {
    /// The answer; with a schema, it follows it.
    pub answer: FriendAnswer,
    /// What was sent.
    pub sent: SentSummary,
    /// What was changed in the project while it ran: by the friend, or by somebody else. Nothing, if nobody wanted to
    /// know.
    pub tree_check: TreeCheckReport,
    /// How long it took.
    pub took: Duration,
}

/// Asks a friend.
///
/// # Errors
/// Why there is no answer.
pub fn ask(
    friend: &dyn Friend,
    asking: &AskRequest,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(FriendEvent),
) -> Result<AskOutcome, AskError> {
    if is_blank(&asking.prompt) {
        return Err(AskError::NoPrompt);
    }
    let terms = &asking.options;
    let limits = terms.turn_limits()?;
    let root = terms.real_directory()?;
    terms.check_access(friend)?;
    let schema = terms.schema.clone().map(AnswerSchema::new).transpose()?;
    let context = check_context(asking.context.as_deref())?;
    let git = Git::new(&world.runner, &root);
    let (diff, sent) = match asking.include_diff {
        true => diff::diff_for_ask(&git)?,
        false => (GitDiff::default(), SentSummary::new(SentDiffScope::NotRequested, &GitDiff::default())),
    };
    let letter = AskPromptBuilder {
        root: &root,
        request: &asking.prompt,
        context,
        diff: &diff,
        schema: schema.as_ref(),
    };
    let (prompt, sent) = letter.build(friend, sent)?;
    depth::check_depth(world.depth)?;
    sent.report(hear);
    let session = new_run(friend, world, terms, (&root, schema.as_ref(), limits));
    let watch = session.begin_tree_check(terms.check_tree, &git);
    let answer = match &watch {
        Ok(_) => session.run_turn(TurnTask::Prompt(prompt), hear),
        Err(_) => Err(session.cancelled_failure()),
    };
    session.finish(answer, watch, sent)
}

/// One friend on these terms, with what was made of them.
pub(crate) fn new_run<'a>(
    friend: &'a dyn Friend,
    world: &'a FriendContext<'a>,
    terms: &'a AskOptions,
    (root, schema, limits): (&'a Path, Option<&'a AnswerSchema>, TurnLimits),
) -> AskRun<'a> {
    let (access, model, memory) = (terms.access, terms.model.as_deref(), &terms.memory);
    AskRun { friend, world, root, access, model, schema, memory, limits }
}

/// A prompt and what goes with it.
pub(crate) struct AskPromptBuilder<'a> {
    pub(crate) root: &'a Path,
    pub(crate) request: &'a str,
    pub(crate) context: Option<&'a str>,
    pub(crate) diff: &'a GitDiff,
    pub(crate) schema: Option<&'a AnswerSchema>,
}

impl AskPromptBuilder<'_> {
    /// The whole prompt, and how large it is.
    ///
    /// # Errors
    /// If it is too large.
    pub(crate) fn build(
        &self,
        friend: &dyn Friend,
        sent: SentSummary,
    ) -> Result<(String, SentSummary), AskError> {
        let format = self.schema.filter(|_| !friend.abilities().schema).map(|schema| {
            format!(
                "Answer with one JSON value that follows this JSON schema, and with nothing else: no words before \
                 or after it, no code fence.\n{}",
                schema.as_json()
            )
        });
        let diff = (!self.diff.is_empty()).then_some(self.diff.text.as_str());
        let envelope = PromptEnvelope {
            root: self.root,
            request: self.request,
            context: self.context,
            diff,
            format: format.as_deref(),
        };
        let prompt = envelope.text();
        PromptSizeLimit::Prompt.check(prompt.len() as u64, || self.diff.largest(NAMED_FILES))?;
        let context = self.context.map_or(0, str::len);
        let sent = SentSummary { context, prompt: Some(prompt.clone()), ..sent };
        Ok((prompt, sent))
    }
}

/// The context, if it is not too large.
pub(crate) fn check_context(context: Option<&str>) -> Result<Option<&str>, AskError> {
    if let Some(context) = context {
        PromptSizeLimit::Context.check(context.len() as u64, Vec::new)?;
    }
    Ok(context.filter(|context| !context.trim().is_empty()))
}

/// Whether a text says nothing: blanks, and characters that nobody sees.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || relaycode_text::hidden::is_hidden(c))
}
