//! `relay revert`: a change is taken back, and what came later stays. A revert is a change like any
//! other: it is recorded, and reverting it brings everything back.

use std::borrow::Cow;

use relaycode_change::path::RelPath;
use relaycode_ledger::record::Record;
use relaycode_ledger::revert::{KeptEdits, Reversal, RevertOptions};
use relaycode_ledger::{About, Entry, Ledger, LedgerError, Target, TxId};
use relaycode_tui as view;
use relaycode_tui::clock;
use relaycode_tui::outcome::Reverted;
use serde::Serialize;

use crate::ask::{self, is_yes};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::project::{self, Project};
use relaycode_project::config::LogLevel;
use relaycode_project::head::Head;

/// Take a change back, keeping what came later
///
/// Without a name the newest entry of `relay log`, which may itself be a revert. Later edits of the
/// same files stay; where they stand in the very same lines nothing is done (exit code 6) unless
/// --markers is given.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = NEWEST)]
    name: String,

    /// Do not ask, also on another branch or commit than it was applied on
    #[arg(short, long)]
    yes: bool,

    /// Only this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Where later edits are in the way, write both sides into the file between conflict markers
    #[arg(long)]
    markers: bool,
}

/// What is reverted where nothing is named.
const NEWEST: &str = "1";

impl Args {
    /// Takes this change back.
    pub(crate) fn of(id: TxId) -> Args {
        Args { name: id.to_string(), yes: false, file: None, markers: false }
    }

    fn file(&self) -> Result<Option<RelPath>, Failure> {
        let parse = |file: &String| RelPath::parse(file).map_err(Failure::usage);
        let hint = "give the file as `relay show` lists it";
        self.file.as_ref().map(parse).transpose().map_err(|failure| failure.hint(hint))
    }

    /// The failure, with the command that goes on from a conflict.
    fn explained(&self, error: LedgerError) -> Failure {
        let conflict = matches!(error, LedgerError::RevertConflict(_));
        let failure = Failure::from(error);
        if !conflict || self.name == NEWEST {
            return failure;
        }
        failure.hint(format!(
            "`relay revert {} --markers` writes both sides into the files, or undo the later edits first",
            self.name
        ))
    }
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "revert"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.recover(context)?;
        let target = project.find(&self.name)?;
        let options = RevertOptions { file: self.file()?, markers: self.markers };
        let reversal =
            project.ledger.plan_revert(&target, &options).map_err(|error| self.explained(error))?;
        let newest = match newest(&target) {
            Some(id) => project.ledger.record(id)?,
            None => return Err(Failure::usage(format!("there is nothing in `{}`", self.name))),
        };
        let revert = Revert { args: self, project, target, newest, reversal };
        if revert.reversal.changes.is_empty() {
            revert.report(None, context);
            return Ok(Exit::Done);
        }
        revert.ask_elsewhere(context)?;
        let about = revert.about();
        let committed = revert.project.carry_out(&revert.reversal.changes, about, "user")?;
        let id = committed.record.uuid;
        if let Some(said) = &committed.doubt {
            return Err(project::doubt(&id.short(), said));
        }
        revert.report(Some(id), context);
        Ok(Exit::Done)
    }
}

/// Entries that are looked at for one that can be taken back.
const NEAR: usize = 20;

/// The newest change that is no revert and was not taken back, and what it is called.
pub(crate) fn newest_open(ledger: &Ledger) -> Result<Option<(TxId, String)>, Failure> {
    let page = ledger.page(0, NEAR)?;
    let found = page.entries.iter().find(|entry| is_open(entry));
    Ok(found.and_then(|entry| Some((entry.members.first()?.id?, title(entry)?))))
}

/// Nothing took it back, and it takes nothing back itself.
fn is_open(entry: &Entry) -> bool {
    entry.members.iter().all(|item| !item.undone && item.revertible && item.revert_of.is_empty())
}

/// What an entry was about, in quotes, else its id.
fn title(entry: &Entry) -> Option<String> {
    /// Characters of a title.
    const TITLE: usize = 50;
    let title: String = entry.members.last()?.summary.chars().take(TITLE).collect();
    let id = entry.members.first()?.id?.short();
    Some(if title.is_empty() { id } else { format!("\"{title}\"") })
}

/// The newest transaction of a target.
fn newest(target: &Target) -> Option<TxId> {
    match target {
        Target::One(id) => Some(*id),
        Target::Group { members, .. } => members.first().copied(),
    }
}

