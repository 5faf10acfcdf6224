//! What became of an answer, told to people and to machines, and the exit code that says so to a script.

use relaycode_change::plan::{Change, Plan};
use relaycode_door::gate::GateReport;
use relaycode_door::{Applied, DoorError, Outcome, Rule};
use relaycode_ledger::{Digest, Ledger, LedgerError};
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use relaycode_tui::look::Sign;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::json;
use crate::project;

/// How an answer's way ended.
pub(crate) struct Ending {
    pub(crate) exit: Exit,
    /// What `--json` prints.
    pub(crate) object: Value,
    /// It is in the ledger and in the project already; what stands behind it in the text may go on.
    pub(crate) passed_over: bool,
}

/// Tells what became of one answer.
pub(crate) struct Teller<'a> {
    pub(crate) answer: &'a Answer<'a>,
    /// The digest of the plan that whoever was asked has seen.
    pub(crate) shown: Option<Digest>,
    /// The diff was asked for.
    pub(crate) diff: bool,
    /// There are other answers in the same text.
    pub(crate) several: bool,
    /// What is known of earlier answers.
    pub(crate) ledger: &'a Ledger,
    /// The time that cards show, if they do.
    pub(crate) clock: String,
    /// The object is printed: then it has the plan, with its diffs.
    pub(crate) json: bool,
}

