//! An answer on its way to a plan: what `preview` and `apply` have in common. Reading, planning, and
//! showing a plan or a refusal, to people and as JSON.

pub(crate) mod clipboard_input;
pub(crate) mod limit;
pub(crate) mod origin;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use relaycode_change::plan::{FilePlan, Plan, PlanFinding, PlanRefusal, RefusalReason};
use relaycode_change::prompt::repair;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::{Proposal, ProposalNote};
use relaycode_change::{diff, prompt, response};
use relaycode_door::{Consent, Submission};
use relaycode_ledger::Digest;
use relaycode_project::checkout;
use relaycode_project::config::LogLevel;
use relaycode_tui::layout::clock;
use relaycode_tui::layout::style::OutputStyle;
use relaycode_tui::views;
use serde::Serialize;
use serde_json::Value;

use crate::report::failure::{CommandFailure, Exit};
use crate::report::json;
use crate::report::json::base64;
use crate::wiring::context::CommandContext;

use crate::answer::origin::AnswerOrigin;

/// The arguments that every command with an answer has.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AnswerArgs {
    /// File with the answer, or `-` to read it from a pipe; without it what is on the clipboard
    #[arg(value_name = "FILE|-")]
    pub(crate) file: Option<PathBuf>,

    /// Do not look for new syntax errors
    #[arg(long)]
    pub(crate) no_syntax: bool,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::LimitOverrides::parse, default_value = "", hide_default_value = true)]
    pub(crate) limit: limit::LimitOverrides,
}

/// What was given: a text with one answer or several.
pub(crate) struct AnswerSource<'a> {
    args: &'a AnswerArgs,
    /// Where the command works, as it was given.
    directory: PathBuf,
    /// How much is read and planned.
    pub(crate) limits: PlanLimits,
    /// The name of the command that it was given to.
    pub(crate) command: &'static str,
    /// The project's directory.
    pub(crate) root: PathBuf,
    /// Where it came from.
    pub(crate) origin: AnswerOrigin,
    /// The text itself.
    text: String,
    /// It came in while the clipboard was watched.
    pub(crate) from_watch: bool,
    /// What can be done next is a key.
    pub(crate) has_keys: bool,
}

/// One answer of it, as it was understood.
pub(crate) struct SourceAnswer<'a> {
    pub(crate) source: &'a AnswerSource<'a>,
    /// Its own part of the text.
    pub(crate) text: &'a str,
    /// What was understood.
    pub(crate) proposal: Proposal,
}

impl<'a> AnswerSource<'a> {
    /// Reads the text for the project at `root`.
    pub(crate) fn read(
        given: &'a AnswerArgs,
        root: PathBuf,
        command: &'static str,
        context: &mut CommandContext<'_>,
    ) -> Result<AnswerSource<'a>, CommandFailure> {
        let limits = given.limit.to_limits();
        let origin = AnswerOrigin::from_argument(given.file.as_deref());
        if origin.is_typed() {
            // To everybody: who sees nothing happen has to know why.
            context.eprint_at(LogLevel::Silent, "reading the answer from the terminal; Ctrl-D ends it\n");
        }
        let text = origin.read_text(limits.text_bytes)?;
        let directory = context.options.directory.clone();
        Ok(AnswerSource {
            args: given,
            directory,
            limits,
            command,
            root,
            origin,
            text,
            from_watch: false,
            has_keys: false,
        })
    }

    /// A text that came in while the clipboard was watched; `keys`: by somebody who has keys to press.
    pub(crate) fn from_watch(
        given: &'a AnswerArgs,
        root: PathBuf,
        origin: AnswerOrigin,
        text: String,
        keys: bool,
        context: &CommandContext<'_>,
    ) -> AnswerSource<'a> {
        let directory = context.options.directory.clone();
        let limits = given.limit.to_limits();
        AnswerSource {
            args: given,
            directory,
            limits,
            command: "watch",
            root,
            origin,
            text,
            from_watch: true,
            has_keys: keys,
        }
    }

    /// The work of a friend, which `given` names a file of, and what it said about it.
    pub(crate) fn from_friend(
        given: &'a AnswerArgs,
        root: PathBuf,
        friend: &str,
        text: String,
        context: &CommandContext<'_>,
    ) -> AnswerSource<'a> {
        let (directory, limits) = (context.options.directory.clone(), given.limit.to_limits());
        let origin = AnswerOrigin::Friend(friend.to_string());
        AnswerSource {
            args: given,
            directory,
            limits,
            command: "do",
            root,
            origin,
            text,
            from_watch: false,
            has_keys: false,
        }
    }

    /// The text itself, when nothing else of it is needed.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The answers in it, in their order; at least one.
    pub(crate) fn parse_answers(&'a self) -> Result<Vec<SourceAnswer<'a>>, CommandFailure> {
        if prompt::is_prompt(&self.text) {
            return Err(CommandFailure::refused(
                "prompt",
                "this is the prompt that relay prints, not an answer to it",
            )
            .with_hint("give it to your model, and its answer to relay"));
        }
        let read = response::read_all(&self.text, &self.limits)?;
        Ok(read
            .into_iter()
            .map(|one| SourceAnswer { source: self, text: one.text, proposal: one.proposal })
            .collect())
    }
}

