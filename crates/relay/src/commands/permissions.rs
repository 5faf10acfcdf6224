//! `relay permissions`: which rules say what is done without asking, keeping and removing them, and trying a line.

use clap::Subcommand;
use relaycode_project::access::Access;
use relaycode_project::permissions::{
    PermissionEffect, PermissionEngine, PermissionLayer, PermissionLayers, PermissionPlace,
    PermissionRequest, PermissionRule, PermissionStore, PermissionStoreError,
};
use relaycode_tui::{clock, views};
use serde_json::json;

use crate::friends::args::parse_access;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, render};

/// List, add, remove or try permission rules
///
/// Rules say what commands and agents may do: `allow` does it without asking, `ask` asks every time, `deny` never does it.
/// Deny wins over ask, and ask over allow. A project's configuration can only add `ask` and `deny`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    command: Option<PermissionsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
enum PermissionsCommand {
    /// All rules that hold in this project, and where they stand (the default)
    List,
    /// Add a rule of your own
    Add(KeptRuleArgs),
    /// Remove a rule that `add` or an answer to a question added
    Remove(KeptRuleArgs),
    /// Say what would become of a command line, without running it
    Test {
        /// The line, in quotes
        #[arg(allow_hyphen_values = true)]
        line: String,
        /// What may be done: read-only, ask, workspace or full
        #[arg(long, value_name = "ACCESS", value_parser = parse_access, default_value = "ask")]
        access: Access,
    },
}

#[derive(Debug, Clone, clap::Args)]
struct KeptRuleArgs {
    /// allow, ask or deny
    #[arg(value_parser = parse_effect)]
    effect: PermissionEffect,
    /// The rule in quotes, such as 'cargo test *' or 'edit src/**'
    rule: String,
    /// For this project (the default)
    #[arg(long, conflicts_with = "user")]
    here: bool,
    /// For all your projects
    #[arg(long)]
    user: bool,
}

fn parse_effect(name: &str) -> Result<PermissionEffect, String> {
    let effect = PermissionEffect::ALL.into_iter().find(|effect| effect.name() == name);
    effect.ok_or_else(|| "use allow, ask or deny".to_string())
}

impl PermissionsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let (project, _) = Project::look(ctx)?;
        let store = PermissionStore::new(ctx.home.path.as_deref());
        match &self.command {
            None | Some(PermissionsCommand::List) => list_rules(&project, &store, ctx),
            Some(PermissionsCommand::Add(args)) => add_rule(&project, &store, args, ctx),
            Some(PermissionsCommand::Remove(args)) => remove_rule(&project, &store, args, ctx),
            Some(PermissionsCommand::Test { line, access }) => {
                test_line(&project, &store, line, *access, ctx)
            }
        }
    }
}

impl KeptRuleArgs {
    fn rule(&self) -> CommandResult<PermissionRule> {
        PermissionRule::parse(self.effect, &self.rule)
            .map_err(|error| CommandFailure::usage(error).hint("docs/permissions.md shows rules").unchanged())
    }

    fn layer(&self) -> PermissionLayer {
        if self.user { PermissionLayer::User } else { PermissionLayer::AlwaysHere }
    }
}

fn load_layers(project: &Project, store: &PermissionStore) -> CommandResult<PermissionLayers> {
    store.load(&project.root, project.config()?).map_err(store_failure)
}

fn list_rules(project: &Project, store: &PermissionStore, ctx: &mut CommandContext<'_>) -> CommandResult {
    let layers = load_layers(project, store)?;
    // A project that would allow something is told so by the configuration.
    let mut remarks = project.config()?.remarks.clone();
    remarks.retain(|remark| remark.text.contains("`permissions."));
    let mut found = render::permissions::layers_json(&project.root, &layers);
    found["remarks"] = remarks.iter().map(views::config::remark_json).collect();
    Ok(ctx.print_either(Exit::Done, found, |look| {
        render::permissions::rules_table(&layers, look)
            + &render::permissions::ignored_lines(&layers, look)
            + &views::config::remark_lines(&remarks, look)
    }))
}

fn add_rule(
    project: &Project,
    store: &PermissionStore,
    args: &KeptRuleArgs,
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    let (rule, layer) = (args.rule()?, args.layer());
    let added = store.add(layer, &project.root, &rule, &clock::now_utc()).map_err(store_failure)?;
    let kept = json!({"layer": layer.name(), "rule": rule.to_string(), "added": added});
    let exit = ctx.print_result(Exit::Done, kept);
    let said = if added { "added" } else { "there already" };
    ctx.print_success(&format!("{said}: {rule} ({})", render::permissions::layer_text(layer)));
    // What stands elsewhere may win over it.
    let layers = load_layers(project, store)?;
    let stricter = layers
        .rules()
        .iter()
        .find(|placed| placed.rule.effect > rule.effect && placed.rule.subject == rule.subject);
    if let Some(placed) = stricter {
        ctx.print_detail(&format!("`{}` still wins over it ({})", placed.rule, placed.layer));
    }
    Ok(exit)
}

fn remove_rule(
    project: &Project,
    store: &PermissionStore,
    args: &KeptRuleArgs,
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    let (rule, layer) = (args.rule()?, args.layer());
    let removed = store.remove(layer, &project.root, &rule).map_err(store_failure)?;
    let layers = load_layers(project, store)?;
    let elsewhere = layers.rules().iter().find(|placed| placed.rule == rule);
    let elsewhere = elsewhere.map(|placed| match render::permissions::config_file(placed) {
        Some(file) => format!("it stands in {file}: remove it there"),
        None if placed.layer == PermissionLayer::User => {
            "it holds for all your projects: add --user".to_string()
        }
        None => "it holds for this project: leave out --user".to_string(),
    });
    let place = render::permissions::layer_text(layer);
    if !removed {
        let hint = elsewhere.unwrap_or_else(|| "`relay permissions` lists them".to_string());
        return Err(CommandFailure::usage(format!("there is no rule `{rule}` {place}"))
            .hint(hint)
            .unchanged());
    }
    let removed = json!({"layer": layer.name(), "rule": rule.to_string(), "removed": true});
    let exit = ctx.print_result(Exit::Done, removed);
    ctx.print_success(&format!("removed: {rule} ({place})"));
    if let Some(elsewhere) = elsewhere {
        ctx.print_detail(&format!("there is another one: {elsewhere}"));
    }
    Ok(exit)
}

fn test_line(
    project: &Project,
    store: &PermissionStore,
    line: &str,
    access: Access,
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    let layers = load_layers(project, store)?;
    let directory = ctx.options.directory.canonicalize().unwrap_or_else(|_| project.root.clone());
    let place = PermissionPlace {
        root: project.root.clone(),
        directory,
        home: ctx.home.user_home.clone(),
        temporary: Vec::new(),
        access,
        is_fenced: true,
    };
    let decision = PermissionEngine::new(layers, place).decide(&PermissionRequest::Line(line.to_string()));
    let mut found = render::permissions::decision_json(&decision);
    found["line"] = json!(line);
    found["access"] = json!(access.name());
    let root = project.root.clone();
    Ok(ctx.print_either(Exit::Done, found, |look| render::permissions::decision_text(&decision, &root, look)))
}

fn store_failure(error: PermissionStoreError) -> CommandFailure {
    CommandFailure::usage(error).unchanged()
}
