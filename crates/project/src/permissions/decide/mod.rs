//! How rules and what a request would do make a decision.
//!
//! Deny, then ask, then allow, whatever the layer. A rule that denies or asks counts when it surely applies; when it
//! only may, because words are not known before the line runs, the request asks. A rule that allows counts only when
//! it surely applies.

mod command;
mod denied_reads;
mod grants;
mod paths;
mod read_restrictions;

use std::path::Path;

use super::decision::{BuiltinRule, DecidingRule, PermissionDecision, PermissionPlace, PermissionRequest};
use super::layers::{PermissionLayers, PlacedRule};
use super::line::{read_arguments, read_line};
use super::rule::{PathVerb, PermissionEffect, RuleSubject};
use crate::access::Access;

pub use read_restrictions::ReadRestrictions;

/// Decides about requests in one place by one set of rules.
#[derive(Debug, Clone)]
pub struct PermissionEngine {
    pub layers: PermissionLayers,
    pub place: PermissionPlace,
}

impl PermissionEngine {
    pub fn new(layers: PermissionLayers, place: PermissionPlace) -> PermissionEngine {
        PermissionEngine { layers, place }
    }

    /// What is to become of a request.
    pub fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        match request {
            PermissionRequest::Line(line) => self.decide_reading(read_line(line, &self.place)),
            PermissionRequest::Arguments(words) => self.decide_reading(read_arguments(words, &self.place)),
            PermissionRequest::Path { verb, path } => self.decide_path(*verb, path),
            PermissionRequest::Host(host) => self.decide_host(host),
            PermissionRequest::Tool(name) => self.decide_named(
                |subject| subject.names_tool(name),
                DecidingRule::Builtin(BuiltinRule::NoRule),
                &format!("no rule allows the tool {name}"),
                vec![format!("tool {name}")],
            ),
        }
    }

    fn decide_host(&self, host: &str) -> PermissionDecision {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
        if host.is_empty() || host.len() > 255 || !host.chars().all(plain) || host.ends_with('.') {
            return builtin(
                PermissionEffect::Deny,
                BuiltinRule::UnclearHost,
                "the host is not a name that can be compared with rules",
            );
        }
        let host = host.to_ascii_lowercase();
        self.decide_named(
            |subject| subject.names_host(&host),
            DecidingRule::Builtin(BuiltinRule::NoRule),
            &format!("no rule allows requests to {host}"),
            vec![format!("host {host}")],
        )
    }

    /// By the first rule that names the subject, else asks.
    fn decide_named(
        &self,
        names: impl Fn(&RuleSubject) -> bool,
        otherwise: DecidingRule,
        reason: &str,
        would_allow: Vec<String>,
    ) -> PermissionDecision {
        match self.strictest(names) {
            Some(placed) => by_rule(placed),
            None if self.place.access == Access::Full => {
                builtin(PermissionEffect::Allow, BuiltinRule::FullAccess, "the access is full")
            }
            None => {
                let mut decision = new_decision(PermissionEffect::Ask, otherwise, reason);
                decision.would_allow = would_allow;
                decision
            }
        }
    }

    /// The strictest of the rules that name something.
    fn strictest(&self, names: impl Fn(&RuleSubject) -> bool) -> Option<&PlacedRule> {
        let effects = PermissionEffect::ALL.into_iter().rev();
        effects.flat_map(|effect| self.layers.with_effect(effect)).find(|placed| names(&placed.rule.subject))
    }

    fn decide_path(&self, verb: PathVerb, path: &Path) -> PermissionDecision {
        let path = super::path_pattern::normalise(&self.place.root.join(path));
        if verb == PathVerb::Edit && self.place.access == Access::ReadOnly {
            let reason = "the access is read-only";
            return builtin(PermissionEffect::Deny, BuiltinRule::ReadOnlyAccess, reason);
        }
        let verdict = self.judge_path(verb, &path);
        let mut decision = new_decision(verdict.effect, verdict.rule, &verdict.reason);
        if decision.effect == PermissionEffect::Ask {
            decision.would_allow = vec![format!("{} {}", verb.name(), self.shown_path(&path))];
        }
        decision
    }

    /// A path as a rule would have it: from the root where it is beneath it.
    fn shown_path(&self, path: &Path) -> String {
        match path.strip_prefix(&self.place.root) {
            Ok(inside) => format!("./{}", inside.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

fn new_decision(effect: PermissionEffect, rule: DecidingRule, reason: &str) -> PermissionDecision {
    PermissionDecision {
        effect,
        rules: vec![rule.clone()],
        rule,
        reasons: if reason.is_empty() { Vec::new() } else { vec![reason.to_string()] },
        reading: None,
        grants: Vec::new(),
        would_allow: Vec::new(),
    }
}

fn builtin(effect: PermissionEffect, rule: BuiltinRule, reason: &str) -> PermissionDecision {
    new_decision(effect, DecidingRule::Builtin(rule), reason)
}

fn by_rule(placed: &PlacedRule) -> PermissionDecision {
    let reason = format!("`{}` in {} says so", placed.rule, placed.layer);
    new_decision(placed.rule.effect, DecidingRule::Placed(placed.clone()), &reason)
}