impl SourceAnswer<'_> {
    /// What goes through the door.
    pub(crate) fn submission(&self, consent: Consent) -> Submission<'_> {
        Submission {
            proposal: &self.proposal,
            answer: Digest::of(self.text.as_bytes()),
            origin: self.source.origin.to_door_origin(),
            author: None,
            consent,
            limits: self.source.limits.clone(),
            syntax: !self.source.args.no_syntax,
            group: None,
            now: clock::now_utc(),
        }
    }

    /// The plan as people see it, with the time if one is given.
    pub(crate) fn card_text(&self, plan: &Plan, clock: &str, look: &OutputStyle) -> String {
        views::card::text_with_clock(clock, &self.proposal, plan, &self.source.origin.name(), look)
    }

    /// Why the answer is refused, to people. `repair` says that the prompt for the model is about to be
    /// printed.
    pub(crate) fn refusal_text(&self, refused: &PlanRefusal, repair: bool, look: &OutputStyle) -> String {
        let next = if repair { None } else { self.repair_hint(refused) };
        views::refusal::text(refused, &self.proposal.unread, next.as_deref(), look)
    }

    /// How to get the repair prompt for the same answer, if one would help.
    fn repair_hint(&self, refused: &PlanRefusal) -> Option<String> {
        let nothing = |reason: &RefusalReason| matches!(reason, RefusalReason::Nothing { .. });
        if refused.refusals.iter().all(|r| nothing(&r.reason)) {
            return None;
        }
        // Of a friend's work that is too large no other is wanted: it is said where it is kept.
        let too_large = |reason: &RefusalReason| matches!(reason, RefusalReason::Limit { .. });
        if self.source.command == "do" && refused.refusals.iter().all(|r| too_large(&r.reason)) {
            return None;
        }
        if self.source.has_keys {
            return Some(
                "c copies a repair prompt for your model; the same id may be sent again".to_string(),
            );
        }
        Some(format!(
            "next: `{}` writes a prompt for your model",
            self.retry_command_line("preview", "--repair")
        ))
    }

    /// The command line that gives the same answer to a command, with another option.
    pub(crate) fn retry_command_line(&self, command: &str, option: &str) -> String {
        let source = self.source;
        let piped = if source.origin == AnswerOrigin::Stdin { "... | " } else { "" };
        let mut words = vec![format!("{piped}relay {command}")];
        words.extend(source.args.file.as_deref().map(shell_word));
        if source.directory != Path::new(".") {
            words.push(format!("-C {}", shell_word(&source.directory)));
        }
        words.push(option.to_string());
        words.join(" ")
    }

    /// The plan as JSON; `text` with each file's resulting text.
    pub(crate) fn plan_json<'p>(plan: &'p Plan, text: bool) -> PlanJson<'p> {
        let files = plan.files.iter().map(|file| plan_file_json(file, text)).collect();
        PlanJson { files, findings: &plan.findings, notes: &plan.notes }
    }

    /// What was understood, as it may be printed: the key stays between the user and their model.
    pub(crate) fn proposal_json(&self) -> Proposal {
        let mut proposal = self.proposal.clone();
        let named = proposal.control.project_id.take();
        proposal.control.project_id = named.map(|named| checkout::strip_key(None, &named));
        proposal
    }

    pub(crate) fn refusal_json(&self, refused: &PlanRefusal) -> Value {
        let name = self.source.origin.name();
        let place = refused.refusals.first().map(|refusal| match refusal.line {
            0 => name,
            line => format!("{name}:{line}"),
        });
        let failure = CommandFailure::refused("refused", views::refusal::headline(refused))
            .with_hint("paste `repair` back to the model");
        json::to_value(&RefusalJson {
            ok: false,
            code: Exit::Refused as u8,
            command: self.source.command,
            project: self.source.root.to_string_lossy(),
            error: CommandFailure { place, ..failure },
            refused,
            proposal: self.proposal_json(),
            repair: repair::repair_prompt(refused),
        })
    }
}

fn plan_file_json(file: &FilePlan, with_text: bool) -> PlanFileJson<'_> {
    let after = file.after.as_deref().filter(|_| with_text);
    let text = after.map(std::str::from_utf8);
    PlanFileJson {
        file,
        diff: diff::diff_file(file).content,
        text: text.and_then(Result::ok),
        base64: after.filter(|_| text.is_some_and(|t| t.is_err())).map(base64),
    }
}

/// A plan in JSON.
#[derive(Serialize)]
pub(crate) struct PlanJson<'a> {
    files: Vec<PlanFileJson<'a>>,
    findings: &'a [PlanFinding],
    notes: &'a [ProposalNote],
}

#[derive(Serialize)]
struct PlanFileJson<'a> {
    #[serde(flatten)]
    file: &'a FilePlan,
    diff: diff::DiffContent,
    /// Only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Instead of `text`, where that is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// A refusal in JSON.
#[derive(Serialize)]
struct RefusalJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    error: CommandFailure,
    /// `refusals`, `fitting`, `notes`
    #[serde(flatten)]
    refused: &'a PlanRefusal,
    proposal: Proposal,
    repair: String,
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
