//! What the agent's commands need of this machine and this user. The environment is read here for them: caches and toolchains are
//! where its variables say, and the variables that hold keys of providers are no command's.

use std::path::Path;
use std::time::Duration;

use relaycode_llm::models::ModelRegistry;
use relaycode_project::config::AgentConfig;
use relaycode_session::Session;
use relaycode_session::home::layout::HomeLayout;
use relaycode_tools::{BackgroundJobs, CommandSurroundings, ToolSettings, ToolWorkspace};

use crate::{CommandContext, UserPrograms};

/// Gives a workspace what commands need, and what is set for them.
pub(crate) fn prepare_commands(
    workspace: &mut ToolWorkspace,
    config: &AgentConfig,
    session: &Session,
    registry: &ModelRegistry,
    ctx: &CommandContext<'_>,
) {
    workspace.surroundings = Some(CommandSurroundings {
        scratch_dir: UserPrograms::from_env().scratch_dir,
        relay_home: ctx.home.path.clone(),
        variables: std::env::vars_os().collect(),
        secret_variables: key_variables(registry).map(Into::into).collect(),
    });
    let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let threshold = Duration::from_millis(config.bash_background_after);
    workspace.settings = ToolSettings {
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

/// Beside the session's file.
fn artifacts_dir(session: &Session, home: Option<&Path>, directory: &Path) -> Option<std::path::PathBuf> {
    let name = session.name().strip_suffix(".jsonl")?;
    Some(HomeLayout::new(home?).project_dir(&directory.canonicalize().ok()?).join(name))
}

/// Variables that may hold the key of a provider.
fn key_variables(registry: &ModelRegistry) -> impl Iterator<Item = String> {
    registry.providers.iter().flat_map(|provider| {
        let named = provider.api_key.as_ref().map(|key| key.value.clone());
        let named = named.filter(|name| std::env::var_os(name).is_some());
        provider.variables.iter().map(ToString::to_string).chain(named)
    })
}
