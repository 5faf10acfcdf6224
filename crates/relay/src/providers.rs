//! Providers, models and keys, as this user has them: `models.yml`, stored keys, the environment. What the environment
//! says about them is read here and nowhere else: the variables that may hold keys, and `HTTP_PROXY`, `HTTPS_PROXY`,
//! `ALL_PROXY`, `NO_PROXY` in either case. What the project says of them is looked for, told, and ignored.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use relaycode_friend::friends::model::Servers;
use relaycode_llm::ambient::{self, Ignored};
use relaycode_llm::keys::{Commands, Key, Keyring, Store};
use relaycode_llm::models::discover::{self, Answer};
use relaycode_llm::models::{self, FileError, Registry};
use relaycode_llm::proxy::Proxies;
use relaycode_llm::{Client, Home, transport};
use relaycode_project::config::LogLevel;
use relaycode_project::root;
use relaycode_tui::outcome;
use tokio::runtime::{Builder, Runtime};

use crate::approver::spinner::Spinner;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::runner;
use crate::signals::Held;

/// Providers, models and keys.
pub(crate) struct Providers {
    pub(crate) registry: Registry,
    pub(crate) store: Store,
    /// What the project names and relay ignores.
    pub(crate) ignored: Vec<Ignored>,
    pub(crate) commands: Commands,
}

impl Providers {
    /// As this user has them. A `models.yml` that is not right is no reason to fail: see [`Providers::usable`].
    pub(crate) fn open(context: &Context<'_>) -> Result<Providers, Failure> {
        Providers::of(context.home, &context.options.directory)
    }

    /// The same for who works in `directory`.
    pub(crate) fn of(home: &crate::home::Home, directory: &Path) -> Result<Providers, Failure> {
        let path = home.path.as_deref();
        // Models are asked for outside of projects, too.
        let found = root::find(directory, path, &home.ceilings).ok();
        let project = found.map(|found| found.path);
        let ignored = project.as_deref().map(ambient::ignored).unwrap_or_default();
        let home = Home::new(path, project.as_deref());
        let directory = path.filter(|path| path.is_dir()).map_or_else(|| PathBuf::from("/"), PathBuf::from);
        Ok(Providers {
            registry: Registry::new(models::load(&home)),
            store: Store::new(home),
            ignored,
            commands: Commands::new(runner()?, directory),
        })
    }

    /// The same, for friends that are model servers. What the user calls secret, or a variable that is called like a
    /// secret holds, is hidden from them.
    pub(crate) fn into_servers(self, home: &crate::home::Home) -> Result<Servers, String> {
        let home = Home::new(home.path.as_deref(), None);
        let (registry, keys, commands) = (self.registry, self.store, self.commands);
        let servers = Servers { registry, keys, commands, transport: settings(), secrets: None };
        let variables: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        servers.with_secrets(&home, variables.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Fails if `models.yml` is not right: it may say that requests go elsewhere.
    pub(crate) fn usable(&self) -> Result<(), Failure> {
        self.registry.trouble.as_ref().map_or(Ok(()), |error| Err(broken(error)))
    }

    /// Everything that keys may come from.
    pub(crate) fn keyring(&self, flag: Option<Key>) -> Keyring<'_> {
        Keyring { flag, store: self.store.clone(), variables: &variable, commands: Some(&self.commands) }
    }

    /// Which providers have a key, or need none.
    pub(crate) fn keyed(&self) -> BTreeMap<String, bool> {
        let keyring = self.keyring(None);
        let has = |provider: &models::Registered| (provider.id.clone(), keyring.has(provider));
        self.registry.providers.iter().map(has).collect()
    }

    /// Asks the servers on this machine what they have. Ctrl-C ends it.
    pub(crate) fn discover(&mut self, context: &Context<'_>) -> Result<Vec<Answer>, Failure> {
        let targets = self.registry.targets();
        let spinner = spinner(context, "asking the model servers on this machine");
        let held = Held::begin()?;
        let answers = runtime()?.block_on(async {
            tokio::select! {
                answers = discover::ask_all(targets) => Some(answers),
                () = asked(&held) => None,
            }
        });
        drop(spinner);
        let answers = answers.ok_or_else(interrupted)?;
        for answer in &answers {
            if let Some(found) = &answer.found {
                self.registry.discovered(&answer.target.provider, found.clone());
            }
        }
        Ok(answers)
    }

    /// Says on stderr what is ignored, and what is wrong with `models.yml`.
    pub(crate) fn remark(&self, context: &mut Context<'_>) {
        let look = context.console.err_look();
        if let Some(error) = &self.registry.trouble {
            let next = outcome::aside(&look, "until it is right, only what relay knows by itself is used");
            let text = outcome::remark(&look, &look.safe(&error.to_string())) + &next;
            context.beside(LogLevel::Error, &text);
        }
        if let Some(said) = ambient::sentence(&self.ignored) {
            context.beside(LogLevel::Warn, &outcome::remark(&look, &look.safe(&said)));
        }
    }
}

/// `models.yml` is not right.
pub(crate) fn broken(error: &FileError) -> Failure {
    let failure = Failure::new(Exit::Usage, "models", &error.what).at(error.place());
    failure.hint("correct models.yml; `relay models` reads it again")
}

/// Somebody broke it off.
pub(crate) fn interrupted() -> Failure {
    Failure::new(Exit::Interrupted, "interrupted", "interrupted")
}

/// One line that says what is going on, where there is somebody to read it.
pub(crate) fn spinner(context: &Context<'_>, label: &str) -> Option<Spinner> {
    let err = std::io::stderr();
    if context.json() || context.quiet() || !err.is_terminal() {
        return None;
    }
    let err = err.as_fd().try_clone_to_owned().ok()?;
    Spinner::labelled(err.into(), label.to_string(), context.console.err_look())
}

/// Runs what waits for providers, on this thread.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Failure::unexpected(format!("connections cannot be made: {error}")))
}

/// Waits until a signal asks to stop.
pub(crate) async fn asked(held: &Held) {
    const TICK: std::time::Duration = std::time::Duration::from_millis(30);
    while !held.asked() {
        tokio::time::sleep(TICK).await;
    }
}

/// Reaches providers, through the user's proxies.
pub(crate) fn client() -> Result<Client, Failure> {
    Client::new(&settings()).map_err(|failure| Failure::new(Exit::Usage, "config", failure))
}

fn settings() -> transport::Settings {
    let either = |name: &str| variable(name).or_else(|| variable(&name.to_ascii_lowercase()));
    let proxies = Proxies {
        http: either("HTTP_PROXY"),
        https: either("HTTPS_PROXY"),
        all: either("ALL_PROXY"),
        no_proxy: either("NO_PROXY"),
    };
    transport::Settings { proxies, ..transport::Settings::default() }
}

fn variable(name: &str) -> Option<String> {
    // A name with `=` or a zero in it is none.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
