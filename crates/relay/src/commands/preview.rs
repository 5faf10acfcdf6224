//! `relay preview`: what an answer would do, without doing it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_change::plan::{self, FilePlan, Finding, NothingSeen, Plan, Reason, Refused};
use relaycode_change::proposal::{Note, Proposal};
use relaycode_change::{diff, repair, response, syntax};
use serde::Serialize;

use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::input::Origin;
use crate::json::base64;
use crate::limit;
use crate::show;
use crate::tree::DiskTree;

/// Show what an answer would change, without changing anything
///
/// Reads the answer of a model (fenced files, search/replace blocks, diffs, `*** Begin Patch` envelopes),
/// finds the place of every edit in the project, and shows the plan: the files, how each edit
/// matched, what deserves a look, and the diff. Where a place is not certain the answer is refused
/// as a whole (exit code 3), with the reasons.
#[derive(Debug, Clone, clap::Args)]
#[command(alias = "plan")]
pub(crate) struct Args {
    /// File with the answer, or `-` to read it from a pipe
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,

    /// Directory that the answer's paths are relative to
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Print one JSON object on stdout, the text for people on stderr
    #[arg(long)]
    pub(crate) json: bool,

    /// With --json: include each file's resulting text (base64 if it is not UTF-8)
    #[arg(long, requires = "json")]
    pub(crate) text: bool,

    /// If the answer is refused, print a prompt to paste back to the model on stdout (with --json it
    /// is always part of the object)
    #[arg(long)]
    pub(crate) repair: bool,

    /// Leave out the diff
    #[arg(long, overrides_with = "diff")]
    pub(crate) no_diff: bool,

    /// Show the diff (the default, except with --json and --repair)
    #[arg(long, overrides_with = "no_diff")]
    pub(crate) diff: bool,

    /// Do not look for new syntax errors
    #[arg(long)]
    pub(crate) no_syntax: bool,

    /// Say nothing about a plan; refusals are still explained, except with --json or --repair
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::Changed::parse, default_value = "", hide_default_value = true)]
    pub(crate) limit: limit::Changed,
}

/// The time that looking for new syntax errors may take.
const SYNTAX_BUDGET: Duration = Duration::from_secs(2);

/// Plans the answer and shows what comes out.
pub(crate) fn run(args: &Args, console: &mut Console) -> Result<Exit, Failure> {
    let limits = args.limit.limits();
    let root = project(&args.directory)?;
    let origin = Origin::from_argument(&args.file);
    if origin.is_typed() {
        console.err("reading the answer from the terminal; Ctrl-D ends it\n");
    }
    let text = origin.read(limits.text_bytes)?;
    let proposal = response::read(&text, &limits)?;
    let tree = DiskTree::new(root.clone(), limits.file_bytes);
    let preview = Preview { args, root, name: origin.name(), proposal };
    match plan::plan(&preview.proposal, &tree, &NothingSeen, &limits) {
        Ok(plan) => Ok(preview.planned(&checked(plan, args), console)),
        Err(refused) => Ok(preview.refused(&refused, console)),
    }
}

fn project(directory: &Path) -> Result<PathBuf, Failure> {
    let name = directory.display();
    let hint = "give the project's directory with `-C DIR`";
    match directory.canonicalize() {
        Ok(root) if root.is_dir() => Ok(root),
        Ok(_) => Err(Failure::usage(format!("{name} is not a directory")).hint(hint)),
        Err(error) => Err(Failure::usage(format!("the directory {name} cannot be used: {error}")).hint(hint)),
    }
}

/// The plan with what the syntax check found.
fn checked(mut plan: Plan, args: &Args) -> Plan {
    if !args.no_syntax {
        plan.findings.extend(syntax::check(&plan, SYNTAX_BUDGET));
    }
    plan
}

/// An answer that was read, and how to show what becomes of it.
struct Preview<'a> {
    args: &'a Args,
    root: PathBuf,
    name: String,
    proposal: Proposal,
}

