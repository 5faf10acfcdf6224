//! `relay apply`: an answer becomes a change of the project, whole or not at all.

use std::borrow::Cow;

use relaycode_change::dialect;
use relaycode_change::plan::{Change, FilePlan, HunkState, Plan};
use relaycode_change::proposal::{Action, Operation, Proposal};
use relaycode_ledger::record::RecordedOperation;
use relaycode_ledger::{About, Digest, LedgerError, TxId};
use serde::Serialize;

use crate::answer::{Answer, Given, PlanJson};
use crate::ask::{self, Terminal, is_yes};
use crate::clock;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::input::Origin;
use crate::project::{self, Project};
use crate::show;
use crate::terminal::{Look, Sign};

/// Apply an answer, whole or not at all
///
/// Plans the answer as `relay preview` does, shows the plan, asks, and puts it on disk: every file or
/// none, whatever happens meanwhile. What was applied is recorded in `.relaycode` and can be undone
/// with `relay revert`. An answer that does not fit is refused as a whole (exit code 3).
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) given: Given,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    /// Show the diff, too
    #[arg(long)]
    diff: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        run(self, context)
    }
}

/// Plans the answer, asks, and applies it.
fn run(args: &Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let project = Project::open(context)?;
    let answer = Answer::read(&args.given, project.root.clone(), "apply", context)?;
    project.recover(context)?;
    let id = identity(&answer, &project, context)?;
    let tree = project.tree(&args.given.limit.limits());
    let plan = match answer.plan(&tree) {
        Ok(plan) => plan,
        Err(refused) => {
            answer.refused(&refused, false, context.quiet() && context.json(), context);
            return Ok(Exit::Refused);
        }
    };
    let apply = Apply { args, project, answer, plan };
    if apply.plan.files.iter().all(|file| file.change == Change::Unchanged) {
        apply.show_card(context);
        apply.report(None, context);
        return Ok(Exit::Done);
    }
    let decided_by = apply.decide(context)?;
    let about = apply.about(id);
    let changes = project::changes(&apply.plan);
    let committed = apply.project.carry_out(&changes, about, decided_by)?;
    let id = committed.record.uuid;
    if let Some(said) = &committed.doubt {
        return Err(project::doubt(&id.short(), said));
    }
    apply.report(Some(id), context);
    Ok(Exit::Done)
}

/// The id that the answer asks for, if the ledger does not have it yet; else one of ours.
fn identity(answer: &Answer, project: &Project, context: &mut Context<'_>) -> Result<TxId, Failure> {
    let Some(id) = answer.proposal.control.uuid.as_ref().and_then(|text| text.parse::<TxId>().ok()) else {
        return Ok(TxId::random());
    };
    let record = match project.ledger.record(id) {
        Err(LedgerError::Unknown { .. }) => return Ok(id),
        Err(error) => return Err(error.into()),
        Ok(record) => record,
    };
    let other_content = record.answer != Some(Digest::of(answer.text.as_bytes()));
    let failure = Failure::from(LedgerError::AlreadyProcessed { id, other_content });
    if !other_content {
        let by = project.fate(id)?.reverted_by.map(|by| by.short());
        return Err(match by {
            Some(by) => {
                failure.hint(format!("it was applied and reverted; `relay revert {by}` brings it back"))
            }
            None => failure,
        });
    }
    // `-y` does not stand in for this: an id that comes twice is odd.
    let Some(mut terminal) = Terminal::open() else {
        return Err(failure);
    };
    let said = format!("{} was the id of another answer, which is in the ledger already", id.short());
    terminal.say(&show::outcome::remark(&context.console.err_look(), &said));
    if is_yes(&terminal.ask("  is this a new change? [y/N]  ")?) { Ok(TxId::random()) } else { Err(failure) }
}

/// A plan that waits for its yes.
struct Apply<'a> {
    args: &'a Args,
    project: Project,
    answer: Answer<'a>,
    plan: Plan,
}

