//! Which friend is meant by what stands behind `--to`: `codex`, `ollama`, `ollama/qwen3:8b`, `openai/gpt-5.5`.
//!
//! Programs come first, then the providers that relay knows or `models.yml` names. Invariant: whoever names a program
//! pays nothing for model servers: what the user configured is read when the first other name comes.

use std::fmt;
use std::sync::{Arc, OnceLock};

use relaycode_text::nearest::{meant, nearest};
use relaycode_text::width::shown;

use super::model::{ModelServer, Servers};
use super::{ALL, find};
use crate::friend::Friend;
use crate::world::World;

/// Bytes of a name with a model.
const LONGEST: usize = 512;
/// Cells of a name in a message.
const SHOWN: usize = 60;
/// Names that a message offers.
const OFFERED: usize = 3;

/// Reads what the user configured; the reason if that cannot be done.
type Open<'o> = dyn Fn() -> Result<Servers, String> + Send + Sync + 'o;

/// Every friend there is.
pub struct Friends<'o> {
    open: Box<Open<'o>>,
    servers: OnceLock<Result<Arc<Servers>, FindError>>,
}

/// A friend that was meant, and the model of it, if the name says one.
#[derive(Debug)]
pub struct Chosen {
    friend: Kind,
    /// What stands behind the slash.
    pub model: Option<String>,
}

enum Kind {
    Program(&'static dyn Friend),
    Server(ModelServer),
}

/// Why no friend was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// There is none of this name.
    #[error("there is no friend `{name}`{near} There are {known}")]
    Unknown {
        /// What was typed.
        name: String,
        /// What may have been meant, as the end of the sentence, with its sign.
        near: String,
        /// All of them, in one line.
        known: String,
    },
    /// `models.yml` is not right: it may say that requests go elsewhere.
    #[error("{0}; correct models.yml before a model server is asked")]
    Models(String),
    /// `models.yml` says not to use it.
    #[error("`{0}` is disabled in models.yml (disabledProviders)")]
    Disabled(String),
    /// What the user configured cannot be read.
    #[error("model servers cannot be used: {0}")]
    Config(String),
}

impl<'o> Friends<'o> {
    /// `open` reads what the user configured. It is called once, and only if a name is none of a program.
    pub fn new(open: impl Fn() -> Result<Servers, String> + Send + Sync + 'o) -> Friends<'o> {
        Friends { open: Box::new(open), servers: OnceLock::new() }
    }

    /// The friend that `text` means, with the model behind a slash.
    ///
    /// # Errors
    /// If there is none, or `models.yml` is in the way.
    pub fn find(&self, text: &str) -> Result<Chosen, FindError> {
        let (name, model) = match text.trim().split_once('/') {
            Some((name, model)) => (name, Some(model.to_string()).filter(|model| !model.is_empty())),
            None => (text.trim(), None),
        };
        if text.len() > LONGEST {
            return Err(unknown(name, None));
        }
        if let Some(program) = find(name) {
            return Ok(Chosen { friend: Kind::Program(program), model });
        }
        let servers = match self.servers() {
            Ok(servers) => servers,
            // A name that is like a program's is more likely that.
            Err(_) if !near_programs(name).is_empty() => return Err(unknown(name, None)),
            Err(error) => return Err(error),
        };
        let registry = &servers.registry;
        if let Some(disabled) = registry.file.disabled_providers.iter().find(|id| same(id, name)) {
            return Err(FindError::Disabled(disabled.clone()));
        }
        let exact = registry.provider(name);
        let provider = exact.or_else(|| registry.providers.iter().find(|provider| same(&provider.id, name)));
        match provider {
            Some(provider) => {
                let server = ModelServer::new(&provider.id, servers.clone());
                Ok(Chosen { friend: Kind::Server(server), model })
            }
            None => Err(unknown(name, Some(&servers))),
        }
    }

    /// The model servers that can be used: those of this machine, and those that have a key.
    ///
    /// # Errors
    /// If what the user configured cannot be read or is not right.
    pub fn usable_servers(&self, world: &World<'_>) -> Result<Vec<ModelServer>, FindError> {
        let servers = self.servers()?;
        let usable = |server: &ModelServer| server.is_usable(world);
        let all = servers.registry.providers.iter();
        Ok(all.map(|provider| ModelServer::new(&provider.id, servers.clone())).filter(usable).collect())
    }

    fn servers(&self) -> Result<Arc<Servers>, FindError> {
        let opened = self.servers.get_or_init(|| {
            let servers = (self.open)().map_err(FindError::Config)?;
            match &servers.registry.trouble {
                Some(trouble) => Err(FindError::Models(trouble.to_string())),
                None => Ok(Arc::new(servers)),
            }
        });
        opened.clone()
    }
}

impl Chosen {
    /// The friend.
    pub fn friend(&self) -> &dyn Friend {
        match &self.friend {
            Kind::Program(program) => *program,
            Kind::Server(server) => server,
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Program(program) => f.debug_tuple("Program").field(&program.name()).finish(),
            Kind::Server(server) => f.debug_tuple("Server").field(&server.name()).finish(),
        }
    }
}

/// `lmstudio` is `lm-studio`: neither case nor separators make a difference.
fn same(one: &str, other: &str) -> bool {
    let bare = |name: &str| {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | '.'));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    bare(one) == bare(other)
}

fn near_programs(name: &str) -> Vec<&'static str> {
    nearest(name, ALL.iter().map(|friend| friend.name()), OFFERED)
}

fn unknown(name: &str, servers: Option<&Servers>) -> FindError {
    let providers = servers.map_or(&[][..], |servers| &servers.registry.providers);
    let programs = ALL.iter().map(|friend| friend.name());
    let names: Vec<&str> = programs.chain(providers.iter().map(|provider| provider.id.as_str())).collect();
    let near = match meant(&nearest(name, names.iter().copied(), OFFERED)) {
        near if near.is_empty() => ".".to_string(),
        near => near,
    };
    FindError::Unknown { name: shown(name, SHOWN), near, known: names.join(", ") }
}
