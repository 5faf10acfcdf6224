//! `relay apply`: an answer becomes a change of the project, whole or not at all.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use relaycode_door::{AllowOption, Consent, Door, Submission};
use relaycode_project::config::LogLevel;
use relaycode_tui::views;
use serde_json::{Value, json};

use crate::answer::{AnswerArgs, AnswerSource, SourceAnswer};
use crate::approver::{ApproverSetup, TerminalApprover};
use crate::report::failure::{CommandFailure, Exit, ProjectState};
use crate::report::outcome::{OutcomeReporter, SubmitResult};
use crate::terminal::signals::SignalGuard;
use crate::wiring::context::{CommandContext, RunCommand};
use crate::wiring::programs::UserPrograms;
use crate::wiring::project::Project;

use super::preview;

/// Apply an answer, whole or not at all
///
/// Takes the answer from a file, from a pipe (`-`) or, if none is named, from the clipboard. Plans it as `relay preview`
/// does, shows the plan, asks where it must, and puts it on disk: every file or none, whatever happens meanwhile. The
/// project's commands judge the result, if you trust them; what they do not accept is put back. What was applied is
/// recorded in `.relaycode` and can be undone with `relay revert`. An answer that does not fit is refused as a whole
/// (exit code 3).
///
/// Several answers in one text are several changes, in their order, up to the first that is not applied; those that
/// were applied before are passed over.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) answer_args: AnswerArgs,

    #[command(flatten)]
    consent_args: ConsentArgs,

    /// Only show what would be done
    #[arg(long, conflicts_with_all = ["yes", "allow"])]
    dry_run: bool,
}

/// What is said of a change before anybody sees it.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ConsentArgs {
    /// Say yes to ordinary questions; not to what --allow names, and not to trust
    #[arg(short, long)]
    yes: bool,

    /// Say yes to these, too
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    allow: Vec<AllowArg>,

    /// Show the diff, too
    #[arg(long)]
    pub(super) diff: bool,
}

impl ConsentArgs {
    pub(super) fn to_consent(&self) -> Consent {
        Consent { yes: self.yes, allow: self.allow.iter().map(|allowed| allowed.0).collect() }
    }
}

/// What `--allow` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AllowArg(AllowOption);

impl ValueEnum for AllowArg {
    fn value_variants<'a>() -> &'a [AllowArg] {
        const ALL: [AllowArg; AllowOption::ALL.len()] = {
            let mut all = [AllowArg(AllowOption::Near); AllowOption::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = AllowArg(AllowOption::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.description()))
    }
}

impl RunCommand for ApplyArgs {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn may_write(&self) -> bool {
        true
    }

    fn run(&self, context: &mut CommandContext<'_>) -> Result<Exit, CommandFailure> {
        let project = Project::open(context)?;
        if context.home.gate.as_ref() == Some(&project.root) {
            return Err(CommandFailure::new(
                Exit::Refused,
                "inGate",
                "a command that judges a change cannot apply one",
            )
            .with_hint("take `relay apply` out of linter, preCommand and postCommand")
            .with_state(ProjectState::Unchanged));
        }
        let source = AnswerSource::read(&self.answer_args, project.root.clone(), "apply", context)?;
        let answers = source.parse_answers()?;
        project.recover(context)?;
        let door = project.into_door(context)?;
        if self.dry_run {
            return Ok(preview::preview_answers(
                &door,
                &answers,
                &preview::PreviewOptions { diff: self.consent_args.diff, ..Default::default() },
                context,
            ));
        }
        self.apply_all(&door, &answers, context)
    }
}

impl ApplyArgs {
    /// One after the other, up to the first that is not applied. Those that are in already are passed over, so
    /// that a text of which only a part was applied can be given again.
    fn apply_all(
        &self,
        door: &Door,
        answers: &[SourceAnswer<'_>],
        context: &mut CommandContext<'_>,
    ) -> Result<Exit, CommandFailure> {
        let mut objects = Vec::new();
        let mut exit = Exit::Done;
        let mut applied = 0;
        for (at, answer) in answers.iter().enumerate() {
            if at > 0 {
                context.print_info("\n");
            }
            let ending = self.apply(door, answer, answers.len() > 1, context)?;
            exit = ending.exit;
            objects.push(ending.json);
            if ending.already_applied {
                // If anything else of the text came in, all of it is in now.
                exit = if applied > 0 { Exit::Done } else { exit };
                continue;
            }
            applied += 1;
            if exit != Exit::Done {
                let rest = answers.len() - at - 1;
                if rest > 0 {
                    let said = format!(
                        "{} after it in the same text {} not looked at",
                        relaycode_tui::pluralize(rest, "answer"),
                        if rest == 1 { "was" } else { "were" }
                    );
                    let text = views::outcome::warning_line(&context.console.err_style(), &said);
                    context.eprint_at(LogLevel::Warn, &text);
                }
                break;
            }
        }
        let object = batch_json("apply", exit, answers.len(), objects);
        context.print_json(&object);
        Ok(exit)
    }

    fn apply(
        &self,
        door: &Door,
        answer: &SourceAnswer<'_>,
        several: bool,
        context: &mut CommandContext<'_>,
    ) -> Result<SubmitResult, CommandFailure> {
        let submission = answer.submission(self.consent_args.to_consent());
        submit_and_report(
            door,
            &submission,
            answer,
            SubmitOptions { diff: self.consent_args.diff, is_batch: several },
            context,
        )
    }
}

/// How much is told of a submission.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubmitOptions {
    /// The diff was asked for.
    pub(super) diff: bool,
    /// There are other answers in the same text.
    pub(super) is_batch: bool,
}

/// Takes a submission through the door, with the person at the terminal as its approver, and tells what became of it.
pub(super) fn submit_and_report(
    door: &Door,
    submission: &Submission<'_>,
    answer: &SourceAnswer<'_>,
    told: SubmitOptions,
    context: &mut CommandContext<'_>,
) -> Result<SubmitResult, CommandFailure> {
    let SubmitOptions { diff, is_batch: several } = told;
    let json = context.is_json();
    let setup = ApproverSetup {
        name: answer.source.origin.name(),
        clock: None,
        config: config_file_name(door),
        diff,
        level: context.level(),
        json,
        style: context.console.err_style(),
        programs: UserPrograms::from_env(),
    };
    context.console.flush();
    SignalGuard::hold_until_exit()?;
    let mut approver = TerminalApprover::new(setup, door.runner.clone())?;
    let became = door.submit(submission, &mut approver);
    let shown = approver.shown_digest();
    drop(approver);
    let teller = OutcomeReporter {
        answer,
        shown_digest: shown,
        diff,
        is_batch: several,
        ledger: &door.ledger,
        clock: String::new(),
        with_plan: json,
    };
    Ok(teller.report_outcome(became, context))
}

/// The file that names the project's commands, as people know it.
pub(crate) fn config_file_name(door: &Door) -> String {
    let name = door.loaded.file.as_deref().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The object of the only answer, or of several.
pub(super) fn batch_json(command: &str, exit: Exit, answers: usize, mut objects: Vec<Value>) -> Value {
    if answers == 1 && objects.len() == 1 {
        return objects.remove(0);
    }
    json!({"ok": exit == Exit::Done, "code": exit as u8, "command": command, "answers": answers, "results": objects})
}
