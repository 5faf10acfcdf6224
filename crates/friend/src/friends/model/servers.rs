//! What the user configured of model servers: providers and models, keys, proxies, secrets.

use std::sync::Arc;

use relaycode_llm::keys::{Commands, Keyring, Store};
use relaycode_llm::models::Registry;
use relaycode_llm::secrets::Secrets;
use relaycode_llm::transport::Settings;

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
