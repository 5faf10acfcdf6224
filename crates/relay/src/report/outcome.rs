//! What became of an answer, told to people and to machines, and the exit code that says so to a script.

use relaycode_change::plan::{FileChangeKind, Plan};
use relaycode_change::proposal::Proposal;
use relaycode_door::gate::StepResult;
use relaycode_door::{
    AppliedChange, ApprovalReason, DoorError, GateReport, RuleConsent, SubmissionOrigin, SubmitOutcome,
};
use relaycode_ledger::Digest;
use relaycode_tui::{Glyph, views};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::ResultObject;
use crate::{
    AnswerOrigin, CommandContext, CommandFailure, Exit, LogLevel, ProjectState, Submitter, answer, json,
    project, questions,
};

/// How an answer's way ended.
pub(crate) struct SubmitResult {
    pub(crate) exit: Exit,
    /// What `--json` prints.
    pub(crate) json: ResultObject,
    /// It is in the ledger and in the project already; what stands behind it in the text may go on.
    pub(crate) already_applied: bool,
}

/// Tells what became of one answer.
pub(crate) struct OutcomeReporter<'a, 'c> {
    pub(crate) ctx: &'a mut CommandContext<'c>,
    pub(crate) submitter: &'a Submitter<'a>,
    pub(crate) proposal: &'a Proposal,
    /// The time that cards show, where answers come in one after the other.
    pub(crate) clock: Option<String>,
    /// The digest of the plan that whoever was asked has seen.
    pub(crate) shown_digest: Option<Digest>,
}

impl OutcomeReporter<'_, '_> {
    pub(crate) fn report_outcome(&mut self, outcome: &SubmitOutcome) -> SubmitResult {
        match outcome {
            SubmitOutcome::Applied(applied) => self.report_applied(applied),
            SubmitOutcome::AlreadyIn { plan } => {
                self.print_card(plan);
                self.result(Exit::Done, json!({"applied": false, "id": null}), Some(plan))
            }
            SubmitOutcome::Refused(refused) => {
                self.print_title();
                let Submitter { source, door, .. } = self.submitter;
                if !(self.ctx.is_quiet() && self.ctx.is_json()) {
                    let style = self.ctx.console.err_style();
                    let text = source.refusal_text(self.proposal, refused, false, &style);
                    self.ctx.eprint_at(LogLevel::Error, &text);
                }
                let object = source.refusal_json(self.proposal, refused, &door.root, self.ctx);
                SubmitResult { exit: Exit::Refused, json: object, already_applied: false }
            }
            outcome => self.report_not_applied(outcome),
        }
    }

    pub(crate) fn report_error(&mut self, error: DoorError) -> SubmitResult {
        self.print_title();
        self.report_failure(&error.into(), None, json!({}))
    }

    /// Which answer it is about, where they come in one after the other and there is no card.
    fn print_title(&mut self) {
        if let (Some(clock), None) = (&self.clock, self.shown_digest) {
            let name = self.submitter.source.origin.name();
            self.ctx.print_info(&views::card::title_line(clock, self.proposal, &name, &self.ctx.style()));
        }
    }

