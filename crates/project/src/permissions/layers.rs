//! Whose rules there are. A project's file can only tighten: what it allows is kept apart and reported.

use std::fmt;

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
}

/// A rule that does nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredRule {
    pub layer: PermissionLayer,
    pub text: String,
    pub why: String,
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
        if layer == PermissionLayer::Project && rule.effect == PermissionEffect::Allow {
            let why = "a project's file cannot allow anything; only your own rules can".to_string();
            self.ignored.push(IgnoredRule { layer, text: rule.to_string(), why });
            return false;
        }
        let placed = PlacedRule { layer, rule };
        if !self.rules.contains(&placed) {
            self.rules.push(placed);
        }
        true
    }

    /// Adds a rule as it is written; one that is none is kept as ignored.
    pub fn add_text(&mut self, layer: PermissionLayer, effect: PermissionEffect, text: &str) {
        match PermissionRule::parse(effect, text) {
            Ok(rule) => {
                self.add(layer, rule);
            }
            Err(error) => {
                let text = format!("{} {text}", effect.name());
                self.ignored.push(IgnoredRule { layer, text, why: error.to_string() });
            }
        }
    }

    /// Keeps what is no rule, to be reported.
    pub(super) fn add_ignored(&mut self, layer: PermissionLayer, text: String, why: String) {
        self.ignored.push(IgnoredRule { layer, text, why });
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
