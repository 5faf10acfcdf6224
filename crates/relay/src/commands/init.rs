//! `relay init`: a project gets its configuration, its state directory and its prompt.

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_door::setup::{self, SetupChanges};
use relaycode_ledger::{TransactionHeader, TxId};
use relaycode_project::checkout::CheckoutKeys;
use relaycode_project::config::{self, check_project_id};
use relaycode_project::git::head;
use relaycode_project::identity;
use relaycode_project::notices::NoticeStore;
use relaycode_project::root::{self, RootMarker};
use relaycode_tui::views::setup::SetupReport;
use relaycode_tui::{clock, views};
use serde_json::json;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, project};

/// Set a project up, and print the prompt for its model
///
/// Makes relaycode.config.json, the state directory .relaycode and a line in .gitignore, as far as they
/// are missing, and prints the instructions for your model on stdout. A configuration that is there already, in
/// whatever form, is used and stays as it is. The project is the one around this directory, or its git repository;
/// with --here it is this directory, such as one package of a monorepo. Its name comes from package.json, Cargo.toml,
/// pyproject.toml or go.mod, else from the directory. Run again, it changes nothing.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InitArgs {
    /// The project's name, instead of the one that is found
    #[arg(long, value_name = "NAME", value_parser = parse_project_id)]
    id: Option<String>,

    /// Make this directory a project of its own, whatever lies around it
    #[arg(long)]
    here: bool,
}

fn parse_project_id(text: &str) -> Result<String, String> {
    check_project_id(text).map(|()| text.to_string())
}

impl InitArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let mut project = if self.here { Project::open_here(ctx)? } else { Project::open(ctx)? };
        project::recover_ledger(&project.root, &project.ledger, ctx)?;
        let loaded = project.config()?;
        let suggested = identity::suggest_project_id(&project.root);
        let configured = loaded.config.project_id.clone();
        if let (Some(wanted), Some(has)) = (&self.id, &configured)
            && wanted != has
        {
            return Err(CommandFailure::usage(format!("this project is called {has} already"))
                .hint("change `projectId` in its configuration"));
        }
        let id = configured.or_else(|| self.id.clone()).unwrap_or(suggested.id);
        let tree = project.ledger.tree(u64::try_from(PlanLimits::default().file_bytes).unwrap_or(u64::MAX));
        let SetupChanges { changes, ignore_file_left } =
            setup::setup_changes(&tree, &id, loaded.file.is_some());
        let made: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        // Without a key there is no prompt: better to fail before anything is written.
        let home = ctx.home.path.as_deref();
        CheckoutKeys::new(home).get_or_create_key(&project.root).map_err(CommandFailure::unexpected)?;
        let place = self.describe_place(&project, ctx);
        let lost_linter = project.lost_linter();
        project.ledger.make_state()?;
        let mut transaction = None;
        if !changes.is_empty() {
            let head = head::read(&project.root);
            let about = TransactionHeader {
                branch: head.branch,
                head: head.commit,
                git_commit_msg: Some("relay: set the project up".to_string()),
                ..TransactionHeader::new(TxId::random(), &id, &clock::now_utc(), "init")
            };
            let committed = project::commit_changes(&project.ledger, &changes, about)?;
            if let Some(said) = &committed.durability_doubt {
                return Err(project::disk_doubt_failure(&committed.record.uuid.short(), said));
            }
            transaction = Some(committed.record.uuid.to_string());
            project.config = config::load(&project.root, ctx.home.path.as_deref());
        }
        if project.tracks_state() {
            let said = "git tracks .relaycode, which holds what is yours alone: whoever gets the repository gets it, too";
            ctx.eprint_remark(LogLevel::Warn, said);
            ctx.eprint_detail(LogLevel::Warn, project::UNTRACK_HINT);
        }
        let config = project.config_name();
        let door = project.into_door(ctx)?;
        let prompt = super::prompt::instructions(&door, &[])?.text;
        if !ctx.is_json() {
            let linter = &door.config().patch.linter;
            let place = place.as_deref();
            let example = example_check(suggested.source);
            let report = SetupReport {
                id: &id,
                config: &config,
                made: &made,
                ignore_file_left: ignore_file_left.as_deref(),
                linter,
                example,
                lost_linter,
                place,
            };
            let text = views::setup::text(&report, &ctx.console.err_style());
            ctx.eprint_at(LogLevel::Info, &text);
        }
        if lost_linter.is_some() {
            NoticeStore::new(ctx.home.path.as_deref()).is_new(&door.root, project::LOST_LINTER_NOTICE);
        }
        let found = json!({
            "project": door.root.to_string_lossy(), "projectId": id, "source": suggested.source, "made": made,
            "config": config, "originalLinter": lost_linter, "id": transaction,
            "ignoreFileLeft": ignore_file_left, "prompt": &prompt,
        });
        Ok(ctx.print_either(Exit::Done, found, |look| look.block(&prompt).into_owned()))
    }

    /// Which directory became the project, where that could be another than was meant.
    fn describe_place(&self, project: &Project, ctx: &CommandContext<'_>) -> Option<String> {
        let start = ctx.options.directory.canonicalize().ok()?;
        if !self.here {
            let inside = start.strip_prefix(&project.root).ok()?;
            // Only what looks like a package could have been meant.
            identity::suggest_project_id(&start).source.filter(|_| start != project.root)?;
            let (root, inside) = (project.root.display(), inside.display());
            return Some(format!(
                "the project is {root}; `relay init --here` makes {inside} a project of its own"
            ));
        }
        let above = project.root.parent()?;
        let around = root::find(above, ctx.home.path.as_deref(), &ctx.home.ceilings).ok()?;
        (around.marker != RootMarker::Nothing).then(|| {
            let (root, around) = (project.root.display(), around.path.display());
            format!("inside {root} relay uses this project; the one around it, {around}, stays separate")
        })
    }
}

/// A command that could check a project with this file.
fn example_check(source: Option<&str>) -> &'static str {
    match source {
        Some("package.json") => "npx tsc --noEmit",
        Some("pyproject.toml") => "ruff check .",
        Some("go.mod") => "go vet ./...",
        Some("Cargo.toml") => "cargo check",
        _ => "make check",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_on_the_command_line_is_checked() {
        assert!(super::parse_project_id("my-app").is_ok());
        assert!(super::parse_project_id("").is_err());
        assert!(super::parse_project_id("a\nb").is_err());
    }
}