    fn report_applied(&mut self, applied: &AppliedChange) -> SubmitResult {
        let id = applied.record.uuid;
        if let Some(said) = &applied.sync_warning {
            let failure = project::disk_doubt_failure(&id.short(), said);
            return self.report_failure(&failure, Some(&applied.plan), json!({"id": id}));
        }
        self.print_card(&applied.plan);
        let files = applied.plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged).count();
        let look = self.ctx.style();
        let gate = applied.gate.as_ref();
        self.ctx.print_info(&views::outcome::applied(&id.short(), files, gate, self.undo_hint(), &look));
        if let Some(branch) = &applied.branch {
            self.ctx.print_detail(&format!("on a branch of its own: {branch}"));
        }
        for rule in &applied.record.rules {
            let text = views::outcome::detail_line(&self.ctx.console.err_style(), rule);
            self.ctx.eprint_at(LogLevel::Debug, &text);
        }
        let more = json!({
            "applied": true, "id": id.to_string(), "digest": applied.digest.to_string(),
            "decidedBy": applied.record.decided_by, "rules": applied.record.rules, "gate": applied.gate,
            "branch": applied.branch,
        });
        self.result(Exit::Done, more, Some(&applied.plan))
    }

    fn report_not_applied(&mut self, outcome: &SubmitOutcome) -> SubmitResult {
        match outcome {
            SubmitOutcome::Declined { plan, reason, put_back, gate } => {
                let said = if *put_back { "not kept" } else { "not applied" };
                let failure = CommandFailure::declined(said).with_state(ProjectState::after(*put_back));
                let more = json!({"reason": reason, "gate": gate});
                let ending = self.report_failure(&failure, Some(plan), more);
                if self.submitter.source.has_keys && (reason.is_some() || *put_back) {
                    let what = if reason.is_some() { "your reason" } else { "what the check said" };
                    self.ctx.print_detail(&format!(
                        "c copies {what} for your model; the same id may be sent again"
                    ));
                } else if let Some(reason) = reason {
                    self.ctx.print_info(&views::question::rejection_preview(reason, &self.ctx.style()));
                }
                ending
            }
            SubmitOutcome::ApprovalRequired { plan, rules } => {
                self.print_card(plan);
                let origin = self.submitter.source.origin.to_door_origin();
                let failure = nobody_to_ask(rules, origin, self.clock.is_some());
                self.report_failure(&failure, Some(plan), json!({"rules": rules}))
            }
            SubmitOutcome::PreCheckFailed { plan, step } => {
                self.print_card(plan);
                let said = format!("not applied: {}", step.failure_sentence());
                let failure = CommandFailure::new(Exit::GateFailed, "gate", said).unchanged();
                let hint = match step.result {
                    _ if step.missing_program().is_some() => {
                        "install it, or change the command in the configuration"
                    }
                    StepResult::TooLong => "`patch.commandTimeout` says how many seconds it may take",
                    _ => "fix what it reports, or change the command in the configuration",
                };
                let failure = failure.hint(hint);
                if step.missing_program().is_none() {
                    let tail = views::gate::output_tail(&step.output, &self.ctx.console.err_style());
                    self.ctx.eprint_at(LogLevel::Info, &tail);
                }
                self.report_failure(&failure, Some(plan), json!({"step": step}))
            }
            SubmitOutcome::GateFailed { plan, gate, rules } => self.report_gate(plan, gate, rules),
            SubmitOutcome::AlreadyProcessed { id, other_content } => {
                let (id, other_content) = (*id, *other_content);
                self.print_title();
                let failure = answer::already_processed(&self.submitter.door.ledger, id, other_content);
                let fate = project::find_revert_status(&self.submitter.door.ledger, id).ok();
                if self.submitter.is_batch && !other_content && fate.is_some_and(|fate| !fate.undone) {
                    let said = format!("{} was applied before: skipped", id.short());
                    self.ctx.eprint_remark(LogLevel::Warn, &said);
                    let result = self.failure_result(&failure, None, json!({}));
                    return SubmitResult { already_applied: true, ..result };
                }
                self.report_failure(&failure, None, json!({}))
            }
            other => {
                self.print_title();
                self.report_failure(&failure_without_plan(other), None, json!({}))
            }
        }
    }

    fn report_gate(&mut self, plan: &Plan, gate: &GateReport, rules: &[ApprovalReason]) -> SubmitResult {
        self.print_card(plan);
        let said: Vec<&str> = rules.iter().map(|rule| rule.sentence.as_str()).collect();
        let failure = CommandFailure::new(Exit::GateFailed, "gate", format!("not kept: {}", said.join("; ")))
            .with_state(ProjectState::PutBack);
        // What the commands did, not what they said.
        if views::gate::verdict_text(gate, &self.ctx.console.err_style()).is_none() {
            let failure = failure.hint("check what the project's commands do to its files");
            return self.report_failure(&failure, Some(plan), json!({"gate": gate}));
        }
        let failure = failure.hint("`--allow gate` keeps it anyway");
        let source = self.submitter.source;
        let mut next = Vec::new();
        // What was pasted into the window is nowhere that another command could take it from.
        if source.origin != AnswerOrigin::Paste {
            next.push(format!("keep it anyway: `{}`", source.retry_command_line("apply", "--allow gate")));
        }
        if source.has_keys {
            next.push("c copies the errors for your model".to_string());
        }
        let next = next.join(&format!(" {} ", self.ctx.style().glyph(Glyph::Dot)));
        let (state, style) = (ProjectState::PutBack.clause(), self.ctx.console.err_style());
        self.ctx.eprint_at(LogLevel::Error, &views::gate::refused_card(gate, state, Some(&next), &style));
        self.failure_result(&failure, Some(plan), json!({"gate": gate}))
    }

    /// Says what went wrong, on stderr.
    fn report_failure(&mut self, failure: &CommandFailure, plan: Option<&Plan>, more: Value) -> SubmitResult {
        self.ctx.console.report_failure(failure, "apply", false);
        self.failure_result(failure, plan, more)
    }

    fn failure_result(&mut self, failure: &CommandFailure, plan: Option<&Plan>, more: Value) -> SubmitResult {
        let mut result = self.result(failure.exit, more, plan);
        result.json.insert("error", failure);
        result
    }

    /// What undoes a change.
    fn undo_hint(&self) -> &'static str {
        if self.submitter.source.has_keys { "u" } else { "`relay undo`" }
    }

    /// The plan, if nobody has seen it yet.
    fn print_card(&mut self, plan: &Plan) {
        if self.shown_digest.is_some_and(|shown| shown == relaycode_door::plan_digest(plan)) {
            return;
        }
        let look = self.ctx.style();
        let source = self.submitter.source;
        let clock = self.clock.as_deref().unwrap_or_default();
        let mut text = source.card(self.proposal, plan, clock, &look);
        if source.diff {
            text += &views::diff::text(plan, &look);
        }
        self.ctx.print_info(&text);
    }

    fn result(&mut self, exit: Exit, more: Value, plan: Option<&Plan>) -> SubmitResult {
        let Submitter { door, .. } = self.submitter;
        let mut object = json!({"project": door.root.to_string_lossy(), "unread": self.proposal.unread});
        json::merge(&mut object, more);
        let mut json = ResultObject::new(self.ctx.command, exit, object);
        // Nobody reads it otherwise, and it holds every diff.
        if let Some(plan) = plan.filter(|_| self.ctx.is_json()) {
            json.insert_large("plan", &answer::PlanJson { plan, with_text: false });
        }
        SubmitResult { exit, json, already_applied: false }
    }
}

