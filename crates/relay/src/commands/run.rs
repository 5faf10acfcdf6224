//! `relay run`: relay's own agent works on one prompt. Without one, and by `relay` alone, it is a conversation.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_agent::{EndReason, RunOutcome, UserPrompt};
use relaycode_llm::message::UserContent;
use relaycode_tools::PlanVerdict;
use serde_json::{Value, json};

use crate::agent::attachments::{self, read_attachment};
use crate::agent::conversation::converse;
use crate::agent::event_printer::print_event;
use crate::agent::open_agent::{OpenAgent, mode_failure, tell_commands};
use crate::agent::options::AgentOptions;
use crate::agent::output_schema::OutputSchema;
use crate::commands::models::model_failure;
use crate::friends::args::{read_schema, read_stdin_text, stdin_has_input};
use crate::friends::friend_context::StopCheck;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, SignalGuard};

/// What is said to an agent whose plan was approved, where nothing else is.
const CARRY_OUT: &str = "Carry out the plan.";
/// How long stdin may take to end.
const STDIN_TIMEOUT: Duration = Duration::from_secs(600);

/// Let relay's own agent work on a prompt
///
/// The agent reads and changes the project with tools until it is done. Its answer goes to stdout, what it does to
/// stderr. Everything it changes for one prompt is one entry of `relay log`; `relay undo` takes it back as a whole.
///
/// A word that begins with `@` names a file that goes along, an image too. What comes on stdin goes along, or is the
/// prompt if that is `-`. With `--json` every event is an object on a line of its own, the result is the last.
///
/// Without a prompt, at a terminal, it is a conversation; `relay` alone is one, too.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RunArgs {
    /// What to do; `-`: read it from stdin; `@FILE`: a file that goes along
    #[arg(value_name = "PROMPT|-|@FILE")]
    words: Vec<String>,

    #[command(flatten)]
    options: AgentOptions,

    /// Approve the plan of the session, and let the agent carry it out
    #[arg(long, conflicts_with_all = ["plan", "output_schema"])]
    approve_plan: bool,

    /// A JSON schema that the answer has to follow
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
}

impl RunArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        if self.words.is_empty() && self.output_schema.is_none() && !self.approve_plan {
            return converse(&self.options, ctx);
        }
        let held = SignalGuard::acquire()?;
        let mut prompt = self.read_prompt(&|| held.stop_requested(), ctx)?;
        let schema = read_schema(self.output_schema.as_deref(), &ctx.options.directory, "--output-schema")?;
        let schema = schema.map(|schema| OutputSchema::new(schema, ctx)).transpose()?;
        prompt.content.extend(schema.as_ref().map(OutputSchema::request));
        let mut open = OpenAgent::open(&self.options, ctx)?;
        if self.approve_plan {
            open.agent.approve_plan().map_err(|error| mode_failure(&error))?;
        }
        let secrets = open.secrets.clone();
        let mut show = |event: &_| print_event(event, secrets.as_deref(), ctx);
        open.begin_prompt(&prompt)?;
        let mut outcome = open.work(&prompt, &held, &mut show)?;
        let mut value = None;
        if let (Some(schema), EndReason::Done) = (&schema, outcome.reason) {
            let mut read = schema.read(&open.unmask(&outcome.answer));
            if let Err(fault) = &read {
                let repair = UserPrompt::text(OutputSchema::repair_prompt(fault));
                outcome = add_usage(&outcome, open.work(&repair, &held, &mut show)?);
                read = schema.read(&open.unmask(&outcome.answer));
            }
            if outcome.reason == EndReason::Done {
                value = Some(read);
            }
        }
        tell_commands(open.agent.workspace(), ctx);
        let value = value.transpose().map_err(|fault| OutputSchema::failure(&fault))?;
        report(&outcome, value, &open, ctx)
    }

    /// The words, the files and stdin.
    fn read_prompt(&self, stop: StopCheck<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<UserPrompt> {
        let (said, files) = attachments::split_words(&self.words)?;
        let reads_prompt = said == "-";
        let stdin = if reads_prompt || stdin_has_input(stop, ctx)? {
            read_stdin_text(STDIN_TIMEOUT, stop, ctx)?
        } else {
            None
        };
        let mut prompt = if reads_prompt { stdin.clone().unwrap_or_default() } else { said };
        if self.approve_plan && prompt.trim().is_empty() {
            prompt = CARRY_OUT.to_string();
        }
        if prompt.trim().is_empty() {
            return Err(CommandFailure::usage("the prompt is empty")
                .hint("say what the agent should do")
                .unchanged());
        }
        let mut content = vec![UserContent::text(prompt.trim_end())];
        for file in files {
            content.push(read_attachment(&ctx.options.directory.join(file), file)?);
        }
        content.extend(stdin.filter(|_| !reads_prompt).map(|text| attachments::stdin_content(&text)));
        Ok(UserPrompt { content })
    }
}

