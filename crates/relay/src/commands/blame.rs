//! `relay blame`: which change wrote each line of a file.

use std::collections::{HashMap, hash_map};
use std::fs;

use relaycode_ledger::TxId;
use relaycode_ledger::record::Record;
use relaycode_tui::OutputStyle;
use relaycode_tui::views::blame::BlameRow;
use relaycode_tui::{pluralize, views};
use serde_json::{Value, json};

use crate::approver::pager::PagedOutput;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, path_args};

/// Show which change wrote each line of a file, and what was asked for
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BlameArgs {
    /// A file, or a file and a line: src/cart.ts:31
    #[arg(value_name = "FILE[:LINE]")]
    place: String,
}

impl BlameArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.restore_ledger(ctx);
        let (name, only) = self.split_place(ctx)?;
        let path = path_args::resolve_path(&project.root, &ctx.options.directory, &name)?;
        match fs::symlink_metadata(project.root.join(path.as_str())) {
            Ok(stat) if stat.is_file() => {}
            Ok(stat) => {
                let what = if stat.is_dir() { "a directory, not a file" } else { "not a regular file" };
                return Err(CommandFailure::usage(format!("{path} is {what}")).hint("name one file"));
            }
            Err(_) => {
                return Err(CommandFailure::usage(format!("there is no file {path}"))
                    .hint(format!("`relay log --file {path}` lists what changed it")));
            }
        }
        let blame = project.ledger.blame(path.as_str())?;
        let mut records: HashMap<TxId, Record> = HashMap::new();
        for id in blame.lines.iter().filter_map(|line| line.written_by) {
            if let hash_map::Entry::Vacant(place) = records.entry(id) {
                place.insert(project.ledger.record(id)?);
            }
        }
        let all = blame.lines.iter().enumerate().map(|(at, line)| BlameRow {
            number: at + 1,
            text: &line.text,
            record: line.written_by.and_then(|id| records.get(&id)),
        });
        let lines: Vec<BlameRow<'_>> = all.filter(|line| only.is_none_or(|n| n == line.number)).collect();
        if let (Some(only), true) = (only, lines.is_empty()) {
            return Err(CommandFailure::usage(format!("{path} has no line {only}"))
                .hint(format!("it has {}", pluralize(blame.lines.len(), "line"))));
        }
        let found = json!({
            "project": project.root.to_string_lossy(), "path": path.as_str(),
            "lines": lines.iter().map(line_json).collect::<Vec<Value>>(), "note": blame.note,
        });
        if ctx.is_json() {
            return Ok(ctx.print_result(Exit::Done, found));
        }
        let mut output = PagedOutput::new(ctx);
        let text = |look: &OutputStyle| match only {
            Some(_) => lines.iter().map(|line| views::blame::text_of_one(line, look)).collect(),
            None => views::blame::text_of_all(&lines, look),
        };
        output.push(text, ctx);
        output.finish(ctx)?;
        if let Some(note) = &blame.note {
            ctx.eprint_remark(LogLevel::Warn, note);
        }
        Ok(Exit::Done)
    }
}

impl BlameArgs {
    /// The file and the line; a file may have a colon in its name.
    fn split_place(&self, ctx: &CommandContext<'_>) -> CommandResult<(String, Option<usize>)> {
        let exists = |name: &str| ctx.options.directory.join(name).exists();
        let Some((name, line)) = self.place.rsplit_once(':').filter(|_| !exists(&self.place)) else {
            return Ok((self.place.clone(), None));
        };
        match line.parse::<usize>() {
            Ok(line) => Ok((name.to_string(), Some(line))),
            Err(_) if exists(name) => Err(CommandFailure::usage(format!("`{line}` is not a line number"))
                .hint(format!("`relay blame {name}:1` shows the first line"))),
            Err(_) => Ok((self.place.clone(), None)),
        }
    }
}

fn line_json(line: &BlameRow<'_>) -> Value {
    json!({
        "line": line.number,
        "text": line.text,
        "id": line.record.map(|record| record.uuid.to_string()),
        "createdAt": line.record.map(|record| &record.created_at),
        "origin": line.record.map(|record| &record.origin),
        "promptSummary": line.record.and_then(|record| record.prompt_summary.as_ref()),
        "gitCommitMsg": line.record.and_then(|record| record.git_commit_msg.as_ref()),
    })
}
