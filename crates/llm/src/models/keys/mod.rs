//! Provider keys: from a flag, the user's key store, the environment, or `models.yml`; in this order.
//!
//! A provider may have several keys from one of these places: whoever asks begins with one of them and goes on with the next.
//!
//! Stored keys are a separate file, `keys/<provider>` in relay's directory, that only the user can read.
//! Invariant: a key is never part of a message, of `Debug` output or of a listing (except for a short tail
//! of a long one), and never comes from a project.

mod command;
mod key;
mod store;
#[cfg(test)]
mod tests;

pub use command::KeyCommands;
pub use key::{ApiKey, ApiKeyError};
pub use store::{KeyStore, MAX_KEYS, is_provider_name};

use crate::models::{AtLine, AuthKind, RegisteredProvider};
use crate::{request::Auth, user_directory::PrivateFileError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// `--api-key`
    Flag,
    /// In the user's key store.
    Stored,
    /// From this variable.
    Environment(String),
    /// In `models.yml`.
    File { line: usize },
    /// Printed by a command in `models.yml`.
    Command { line: usize },
    /// None is needed.
    NotNeeded,
}

/// Why there is no key to use.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is none.
    #[error("there is no key for {provider}; {fix}")]
    Missing { provider: String, fix: String },
    /// There is one, but it is invalid.
    #[error("the key of {provider} ({place}) {why}")]
    Bad { provider: String, place: String, why: ApiKeyError },
    /// `models.yml` names a variable that is not set.
    #[error("models.yml line {line} takes the key of {provider} from {variable}, which is not set")]
    NotSet { provider: String, variable: String, line: usize },
    /// The command that prints it failed; its output is never shown.
    #[error("the command for the key of {provider} (models.yml line {line}) {why}")]
    Command { provider: String, line: usize, why: String },
    /// Not a valid provider name.
    #[error("`{0}` is not a provider name")]
    Name(String),
    /// The file cannot be used.
    #[error(transparent)]
    Own(#[from] PrivateFileError),
}

impl KeyError {
    /// For a text from `place` that is no key.
    fn bad(provider: &str, place: impl Into<String>) -> impl Fn(ApiKeyError) -> KeyError {
        let (provider, place) = (provider.to_string(), place.into());
        move |why| KeyError::Bad { provider: provider.clone(), place: place.clone(), why }
    }
}

/// Reads an environment variable; done by the binary.
pub type EnvLookup<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// Everything that keys may come from.
pub struct Keyring<'k> {
    /// `--api-key`.
    pub flag: Option<ApiKey>,
    pub store: KeyStore,
    pub variables: &'k EnvLookup<'k>,
    /// Without it, keys printed by commands are not available.
    pub commands: Option<&'k KeyCommands>,
}

