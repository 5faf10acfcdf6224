//! `relay config`: what is set, where each value comes from, and whether the file is right.

use clap::Subcommand;
use relaycode_project::config::{self, LoadedConfig};
use relaycode_tui::views;
use serde_json::json;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project};

/// Show, check or describe the configuration
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, Clone, Subcommand)]
enum ConfigCommand {
    /// Every key, its value, and where that comes from (the default)
    Show {
        /// Only this key, its value alone
        key: Option<String>,
    },
    /// Whether the configuration can be read, all that is wrong with it, and what is odd about it
    Check,
    /// The JSON schema of relaycode.config.json
    Schema,
}

impl ConfigArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        if let Some(ConfigCommand::Schema) = self.command {
            let text =
                serde_json::to_string_pretty(&config::json_schema()).map_err(CommandFailure::unexpected)?;
            ctx.console.print(&format!("{text}\n"));
            return Ok(Exit::Done);
        }
        let (project, _) = Project::look(ctx)?;
        if let Some(ConfigCommand::Check) = self.command
            && project.config.is_err()
        {
            return print_errors(&project, ctx);
        }
        let loaded = project.config()?;
        match &self.command {
            Some(ConfigCommand::Show { key: Some(key) }) => print_key(loaded, key, ctx),
            Some(ConfigCommand::Check) => Ok(print_check(&project, loaded, ctx)),
            _ => Ok(print_all(&project, loaded, ctx)),
        }
    }
}

fn print_key(loaded: &LoadedConfig, key: &str, ctx: &mut CommandContext<'_>) -> CommandResult {
    let Some(row) = loaded.rows().into_iter().find(|row| row.key == key) else {
        return Err(
            CommandFailure::usage(format!("there is no key `{key}`")).hint("`relay config show` lists them")
        );
    };
    let found = json!({"keys": [views::config::row_json(&row)]});
    Ok(ctx.print_either(Exit::Done, found, |look| format!("{}\n", look.safe(&row.value))))
}

fn print_all(project: &Project, loaded: &LoadedConfig, ctx: &mut CommandContext<'_>) -> Exit {
    let rows = loaded.rows();
    let found = json!({
        "project": project.root.to_string_lossy(), "file": loaded.file.as_ref().map(|file| file.to_string_lossy()),
        "keys": rows.iter().map(views::config::row_json).collect::<Vec<_>>(),
        "remarks": loaded.remarks.iter().map(views::config::remark_json).collect::<Vec<_>>(),
    });
    ctx.print_either(Exit::Done, found, |look| views::config::table(loaded, &rows, look))
}

/// Everything that is wrong with the files.
fn print_errors(project: &Project, ctx: &mut CommandContext<'_>) -> CommandResult {
    let (loaded, errors) = config::load_all(&project.root, ctx.home.path.as_deref());
    // Somebody corrected it in between.
    let Some(first) = errors.first() else { return Ok(print_check(project, &loaded, ctx)) };
    let exit = ctx.print_result(Exit::Usage, json!({
        "error": CommandFailure::from(first.clone()),
        "errors": errors.iter().map(views::config::error_json).collect::<Vec<_>>(),
        "project": project.root.to_string_lossy(), "file": loaded.file.as_ref().map(|file| file.to_string_lossy()),
        "remarks": loaded.remarks.iter().map(views::config::remark_json).collect::<Vec<_>>(),
    }));
    let text = views::config::error_report(&loaded, &errors, &ctx.console.err_style());
    ctx.eprint_at(LogLevel::Error, &text);
    Ok(exit)
}

fn print_check(project: &Project, loaded: &LoadedConfig, ctx: &mut CommandContext<'_>) -> Exit {
    let exit = ctx.print_result(Exit::Done, json!({
        "project": project.root.to_string_lossy(), "file": loaded.file.as_ref().map(|file| file.to_string_lossy()),
        "remarks": loaded.remarks.iter().map(views::config::remark_json).collect::<Vec<_>>(),
    }));
    ctx.print_info(&views::config::check_report(loaded, &ctx.style()));
    exit
}