impl Preview<'_> {
    fn planned(&self, plan: &Plan, console: &mut Console) -> Exit {
        if self.args.json {
            console.json(&self.plan_json(plan));
        }
        if self.args.quiet {
            return Exit::Done;
        }
        // stdout is for the object or the prompt alone, where one was asked for.
        let aside = self.args.json || self.args.repair;
        let look = if aside { console.err_look() } else { console.out_look() };
        let mut text = show::card::text(&self.proposal, plan, &self.name, &look);
        if self.args.diff || !(aside || self.args.no_diff) {
            text += &show::diff::text(plan, &look);
        }
        if aside {
            console.err(&text);
        } else {
            console.out(&text);
        }
        Exit::Done
    }

    fn refused(&self, refused: &Refused, console: &mut Console) -> Exit {
        if self.args.json {
            console.json(&self.refusal_json(refused));
        }
        let silent = self.args.quiet && (self.args.json || self.args.repair);
        if !silent {
            let next = self.next(refused);
            let look = console.err_look();
            let unread = &self.proposal.unread;
            let text = show::refusal::text(refused, unread, next.as_deref(), &look);
            console.err(&text);
        }
        if self.args.repair && !self.args.json {
            let text = console.out_look().block(&repair::prompt(refused)).into_owned();
            console.out(&text);
        }
        Exit::Refused
    }

    /// The command that writes the repair prompt for the same answer, if one would help.
    fn next(&self, refused: &Refused) -> Option<String> {
        let nothing = |reason: &Reason| matches!(reason, Reason::Nothing { .. });
        if self.args.repair || refused.refusals.iter().all(|r| nothing(&r.reason)) {
            return None;
        }
        let piped = if self.args.file.as_os_str() == "-" { "... | " } else { "" };
        let mut words = vec![format!("{piped}relay preview"), shell_word(&self.args.file)];
        if self.args.directory != Path::new(".") {
            words.push(format!("-C {}", shell_word(&self.args.directory)));
        }
        words.push("--repair".to_string());
        Some(words.join(" "))
    }

    fn plan_json<'a>(&'a self, plan: &'a Plan) -> PlannedJson<'a> {
        let files = plan.files.iter().map(|file| self.file_json(file)).collect();
        PlannedJson {
            ok: true,
            code: Exit::Done as u8,
            command: "preview",
            project: self.root.to_string_lossy(),
            proposal: &self.proposal,
            plan: PlanJson { files, findings: &plan.findings, notes: &plan.notes },
        }
    }

    fn file_json<'a>(&self, file: &'a FilePlan) -> FileJson<'a> {
        let after = file.after.as_deref().filter(|_| self.args.text);
        let text = after.map(std::str::from_utf8);
        FileJson {
            file,
            diff: diff::of_file(file).content,
            text: text.and_then(Result::ok),
            base64: after.filter(|_| text.is_some_and(|t| t.is_err())).map(base64),
        }
    }

    fn refusal_json<'a>(&'a self, refused: &'a Refused) -> RefusedJson<'a> {
        let place = refused.refusals.first().map(|refusal| match refusal.line {
            0 => self.name.clone(),
            line => format!("{}:{line}", self.name),
        });
        let failure = Failure::refused("refused", show::refusal::headline(refused))
            .hint("paste `repair` back to the model");
        RefusedJson {
            ok: false,
            code: Exit::Refused as u8,
            command: "preview",
            project: self.root.to_string_lossy(),
            error: Failure { place, ..failure },
            refused,
            proposal: &self.proposal,
            repair: repair::prompt(refused),
        }
    }
}

/// What `--json` prints for a plan.
#[derive(Serialize)]
struct PlannedJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    proposal: &'a Proposal,
    plan: PlanJson<'a>,
}

#[derive(Serialize)]
struct PlanJson<'a> {
    files: Vec<FileJson<'a>>,
    findings: &'a [Finding],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct FileJson<'a> {
    #[serde(flatten)]
    file: &'a FilePlan,
    diff: diff::Content,
    /// With `--text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Instead of `text`, where that is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// What `--json` prints for a refusal.
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