impl Keyring<'_> {
    /// Where the key of a provider would come from, without running anything; `None` if there is none.
    ///
    /// # Errors
    /// If a stored key cannot be used.
    pub fn source(&self, provider: &RegisteredProvider) -> Result<Option<KeySource>, KeyError> {
        Ok(self.find(provider)?.into_iter().next().map(|(source, _)| source))
    }

    /// The keys of a provider, without those that a command has to be run for.
    ///
    /// # Errors
    /// If there is one that cannot be used.
    pub fn keys(&self, provider: &RegisteredProvider) -> Result<Vec<ApiKey>, KeyError> {
        let key = |given| if let FoundKey::Key(key) = given { Some(key) } else { None };
        Ok(self.find(provider)?.into_iter().filter_map(|(_, given)| key(given)).collect())
    }

    /// Whether a provider can be used as far as keys are concerned.
    pub fn has_key(&self, provider: &RegisteredProvider) -> bool {
        matches!(self.source(provider), Ok(Some(_)))
    }

    /// The first key of a provider, and where it comes from.
    ///
    /// # Errors
    /// If there is none, or one that cannot be used.
    pub fn auth(&self, provider: &RegisteredProvider) -> Result<(Auth, KeySource), KeyError> {
        let found = self.find(provider)?.into_iter().next().ok_or_else(|| missing_key(provider))?;
        self.resolve(provider, found)
    }

    /// All keys of a provider, and where each comes from.
    ///
    /// # Errors
    /// If there is none, or one that cannot be used.
    pub fn auths(&self, provider: &RegisteredProvider) -> Result<Vec<(Auth, KeySource)>, KeyError> {
        let found = self.find(provider)?;
        if found.is_empty() {
            return Err(missing_key(provider));
        }
        found.into_iter().map(|found| self.resolve(provider, found)).collect()
    }

    fn resolve(
        &self,
        provider: &RegisteredProvider,
        (source, given): (KeySource, FoundKey),
    ) -> Result<(Auth, KeySource), KeyError> {
        let key = match (&source, given) {
            (KeySource::NotNeeded, _) => return Ok((Auth::None, source)),
            (KeySource::Command { line }, FoundKey::Command(command)) => {
                let commands = self.commands.ok_or_else(|| missing_key(provider))?;
                let (provider, line) = (provider.id.clone(), *line);
                commands.key(&command).map_err(|why| KeyError::Command { provider, line, why })?
            }
            (_, FoundKey::Key(key)) => key,
            (_, FoundKey::Command(_) | FoundKey::Nothing) => return Err(missing_key(provider)),
        };
        Ok((Auth::Key(key.expose().to_string()), source))
    }

    fn find(&self, provider: &RegisteredProvider) -> FindResult {
        if let Some(key) = &self.flag {
            return Ok(vec![(KeySource::Flag, FoundKey::Key(key.clone()))]);
        }
        let stored = self.store.all(&provider.id)?;
        if !stored.is_empty() {
            return Ok(stored.into_iter().map(|key| (KeySource::Stored, FoundKey::Key(key))).collect());
        }
        for variable in provider.variables {
            if let Some(value) = self.variable(variable) {
                let key = ApiKey::new(&value).map_err(KeyError::bad(&provider.id, *variable))?;
                return Ok(vec![(KeySource::Environment((*variable).to_string()), FoundKey::Key(key))]);
            }
        }
        if provider.api_keys.is_empty() && provider.auth == AuthKind::None {
            return Ok(vec![(KeySource::NotNeeded, FoundKey::Nothing)]);
        }
        provider.api_keys.iter().map(|named| self.resolve_configured(provider, named)).collect()
    }

    /// From `models.yml`: a command, a variable, or the key itself.
    fn resolve_configured(
        &self,
        provider: &RegisteredProvider,
        named: &AtLine<String>,
    ) -> Result<(KeySource, FoundKey), KeyError> {
        let (text, line) = (named.value.as_str(), named.line);
        if let Some(command) = text.strip_prefix('!') {
            return Ok((KeySource::Command { line }, FoundKey::Command(command.trim().to_string())));
        }
        if let Some(value) = self.variable(text) {
            let key = ApiKey::new(&value).map_err(KeyError::bad(&provider.id, text))?;
            return Ok((KeySource::Environment(text.to_string()), FoundKey::Key(key)));
        }
        // A text that can only be a variable's name is not sent to anybody as a key.
        if is_variable_name(text) {
            return Err(KeyError::NotSet { provider: provider.id.clone(), variable: text.to_string(), line });
        }
        let place = format!("models.yml line {line}");
        let key = ApiKey::new(text).map_err(KeyError::bad(&provider.id, place))?;
        Ok((KeySource::File { line }, FoundKey::Key(key)))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.trim().is_empty())
    }
}

type FindResult = Result<Vec<(KeySource, FoundKey)>, KeyError>;

enum FoundKey {
    Key(ApiKey),
    Command(String),
    Nothing,
}

fn missing_key(provider: &RegisteredProvider) -> KeyError {
    let store = format!("`relay keys set {}` stores one", provider.id);
    let variable = provider.variables.first().map(|name| format!(", or set {name}")).unwrap_or_default();
    let docs = match provider.docs {
        "" => String::new(),
        docs => format!(" (get it at {docs})"),
    };
    KeyError::Missing { provider: provider.id.clone(), fix: format!("{store}{variable}{docs}") }
}

/// `WORK_KEY` can only be a variable's name.
fn is_variable_name(text: &str) -> bool {
    text.contains('_') && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
