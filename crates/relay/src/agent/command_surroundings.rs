//! What the agent's commands need of this machine and this user. The environment is read here for them: caches and toolchains are
//! where its variables say, and the variables that hold keys of providers are no command's.

use std::path::Path;
use std::time::Duration;

use relaycode_llm::models::ModelRegistry;
use relaycode_project::config::{AgentConfig, AgentEditMode};
use relaycode_session::Session;
use relaycode_session::home::layout::HomeLayout;
use relaycode_tools::{
    BackgroundJobs, CommandSurroundings, EditMode, InterceptorRule, ToolSettings, ToolWorkspace,
};

use crate::{CommandContext, LogLevel, UserPrograms};

/// Gives a workspace what commands need, and what is set for them.
pub(crate) fn prepare_commands(
    workspace: &mut ToolWorkspace,
    config: &AgentConfig,
    session: &Session,
    registry: &ModelRegistry,
    ctx: &mut CommandContext<'_>,
) {
    workspace.surroundings = Some(CommandSurroundings {
        scratch_dir: UserPrograms::from_env().scratch_dir,
        relay_home: ctx.home.path.clone(),
        variables: std::env::vars_os().collect(),
        secret_variables: key_variables(registry).map(Into::into).collect(),
    });
    let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let threshold = Duration::from_millis(config.bash_background_after);
    let edit_mode = match config.edit_mode {
        AgentEditMode::Hashline => EditMode::Hashline,
        AgentEditMode::Replace => EditMode::Replace,
        AgentEditMode::Patch => EditMode::Patch,
        AgentEditMode::ApplyPatch => EditMode::ApplyPatch,
    };
    workspace.settings = ToolSettings {
        edit_mode,
        read_lines: bounded(config.read_default_limit),
        read_summarize: config.read_summarize,
        // Nothing else takes them.
        anchors: config.read_hash_lines && edit_mode == EditMode::Hashline,
        interceptor_rules: interceptor_rules(config, ctx),
        bash_startup: config.bash_startup,
        bash_output_bytes: bounded(config.bash_output_bytes),
        bash_interceptor: config.bash_interceptor,
        bash_ci: config.bash_ci,
        async_enabled: config.async_enabled,
        auto_background: config.bash_auto_background.then_some(threshold),
        poll_wait: Duration::from_secs(config.async_poll_wait.0),
        ..workspace.settings.clone()
    };
    workspace.jobs = BackgroundJobs::new(bounded(config.async_max_jobs)).into();
    workspace.artifacts = artifacts_dir(session, ctx.home.path.as_deref(), &ctx.options.directory);
}

/// The user's own rules for commands. What is wrong with one is told, and the others count.
fn interceptor_rules(config: &AgentConfig, ctx: &mut CommandContext<'_>) -> Vec<InterceptorRule> {
    let rules = &config.bash_interceptor_rules;
    if !rules.is_empty() && !config.bash_interceptor {
        let said = "`agent.bashInterceptorRules` does nothing, because `agent.bashInterceptor` is false";
        ctx.eprint_remark(LogLevel::Warn, said);
        return Vec::new();
    }
    let mut usable = Vec::new();
    for rule in rules {
        match InterceptorRule::new(&rule.pattern, &rule.tool, &rule.message) {
            Ok(rule) => usable.push(rule),
            Err(error) => {
                let said = format!("a rule of `agent.bashInterceptorRules` is left out: {error}");
                ctx.eprint_remark(LogLevel::Warn, &said);
            }
        }
    }
    usable
}

/// Beside the session's file.
fn artifacts_dir(session: &Session, home: Option<&Path>, directory: &Path) -> Option<std::path::PathBuf> {
    let name = session.name().strip_suffix(".jsonl")?;
    Some(HomeLayout::new(home?).project_dir(&directory.canonicalize().ok()?).join(name))
}

/// Variables that may hold the key of a provider.
fn key_variables(registry: &ModelRegistry) -> impl Iterator<Item = String> {
    registry.providers.iter().flat_map(|provider| {
        let named = provider.api_keys.iter().map(|key| key.value.clone());
        let named = named.filter(|name| std::env::var_os(name).is_some());
        provider.variables.iter().map(ToString::to_string).chain(named)
    })
}
