//! What a line gets beyond the fence. A fence is around all of a line or around none of it, so what one command is given
//! all others get, too.

use super::PermissionEngine;
use crate::access::Access;
use crate::permissions::layers::PlacedRule;
use crate::permissions::line::{
    CommandArgument, CommandRole, LineReading, LineTarget, PathUse, StartedCommand, is_reader,
};
use crate::permissions::rule::{CommandGrant, PathVerb, PermissionEffect, RuleSubject};

impl PermissionEngine {
    /// What rules give the commands of a line.
    pub(super) fn grants_of(&self, reading: &LineReading) -> Vec<CommandGrant> {
        let mut grants: Vec<CommandGrant> = Vec::new();
        for command in &reading.commands {
            for placed in self.allowing_rules(command).filter(|_| !self.is_away(command)) {
                for grant in &placed.rule.grants {
                    if !grants.contains(grant) {
                        grants.push(grant.clone());
                    }
                }
            }
        }
        grants
    }

    /// Why the line cannot have what a rule gives one of its commands.
    pub(super) fn find_mixed_grant(&self, reading: &LineReading, grants: &[CommandGrant]) -> Option<String> {
        // There is no fence.
        if self.place.access == Access::Full {
            return None;
        }
        let mixed = grants.iter().find(|grant| !self.suits_all(reading, grant))?;
        let gets = match mixed {
            CommandGrant::Network => "the network".to_string(),
            CommandGrant::UnixSocket(path) => format!("the socket {path}"),
            CommandGrant::OutsideTheFence => "outside the fence".to_string(),
        };
        let granting = |command: &StartedCommand| self.granting_rule(command, mixed).cloned();
        let command = match reading.commands.iter().find_map(granting)?.rule.subject {
            RuleSubject::Command { words, .. } => words.join(" "),
            other => other.to_string(),
        };
        Some(format!("`{command}` gets {gets}: run it as a line of its own"))
    }

    /// Whether everything in the line has the grant by a rule, or does nothing with it for certain.
    fn suits_all(&self, reading: &LineReading, grant: &CommandGrant) -> bool {
        let outside = *grant == CommandGrant::OutsideTheFence;
        let mut engine = self.clone();
        if outside {
            // Nothing hides secrets, and what the line writes may be obeyed by the next command of it.
            engine.place.is_fenced = false;
            engine.place.access = Access::Ask;
        }
        let only_looks = |command: &StartedCommand| match command.role {
            CommandRole::ReadsOnly => {
                let name = command.words.first().and_then(CommandArgument::exact).unwrap_or_default();
                !outside || is_reader(name)
            }
            CommandRole::WritesListed => true,
            CommandRole::Other => false,
        };
        let suits =
            |command: &StartedCommand| only_looks(command) || self.granting_rule(command, grant).is_some();
        let file_suits = |used: &PathUse| {
            let may_be_secret =
                outside && used.verb() == PathVerb::Read && used.target == LineTarget::Unknown;
            // A rule for what writes says nothing of what is obeyed beside it.
            !may_be_secret && engine.judge_use(used, &[]).effect == PermissionEffect::Allow
        };
        reading.unclear.is_empty()
            && reading.commands.iter().all(suits)
            && reading.paths.iter().all(file_suits)
    }

    fn granting_rule(&self, command: &StartedCommand, grant: &CommandGrant) -> Option<&PlacedRule> {
        self.allowing_rules(command)
            .find(|placed| placed.rule.grants.contains(grant) && !self.is_away(command))
    }
}
