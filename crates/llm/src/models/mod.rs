//! Which models there are, and which one is meant: the user's `models.yml`, the registry that is made of it and of
//! what relay knows, selectors, roles, and servers on this machine.

pub mod discover;
mod error;
mod fields;
mod file;
mod fuzzy;
mod registry;
mod roles;
mod select;

pub use error::FileError;
pub use file::{At, AuthKind, ModelsFile, NAME, Patch, ProviderEntry, Retry, load, parse};
pub use registry::{ASSUMED_ANSWER, ASSUMED_CONTEXT, Known, Origin, Registered, Registry};
pub use roles::Role;
pub use select::{Chosen, HasKey, How, SelectError, split_level};

#[cfg(test)]
mod tests;
