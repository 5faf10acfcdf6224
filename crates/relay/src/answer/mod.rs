//! An answer on its way to the door: where it came from, what its user said beforehand, and how a plan or a refusal of
//! it is shown, to people and as JSON. [`submit::Submitter`] is the one way through the door.

pub(crate) mod consent_args;
pub(crate) mod limit;
pub(crate) mod origin;
pub(crate) mod submit;

use std::path::{Path, PathBuf};

use relaycode_change::diff::{self, DiffContent};
use relaycode_change::plan::{FilePlan, Plan, PlanRefusal, RefusalReason};
use relaycode_change::prompt::{self, repair};
use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::work_budget::WorkMeter;
use relaycode_door::{AnswerProposal, Consent, Submission};
use relaycode_ledger::{Ledger, LedgerError, TxId};
use relaycode_project::checkout;
use relaycode_tui::{OutputStyle, clock, views};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::json::{self, ResultObject, base64};
use crate::{AnswerOrigin, CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, project};

/// What to do about an answer that changes nothing.
const NO_CHANGES_HINT: &str =
    "copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it";

/// The answer was applied before; how to bring it back, if it was undone since.
pub(crate) fn already_processed(ledger: &Ledger, id: TxId, other_content: bool) -> CommandFailure {
    let failure: CommandFailure = LedgerError::AlreadyProcessed { id, other_content }.into();
    let status =
        project::find_revert_status(ledger, id).ok().filter(|status| status.undone && !other_content);
    let brings_back =
        |by: TxId| format!("it was applied and undone; `relay revert {}` brings it back", by.short());
    let hint = status.and_then(|status| status.reverted_by).map(brings_back);
    CommandFailure { hint: hint.or(failure.hint), ..failure }
}

/// The arguments that every command with an answer has.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AnswerArgs {
    /// File with the answer, or `-` to read it from a pipe; without it what is on the clipboard
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,

    /// Do not look for new syntax errors
    #[arg(long)]
    no_syntax: bool,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::LimitOverrides::parse, default_value = "", hide_default_value = true)]
    limit: limit::LimitOverrides,
}

impl AnswerArgs {
    pub(crate) fn to_source(&self, project: &Project, ctx: &CommandContext<'_>) -> AnswerSource {
        AnswerSource {
            limits: self.limit.change_limits(project.limits()),
            check_syntax: !self.no_syntax,
            file: self.file.clone(),
            ..AnswerSource::new(AnswerOrigin::from_argument(self.file.as_deref()), ctx)
        }
    }
}

/// Where answers come from, and what their user said beforehand.
pub(crate) struct AnswerSource {
    pub(crate) origin: AnswerOrigin,
    pub(crate) limits: PlanLimits,
    pub(crate) check_syntax: bool,
    pub(crate) consent: Consent,
    /// Show the diff below the card.
    pub(crate) diff: bool,
    /// What can be done next is a key, not a command.
    pub(crate) has_keys: bool,
    /// What `relay apply` is given to take the same answer up again.
    pub(crate) file: Option<PathBuf>,
    /// Where the command works, as it was given.
    pub(crate) directory: PathBuf,
}

impl AnswerSource {
    pub(crate) fn new(origin: AnswerOrigin, ctx: &CommandContext<'_>) -> AnswerSource {
        AnswerSource {
            origin,
            limits: PlanLimits::default(),
            check_syntax: true,
            consent: Consent::default(),
            diff: false,
            has_keys: false,
            file: None,
            directory: ctx.options.directory.clone(),
        }
    }

    /// Reads the text and the answers in it, in their order; at least one.
    pub(crate) fn read_answers(&self, ctx: &mut CommandContext<'_>) -> CommandResult<Vec<AnswerProposal>> {
        if self.origin.is_typed() {
            // To everybody: who sees nothing happen has to know why.
            ctx.eprint_at(LogLevel::Silent, "reading the answer from the terminal; Ctrl-D ends it\n");
        }
        let text = self.origin.read_text(self.limits.text_bytes)?;
        if prompt::is_prompt(&text) {
            let said = "this is the prompt that relay prints, not an answer to it";
            return Err(CommandFailure::refused("prompt", said)
                .hint("give it to your model, and its answer to relay"));
        }
        Ok(AnswerProposal::read_all(&text, &self.limits)?)
    }

    /// Several answers of one text have one limit for the work of planning them.
    pub(crate) fn share_work(&mut self, answers: &[AnswerProposal]) {
        if answers.len() > 1 {
            self.limits.meter = WorkMeter::shared();
        }
    }

