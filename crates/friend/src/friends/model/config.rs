//! What the user configured of model servers: providers and models, keys, proxies, secrets.

use std::sync::Arc;

use relaycode_llm::models::ModelRegistry;
use relaycode_llm::models::keys::{KeyCommands, KeyStore, Keyring};
use relaycode_llm::request::secrets::{self, Secrets};
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{PrivateFileError, UserDirectory};
use sha2::{Digest, Sha256};

use crate::FriendContext;

/// What the user configured of model servers. It holds no connection and has opened none.
pub struct ModelServerConfig {
    pub registry: ModelRegistry,
    pub keys: KeyStore,
    pub commands: KeyCommands,
    pub transport: ClientSettings,
    /// What no model is to see.
    pub secrets: Option<Arc<Secrets>>,
}

impl ModelServerConfig {
    /// The same, with what no model is to see: what `secrets.yml` in `home` names, variables whose name smells of a secret, and
    /// the keys that are stored.
    ///
    /// # Errors
    /// Why it is not certain what is secret; nothing should be sent then.
    pub fn with_secrets<'v>(
        mut self,
        home: &UserDirectory,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<ModelServerConfig, String> {
        let mut entries = secrets::load(home).map_err(|error| error.to_string())?;
        let stored = self.keys.list().unwrap_or_default();
        let stored: Vec<_> = stored.iter().flat_map(|name| self.keys.all(name).unwrap_or_default()).collect();
        entries.extend(secrets::entries_from_environment(variables, []));
        entries.extend(secrets::entries_from_environment([], &stored));
        if !entries.is_empty() {
            let seed = match secrets::load_seed(home) {
                Ok(seed) => seed,
                // Placeholders are others the next time, and nobody minds.
                Err(PrivateFileError::NoHome) => Sha256::digest(uuid::Uuid::new_v4().as_bytes()).into(),
                Err(error) => return Err(error.to_string()),
            };
            self.secrets = Some(Arc::new(Secrets::new(&entries, seed)));
        }
        Ok(self)
    }

    pub(super) fn with_keyring<T>(
        &self,
        world: &FriendContext<'_>,
        what: impl FnOnce(&Keyring<'_>) -> T,
    ) -> T {
        let variable = |name: &str| {
            // A name with `=` or a zero in it is none.
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            let value = if is_name { (world.env_var)(name)?.into_string().ok()? } else { return None };
            Some(value).filter(|value| !value.is_empty())
        };
        let (store, commands) = (self.keys.clone(), Some(&self.commands));
        what(&Keyring { flag: None, store, variables: &variable, commands })
    }
}
