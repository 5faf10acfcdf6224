//! What the user configured of model servers: providers and models, keys, proxies, secrets.

use std::sync::Arc;

use relaycode_llm::keys::{Commands, Keyring, Store};
use relaycode_llm::models::Registry;
use relaycode_llm::secrets::{self, Secrets};
use relaycode_llm::transport::Settings;
use relaycode_llm::{Home, OwnError};
use sha2::{Digest, Sha256};

use crate::world::World;

/// What the user configured of model servers. It holds no connection and has opened none.
pub struct Servers {
    /// Providers and models.
    pub registry: Registry,
    /// Keys that the user stored.
    pub keys: Store,
    /// Runs commands that print keys.
    pub commands: Commands,
    /// How servers are reached.
    pub transport: Settings,
    /// What no model is to see.
    pub secrets: Option<Arc<Secrets>>,
}

impl Servers {
    /// The same, with what no model is to see: what `secrets.yml` in `home` names, variables whose name smells of a secret, and
    /// the keys that are stored.
    ///
    /// # Errors
    /// Why it is not certain what is secret; nothing should be sent then.
    pub fn with_secrets<'v>(
        mut self,
        home: &Home,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<Servers, String> {
        let mut entries = secrets::load(home).map_err(|error| error.to_string())?;
        let stored = self.keys.list().unwrap_or_default();
        let stored: Vec<_> = stored.iter().filter_map(|name| self.keys.get(name).ok().flatten()).collect();
        entries.extend(secrets::of_surroundings(variables, []));
        entries.extend(secrets::of_surroundings([], &stored));
        if !entries.is_empty() {
            let seed = match secrets::seed(home) {
                Ok(seed) => seed,
                // Placeholders are others the next time, and nobody minds.
                Err(OwnError::NoHome) => Sha256::digest(uuid::Uuid::new_v4().as_bytes()).into(),
                Err(error) => return Err(error.to_string()),
            };
            self.secrets = Some(Arc::new(Secrets::new(&entries, seed)));
        }
        Ok(self)
    }

    /// Does something with everything that keys may come from.
    pub(super) fn with_keyring<T>(&self, world: &World<'_>, what: impl FnOnce(&Keyring<'_>) -> T) -> T {
        let variable = |name: &str| {
            // A name with `=` or a zero in it is none.
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            let value = if is_name { (world.variable)(name)?.into_string().ok()? } else { return None };
            Some(value).filter(|value| !value.is_empty())
        };
        what(&Keyring {
            flag: None,
            store: self.keys.clone(),
            variables: &variable,
            commands: Some(&self.commands),
        })
    }
}
