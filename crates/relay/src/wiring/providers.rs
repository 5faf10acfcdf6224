//! Providers, models and keys, as this user has them: `models.yml`, stored keys, the environment. What the environment
//! says about them is read here and nowhere else: the variables that may hold keys, and `HTTP_PROXY`, `HTTPS_PROXY`,
//! `ALL_PROXY`, `NO_PROXY` in either case, and `OLLAMA_HOST`. What the project says of them is looked for, told, and ignored.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use relaycode_friend::friends::model::ModelServerConfig;
use relaycode_llm::models::discover::{self, DiscoveryResult};
use relaycode_llm::models::ignored_settings::{self, IgnoredSettings};
use relaycode_llm::models::keys::{ApiKey, KeyCommands, KeyStore, Keyring};
use relaycode_llm::models::{self, ModelRegistry, ollama_host};
use relaycode_llm::stream::proxy::ProxySettings;
use relaycode_llm::stream::transport;
use relaycode_llm::{ModelClient, UserDirectory};
use relaycode_project::root;
use tokio::runtime::{Builder, Runtime};

use crate::approver::spinner::Spinner;
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, RelayHome, SignalGuard, process_runner,
};

/// Providers, models and keys.
pub(crate) struct Providers {
    pub(crate) registry: ModelRegistry,
    pub(crate) store: KeyStore,
    /// What the project names and relay ignores.
    pub(crate) ignored: Vec<IgnoredSettings>,
    pub(crate) commands: KeyCommands,
}

impl Providers {
    /// As this user has them. A `models.yml` that is not right is no reason to fail: see [`Providers::usable`].
    pub(crate) fn open(ctx: &CommandContext<'_>) -> CommandResult<Providers> {
        Providers::open_for(ctx.home, &ctx.options.directory)
    }

    /// The same for who works in `directory`.
    pub(crate) fn open_for(home: &RelayHome, directory: &Path) -> CommandResult<Providers> {
        let path = home.path.as_deref();
        // Models are asked for outside of projects, too.
        let found = root::find(directory, path, &home.ceilings).ok();
        let project = found.map(|found| found.path);
        let ignored = project.as_deref().map(ignored_settings::find_ignored).unwrap_or_default();
        let home = UserDirectory::new(path, project.as_deref());
        let directory = path.filter(|path| path.is_dir()).map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let mut registry = ModelRegistry::new(models::load(&home));
        if let Some(host) = env_var(ollama_host::VARIABLE) {
            registry.set_ollama_host(&host);
        }
        Ok(Providers {
            registry,
            store: KeyStore::new(home),
            ignored,
            commands: KeyCommands::new(process_runner()?, directory),
        })
    }

    /// The same, for friends that are model servers. What the user calls secret, or a variable that is called like a
    /// secret holds, is hidden from them.
    pub(crate) fn into_servers(self, home: &RelayHome) -> Result<ModelServerConfig, String> {
        let home = UserDirectory::new(home.path.as_deref(), None);
        let (registry, keys, commands) = (self.registry, self.store, self.commands);
        let servers =
            ModelServerConfig { registry, keys, commands, transport: transport_settings(), secrets: None };
        let variables: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        servers.with_secrets(&home, variables.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Fails if `models.yml` is not right: it may say that requests go elsewhere.
    pub(crate) fn check_models_file(&self) -> CommandResult<()> {
        match &self.registry.file_error {
            None => Ok(()),
            Some(error) => Err(CommandFailure::new(Exit::Usage, "models", &error.message)
                .place(error.location())
                .hint("correct models.yml; `relay models` reads it again")),
        }
    }

    /// Everything that keys may come from.
    pub(crate) fn keyring(&self, flag: Option<ApiKey>) -> Keyring<'_> {
        Keyring { flag, store: self.store.clone(), variables: &env_var, commands: Some(&self.commands) }
    }

    /// Which providers have a key, or need none.
    pub(crate) fn keys_by_provider(&self) -> BTreeMap<String, bool> {
        let keyring = self.keyring(None);
        let has = |provider: &models::RegisteredProvider| (provider.id.clone(), keyring.has_key(provider));
        self.registry.providers.iter().map(has).collect()
    }

    /// Asks the servers on this machine what they have. Ctrl-C ends it.
    pub(crate) fn discover(&mut self, ctx: &CommandContext<'_>) -> CommandResult<Vec<DiscoveryResult>> {
        let targets = self.registry.discovery_targets();
        let spinner = start_spinner(ctx, "asking the model servers on this machine");
        let held = SignalGuard::acquire()?;
        let answers = new_runtime()?.block_on(async {
            tokio::select! {
                answers = discover::probe_all(targets) => Some(answers),
                () = wait_for_stop(&held) => None,
            }
        });
        drop(spinner);
        let answers = answers.ok_or_else(CommandFailure::interrupted)?;
        for answer in &answers {
            if let Some(found) = &answer.models {
                self.registry.add_discovered(&answer.target.provider, found.clone());
            }
        }
        Ok(answers)
    }

    /// Says on stderr what is ignored, and what is wrong with `models.yml`.
    pub(crate) fn eprint_remarks(&self, ctx: &mut CommandContext<'_>) {
        if let Some(error) = &self.registry.file_error {
            ctx.eprint_remark(LogLevel::Error, &error.to_string());
            ctx.eprint_detail(LogLevel::Error, "until it is right, only what relay knows by itself is used");
        }
        if let Some(said) = ignored_settings::describe_ignored(&self.ignored) {
            ctx.eprint_remark(LogLevel::Warn, &said);
        }
    }
}

/// One line that says what is going on, where there is somebody to read it.
pub(crate) fn start_spinner(ctx: &CommandContext<'_>, label: &str) -> Option<Spinner> {
    let err = std::io::stderr();
    if ctx.is_json() || ctx.is_quiet() || !err.is_terminal() {
        return None;
    }
    let err = err.as_fd().try_clone_to_owned().ok()?;
    Spinner::with_label(err.into(), label.to_string(), ctx.console.err_style())
}

/// Runs what waits for providers, on this thread.
pub(crate) fn new_runtime() -> CommandResult<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CommandFailure::unexpected(format!("connections cannot be made: {error}")))
}

/// Waits until a signal asks to stop.
pub(crate) async fn wait_for_stop(held: &SignalGuard) {
    const TICK: std::time::Duration = std::time::Duration::from_millis(30);
    while !held.stop_requested() {
        tokio::time::sleep(TICK).await;
    }
}

/// Reaches providers, through the user's proxies.
pub(crate) fn new_client() -> CommandResult<ModelClient> {
    ModelClient::new(&transport_settings())
        .map_err(|failure| CommandFailure::new(Exit::Usage, "config", failure))
}

fn transport_settings() -> transport::ClientSettings {
    let either = |name: &str| env_var(name).or_else(|| env_var(&name.to_ascii_lowercase()));
    let proxies = ProxySettings {
        http: either("HTTP_PROXY"),
        https: either("HTTPS_PROXY"),
        all: either("ALL_PROXY"),
        no_proxy: either("NO_PROXY"),
    };
    transport::ClientSettings { proxies, ..transport::ClientSettings::default() }
}

fn env_var(name: &str) -> Option<String> {
    // A name with `=` or a zero in it is none.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
