//! Which of many files must not be read without a question: what a search goes through.

use std::path::Path;

use super::PermissionEngine;
use crate::permissions::decision::DecidingRule;
use crate::permissions::layers::PlacedRule;
use crate::permissions::path_pattern::RulePathPattern;
use crate::permissions::rule::{PathVerb, PermissionEffect};

/// Patterns are made once. Inside the root, paths have to be without links.
#[derive(Debug)]
pub struct ReadRestrictions {
    pub engine: PermissionEngine,
    /// Those that deny, then those that ask.
    patterns: Vec<(PlacedRule, RulePathPattern)>,
}

impl ReadRestrictions {
    pub fn new(engine: PermissionEngine) -> ReadRestrictions {
        let strict = [PermissionEffect::Deny, PermissionEffect::Ask].into_iter();
        let rules = strict.flat_map(|effect| engine.path_rules(PathVerb::Read, effect));
        let patterns = rules.map(|(placed, pattern)| (placed.clone(), pattern)).collect();
        ReadRestrictions { engine, patterns }
    }

    /// The rule by which a file is not read unasked; `None`: it may be read.
    pub fn rule_for(&self, path: &Path) -> Option<DecidingRule> {
        if path.starts_with(&self.engine.place.root) {
            let hit = self.patterns.iter().find(|(_, pattern)| pattern.matches(path));
            return hit.map(|(placed, _)| DecidingRule::Placed(placed.clone()));
        }
        let verdict = self.engine.judge_path(PathVerb::Read, path);
        (verdict.effect != PermissionEffect::Allow).then_some(verdict.rule)
    }
}