    /// What goes through the door.
    pub(crate) fn submission<'a>(&self, answer: &'a AnswerProposal) -> Submission<'a> {
        Submission {
            proposal: &answer.proposal,
            answer: answer.digest,
            origin: self.origin.to_door_origin(),
            author: self.origin.friend().map(str::to_string),
            consent: self.consent.clone(),
            limits: self.limits.clone(),
            syntax: self.check_syntax,
            group: None,
            now: clock::now_utc(),
        }
    }

    /// The plan as people see it, with the time if one is given.
    pub(crate) fn card(&self, proposal: &Proposal, plan: &Plan, clock: &str, style: &OutputStyle) -> String {
        views::card::text(clock, proposal, plan, &self.origin.name(), style)
    }

    /// Why the answer is refused, to people. `repair` says that the prompt for the model is about to be
    /// printed.
    pub(crate) fn refusal_text(
        &self,
        proposal: &Proposal,
        refused: &PlanRefusal,
        repair: bool,
        style: &OutputStyle,
    ) -> String {
        let next = if repair { None } else { self.repair_hint(refused) };
        views::refusal::text(refused, &proposal.unread, next.as_deref(), style)
    }

    /// How to get the repair prompt for the same answer, if one would help.
    fn repair_hint(&self, refused: &PlanRefusal) -> Option<String> {
        let all = |is: fn(&RefusalReason) -> bool| refused.refusals.iter().all(|r| is(&r.reason));
        // Of a friend's work that is too large no other is wanted: it is said where it is kept.
        if self.origin.friend().is_some() && all(|reason| matches!(reason, RefusalReason::Limit { .. })) {
            return None;
        }
        if all(|reason| matches!(reason, RefusalReason::Nothing { .. })) {
            return Some(NO_CHANGES_HINT.to_string());
        }
        Some(match self.has_keys {
            true => "c copies a repair prompt for your model; the same id may be sent again".to_string(),
            false => {
                let retry = self.retry_command_line("preview", "--repair");
                format!("next: `{retry}` writes a prompt for your model")
            }
        })
    }

    /// The command line that gives the same answer to a command, with another option.
    pub(crate) fn retry_command_line(&self, command: &str, option: &str) -> String {
        let piped = if self.origin == AnswerOrigin::Stdin { "... | " } else { "" };
        let mut words = vec![format!("{piped}relay {command}")];
        words.extend(self.file.as_deref().map(shell_word));
        if self.directory != Path::new(".") {
            words.push(format!("-C {}", shell_word(&self.directory)));
        }
        words.push(option.to_string());
        words.join(" ")
    }

    /// Nothing, unless an object was asked for: it holds the answer once more. `root` is the project's.
    pub(crate) fn refusal_json(
        &self,
        proposal: &Proposal,
        refused: &PlanRefusal,
        root: &Path,
        ctx: &CommandContext<'_>,
    ) -> ResultObject {
        if !ctx.is_json() {
            return ResultObject::default();
        }
        let name = self.origin.name();
        let place = refused.refusals.first().map(|refusal| match refusal.line {
            0 => name,
            line => format!("{name}:{line}"),
        });
        let failure = CommandFailure::refused("refused", views::refusal::headline(refused))
            .hint("paste `repair` back to the model");
        let mut object =
            json!({"project": root.to_string_lossy(), "error": CommandFailure { place, ..failure }});
        // `refusals`, `fitting`, `notes`
        json::merge(&mut object, json::to_value(refused));
        object["unread"] = json!(proposal.unread);
        object["repair"] = json!(repair::repair_prompt(refused));
        let mut object = ResultObject::new(ctx.command, Exit::Refused, object);
        object.insert_large("proposal", &proposal_json(proposal));
        object
    }
}

/// A plan as machines read it.
pub(crate) struct PlanJson<'a> {
    pub(crate) plan: &'a Plan,
    /// Each file's resulting text, too.
    pub(crate) with_text: bool,
}

impl Serialize for PlanJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("PlanJson", 3)?;
        object.serialize_field("files", &PlanFilesJson(self))?;
        object.serialize_field("findings", &self.plan.findings)?;
        object.serialize_field("notes", &self.plan.notes)?;
        object.end()
    }
}

/// One file after the other, so that one diff at a time is in memory.
struct PlanFilesJson<'a>(&'a PlanJson<'a>);

impl Serialize for PlanFilesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlanJson { plan, with_text } = self.0;
        serializer.collect_seq(plan.files.iter().map(|file| PlanFileJson::new(file, *with_text)))
    }
}

#[derive(Serialize)]
struct PlanFileJson<'a> {
    #[serde(flatten)]
    file: &'a FilePlan,
    diff: DiffContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl PlanFileJson<'_> {
    fn new(file: &FilePlan, with_text: bool) -> PlanFileJson<'_> {
        let after = file.after.as_deref().filter(|_| with_text);
        let text = after.and_then(|after| std::str::from_utf8(after).ok());
        let base64 = after.filter(|_| text.is_none()).map(base64);
        PlanFileJson { file, diff: diff::diff_file(file).content, text, base64 }
    }
}

/// What was understood, as it may be printed: the key stays between the user and their model.
pub(crate) fn proposal_json(proposal: &Proposal) -> Proposal {
    let mut proposal = proposal.clone();
    let named = proposal.control.project_id.take();
    proposal.control.project_id = named.map(|named| checkout::strip_key(None, &named));
    proposal
}

/// A path as one types it into a shell.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
