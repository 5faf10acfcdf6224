//! `relay log`: what was done to the project, newest first.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Serialize;

use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::project::Project;
use crate::show;
use crate::stub::{Entry, Face};

/// List what was applied and reverted, newest first
///
/// The number in front is what `relay show` and `relay revert` take, as well as the id. What was
/// reverted stays in the list. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// How many to list
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 20)]
    count: usize,

    /// The project's directory
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Print one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the ids alone
    #[arg(short, long)]
    quiet: bool,
}

/// Lists the newest entries.
pub(crate) fn run(args: &Args, console: &mut Console, home: &Home) -> Result<Exit, Failure> {
    let project = Project::open(&args.directory, home)?;
    let page = project.ledger.page(0, args.count)?;
    if args.json {
        let entries = page.entries.iter().enumerate().map(|(at, entry)| EntryJson::of(at + 1, entry));
        console.json(&LogJson {
            ok: true,
            code: Exit::Done as u8,
            command: "log",
            project: project.root.to_string_lossy(),
            entries: entries.collect(),
            total: page.total,
        });
    } else if args.quiet {
        for entry in &page.entries {
            console.out(&format!("{}\n", entry.id));
        }
    } else {
        let text = show::log::text(&page, &console.out_look());
        console.out(&text);
    }
    Ok(Exit::Done)
}

/// What `--json` prints.
#[derive(Serialize)]
struct LogJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    entries: Vec<EntryJson<'a>>,
    /// How many there are in all.
    total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryJson<'a> {
    index: usize,
    id: &'a str,
    /// The transactions, newest first: one, or those of a group.
    members: Vec<String>,
    created_at: &'a str,
    origin: &'a str,
    files: usize,
    added: usize,
    removed: usize,
    summary: &'a str,
    undone: bool,
    revertible: bool,
    revert_of: Vec<String>,
}

impl<'a> EntryJson<'a> {
    fn of(index: usize, entry: &'a Entry) -> EntryJson<'a> {
        EntryJson {
            index,
            id: &entry.id,
            members: entry.members.iter().map(ToString::to_string).collect(),
            created_at: &entry.created_at,
            origin: &entry.origin,
            files: entry.files,
            added: entry.added,
            removed: entry.removed,
            summary: &entry.summary,
            undone: entry.undone,
            revertible: entry.revertible,
            revert_of: entry.revert_of.iter().map(ToString::to_string).collect(),
        }
    }
}