/// Both rounds cost something.
fn add_usage(first: &RunOutcome, second: RunOutcome) -> RunOutcome {
    let mut outcome = second;
    outcome.usage.turns += first.usage.turns;
    outcome.usage.input += first.usage.input;
    outcome.usage.output += first.usage.output;
    outcome.usage.cache_read += first.usage.cache_read;
    outcome.usage.cache_write += first.usage.cache_write;
    outcome.usage.cost += first.usage.cost;
    outcome
}

/// The answer on stdout, what is to be known about it on stderr, and the exit code.
fn report(
    outcome: &RunOutcome,
    value: Option<Value>,
    open: &OpenAgent,
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    let answer = match (&value, &outcome.plan) {
        (Some(value), _) => value.to_string(),
        (None, Some(plan)) => open.unmask(&plan.proposed.plan),
        (None, None) => open.unmask(&outcome.answer),
    };
    if let Some(plan) = &outcome.plan
        && plan.verdict == PlanVerdict::Rejected
    {
        let said = "you rejected the plan, and nothing was carried out";
        return Err(CommandFailure::new(Exit::Declined, "planRejected", said).unchanged());
    }
    if !ctx.is_json() && !answer.trim().is_empty() {
        let text = ctx.console.out_style().block(answer.trim_end()).into_owned();
        ctx.console.print(&format!("{text}\n"));
    }
    ctx.console.check_written()?;
    let session_id = open.agent.session_id();
    let go_on = format!("`relay run --resume {session_id} PROMPT` goes on");
    let message = outcome.message.clone().unwrap_or_default();
    let models = &open.models;
    let failure = match outcome.reason {
        EndReason::Done if answer.trim().is_empty() => {
            let said = "the model ended without an answer; what it did stays";
            CommandFailure::new(Exit::NoAnswer, "noAnswer", said).hint(go_on)
        }
        EndReason::Done => {
            let mut fields = json!({
                "type": "result", "session": session_id, "answer": answer, "usage": outcome.usage,
            });
            if let Some(value) = value {
                fields["value"] = value;
            }
            if let Some(plan) = &outcome.plan {
                fields["plan"] = json!({ "title": plan.proposed.title, "planFile": plan.proposed.plan_file });
                let hint = format!(
                    "this plan waits for your approval: `relay run --resume {session_id} --approve-plan` carries it out, \
                     `relay run --resume {session_id} PROMPT` has it changed"
                );
                ctx.eprint_remark(LogLevel::Info, &hint);
            }
            let exit = ctx.print_result(Exit::Done, fields);
            ctx.console.check_written()?;
            return Ok(exit);
        }
        EndReason::Aborted => CommandFailure::interrupted().hint(go_on),
        EndReason::ModelFailed | EndReason::ContextOverflow => match &outcome.failure {
            Some(failure) => model_failure(&models.chosen, models.docs, &models.key_source, failure),
            None => CommandFailure::new(Exit::FriendFailed, "model", message),
        },
        EndReason::Length => CommandFailure::new(Exit::NoAnswer, "length", message).hint(go_on),
        EndReason::TurnLimit => CommandFailure::new(Exit::NoAnswer, "turnLimit", message).hint(go_on),
        EndReason::CostLimit => CommandFailure::new(Exit::NoAnswer, "costLimit", message).hint(go_on),
        EndReason::Repetition => CommandFailure::new(Exit::NoAnswer, "repetition", message).hint(go_on),
        EndReason::Compacted => CommandFailure::new(Exit::NoAnswer, "compacted", message).hint(go_on),
        EndReason::TimeLimit => CommandFailure::new(Exit::TimedOut, "timeLimit", message).hint(go_on),
        EndReason::SessionFailed => CommandFailure::unexpected(message),
        EndReason::ToolFailed => CommandFailure::new(Exit::Unexpected, "tool", message).hint(go_on),
    };
    Err(failure)
}
