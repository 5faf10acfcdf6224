//! `relay blame`: which change wrote each line of a file.

use std::collections::{HashMap, hash_map};
use std::fs;

use relaycode_ledger::TxId;
use relaycode_ledger::record::Record;
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use relaycode_tui::blame::Line;
use serde_json::{Value, json};

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::files;
use crate::project::Project;

/// Say which change wrote each line of a file, and what had been asked for
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A file, or a file and a line: src/cart.ts:31
    #[arg(value_name = "FILE[:LINE]")]
    place: String,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "blame"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.restore(context);
        let (name, only) = self.split(context);
        let path = files::named(&project.root, &context.options.directory, &name)?;
        match fs::symlink_metadata(project.root.join(path.as_str())) {
            Ok(stat) if stat.is_file() => {}
            Ok(_) => return Err(Failure::usage(format!("{path} is no regular file"))),
            Err(_) => return Err(Failure::usage(format!("there is no file {path}"))),
        }
        let blame = project.ledger.blame(path.as_str())?;
        let mut records: HashMap<TxId, Record> = HashMap::new();
        for id in blame.lines.iter().filter_map(|line| line.by) {
            if let hash_map::Entry::Vacant(place) = records.entry(id) {
                place.insert(project.ledger.record(id)?);
            }
        }
        let all = blame.lines.iter().enumerate().map(|(at, line)| Line {
            number: at + 1,
            text: &line.text,
            by: line.by.and_then(|id| records.get(&id)),
        });
        let lines: Vec<Line<'_>> = all.filter(|line| only.is_none_or(|only| only == line.number)).collect();
        if let (Some(only), true) = (only, lines.is_empty()) {
            return Err(Failure::usage(format!("{path} has no line {only}"))
                .hint(format!("it has {} lines", blame.lines.len())));
        }
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "blame", "project": project.root.to_string_lossy(),
            "path": path.as_str(), "lines": lines.iter().map(object).collect::<Vec<Value>>(), "note": blame.note,
        }));
        if !context.json() {
            let look = context.console.out_look();
            let text = match only {
                Some(_) => lines.iter().map(|line| view::blame::one(line, &look)).collect(),
                None => view::blame::all(&lines, &look),
            };
            context.console.out(&text);
            if let Some(note) = &blame.note {
                let look = context.console.err_look();
                let text = view::outcome::remark(&look, &look.safe(note));
                context.beside(LogLevel::Warn, &text);
            }
        }
        Ok(Exit::Done)
    }
}

impl Args {
    /// The file and the line; a file may have a colon in its name.
    fn split(&self, context: &Context<'_>) -> (String, Option<usize>) {
        if let Some((name, line)) = self.place.rsplit_once(':')
            && let Ok(line) = line.parse::<usize>()
            && !context.options.directory.join(&self.place).exists()
        {
            return (name.to_string(), Some(line));
        }
        (self.place.clone(), None)
    }
}

fn object(line: &Line<'_>) -> Value {
    json!({
        "line": line.number,
        "text": line.text,
        "id": line.by.map(|record| record.uuid.to_string()),
        "createdAt": line.by.map(|record| &record.created_at),
        "origin": line.by.map(|record| &record.origin),
        "promptSummary": line.by.and_then(|record| record.prompt_summary.as_ref()),
        "gitCommitMsg": line.by.and_then(|record| record.git_commit_msg.as_ref()),
    })
}