/// A revert that is planned.
struct Revert<'a> {
    args: &'a Args,
    project: Project,
    target: Target,
    newest: Record,
    reversal: Reversal,
}

impl Revert<'_> {
    /// What is taken back, as people call it.
    fn name(&self) -> String {
        match &self.target {
            Target::One(id) => id.short(),
            Target::Group { id, .. } => id.chars().take(8).collect(),
        }
    }

    /// Asks, if something else is checked out than when the change was applied.
    fn ask_elsewhere(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let then = Head { branch: self.newest.branch.clone(), commit: self.newest.head.clone() };
        let now = self.project.head();
        let known = then.branch.is_some() || then.commit.is_some();
        if !known || then == now {
            return Ok(());
        }
        let said = format!(
            "{} was applied on {}; {} is checked out now",
            self.name(),
            view::outcome::place(&then),
            view::outcome::place(&now)
        );
        let look = context.console.err_look();
        let said = look.safe(&said).into_owned();
        if self.args.yes {
            context.beside(LogLevel::Warn, &view::outcome::remark(&look, &said));
            return Ok(());
        }
        let Some(terminal) = ask::terminal() else {
            return Err(ask::nobody(&said, "`-y` reverts it here without asking"));
        };
        terminal.say(&view::outcome::remark(&look, &said));
        if is_yes(&ask::ask(&terminal, "  revert it here? [y/N]  ")?) {
            Ok(())
        } else {
            Err(Failure::new(Exit::Declined, "declined", "not reverted").left(State::Unchanged))
        }
    }

    fn about(&self) -> About {
        let head = self.project.head();
        About {
            branch: head.branch,
            head: head.commit,
            revert_of: self.reversal.of.clone(),
            directories_to_remove: self.reversal.made_directories_to_remove.clone(),
            directory_modes: self.reversal.removed_directories.clone(),
            read_only: self.reversal.read_only.clone(),
            notes: self.reversal.notes.clone(),
            ..About::new(TxId::random(), &self.newest.project_id, &clock::now(), "revert")
        }
    }

    /// The change that one would revert after this one.
    fn next(&self) -> Option<(usize, String)> {
        // The revert is done: that the log cannot be read now is no reason to fail.
        let page = self.project.ledger.page(0, NEAR).ok()?;
        let open =
            |entry: &&Entry| is_open(entry) && entry.members.iter().all(|item| !self.takes_back(item.id));
        let (at, entry) = page.entries.iter().enumerate().find(|(_, entry)| open(entry))?;
        Some((at + 1, title(entry)?))
    }

    fn takes_back(&self, id: Option<TxId>) -> bool {
        let back = self.reversal.of.iter().chain(&self.newest.revert_of);
        id.is_some_and(|id| back.copied().any(|other| other == id))
    }

    /// Says what was done; `None`: nothing, because there was nothing left to take back.
    fn report(&self, id: Option<TxId>, context: &mut Context<'_>) {
        let reversal = &self.reversal;
        context.object(&RevertedJson {
            ok: true,
            code: Exit::Done as u8,
            command: "revert",
            project: self.project.root.to_string_lossy(),
            reverted: id.is_some(),
            id: id.map(|id| id.to_string()),
            revert_of: reversal.of.iter().map(ToString::to_string).collect(),
            files: reversal.changes.iter().map(|change| change.path.as_str()).collect(),
            kept: reversal.kept.iter().map(KeptJson::of).collect(),
            with_markers: &reversal.conflicted,
        });
        if context.quiet() {
            return;
        }
        let look = context.look();
        let text = match id {
            None => view::outcome::done(&look, &format!("nothing of {} is left to revert", self.name())),
            Some(_) => {
                let next = self.next();
                let back = &self.newest.revert_of;
                Reverted { name: self.name(), back, reversal, next }.text(&look)
            }
        };
        context.say(&text);
    }
}

/// What `--json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RevertedJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    /// `false`: there was nothing left to take back.
    reverted: bool,
    id: Option<String>,
    revert_of: Vec<String>,
    files: Vec<&'a str>,
    /// Files with later edits, which stay.
    kept: Vec<KeptJson<'a>>,
    /// Files that now hold conflict markers.
    with_markers: &'a [String],
}

#[derive(Serialize)]
struct KeptJson<'a> {
    path: &'a str,
    edits: usize,
}

impl<'a> KeptJson<'a> {
    fn of(kept: &'a KeptEdits) -> KeptJson<'a> {
        KeptJson { path: &kept.path, edits: kept.edits }
    }
}
