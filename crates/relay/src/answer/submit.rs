//! The one way of an answer through the door, for `apply`, `watch` and `do`: the person at the terminal approves, and
//! what became of it is reported to people and as JSON.

use relaycode_change::plan::{Plan, PlanRefusal};
use relaycode_door::{AnswerProposal, Door, SubmitOutcome};

use crate::approver::{ApproverSession, ApproverSetup, TerminalApprover};
use crate::report::outcome::{OutcomeReporter, SubmitResult};
use crate::terminal::signals::ImmediateExit;
use crate::{AnswerSource, CommandContext, CommandResult, SignalGuard, UserPrograms};

/// Takes the answers of one source through the door.
pub(crate) struct Submitter<'a> {
    pub(crate) door: &'a Door,
    pub(crate) source: &'a AnswerSource,
    /// There are other answers in the same text.
    pub(crate) is_batch: bool,
}

/// An answer that went through, and was told about.
pub(crate) struct SubmittedAnswer {
    pub(crate) result: SubmitResult,
    /// `None`: something went wrong.
    pub(crate) outcome: Option<SubmitOutcome>,
    /// Somebody sat at the terminal and answered a question about it.
    pub(crate) was_answered: bool,
}

impl Submitter<'_> {
    /// Plans an answer while nothing was begun: a signal ends relay at once.
    pub(crate) fn plan_first(
        &self,
        answer: &AnswerProposal,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<Result<Plan, Box<PlanRefusal>>> {
        ctx.console.flush();
        let _exit = ImmediateExit::arm(ctx)?;
        Ok(self.door.plan(&self.source.submission(answer)))
    }

    /// `plan` is the answer's, where it was planned already.
    pub(crate) fn submit(
        &self,
        answer: &AnswerProposal,
        plan: Option<Result<Plan, Box<PlanRefusal>>>,
        session: Option<ApproverSession>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<SubmittedAnswer> {
        ctx.console.flush();
        SignalGuard::hold_until_exit()?;
        let clock = session.as_ref().map(|session| session.clock.clone());
        let mut approver =
            TerminalApprover::new(self.approver_setup(ctx), self.door.runner.clone(), session)?;
        let answer = &self.door.without_key(answer);
        ctx.console.hide_key(self.door.key());
        let mut submission = self.source.submission(answer);
        submission.limits.stop = SignalGuard::acquire()?.stop_flag();
        let outcome = match plan {
            Some(plan) => self.door.submit_planned(&submission, plan, &mut approver),
            None => self.door.submit(&submission, &mut approver),
        };
        let (shown_digest, was_answered) = (approver.shown_digest, approver.was_answered);
        drop(approver);
        // Somebody may have thought for long.
        ctx.console.update_width();
        let proposal = &answer.proposal;
        let mut reporter = OutcomeReporter { ctx, submitter: self, proposal, clock, shown_digest };
        let (result, outcome) = match outcome {
            Ok(outcome) => (reporter.report_outcome(&outcome), Some(outcome)),
            Err(error) => (reporter.report_error(error), None),
        };
        Ok(SubmittedAnswer { result, outcome, was_answered })
    }

    fn approver_setup(&self, ctx: &CommandContext<'_>) -> ApproverSetup {
        ApproverSetup {
            name: self.source.origin.name(),
            clock: None,
            config: self.door.config_file_name(),
            diff: self.source.diff,
            level: ctx.level(),
            json: ctx.is_json(),
            style: ctx.console.err_style(),
            programs: UserPrograms::from_env(),
        }
    }
}
