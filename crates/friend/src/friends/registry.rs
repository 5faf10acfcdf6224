//! Which friend is meant by what stands behind `--to`: `codex`, `ollama`, `ollama/qwen3:8b`, `openai/gpt-5.5`.
//!
//! Programs come first, then the providers that relay knows or `models.yml` names. Invariant: whoever names a program
//! pays nothing for model servers: what the user configured is read when the first other name comes.

use std::fmt;
use std::sync::{Arc, OnceLock};

use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::width::clip_for_message;

use super::model::{ModelServer, ModelServerConfig};
use super::{find_program_friend, program_friends};
use crate::{Friend, FriendContext};

/// Bytes of a name with a model.
const LONGEST: usize = 512;
/// Cells of a name in a message.
const SHOWN: usize = 60;
const OFFERED: usize = 3;

/// Reads what the user configured; the reason if that cannot be done.
type ServerConfigLoader<'o> = dyn Fn() -> Result<ModelServerConfig, String> + Send + Sync + 'o;

pub struct FriendRegistry<'o> {
    load_config: Box<ServerConfigLoader<'o>>,
    servers: OnceLock<Result<Arc<ModelServerConfig>, FriendLookupError>>,
}

/// A friend that was meant, and the model of it, if the name says one.
#[derive(Debug)]
pub struct ResolvedFriend {
    friend: ResolvedFriendKind,
    /// What stands behind the slash.
    pub model: Option<String>,
}

enum ResolvedFriendKind {
    Program(&'static dyn Friend),
    Server(ModelServer),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FriendLookupError {
    #[error("there is no friend `{name}`{near} There are {known}")]
    Unknown {
        name: String,
        /// What may have been meant, as the end of the sentence, with its sign.
        near: String,
        known: String,
    },
    /// `models.yml` is not right: it may say that requests go elsewhere.
    #[error("{0}; correct models.yml before a model server is asked")]
    Models(String),
    /// `models.yml` says not to use it.
    #[error("`{0}` is disabled in models.yml (disabledProviders)")]
    Disabled(String),
    #[error("model servers cannot be used: {0}")]
    Config(String),
}

impl<'o> FriendRegistry<'o> {
    /// `open` reads what the user configured. It is called once, and only if a name is none of a program.
    pub fn new(
        open: impl Fn() -> Result<ModelServerConfig, String> + Send + Sync + 'o,
    ) -> FriendRegistry<'o> {
        FriendRegistry { load_config: Box::new(open), servers: OnceLock::new() }
    }

    /// The friend that `text` means, with the model behind a slash.
    ///
    /// # Errors
    /// If there is none, or `models.yml` is in the way.
    pub fn find(&self, text: &str) -> Result<ResolvedFriend, FriendLookupError> {
        let (name, model) = match text.trim().split_once('/') {
            Some((name, model)) => (name, Some(model.to_string()).filter(|model| !model.is_empty())),
            None => (text.trim(), None),
        };
        if text.len() > LONGEST {
            return Err(unknown_friend(name, None));
        }
        if let Some(program) = find_program_friend(name) {
            return Ok(ResolvedFriend { friend: ResolvedFriendKind::Program(program), model });
        }
        let servers = match self.servers() {
            Ok(servers) => servers,
            // A name that is like a program's is more likely that.
            Err(_) if !near_programs(name).is_empty() => return Err(unknown_friend(name, None)),
            Err(error) => return Err(error),
        };
        let registry = &servers.registry;
        if let Some(disabled) = registry.file.disabled_providers.iter().find(|id| is_same_name(id, name)) {
            return Err(FriendLookupError::Disabled(disabled.clone()));
        }
        let exact = registry.provider(name);
        let provider =
            exact.or_else(|| registry.providers.iter().find(|provider| is_same_name(&provider.id, name)));
        match provider {
            Some(provider) => {
                let server = ModelServer::new(&provider.id, servers.clone());
                Ok(ResolvedFriend { friend: ResolvedFriendKind::Server(server), model })
            }
            None => Err(unknown_friend(name, Some(&servers))),
        }
    }

    /// The model servers that can be used: those of this machine, and those that have a key.
    ///
    /// # Errors
    /// If what the user configured cannot be read or is not right.
    pub fn usable_servers(&self, world: &FriendContext<'_>) -> Result<Vec<ModelServer>, FriendLookupError> {
        let servers = self.servers()?;
        let usable = |server: &ModelServer| server.is_usable(world);
        let all = servers.registry.providers.iter();
        Ok(all.map(|provider| ModelServer::new(&provider.id, servers.clone())).filter(usable).collect())
    }

    fn servers(&self) -> Result<Arc<ModelServerConfig>, FriendLookupError> {
        let opened = self.servers.get_or_init(|| {
            let servers = (self.load_config)().map_err(FriendLookupError::Config)?;
            match &servers.registry.file_error {
                Some(trouble) => Err(FriendLookupError::Models(trouble.to_string())),
                None => Ok(Arc::new(servers)),
            }
        });
        opened.clone()
    }
}

impl ResolvedFriend {
    pub fn friend(&self) -> &dyn Friend {
        match &self.friend {
            ResolvedFriendKind::Program(program) => *program,
            ResolvedFriendKind::Server(server) => server,
        }
    }
}

impl fmt::Debug for ResolvedFriendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResolvedFriendKind::Program(program) => f.debug_tuple("Program").field(&program.name()).finish(),
            ResolvedFriendKind::Server(server) => f.debug_tuple("Server").field(&server.name()).finish(),
        }
    }
}

/// `lmstudio` is `lm-studio`: neither case nor separators make a difference.
fn is_same_name(one: &str, other: &str) -> bool {
    let bare = |name: &str| {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | '.'));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    bare(one) == bare(other)
}

fn near_programs(name: &str) -> Vec<&'static str> {
    nearest_names(name, program_friends().map(Friend::name), OFFERED)
}

fn unknown_friend(name: &str, servers: Option<&ModelServerConfig>) -> FriendLookupError {
    let providers = servers.map_or(&[][..], |servers| &servers.registry.providers);
    let mut names: Vec<&str> = program_friends().map(Friend::name).collect();
    names.extend(providers.iter().map(|provider| provider.id.as_str()));
    let near = match did_you_mean(&nearest_names(name, names.iter().copied(), OFFERED)) {
        near if near.is_empty() => ".".to_string(),
        near => near,
    };
    FriendLookupError::Unknown { name: clip_for_message(name, SHOWN), near, known: names.join(", ") }
}