impl Teller<'_> {
    /// Tells it.
    pub(crate) fn tell(&self, became: Result<Outcome, DoorError>, context: &mut Context<'_>) -> Ending {
        match became {
            Ok(Outcome::Applied(applied)) => self.applied(&applied, context),
            Ok(Outcome::AlreadyIn { plan }) => {
                self.card(&plan, context);
                let object = self.object(Exit::Done, json!({"applied": false, "id": null}), Some(&plan));
                Ending { exit: Exit::Done, object, passed_over: false }
            }
            Ok(Outcome::Refused(refused)) => {
                self.title(context);
                if !(context.quiet() && context.json()) {
                    let text = self.answer.refusal(&refused, false, &context.console.err_look());
                    context.beside(LogLevel::Error, &text);
                }
                let object = self.answer.refusal_json(&refused);
                Ending { exit: Exit::Refused, object, passed_over: false }
            }
            Ok(outcome) => self.not_applied(outcome, context),
            Err(error) => {
                self.title(context);
                self.failed(&error.into(), None, json!({}), context)
            }
        }
    }

    /// Which answer it is about, where they come in one after the other and there is no card.
    fn title(&self, context: &mut Context<'_>) {
        if self.answer.source.watched && self.shown.is_none() {
            let name = self.answer.source.origin.name();
            let look = context.look();
            context.say(&view::card::title_line(&self.clock, &self.answer.proposal, &name, &look));
        }
    }

    fn applied(&self, applied: &Applied, context: &mut Context<'_>) -> Ending {
        let id = applied.record.uuid;
        if let Some(said) = &applied.doubt {
            return self.failed(
                &project::doubt(&id.short(), said),
                Some(&applied.plan),
                json!({"id": id}),
                context,
            );
        }
        self.card(&applied.plan, context);
        let files = applied.plan.files.iter().filter(|file| file.change != Change::Unchanged).count();
        let look = context.look();
        context.say(&view::outcome::applied(&id.short(), files, applied.gate.as_ref(), self.undo(), &look));
        if let Some(branch) = &applied.branch {
            context
                .say(&view::outcome::aside(&look, &format!("on a branch of its own: {}", look.safe(branch))));
        }
        for rule in &applied.record.rules {
            let text = view::outcome::detail(&context.console.err_look(), rule);
            context.beside(LogLevel::Debug, &text);
        }
        let more = json!({
            "applied": true,
            "id": id.to_string(),
            "digest": applied.digest.to_string(),
            "decidedBy": applied.record.decided_by,
            "rules": applied.record.rules,
            "gate": applied.gate,
            "branch": applied.branch,
        });
        let object = self.object(Exit::Done, more, Some(&applied.plan));
        Ending { exit: Exit::Done, object, passed_over: false }
    }

    fn not_applied(&self, outcome: Outcome, context: &mut Context<'_>) -> Ending {
        match outcome {
            Outcome::Declined { plan, reason, put_back, gate } => {
                let failure = Failure::new(
                    Exit::Declined,
                    "declined",
                    if put_back { "not kept" } else { "not applied" },
                )
                .left(if put_back { State::PutBack } else { State::Unchanged });
                let ending =
                    self.failed(&failure, Some(&plan), json!({"reason": reason, "gate": gate}), context);
                let look = context.look();
                if self.answer.source.keys && (reason.is_some() || put_back) {
                    let what = if reason.is_some() { "your reason" } else { "what the gate said" };
                    let said = format!("c copies {what} for your model; the same id may be sent again");
                    context.say(&view::outcome::aside(&look, &said));
                } else if let Some(reason) = &reason {
                    context.say(&view::question::for_model(reason, &look));
                }
                ending
            }
            Outcome::NobodyToAsk { plan, rules } => {
                self.card(&plan, context);
                self.failed(&nobody(&rules), Some(&plan), json!({"rules": rules}), context)
            }
            Outcome::NotBegun { plan, step } => {
                self.card(&plan, context);
                let failure = Failure::new(
                    Exit::GateFailed,
                    "gate",
                    format!("not applied: {} `{}` {}", step.step.name(), step.command, step.said()),
                )
                .hint("see to that command, or change it in the configuration")
                .left(State::Unchanged);
                self.tail(&step.output, context);
                self.failed(&failure, Some(&plan), json!({"step": step}), context)
            }
            Outcome::GateFailed { plan, gate, rules } => self.gate_failed(&plan, &gate, &rules, context),
            Outcome::AlreadyProcessed { id, other_content } => {
                self.title(context);
                let failure: Failure = LedgerError::AlreadyProcessed { id, other_content }.into();
                let fate = project::fate(self.ledger, id).ok();
                if self.several && !other_content && fate.is_some_and(|fate| !fate.undone) {
                    let said = format!("{} is already in the ledger: passed over", id.short());
                    let text = view::outcome::remark(&context.console.err_look(), &said);
                    context.beside(LogLevel::Warn, &text);
                    return Ending { passed_over: true, ..self.ending(&failure, None, json!({})) };
                }
                let by = fate.and_then(|fate| fate.reverted_by).filter(|_| !other_content);
                let failure = match by {
                    Some(by) => {
                        let by = by.short();
                        failure
                            .hint(format!("it was applied and reverted; `relay revert {by}` brings it back"))
                    }
                    None => failure,
                };
                self.failed(&failure, None, json!({}), context)
            }
            other => {
                self.title(context);
                self.failed(&without_plan(&other), None, json!({}), context)
            }
        }
    }

    fn gate_failed(
        &self,
        plan: &Plan,
        gate: &GateReport,
        rules: &[Rule],
        context: &mut Context<'_>,
    ) -> Ending {
        self.card(plan, context);
        let said: Vec<String> = rules.iter().map(Rule::sentence).collect();
        let failure = Failure::new(Exit::GateFailed, "gate", format!("not kept: {}", said.join("; ")))
            .hint("`--allow gate` keeps it anyway")
            .left(State::PutBack);
        // What the commands did, not what they said.
        if view::gate::verdict(gate, &context.console.err_look()).is_none() {
            let failure = Failure::new(Exit::GateFailed, "gate", format!("not kept: {}", said.join("; ")))
                .hint("see to what the project's commands do to its files")
                .left(State::PutBack);
            return self.failed(&failure, Some(plan), json!({"gate": gate}), context);
        }
        let mut next = format!("keep it anyway: `{}`", self.answer.again("apply", "--allow gate"));
        if self.answer.source.keys {
            next += &format!(" {} c copies the errors for your model", context.look().sign(Sign::Dot));
        }
        let text =
            view::gate::refused(gate, State::PutBack.clause(), Some(&next), &context.console.err_look());
        context.beside(LogLevel::Error, &text);
        self.ending(&failure, Some(plan), json!({"gate": gate}))
    }

    /// The end of what a command printed.
    fn tail(&self, output: &str, context: &mut Context<'_>) {
        let text = view::gate::tail(output, &context.console.err_look());
        context.beside(LogLevel::Info, &text);
    }

    /// Says what went wrong, on stderr.
    fn failed(
        &self,
        failure: &Failure,
        plan: Option<&Plan>,
        more: Value,
        context: &mut Context<'_>,
    ) -> Ending {
        context.console.failure(failure, "apply", false);
        self.ending(failure, plan, more)
    }

    fn ending(&self, failure: &Failure, plan: Option<&Plan>, more: Value) -> Ending {
        let mut object = self.object(failure.exit, more, plan);
        object["error"] = json::value(failure);
        Ending { exit: failure.exit, object, passed_over: false }
    }

    /// What undoes a change.
    fn undo(&self) -> &'static str {
        if self.answer.source.keys { "u" } else { "`relay revert`" }
    }

    /// The plan, if nobody has seen it yet.
    fn card(&self, plan: &Plan, context: &mut Context<'_>) {
        if self.shown.is_some_and(|shown| shown == relaycode_door::digest(plan)) {
            return;
        }
        let look = context.look();
        let mut text = self.answer.card(plan, &self.clock, &look);
        if self.diff {
            text += &view::diff::text(plan, &look);
        }
        context.say(&text);
    }

    fn object(&self, exit: Exit, more: Value, plan: Option<&Plan>) -> Value {
        let mut object = json!({
            "ok": exit == Exit::Done,
            "code": exit as u8,
            "command": self.answer.source.command,
            "project": self.answer.source.root.to_string_lossy(),
        });
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
            object.extend(more);
            if let Some(plan) = plan.filter(|_| self.json) {
                object.insert("plan".to_string(), json::value(&Answer::plan_json(plan, false)));
            }
        }
        object
    }
}

