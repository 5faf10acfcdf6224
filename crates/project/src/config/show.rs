//! What a loaded configuration tells of itself: each value, where it comes from, and what the project
//! wants to be trusted with.

use super::keys::{ConfigKey, ConfigScope, KEYS, TrustNeed, find_key};
use super::{ApprovalMode, Config, ConfigOrigin, LoadedConfig};
use crate::trust::TrustRequest;

/// The linter that the original tool ran where none was set.
const ORIGINAL_LINTER: &str = "bun tsc --noEmit";

/// One key, for `config show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRow {
    /// Its full name.
    pub key: &'static str,
    /// Its value as JSON.
    pub value: String,
    /// Whether that is the default, whoever said so.
    pub is_default: bool,
    /// Who said so.
    pub origin: ConfigOrigin,
    /// What it means.
    pub meaning: &'static str,
    /// Which part of relay it changes.
    pub scope: ConfigScope,
}

impl LoadedConfig {
    /// The value of the key of this full name as JSON; `None` if there is no such key.
    pub fn value(&self, name: &str) -> Option<String> {
        find_key(name).map(|key| key.get(&self.config).to_json().to_string())
    }

    /// Where the value of the key of this full name comes from; `None` if there is no such key.
    pub fn origin(&self, name: &str) -> Option<&ConfigOrigin> {
        self.origins.iter().find(|(key, _)| *key == name).map(|(_, origin)| origin)
    }

    /// Every key.
    pub fn rows(&self) -> Vec<ConfigRow> {
        let row = |(key, (_, origin)): (&'static ConfigKey, &(&'static str, ConfigOrigin))| {
            let value = key.get(&self.config).to_json();
            let is_default = value == key.default();
            let ConfigKey { name, meaning, scope, .. } = *key;
            let (value, origin) = (value.to_string(), origin.clone());
            ConfigRow { key: name, value, is_default, origin, meaning, scope }
        };
        KEYS.iter().zip(&self.origins).map(row).collect()
    }

    /// The command that the original tool ran as a linter here, because the project's file names none; relay runs none
    /// that nobody named. `was_original`: something else in the project shows that the original tool was used.
    pub fn lost_linter(&self, was_original: bool) -> Option<&'static str> {
        let unset = self.file.is_some() && self.origin("patch.linter") == Some(&ConfigOrigin::Default);
        (unset && (self.has_older_form || was_original)).then_some(ORIGINAL_LINTER)
    }

    /// What the project's file wants to be trusted with: the commands it names; and, so that the user
    /// sees how far they would decide, the approval settings beside them.
    ///
    /// Without a command of the project, a setting counts only if a linter of the user's own could
    /// approve by it and it is laxer than what holds without the project. Where no linter is, a person
    /// decides anyway, and there is nothing to trust.
    pub fn trust_request(&self) -> TrustRequest {
        let mut wants = TrustRequest::default();
        for key in self.set_by_project(TrustNeed::Command) {
            let value = key.get(&self.config).to_json();
            if let Some(command) = value.as_str().filter(|command| !command.is_empty()) {
                wants.commands.push((key.section_and_name().1.to_string(), command.to_string()));
            }
        }
        if wants.commands.is_empty() && self.config.patch.linter.is_empty() {
            return wants;
        }
        for key in self.set_by_project(TrustNeed::Approval) {
            let told = !wants.commands.is_empty() && self.affects_approval(key.name);
            if told || self.is_laxer(key.name) {
                let value = key.get(&self.config).to_json();
                let value = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
                wants.settings.push((key.name.to_string(), value));
            }
        }
        wants
    }

    fn set_by_project(&self, stake: TrustNeed) -> impl Iterator<Item = &'static ConfigKey> + '_ {
        KEYS.iter()
            .filter(move |key| key.trust_need == Some(stake))
            .filter(|key| matches!(self.origin(key.name), Some(ConfigOrigin::Project { .. })))
    }

    /// Whether the linter's verdict counts by this setting.
    fn affects_approval(&self, name: &str) -> bool {
        match name {
            "patch.approvalMode" => self.config.patch.approval_mode == ApprovalMode::Auto,
            "patch.approvalOnErrorCount" => true,
            _ => false,
        }
    }

    /// Whether the project asks a person less often by this setting than would hold without it.
    fn is_laxer(&self, name: &str) -> bool {
        let (Config { patch: now, .. }, Config { patch: before, .. }) = (&self.config, &self.without_project);
        let most = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
        match name {
            // A user who says manual is asked, whatever the project says.
            "patch.approvalOnErrorCount" => now.approval_on_error_count > before.approval_on_error_count,
            "patch.minFileChanges" => now.min_file_changes < before.min_file_changes,
            "patch.maxFileChanges" => most(now.max_file_changes) > most(before.max_file_changes),
            _ => false,
        }
    }
}
