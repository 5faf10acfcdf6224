//! `relay apply`: an answer becomes a change of the project, whole or not at all.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use relaycode_door::{Allow, Consent, Door, Submission};
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use serde_json::{Value, json};

use crate::answer::{Answer, Given, Source};
use crate::approver::{Setup, TerminalApprover};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::outcome::{Ending, Teller};
use crate::programs::Programs;
use crate::project::Project;
use crate::signals::Held;

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
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) given: Given,

    #[command(flatten)]
    beforehand: Beforehand,

    /// Only show what would be done
    #[arg(long, conflicts_with_all = ["yes", "allow"])]
    dry_run: bool,
}

/// What is said of a change before anybody sees it.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Beforehand {
    /// Say yes to ordinary questions; not to what --allow names, and not to trust
    #[arg(short, long)]
    yes: bool,

    /// Say yes to these, too
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    allow: Vec<Allowed>,

    /// Show the diff, too
    #[arg(long)]
    pub(super) diff: bool,
}

impl Beforehand {
    pub(super) fn consent(&self) -> Consent {
        Consent { yes: self.yes, allow: self.allow.iter().map(|allowed| allowed.0).collect() }
    }
}

/// What `--allow` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowed(Allow);

impl ValueEnum for Allowed {
    fn value_variants<'a>() -> &'a [Allowed] {
        const ALL: [Allowed; Allow::ALL.len()] = {
            let mut all = [Allowed(Allow::Near); Allow::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Allowed(Allow::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        if context.home.gate.as_ref() == Some(&project.root) {
            return Err(Failure::new(
                Exit::Refused,
                "inGate",
                "a command that judges a change cannot apply one",
            )
            .hint("take `relay apply` out of linter, preCommand and postCommand")
            .left(State::Unchanged));
        }
        let source = Source::read(&self.given, project.root.clone(), "apply", context)?;
        let answers = source.answers()?;
        project.recover(context)?;
        let door = project.door(context)?;
        if self.dry_run {
            return Ok(preview::planned(
                &door,
                &answers,
                &preview::Shown { diff: self.beforehand.diff, ..Default::default() },
                context,
            ));
        }
        self.apply_all(&door, &answers, context)
    }
}

impl Args {
    /// One after the other, up to the first that is not applied. Those that are in already are passed over, so
    /// that a text of which only a part was applied can be given again.
    fn apply_all(
        &self,
        door: &Door,
        answers: &[Answer<'_>],
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        let mut objects = Vec::new();
        let mut exit = Exit::Done;
        let mut applied = 0;
        for (at, answer) in answers.iter().enumerate() {
            if at > 0 {
                context.say("\n");
            }
            let ending = self.apply(door, answer, answers.len() > 1, context)?;
            exit = ending.exit;
            objects.push(ending.object);
            if ending.passed_over {
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
                        view::number(rest, "answer"),
                        if rest == 1 { "was" } else { "were" }
                    );
                    let text = view::outcome::remark(&context.console.err_look(), &said);
                    context.beside(LogLevel::Warn, &text);
                }
                break;
            }
        }
        let object = one_or_several("apply", exit, answers.len(), objects);
        context.object(&object);
        Ok(exit)
    }

    fn apply(
        &self,
        door: &Door,
        answer: &Answer<'_>,
        several: bool,
        context: &mut Context<'_>,
    ) -> Result<Ending, Failure> {
        let submission = answer.submission(self.beforehand.consent());
        submit(door, &submission, answer, Told { diff: self.beforehand.diff, several }, context)
    }
}

/// How much is told of a submission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// The diff was asked for.
    pub(super) diff: bool,
    /// There are other answers in the same text.
    pub(super) several: bool,
}

/// Takes a submission through the door, with the person at the terminal as its approver, and tells what became of it.
pub(super) fn submit(
    door: &Door,
    submission: &Submission<'_>,
    answer: &Answer<'_>,
    told: Told,
    context: &mut Context<'_>,
) -> Result<Ending, Failure> {
    let Told { diff, several } = told;
    let json = context.json();
    let setup = Setup {
        name: answer.source.origin.name(),
        clock: None,
        config: config_name(door),
        diff,
        level: context.level(),
        json,
        look: context.console.err_look(),
        programs: Programs::read(),
    };
    context.console.flush();
    Held::until_the_end()?;
    let mut approver = TerminalApprover::new(setup, door.runner.clone())?;
    let became = door.submit(submission, &mut approver);
    let shown = approver.shown();
    drop(approver);
    let teller = Teller { answer, shown, diff, several, ledger: &door.ledger, clock: String::new(), json };
    Ok(teller.tell(became, context))
}

/// The file that names the project's commands, as people know it.
pub(crate) fn config_name(door: &Door) -> String {
    let name = door.loaded.file.as_deref().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The object of the only answer, or of several.
pub(super) fn one_or_several(command: &str, exit: Exit, answers: usize, mut objects: Vec<Value>) -> Value {
    if answers == 1 && objects.len() == 1 {
        return objects.remove(0);
    }
    json!({"ok": exit == Exit::Done, "code": exit as u8, "command": command, "answers": answers, "results": objects})
}