/// Somebody has to decide, and there is nobody.
fn nobody(rules: &[Rule]) -> Failure {
    let said: Vec<String> = rules.iter().map(Rule::sentence).collect();
    let mut allow: Vec<&str> =
        rules.iter().filter_map(|rule| rule.allowed_by().map(|allow| allow.name())).collect();
    allow.sort_unstable();
    allow.dedup();
    let yes = if rules.iter().any(|rule| rule.allowed_by().is_none()) { "`-y`" } else { "" };
    let allow = if allow.is_empty() { String::new() } else { format!("`--allow {}`", allow.join(",")) };
    let both = if yes.is_empty() || allow.is_empty() { "" } else { " with " };
    Failure::new(
        Exit::NobodyToAsk,
        "nobodyToAsk",
        format!("somebody has to say yes, and there is no terminal to ask on: {}", said.join("; ")),
    )
    .hint(format!("{yes}{both}{allow} applies it without asking"))
    .left(State::Unchanged)
}

/// Outcomes that end before there is a plan to speak of.
fn without_plan(outcome: &Outcome) -> Failure {
    match outcome {
        Outcome::OtherProject { named, ours } => Failure::refused(
            "otherProject",
            format!("the answer is for the project `{named}`, and this is `{ours}`"),
        )
        .hint("go to that project, or correct `projectId` in the answer if it is meant for this one"),
        Outcome::NotTrusted { wants, before } => {
            let what = view::number(wants.commands.len(), "command");
            let seen = if before.is_some() {
                "which changed since you trusted it"
            } else {
                "which you have not trusted yet"
            };
            Failure::new(Exit::NotTrusted, "notTrusted", format!("this project wants to run {what}, {seen}"))
                .hint("`relay trust` shows what it wants to run, and asks")
                .left(State::Unchanged)
        }
        Outcome::Interrupted { put_back } => Failure::new(Exit::Interrupted, "interrupted", "interrupted")
            .left(if *put_back { State::PutBack } else { State::Unchanged }),
        Outcome::Restless { paths } => {
            let paths: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
            Failure::new(
                Exit::NeedsYou,
                "changing",
                format!("{} kept changing while it was planned", paths.join(", ")),
            )
            .hint("see what writes to it, and apply the answer again")
            .left(State::Unchanged)
        }
        _ => Failure::unexpected("the answer ended in a way that nobody tells of"),
    }
}

impl From<DoorError> for Failure {
    fn from(error: DoorError) -> Failure {
        match error {
            DoorError::Ledger(error) => error.into(),
            other => Failure::unexpected(other).left(State::Unchanged),
        }
    }
}
