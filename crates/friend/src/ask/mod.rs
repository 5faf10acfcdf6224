//! Ask a friend: everything is checked before anything is sent, and what comes back is checked before it counts.
//!
//! The order of the checks is fixed, cheapest first: prompt, time, project, access, schema, context, depth, difference,
//! size of the whole. A friend that failed never reads as an answer. With read-only access the project is compared
//! afterwards ([`crate::tree_check`]), also after a failure; a difference is told, and does not take the answer away.

mod error;
pub mod live_test;
pub mod review;
pub mod verdict;

use std::time::{Duration, Instant};

use relaycode_project::git::{Git, GitDiff};
use serde_json::Value;

use crate::friend::depth;
use crate::prompt::diff::{self, SentDiffScope, SentSummary};
use crate::prompt::envelope::PromptEnvelope;
use crate::prompt::limits::{NAMED_FILES, PromptSizeLimit};
use crate::prompt::schema::{AnswerSchema, extract_json};
use crate::tree_check::{TreeCheck, TreeCheckReport};
use crate::{
    AnswerFormat, AskDiff, AskRequest, EventSink, Friend, FriendAnswer, FriendContext, FriendFailure,
    FriendTurn, TurnResult,
};

pub use error::AskError;

/// What came of asking one friend.
#[derive(Debug)]
pub struct FriendResult {
    pub friend: String,
    /// The answer, in the form that was asked for; or why there is none.
    pub answer: Result<FriendAnswer, AskError>,
    /// What was sent; `None`: nothing.
    pub sent: Option<SentSummary>,
    /// What was changed in the project while it ran: by the friend, or by somebody else. Nothing, if nobody wanted to
    /// know.
    pub tree_check: TreeCheckReport,
    /// How long it took.
    pub took: Duration,
    pub remarks: Vec<String>,
}

pub fn ask(
    friend: &dyn Friend,
    request: &AskRequest,
    world: &FriendContext<'_>,
    hear: &mut EventSink<'_>,
) -> FriendResult {
    let began = Instant::now();
    let tree_check = TreeCheckReport::default();
    let mut run = AskRun { friend, request, world, schema: None, sent: None, tree_check };
    let answer = run.run(hear);
    let heard = !matches!(&answer, Err(AskError::Friend(failure)) if !failure.heard_prompt());
    let AskRun { sent, tree_check, .. } = run;
    let (friend, sent) = (friend.name().to_string(), sent.filter(|_| heard));
    FriendResult { friend, answer, sent, tree_check, took: began.elapsed(), remarks: Vec::new() }
}

struct AskRun<'a> {
    friend: &'a dyn Friend,
    request: &'a AskRequest,
    world: &'a FriendContext<'a>,
    schema: Option<AnswerSchema>,
    sent: Option<SentSummary>,
    tree_check: TreeCheckReport,
}