impl Apply<'_> {
    /// Shows the plan and gets a yes for it; says who gave it.
    fn decide(&self, context: &mut Context<'_>) -> Result<&'static str, Failure> {
        if self.args.yes {
            self.show_card(context);
            return Ok("-y");
        }
        let Some(mut terminal) = Terminal::open() else {
            self.show_card(context);
            return Err(ask::nobody(
                "somebody has to say yes, and there is no terminal to ask on",
                "`-y` applies it without asking",
            ));
        };
        let look = context.console.err_look();
        // Whoever is asked sees what about, wherever stdout goes.
        if context.console.out_look().width.is_some() && !context.json() {
            let look = context.console.out_look();
            context.console.out(&self.shown(&look));
        } else {
            terminal.say(&self.shown(&look));
        }
        context.console.flush();
        self.ask(&mut terminal, &look)
    }

    fn ask(&self, terminal: &mut Terminal, look: &Look) -> Result<&'static str, Failure> {
        let dot = look.sign(Sign::Dot);
        loop {
            let answer = terminal.ask(&format!("  apply? [y/N]  d diff {dot} ? keys  "))?;
            match answer.as_str() {
                yes if is_yes(yes) => return Ok("terminal"),
                "d" => terminal.say(&show::diff::text(&self.plan, look)),
                "?" => terminal.say(KEYS),
                _ => {
                    return Err(
                        Failure::new(Exit::Declined, "declined", "not applied").left(State::Unchanged)
                    );
                }
            }
        }
    }

    /// The card, and the diff if it was asked for.
    fn shown(&self, look: &Look) -> String {
        let mut text = self.answer.card(&self.plan, look);
        if self.args.diff {
            text += &show::diff::text(&self.plan, look);
        }
        text
    }

    fn show_card(&self, context: &mut Context<'_>) {
        if context.quiet() {
            return;
        }
        if context.json() {
            let text = self.shown(&context.console.err_look());
            context.console.err(&text);
        } else {
            let text = self.shown(&context.console.out_look());
            context.console.out(&text);
        }
    }

    /// What the record says beside the files.
    fn about(&self, id: TxId) -> About {
        let Proposal { control, operations, reasoning, .. } = &self.answer.proposal;
        let named = control.project_id.as_deref().map(without_key);
        let project_id = named.map_or_else(|| self.project.name(), str::to_string);
        let origin = match self.answer.origin {
            Origin::Stdin => "stdin",
            Origin::File(_) => "file",
        };
        let head = self.project.head();
        About {
            git_commit_msg: control.git_commit_msg.clone(),
            prompt_summary: control.prompt_summary.clone(),
            reasoning: reasoning.clone(),
            operations: operations.iter().map(recorded).collect(),
            branch: head.branch,
            head: head.commit,
            answer: Some(Digest::of(self.answer.text.as_bytes())),
            matches: self.plan.files.iter().flat_map(matches).collect(),
            ..About::new(id, &project_id, &clock::now(), origin)
        }
    }

    /// Says what was done; `None`: nothing, because everything was already in.
    fn report(&self, id: Option<TxId>, context: &mut Context<'_>) {
        let files = self.plan.files.iter().filter(|file| file.change != Change::Unchanged).count();
        context.object(&AppliedJson {
            ok: true,
            code: Exit::Done as u8,
            command: "apply",
            project: self.answer.root.to_string_lossy(),
            applied: id.is_some(),
            id: id.map(|id| id.to_string()),
            plan: Answer::plan_json(&self.plan, false),
        });
        let Some(id) = id.filter(|_| !context.quiet()) else {
            return;
        };
        let look = context.look();
        let text = show::outcome::applied(&id.short(), files, &look);
        context.say(&text);
    }
}

const KEYS: &str = "    y  put it on disk, every file or none; `relay revert` undoes it
    n  leave everything as it is (so does Enter)
    d  show the diff
";

/// `my-app` of `my-app.<key>`: the key is nobody else's business.
fn without_key(id: &str) -> &str {
    id.rsplit_once('.').map_or(id, |(name, _)| name)
}

/// An operation in the form of the specification.
fn recorded(operation: &Operation) -> RecordedOperation {
    match &operation.action {
        Action::Delete { path } => RecordedOperation::Delete { path: path.to_string() },
        Action::Rename { from, to } => {
            RecordedOperation::Rename { from: from.to_string(), to: to.to_string() }
        }
        action @ Action::Write { path, edit, .. } => RecordedOperation::Write {
            path: path.to_string(),
            content: dialect::named(edit.dialect).map(|dialect| dialect.print(action)).unwrap_or_default(),
            patch_strategy: edit.dialect.to_string(),
        },
    }
}

/// One line for every edit that did not simply match.
fn matches(file: &FilePlan) -> Vec<String> {
    let told = file.hunks.iter().enumerate().filter(|(_, hunk)| {
        hunk.rung != "exact" || hunk.chosen_by.is_some() || hunk.state == HunkState::AlreadyIn
    });
    told.map(|(index, hunk)| {
        let how = match hunk.state {
            HunkState::AlreadyIn => "already in",
            HunkState::Applied => hunk.rung,
        };
        let chosen = hunk.chosen_by.map(|by| format!(", chosen by {by}")).unwrap_or_default();
        format!("{} edit {}, line {}: {how}{chosen}", file.path, index + 1, hunk.used)
    })
    .collect()
}

/// What `--json` prints.
#[derive(Serialize)]
struct AppliedJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    /// `false`: everything was already in.
    applied: bool,
    id: Option<String>,
    plan: PlanJson<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_not_part_of_the_id() {
        assert_eq!(without_key("my-app.k3y"), "my-app");
        assert_eq!(without_key("my-app"), "my-app");
    }
}
