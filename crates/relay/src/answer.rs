//! An answer on its way to a plan: what `preview` and `apply` have in common. Reading, planning, and
//! showing a plan or a refusal, to people and as JSON.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_change::limits::Limits;
use relaycode_change::plan::{self, FilePlan, Finding, NothingSeen, Plan, Reason, Refused};
use relaycode_change::proposal::{Note, Proposal};
use relaycode_change::tree::Tree;
use relaycode_change::{diff, repair, response, syntax};
use serde::Serialize;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::input::Origin;
use crate::json::base64;
use crate::limit;
use crate::show;

/// The arguments that every command with an answer has.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Given {
    /// File with the answer, or `-` to read it from a pipe
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,

    /// Do not look for new syntax errors
    #[arg(long)]
    pub(crate) no_syntax: bool,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::Changed::parse, default_value = "", hide_default_value = true)]
    pub(crate) limit: limit::Changed,
}

/// The time that looking for new syntax errors may take.
const SYNTAX_BUDGET: Duration = Duration::from_secs(2);

/// An answer that was read.
pub(crate) struct Answer<'a> {
    given: &'a Given,
    /// Where the command works, as it was given.
    directory: PathBuf,
    limits: Limits,
    /// The name of the command that it was given to.
    command: &'static str,
    /// The project's directory.
    pub(crate) root: PathBuf,
    /// Where it came from.
    pub(crate) origin: Origin,
    /// The text itself.
    pub(crate) text: String,
    /// What was understood.
    pub(crate) proposal: Proposal,
}

impl<'a> Answer<'a> {
    /// Reads the answer for the project at `root`.
    pub(crate) fn read(
        given: &'a Given,
        root: PathBuf,
        command: &'static str,
        context: &mut Context<'_>,
    ) -> Result<Answer<'a>, Failure> {
        let limits = given.limit.limits();
        let origin = Origin::from_argument(&given.file);
        if origin.is_typed() {
            context.console.err("reading the answer from the terminal; Ctrl-D ends it\n");
        }
        let text = origin.read(limits.text_bytes)?;
        let proposal = response::read(&text, &limits)?;
        let directory = context.options.directory.clone();
        Ok(Answer { given, directory, limits, command, root, origin, text, proposal })
    }

    /// The plan, with what the syntax check found.
    pub(crate) fn plan(&self, tree: &dyn Tree) -> Result<Plan, Box<Refused>> {
        let mut plan = plan::plan(&self.proposal, tree, &NothingSeen, &self.limits)?;
        if !self.given.no_syntax {
            plan.findings.extend(syntax::check(&plan, SYNTAX_BUDGET));
        }
        Ok(plan)
    }

    /// The plan as people see it.
    pub(crate) fn card(&self, plan: &Plan, look: &crate::terminal::Look) -> String {
        show::card::text(&self.proposal, plan, &self.origin.name(), look)
    }

    /// Says why the answer is refused; to people unless `silent`, and as JSON if that was asked for.
    /// `repair` says that the prompt for the model is about to be printed.
    pub(crate) fn refused(&self, refused: &Refused, repair: bool, silent: bool, context: &mut Context<'_>) {
        context.object(&self.refusal_json(refused));
        if !silent {
            let next = if repair { None } else { self.next(refused) };
            let look = context.console.err_look();
            let unread = &self.proposal.unread;
            let text = show::refusal::text(refused, unread, next.as_deref(), &look);
            context.console.err(&text);
        }
    }

    /// The command that writes the repair prompt for the same answer, if one would help.
    fn next(&self, refused: &Refused) -> Option<String> {
        let nothing = |reason: &Reason| matches!(reason, Reason::Nothing { .. });
        if refused.refusals.iter().all(|r| nothing(&r.reason)) {
            return None;
        }
        let piped = if self.origin == Origin::Stdin { "... | " } else { "" };
        let mut words = vec![format!("{piped}relay preview"), shell_word(&self.given.file)];
        if self.directory != Path::new(".") {
            words.push(format!("-C {}", shell_word(&self.directory)));
        }
        words.push("--repair".to_string());
        Some(words.join(" "))
    }

    /// The plan as JSON; `text` with each file's resulting text.
    pub(crate) fn plan_json<'p>(plan: &'p Plan, text: bool) -> PlanJson<'p> {
        let files = plan.files.iter().map(|file| file_json(file, text)).collect();
        PlanJson { files, findings: &plan.findings, notes: &plan.notes }
    }

    fn refusal_json<'p>(&'p self, refused: &'p Refused) -> RefusedJson<'p> {
        let name = self.origin.name();
        let place = refused.refusals.first().map(|refusal| match refusal.line {
            0 => name,
            line => format!("{name}:{line}"),
        });
        let failure = Failure::refused("refused", show::refusal::headline(refused))
            .hint("paste `repair` back to the model");
        RefusedJson {
            ok: false,
            code: Exit::Refused as u8,
            command: self.command,
            project: self.root.to_string_lossy(),
            error: Failure { place, ..failure },
            refused,
            proposal: &self.proposal,
            repair: repair::prompt(refused),
        }
    }
}

fn file_json(file: &FilePlan, with_text: bool) -> FileJson<'_> {
    let after = file.after.as_deref().filter(|_| with_text);
    let text = after.map(std::str::from_utf8);
    FileJson {
        file,
        diff: diff::of_file(file).content,
        text: text.and_then(Result::ok),
        base64: after.filter(|_| text.is_some_and(|t| t.is_err())).map(base64),
    }
}

/// A plan in JSON.
#[derive(Serialize)]
pub(crate) struct PlanJson<'a> {
    files: Vec<FileJson<'a>>,
    findings: &'a [Finding],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct FileJson<'a> {
    #[serde(flatten)]
    file: &'a FilePlan,
    diff: diff::Content,
    /// Only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Instead of `text`, where that is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// A refusal in JSON.
#[derive(Serialize)]
struct RefusedJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    error: Failure,
    /// `refusals`, `fitting`, `notes`
    #[serde(flatten)]
    refused: &'a Refused,
    proposal: &'a Proposal,
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
