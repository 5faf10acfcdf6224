//! Whose rules there are. A project's file can only tighten: what it allows is kept apart and reported.

use std::fmt;
use std::path::{Path, PathBuf};

use super::rule::{PermissionEffect, PermissionRule};

/// Where a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PermissionLayer {
    /// The user's own `config.yml`, or what `relay permissions add --user` kept.
    User,
    /// The project's configuration file.
    Project,
    /// What the user allowed always in this project, kept in the user's own directory.
    AlwaysHere,
    /// Until the session ends.
    Session,
}

impl PermissionLayer {
    /// Its name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            PermissionLayer::User => "user",
            PermissionLayer::Project => "project",
            PermissionLayer::AlwaysHere => "here",
            PermissionLayer::Session => "session",
        }
    }
}

impl fmt::Display for PermissionLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PermissionLayer::User => "your own rules",
            PermissionLayer::Project => "the project's configuration",
            PermissionLayer::AlwaysHere => "your rules for this project",
            PermissionLayer::Session => "this session",
        })
    }
}

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRule {
    pub layer: PermissionLayer,
    pub rule: PermissionRule,
    /// The file that holds it; `None`: only memory does.
    pub file: Option<PathBuf>,
}

/// A rule that does nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredRule {
    pub layer: PermissionLayer,
    pub text: String,
    pub why: String,
    pub file: Option<PathBuf>,
}

/// All rules that hold in one place.
#[derive(Debug, Clone, Default)]
pub struct PermissionLayers {
    rules: Vec<PlacedRule>,
    ignored: Vec<IgnoredRule>,
}

impl PermissionLayers {
    /// Adds a rule. One of a project that would allow something is ignored; says whether the rule counts.
    pub fn add(&mut self, layer: PermissionLayer, rule: PermissionRule) -> bool {
        self.add_from(layer, rule, None)
    }

    /// Adds a rule as it is written; one that is none is kept as ignored.
    pub fn add_text(&mut self, layer: PermissionLayer, effect: PermissionEffect, text: &str) {
        self.add_text_from(layer, &format!("{} {text}", effect.name()), None);
    }

    /// Adds a rule that stands in a file.
    fn add_from(&mut self, layer: PermissionLayer, rule: PermissionRule, file: Option<&Path>) -> bool {
        let file = file.map(Path::to_path_buf);
        if layer == PermissionLayer::Project && rule.effect == PermissionEffect::Allow {
            let why = "a project's file cannot allow anything; only your own rules can".to_string();
            self.ignored.push(IgnoredRule { layer, text: rule.to_string(), why, file });
            return false;
        }
        if !self.rules.iter().any(|known| known.layer == layer && known.rule == rule) {
            self.rules.push(PlacedRule { layer, rule, file });
        }
        true
    }

    /// Adds a rule with its effect, as it is written in a file.
    pub(super) fn add_text_from(&mut self, layer: PermissionLayer, text: &str, file: Option<&Path>) {
        match PermissionRule::parse_with_effect(text) {
            Ok(rule) => {
                self.add_from(layer, rule, file);
            }
            Err(error) => {
                let file = file.map(Path::to_path_buf);
                self.ignored.push(IgnoredRule {
                    layer,
                    text: text.to_string(),
                    why: error.to_string(),
                    file,
                });
            }
        }
    }

    /// In the order in which they were added.
    pub fn rules(&self) -> &[PlacedRule] {
        &self.rules
    }

    /// Rules that do nothing.
    pub fn ignored(&self) -> &[IgnoredRule] {
        &self.ignored
    }

    /// Rules of one effect.
    pub(super) fn with_effect(&self, effect: PermissionEffect) -> impl Iterator<Item = &PlacedRule> {
        self.rules.iter().filter(move |placed| placed.rule.effect == effect)
    }
}
