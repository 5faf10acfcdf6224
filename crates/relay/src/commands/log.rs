//! `relay log`: what was done to the project, newest first.

use std::path::Path;

use relaycode_door::{RESERVED_ORIGINS, SubmissionOrigin};
use relaycode_friend::friends;
use relaycode_ledger::{Ledger, LogEntry, LogFilter, LogPage, TxId};
use relaycode_tui::views::log::LogRow;
use relaycode_tui::{clock, views};
use serde_json::json;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, json, path_args};

/// List what was done to the project, newest first
///
/// The number in front is what `relay show` and `relay revert` take, as well as the id. What is undone
/// stays in the list, marked. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LogArgs {
    /// How many to list
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = parse_count)]
    count: usize,

    /// One line for each: the id and what it was about
    #[arg(long)]
    oneline: bool,

    /// Only what was done since then: 2h, 3d, yesterday, 2026-03-01
    #[arg(long, value_name = "TIME", value_parser = clock::parse_time)]
    since: Option<String>,

    /// Only what changed this file, or files in this directory
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Only what came from there: file, stdin, clipboard, paste, agent, a friend by its name, record, undo, redo, revert, init
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a number, such as 20".to_string())
}

impl LogArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.restore_ledger(ctx);
        let filter = self.filter(&project, ctx)?;
        print_log(&project.root, &project.ledger, &filter, self.count, self.oneline, ctx)?;
        Ok(Exit::Done)
    }
}

/// Prints the newest entries that fit.
pub(crate) fn print_log(
    root: &Path,
    ledger: &Ledger,
    filter: &LogFilter,
    count: usize,
    oneline: bool,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let (rows, total) = log_rows(ledger, filter, 0, count)?;
    if ctx.is_json() {
        let found = json!({"project": root.to_string_lossy(), "entries": rows, "total": total});
        ctx.print_json(&json::result_json("log", Exit::Done, found));
    } else if ctx.is_quiet() {
        for id in rows.iter().filter_map(|row| row.id.as_ref()) {
            ctx.console.print(&format!("{}\n", ctx.console.out_style().safe(id)));
        }
    } else if oneline {
        ctx.console.print(&views::log::oneline(&rows, &ctx.console.out_style()));
    } else {
        // That nothing fits is not the same as that there is nothing.
        let any = total > 0 || ledger.log_page(0, 1)?.total > 0;
        ctx.console.print(&views::log::text(&rows, total, any, &ctx.console.out_style()));
    }
    Ok(())
}

/// Changes as the log shows them, and how many there are.
pub(crate) fn log_rows(
    ledger: &Ledger,
    filter: &LogFilter,
    skip: usize,
    count: usize,
) -> CommandResult<(Vec<LogRow>, usize)> {
    let page = ledger.search_log(filter, skip, count)?;
    let mut rows: Vec<LogRow> = page.entries.iter().map(LogRow::from_entry).collect();
    lengthen_ids(ledger, &page, &mut rows)?;
    Ok((rows, page.total))
}

/// Shows as much of each id as tells it from all others.
fn lengthen_ids(ledger: &Ledger, page: &LogPage, rows: &mut [LogRow]) -> CommandResult<()> {
    let id = |entry: &LogEntry| entry.members.first().filter(|_| entry.group.is_none())?.id;
    let ids: Vec<Option<TxId>> = page.entries.iter().map(id).collect();
    let short = ledger.short_ids(&ids.iter().flatten().copied().collect::<Vec<_>>())?;
    for (row, id) in rows.iter_mut().zip(ids) {
        row.short = id.and_then(|id| short.get(&id)).map_or(row.short, String::len);
    }
    Ok(())
}

impl LogArgs {
    fn filter(&self, project: &Project, ctx: &CommandContext<'_>) -> CommandResult<LogFilter> {
        let named = |name: &String| path_args::resolve_path(&project.root, &ctx.options.directory, name);
        let file = self.file.as_ref().map(named).transpose()?.map(|path| path.to_string());
        if let Some(origin) = &self.origin {
            check_origin(origin, &project.ledger)?;
        }
        Ok(LogFilter { since: self.since.clone(), file, origin: self.origin.clone(), ..LogFilter::default() })
    }
}

/// Refuses a name that no change can come from. Those of models' providers are the user's own, so the log is asked, too.
fn check_origin(name: &str, ledger: &Ledger) -> CommandResult<()> {
    let ways = SubmissionOrigin::ALL.iter().map(|origin| origin.name());
    let friends = friends::ALL.iter().map(|friend| friend.name());
    let known: Vec<&str> = ways.chain(friends).chain(RESERVED_ORIGINS).collect();
    let filter = LogFilter { origin: Some(name.to_string()), ..LogFilter::default() };
    if known.contains(&name) || ledger.search_log(&filter, 0, 1)?.total > 0 {
        return Ok(());
    }
    Err(CommandFailure::usage(format!("no change comes from `{name}`"))
        .hint(format!("`--origin` takes {}", known.join(", "))))
}
