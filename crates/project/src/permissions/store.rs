//! The files of rules that `relay permissions add` keeps: one of the user's own for every project, one per project
//! directory. Both lie in the user's own directory, where no project can write.

use std::path::{Path, PathBuf};

use relaycode_durable::private_files::PrivateFolder;
use serde::{Deserialize, Serialize};

use super::layers::{PermissionLayer, PermissionLayers};
use super::rule::{PermissionEffect, PermissionRule};
use crate::config::{Config, ConfigOrigin, LoadedConfig, USER_FILE};
use crate::user_files::{DirectoryInode, UserFileError, UserFileStore, json_file};

/// The folder in the user's own directory.
const FOLDER: &str = "permissions";
/// The file with the user's rules for every project.
const KEPT_FILE: &str = "user.json";
/// Bytes of a file.
const FILE_BYTES: u64 = 1 << 20;
/// Rules in a file.
pub(super) const MAX_STORED_RULES: usize = 1_000;

/// Rules that the user keeps.
#[derive(Debug, Clone)]
pub struct PermissionStore {
    here: UserFileStore,
    own: PrivateFolder,
}

/// Why rules cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum PermissionStoreError {
    #[error("{0}")]
    File(String),
    #[error("{} is not a file of rules: {why}; move it away", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("there are {MAX_STORED_RULES} rules already; remove one with `relay permissions remove`")]
    Full,
}

impl From<UserFileError> for PermissionStoreError {
    fn from(error: UserFileError) -> PermissionStoreError {
        PermissionStoreError::File(error.to_string())
    }
}

/// What such a file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredPermissions {
    /// The directory they are for, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<DirectoryInode>,
    rules: Vec<StoredRule>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredRule {
    rule: String,
    added: String,
}

impl PermissionStore {
    /// The rules in the user's own directory `home`.
    pub fn new(home: Option<&Path>) -> PermissionStore {
        PermissionStore {
            here: UserFileStore::new(home, FOLDER, FILE_BYTES),
            own: PrivateFolder::new(home, FOLDER, FILE_BYTES),
        }
    }

    /// All rules that hold in the project at `root`: of the configuration, and the kept ones.
    ///
    /// # Errors
    /// If a file cannot be read. Nobody should then go on as if it said nothing.
    pub fn load(&self, root: &Path, config: &LoadedConfig) -> Result<PermissionLayers, PermissionStoreError> {
        let mut layers = PermissionLayers::default();
        let own_config = self.own.home().ok().map(|home| home.join(USER_FILE));
        for (effect, texts) in lists(&config.without_project) {
            for text in texts {
                let text = format!("{} {text}", effect.name());
                layers.add_text_from(PermissionLayer::User, &text, own_config.as_deref());
            }
        }
        for (effect, texts) in lists(&config.config) {
            let key = format!("permissions.{}", effect.name());
            if !matches!(config.origin(&key), Some(ConfigOrigin::Project { .. })) {
                continue;
            }
            for text in texts {
                let text = format!("{} {text}", effect.name());
                layers.add_text_from(PermissionLayer::Project, &text, config.file.as_deref());
            }
        }
        for layer in [PermissionLayer::User, PermissionLayer::AlwaysHere] {
            let (stored, file) = (self.read(layer, root)?, self.file(layer, root));
            for stored in stored.rules {
                layers.add_text_from(layer, &stored.rule, file.as_deref());
            }
        }
        Ok(layers)
    }

    /// The file of the rules that are kept; `None`: there is no place for one.
    pub fn file(&self, layer: PermissionLayer, root: &Path) -> Option<PathBuf> {
        if layer == PermissionLayer::AlwaysHere {
            return self.here.path_of(&self.here.directory(root).ok()?).ok();
        }
        self.own.path_of(KEPT_FILE).ok()
    }

    /// Keeps a rule; says whether it was not there. Only the user's own layers can be kept.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn add(
        &self,
        layer: PermissionLayer,
        root: &Path,
        rule: &PermissionRule,
        now: &str,
    ) -> Result<bool, PermissionStoreError> {
        let mut stored = self.read(layer, root)?;
        let text = rule.to_string();
        if stored.rules.iter().any(|known| known.rule == text) {
            return Ok(false);
        }
        if stored.rules.len() >= MAX_STORED_RULES {
            return Err(PermissionStoreError::Full);
        }
        stored.rules.push(StoredRule { rule: text, added: now.to_string() });
        self.write(layer, root, stored)?;
        Ok(true)
    }

    /// Forgets a rule; says whether it was there.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn remove(
        &self,
        layer: PermissionLayer,
        root: &Path,
        rule: &PermissionRule,
    ) -> Result<bool, PermissionStoreError> {
        let mut stored = self.read(layer, root)?;
        let (before, text) = (stored.rules.len(), rule.to_string());
        stored.rules.retain(|known| known.rule != text);
        let removed = stored.rules.len() < before;
        if removed {
            self.write(layer, root, stored)?;
        }
        Ok(removed)
    }

    fn read(&self, layer: PermissionLayer, root: &Path) -> Result<StoredPermissions, PermissionStoreError> {
        if layer == PermissionLayer::AlwaysHere { self.read_here(root) } else { self.read_own() }
    }

    fn read_own(&self) -> Result<StoredPermissions, PermissionStoreError> {
        // Without a directory of the user's own there are no rules in it.
        let Ok(path) = self.own.path_of(KEPT_FILE) else { return Ok(StoredPermissions::default()) };
        let bytes = self.own.read(KEPT_FILE).map_err(UserFileError::from)?;
        bytes.map_or_else(|| Ok(StoredPermissions::default()), |bytes| parse_stored(&bytes, path))
    }

    fn read_here(&self, root: &Path) -> Result<StoredPermissions, PermissionStoreError> {
        if self.own.home().is_err() {
            return Ok(StoredPermissions::default());
        }
        let directory = self.here.directory(root)?;
        let Some(bytes) = self.here.read(&directory)? else { return Ok(StoredPermissions::default()) };
        let stored = parse_stored(&bytes, self.here.path_of(&directory)?)?;
        // Another directory stood at this path when they were kept.
        Ok(if stored.directory == Some(directory.mark) { stored } else { StoredPermissions::default() })
    }

    fn write(
        &self,
        layer: PermissionLayer,
        root: &Path,
        mut stored: StoredPermissions,
    ) -> Result<(), PermissionStoreError> {
        if layer == PermissionLayer::AlwaysHere {
            let directory = self.here.directory(root)?;
            stored.path = Some(directory.path.clone());
            stored.directory = Some(directory.mark);
            let bytes = json_file(&stored).map_err(|error| PermissionStoreError::File(error.to_string()))?;
            return Ok(self.here.write(&directory, &bytes)?);
        }
        let bytes = json_file(&stored).map_err(|error| PermissionStoreError::File(error.to_string()))?;
        Ok(self.own.write(KEPT_FILE, &bytes).map_err(UserFileError::from)?)
    }
}

/// The configuration's rules, the strictest first.
fn lists(config: &Config) -> [(PermissionEffect, &[String]); 3] {
    let lists = &config.permissions;
    [
        (PermissionEffect::Deny, &lists.deny),
        (PermissionEffect::Ask, &lists.ask),
        (PermissionEffect::Allow, &lists.allow),
    ]
}

fn parse_stored(bytes: &[u8], path: PathBuf) -> Result<StoredPermissions, PermissionStoreError> {
    serde_json::from_slice(bytes)
        .map_err(|error| PermissionStoreError::Damaged { path, why: error.to_string() })
}
