//! `relay config`: what is set, where each value comes from, and whether the file is right.

use clap::Subcommand;
use relaycode_project::config::{self, Loaded};
use relaycode_tui as view;
use serde_json::json;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::Project;

/// Show, check or describe the configuration
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// Every key, its value, and where that comes from (the default)
    Show {
        /// Only this key, its value alone
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Whether the configuration can be read, and what is odd about it
    Check,
    /// The JSON schema of relaycode.config.json
    Schema,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "config"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if let Some(What::Schema) = self.what {
            let text = serde_json::to_string_pretty(&config::schema()).map_err(Failure::unexpected)?;
            context.console.out(&format!("{text}\n"));
            return Ok(Exit::Done);
        }
        let project = Project::open(context)?;
        let loaded = config::load(&project.root, context.home.path.as_deref())?;
        match &self.what {
            Some(What::Show { key: Some(key) }) => one(&loaded, key, context),
            Some(What::Check) => Ok(check(&project, &loaded, context)),
            _ => Ok(all(&project, &loaded, context)),
        }
    }
}

fn one(loaded: &Loaded, key: &str, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let Some(row) = loaded.rows().into_iter().find(|row| row.key == key) else {
        return Err(Failure::usage(format!("there is no key `{key}`")).hint("`relay config show` lists them"));
    };
    context.object(&json!({"ok": true, "code": Exit::Done as u8, "command": "config", "keys": [view::config::object(&row)]}));
    if !context.json() {
        let value = context.console.out_look().safe(&row.value).into_owned();
        context.console.out(&format!("{value}\n"));
    }
    Ok(Exit::Done)
}

fn all(project: &Project, loaded: &Loaded, context: &mut Context<'_>) -> Exit {
    let rows = loaded.rows();
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "config", "project": project.root.to_string_lossy(),
        "file": loaded.file.as_ref().map(|file| file.to_string_lossy()),
        "keys": rows.iter().map(view::config::object).collect::<Vec<_>>(),
        "remarks": loaded.remarks.iter().map(view::config::remark_object).collect::<Vec<_>>(),
    }));
    if !context.json() {
        let text = view::config::table(loaded, &rows, &context.console.out_look());
        context.console.out(&text);
    }
    Exit::Done
}

fn check(project: &Project, loaded: &Loaded, context: &mut Context<'_>) -> Exit {
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "config", "project": project.root.to_string_lossy(),
        "file": loaded.file.as_ref().map(|file| file.to_string_lossy()),
        "remarks": loaded.remarks.iter().map(view::config::remark_object).collect::<Vec<_>>(),
    }));
    let text = view::config::check(loaded, &context.look());
    context.say(&text);
    Exit::Done
}
