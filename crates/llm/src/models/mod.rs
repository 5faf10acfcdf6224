//! Which models there are, and which one is meant: the user's `models.yml`, the registry built from it and
//! from what relay knows, selectors, roles, keys, and servers on this machine.

pub mod discover;
mod error;
mod fuzzy;
mod models_file;
mod registry;
mod roles;
mod select;
mod yaml_fields;

pub use error::YamlFileError;
pub use models_file::{
    AtLine, AuthKind, ModelPatch, ModelsFile, NAME, ProviderEntry, RetrySettings, load, parse,
};
pub use registry::{
    ASSUMED_ANSWER, ASSUMED_CONTEXT, ModelFieldOrigin, ModelRegistry, RegisteredProvider, RegistryModel,
};
pub use roles::ModelRole;
pub use select::{HasKey, ModelMatchKind, ModelSelectError, SelectedModel, split_level};

pub mod catalogue;
pub mod ignored_settings;
pub mod keys;
pub mod model;
pub mod ollama_host;
pub mod provider;
#[cfg(test)]
mod tests;
