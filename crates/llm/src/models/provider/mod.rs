//! Providers: who runs models, where, over which wire, and which environment variables may hold the key.
//!
//! A provider that speaks a known wire is one row of [`ALL`]. Its models are in
//! [`crate::models::catalogue`], in the user's `models.yml`, or reported by a server on this machine.

mod table;

pub use table::ALL;

use crate::models::discover::LocalServerKind;
use crate::models::model::{ServerCompat, ThinkingFormat};

#[derive(Debug)]
pub struct Provider {
    /// In selectors and files.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// [`crate::wire::Wire::id`].
    pub api: &'static str,
    /// Without the path that the wire adds.
    pub base_url: &'static str,
    /// Environment variables that may hold the key; the first that is set counts.
    pub variables: &'static [&'static str],
    /// Where a person gets a key; empty if none is needed.
    pub docs: &'static str,
    /// How thinking is requested, if its address does not tell.
    pub thinking: Option<ThinkingFormat>,
    /// A server on this machine that can be asked for its models.
    pub local: Option<LocalServerKind>,
}

impl Provider {
    pub fn by_id(id: &str) -> Option<&'static Provider> {
        ALL.iter().find(|provider| provider.id == id)
    }

    pub fn needs_key(&self) -> bool {
        !self.docs.is_empty()
    }

    pub fn compat(&self) -> ServerCompat {
        ServerCompat { thinking_format: self.thinking, ..ServerCompat::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_whole_and_no_name_comes_twice() {
        let names: BTreeSet<_> = ALL.iter().map(|provider| provider.id).collect();
        assert_eq!(names.len(), ALL.len());
        for provider in ALL {
            assert!(crate::models::keys::is_provider_name(provider.id), "{}", provider.id);
            assert_eq!(provider.needs_key(), !provider.variables.is_empty(), "{}", provider.id);
            assert_eq!(provider.needs_key(), provider.base_url.starts_with("https://"), "{}", provider.id);
            assert_eq!(provider.local.is_some(), provider.base_url.contains("127.0.0.1"), "{}", provider.id);
            assert!(!provider.base_url.ends_with('/'), "{}", provider.id);
        }
    }
}
