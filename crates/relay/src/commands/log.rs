//! `relay log`: what was done to the project, newest first.

use std::borrow::Cow;

use relaycode_ledger::Filter;
use relaycode_tui as view;
use relaycode_tui::clock;
use relaycode_tui::log::Row;
use serde::Serialize;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::files;
use crate::project::Project;

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

    /// Only what came from there: file, stdin, clipboard, paste, agent, friend, revert, init
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
            let text = view::log::oneline(&rows, &context.console.out_look());
            context.console.out(&text);
        } else {
            // That nothing fits is not the same as that there is nothing.
            let any = page.total > 0 || project.ledger.page(0, 1)?.total > 0;
            let text = view::log::text(&rows, page.total, any, &context.console.out_look());
            context.console.out(&text);
        }
        Ok(Exit::Done)
    }
}

impl Args {
    /// The newest entries.
    pub(crate) fn newest(count: usize) -> Args {
        Args { count, oneline: false, since: None, file: None, origin: None }
    }

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