/// The object of the only answer of a text, or of several.
pub(crate) struct BatchJson<'a> {
    pub(crate) command: &'a str,
    pub(crate) exit: Exit,
    pub(crate) answers: usize,
    pub(crate) objects: Vec<ResultObject>,
}

impl Serialize for BatchJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SeveralResults<'a> {
            ok: bool,
            code: u8,
            command: &'a str,
            answers: usize,
            results: &'a [ResultObject],
        }
        let BatchJson { command, exit, answers, ref objects } = *self;
        match objects.as_slice() {
            [only] if answers == 1 => only.serialize(serializer),
            results => {
                let (ok, code) = (exit == Exit::Done, exit as u8);
                SeveralResults { ok, code, command, answers, results }.serialize(serializer)
            }
        }
    }
}

/// Somebody has to decide, and there is nobody. `in_watch`: in `relay watch`, which takes no options for one answer.
fn nobody_to_ask(rules: &[ApprovalReason], origin: SubmissionOrigin, in_watch: bool) -> CommandFailure {
    let said: Vec<&str> = rules.iter().map(|rule| rule.sentence.as_str()).collect();
    let message =
        format!("this needs a yes from you, and there is no terminal to ask on: {}", said.join("; "));
    let mut options: Vec<String> = Vec::new();
    for reason in rules {
        match reason.rule.consent {
            RuleConsent::Yes => options.push("-y".to_string()),
            RuleConsent::YesIfHandedOver if origin.is_handed_over() => options.push("-y".to_string()),
            RuleConsent::Allow => options.push(reason.name().to_string()),
            RuleConsent::YesIfHandedOver | RuleConsent::Person => {
                let hint = reason.rule.how_to_avoid.filter(|_| reason.rule.consent == RuleConsent::Person);
                return questions::nobody_to_ask(&message, hint.unwrap_or(ASKED_IN_TERMINAL));
            }
        }
    }
    if in_watch {
        return questions::nobody_to_ask(&message, "`relay watch` in a terminal asks you there");
    }
    let (yes, mut allow): (Vec<String>, Vec<String>) = options.into_iter().partition(|option| option == "-y");
    allow.sort_unstable();
    allow.dedup();
    let yes = if yes.is_empty() { "" } else { "`-y`" };
    let allow = if allow.is_empty() { String::new() } else { format!("`--allow {}`", allow.join(",")) };
    let both = if yes.is_empty() || allow.is_empty() { "" } else { " with " };
    questions::nobody_to_ask(&message, &format!("{yes}{both}{allow} applies it without asking"))
}

/// What no option answers.
const ASKED_IN_TERMINAL: &str = "run it in a terminal, where you are asked";

/// Outcomes that end before there is a plan to speak of.
fn failure_without_plan(outcome: &SubmitOutcome) -> CommandFailure {
    match outcome {
        SubmitOutcome::WrongProject { named, ours } => {
            let said = format!("the answer is for the project `{named}`, and this is `{ours}`");
            CommandFailure::refused("otherProject", said)
                .hint("go to that project, or correct `projectId` in the answer if it is meant for this one")
        }
        SubmitOutcome::NotTrusted { wants, before } => {
            let what = relaycode_tui::pluralize(wants.commands.len(), "command");
            let seen = match before {
                Some(_) => "which changed since you trusted it",
                None => "which you have not trusted yet",
            };
            let said = format!("this project wants to run {what}, {seen}");
            CommandFailure::new(Exit::NotTrusted, "notTrusted", said)
                .hint("`relay trust` shows what it wants to run, and asks")
                .unchanged()
        }
        SubmitOutcome::Interrupted { put_back } => {
            CommandFailure::interrupted().with_state(ProjectState::after(*put_back))
        }
        SubmitOutcome::FilesUnstable { paths } => {
            let paths: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
            let said = format!("{} kept changing while it was planned", paths.join(", "));
            CommandFailure::new(Exit::NeedsYou, "changing", said)
                .hint("find out what writes to it, then apply the answer again")
                .unchanged()
        }
        _ => CommandFailure::unexpected("the answer ended in an unknown way"),
    }
}

impl From<DoorError> for CommandFailure {
    fn from(error: DoorError) -> CommandFailure {
        match error {
            DoorError::Ledger(error) => error.into(),
            other => CommandFailure::unexpected(other).unchanged(),
        }
    }
}