impl AskRun<'_> {
    fn run(&mut self, hear: &mut EventSink<'_>) -> Result<FriendAnswer, AskError> {
        let request = self.request;
        self.check_request()?;
        self.schema = request.schema().cloned().map(AnswerSchema::new).transpose()?;
        if let Some(context) = &request.context {
            PromptSizeLimit::Context.check(context.len() as u64, Vec::new)?;
        }
        depth::check_depth(self.world.depth)?;
        let git = Git::new(&self.world.runner, &request.directory);
        let (base, diff, sent) = match &request.diff {
            AskDiff::None => {
                let none = GitDiff::default();
                let sent = SentSummary::new(SentDiffScope::NotRequested, &none);
                (None, none, sent)
            }
            AskDiff::Latest => {
                let (diff, sent) = diff::diff_for_ask(&git)?;
                (None, diff, sent)
            }
            AskDiff::Review(scope) => {
                let (base, diff, sent) = review::diff_for_scope(scope, &request.directory, &git)?;
                (Some(base), diff, sent)
            }
        };
        let own = match &base {
            Some(base) if self.can_review_itself(base, &sent, &git, hear)? => Some(base),
            _ => None,
        };
        // Written before anything is sent, so that what is too large is known; a friend that looks for itself does not
        // need it.
        let left_out = sent.uncommitted_left_out;
        let whole = self.with_prompt(sent, &diff).map_err(|error| error.with_base(base.as_ref()));
        let (start, fallback) = match own {
            Some(base) => (SentSummary::for_own_review(base, left_out), Some(whole)),
            None => (whole?, None),
        };
        self.report_sending(start, hear);
        let watch = self.begin_tree_check(&git)?;
        let answer = match (own, fallback) {
            (Some(base), Some(fallback)) => self.run_own_review(base, fallback, hear),
            _ => self.run_prompt(hear),
        };
        // Also after the time is over, and a while after a stop.
        self.tree_check = watch.map(|watch| watch.finish(self.world.stop_requested)).unwrap_or_default();
        Ok(self.with_verdict(answer?)?)
    }

    fn check_request(&self) -> Result<(), AskError> {
        let AskRequest { prompt, limits, directory, access, .. } = self.request;
        if is_blank(prompt) {
            return Err(AskError::NoPrompt);
        }
        if limits.total.is_zero() || limits.idle.is_zero() {
            return Err(AskError::ZeroTimeout);
        }
        if !(directory.is_dir() && directory.canonicalize().is_ok_and(|real| real == *directory)) {
            return Err(AskError::NotADirectory { path: directory.clone() });
        }
        let (friend, can) = (self.friend.name().to_string(), self.friend.abilities().access);
        match can.contains(access) {
            true => Ok(()),
            false => Err(AskError::AccessNotSupported { friend, access: *access, can }),
        }
    }

    fn with_prompt(&self, sent: SentSummary, diff: &GitDiff) -> Result<SentSummary, AskError> {
        diff::check_diff_size(diff)?;
        let request = self.request;
        let context = request.context.as_deref().filter(|context| !context.trim().is_empty());
        let format = self.schema.as_ref().filter(|_| !self.friend.abilities().schema).map(|schema| {
            format!(
                "Answer with one JSON value that follows this JSON schema, and with nothing else: no words before \
                 or after it, no code fence.\n{}",
                schema.as_json()
            )
        });
        let mut asked = match request.format {
            AnswerFormat::Verdict => format!("{}\n\n{}", request.prompt.trim(), verdict::VERDICT_REQUEST),
            _ => request.prompt.clone(),
        };
        if let SentDiffScope::Range { tip, .. } = &sent.scope {
            asked = format!(
                "{}\n\nThe changes are those of {}, commit {}, which need not be checked out: the files in the repository \
                 path may be of another state. `git show {}:PATH` shows one as it is there.",
                asked.trim(),
                tip.name,
                tip.commit,
                tip.commit
            );
        }
        let envelope = PromptEnvelope {
            root: &request.directory,
            request: &asked,
            context,
            diff: (!diff.is_empty()).then_some(diff.text.as_str()),
            format: format.as_deref(),
        };
        let prompt = envelope.text();
        PromptSizeLimit::Prompt.check(prompt.len() as u64, || diff.largest(NAMED_FILES))?;
        Ok(SentSummary { context: context.map_or(0, str::len), prompt: Some(prompt), ..sent })
    }

    fn report_sending(&mut self, sent: SentSummary, hear: &mut EventSink<'_>) {
        sent.report(hear);
        self.sent = Some(sent);
    }

    /// Looks at the project, if it shall be compared afterwards.
    fn begin_tree_check(&self, git: &Git<'_>) -> TurnResult<Option<TreeCheck>> {
        if !self.request.check_tree || self.request.access.may_write() {
            return Ok(None);
        }
        let stop = || self.check_expired().is_err();
        TreeCheck::begin(&self.request.directory, Some(git), &stop)
            .map(Some)
            .map_err(|_| self.check_expired().err().unwrap_or_else(|| self.timeout_failure()))
    }

    fn run_prompt(&self, hear: &mut EventSink<'_>) -> TurnResult {
        self.check_expired()?;
        let prompt = self.sent.as_ref().and_then(|sent| sent.prompt.as_deref()).unwrap_or_default();
        let turn = &mut FriendTurn { request: self.request, world: self.world, fence: None, hear };
        self.check_answer(self.friend.run_prompt(prompt, turn)?)
    }

    fn check_expired(&self) -> TurnResult<()> {
        if (self.world.stop_requested)() {
            return Err(FriendFailure::Cancelled { friend: self.friend.name().to_string() });
        }
        if self.request.limits.remaining().is_zero() { Err(self.timeout_failure()) } else { Ok(()) }
    }

    fn timeout_failure(&self) -> FriendFailure {
        let (friend, after) = (self.friend.name().to_string(), self.request.limits.total);
        FriendFailure::TimedOut { friend, after, idle: false, said: String::new() }
    }

    /// An answer, if it is one.
    fn check_answer(&self, mut answer: FriendAnswer) -> TurnResult {
        let friend = self.friend.name().to_string();
        let value = answer.value.take().filter(|_| self.schema.is_some());
        if value.is_none() && is_blank(&answer.text) {
            return Err(FriendFailure::NoAnswer { friend, said: String::new() });
        }
        let Some(schema) = &self.schema else { return Ok(answer) };
        // What the friend read from its answer itself is held to the schema like everything else.
        let value = value.map_or_else(|| extract_json(&answer.text, schema), Ok);
        let checked = |value: Value| schema.check(&value).map(|()| value).map_err(|fault| fault.to_string());
        let value = match value.and_then(checked) {
            Ok(value) => value,
            Err(fault) => return Err(FriendFailure::SchemaMismatch { friend, fault, text: answer.text }),
        };
        if serde_json::from_str(answer.text.trim()).ok().as_ref() != Some(&value) {
            if !is_blank(&answer.text) {
                answer.remarks.push("words around the JSON are left out".to_string());
            }
            answer.text = value.to_string();
        }
        answer.remarks.extend(schema.remarks().iter().cloned());
        answer.value = Some(value);
        Ok(answer)
    }
}

/// Whether a text says nothing: blanks, and characters that nobody sees.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || relaycode_text::hidden::is_hidden(c))
}
