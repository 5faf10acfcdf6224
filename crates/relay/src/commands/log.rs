//! `relay log`: what was done to the project, newest first.

use std::borrow::Cow;

use relaycode_ledger::{Entry, Filter, Item, TxId};
use serde::Serialize;

use crate::clock;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::files;
use crate::project::Project;
use crate::show;

/// List what was applied and reverted, newest first
///
/// The number in front is what `relay show` and `relay revert` take, as well as the id. What was
/// reverted stays in the list. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// How many to list
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 20)]
    count: usize,

    /// One line for each: the id and what it was about
    #[arg(long)]
    oneline: bool,

    /// Only what was done since then: 2h, 3d, yesterday, 2026-03-01
    #[arg(long, value_name = "TIME", value_parser = clock::moment)]
    since: Option<String>,

    /// Only what changed this file, or files in this directory
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Only what came from there: file, stdin, clipboard, agent, friend, revert, init
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "log"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.restore(context);
        let page = project.ledger.search(&self.filter(&project, context)?, 0, self.count)?;
        let rows: Vec<Row> = page.entries.iter().map(Row::of).collect();
        if context.json() {
            context.console.json(&LogJson {
                ok: true,
                code: Exit::Done as u8,
                command: "log",
                project: project.root.to_string_lossy(),
                entries: &rows,
                total: page.total,
            });
        } else if context.quiet() {
            for id in rows.iter().filter_map(|row| row.id.as_ref()) {
                let line = format!("{}\n", context.console.out_look().safe(id));
                context.console.out(&line);
            }
        } else if self.oneline {
            let text = show::log::oneline(&rows, &context.console.out_look());
            context.console.out(&text);
        } else {
            let text = show::log::text(&rows, page.total, &context.console.out_look());
            context.console.out(&text);
        }
        Ok(Exit::Done)
    }
}

impl Args {
    fn filter(&self, project: &Project, context: &Context<'_>) -> Result<Filter, Failure> {
        let named = |name: &String| files::named(&project.root, &context.options.directory, name);
        let file = self.file.as_ref().map(named).transpose()?.map(|path| path.to_string());
        Ok(Filter { since: self.since.clone(), file, origin: self.origin.clone(), ..Filter::default() })
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct LogJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    entries: &'a [Row],
    /// How many there are in all.
    total: usize,
}

/// One thing that was done, as a line of the list.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    /// What `relay show` and `relay revert` take, as well as the id.
    pub(crate) index: usize,
    /// The transaction, or the group; `None` if the record is too damaged to say.
    pub(crate) id: Option<String>,
    /// The transactions, newest first: one, or those of a group.
    pub(crate) members: Vec<String>,
    pub(crate) created_at: String,
    pub(crate) origin: String,
    pub(crate) files: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) summary: String,
    pub(crate) undone: bool,
    pub(crate) revertible: bool,
    /// A group that nobody finished.
    pub(crate) interrupted: bool,
    pub(crate) revert_of: Vec<TxId>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damage: Option<String>,
}

impl Row {
    fn of(entry: &Entry) -> Row {
        let members = &entry.members;
        let newest = members.first();
        let sum = |count: fn(&Item) -> usize| members.iter().map(count).fold(0, usize::saturating_add);
        // A group is called by what its first member was about.
        let summary = members.iter().rev().map(|item| &item.summary).find(|text| !text.is_empty());
        Row {
            index: entry.place,
            id: entry.group.clone().or_else(|| newest?.id.map(|id| id.to_string())),
            members: members.iter().filter_map(|item| item.id).map(|id| id.to_string()).collect(),
            created_at: newest.map(|item| item.created_at.clone()).unwrap_or_default(),
            origin: newest.map(|item| item.origin.clone()).unwrap_or_default(),
            files: sum(|item| item.files),
            added: sum(|item| item.added),
            removed: sum(|item| item.removed),
            summary: summary.cloned().unwrap_or_default(),
            undone: members.iter().all(|item| item.undone),
            interrupted: entry.interrupted,
            revertible: members.iter().all(|item| item.revertible),
            revert_of: members.iter().flat_map(|item| item.revert_of.clone()).collect(),
            damage: members.iter().find_map(|item| item.damage.clone()),
        }
    }
}
