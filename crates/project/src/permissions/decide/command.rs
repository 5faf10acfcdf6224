//! What rules and built-in ones say of the commands of a line.

use std::path::PathBuf;

use super::PermissionEngine;
use super::paths::SingleVerdict;
use crate::access::Access;
use crate::permissions::decision::{BuiltinRule, DecidingRule, PermissionDecision};
use crate::permissions::layers::PlacedRule;
use crate::permissions::line::{
    CommandArgument, CommandRole, LineReading, LineTarget, PathUse, StartedCommand, is_known_program,
};
use crate::permissions::path_pattern::{matches_glob, resolve_links};
use crate::permissions::rule::{PermissionEffect, RuleSubject};

/// Reasons and rules that a decision lists.
const MAX_REASONS: usize = 20;

/// Whether a rule names a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleMatch {
    No,
    /// It depends on words that nobody knows yet.
    Maybe,
    Surely,
}

impl PermissionEngine {
    pub(super) fn decide_reading(&self, reading: LineReading) -> PermissionDecision {
        let mut verdicts = Vec::new();
        let (mut would_allow, mut can_be_allowed) = (Vec::new(), true);
        for reason in &reading.unclear {
            verdicts.push(self.judge_unclear(reason));
        }
        for command in &reading.commands {
            let verdict = self.judge_command(command);
            if verdict.effect == PermissionEffect::Ask {
                let by_no_rule = matches!(verdict.rule, DecidingRule::Builtin(BuiltinRule::NoRule));
                let rule = suggest_rule(command).filter(|_| by_no_rule && !self.is_away(command));
                can_be_allowed &= rule.is_some();
                would_allow.extend(rule);
            }
            verdicts.push(verdict);
        }
        for used in &reading.paths {
            let verdict = self.judge_use(used, &reading.commands);
            if verdict.effect == PermissionEffect::Ask {
                let rule = self.suggest_path_rule(used).filter(|_| self.can_path_rule_help(&verdict.rule));
                can_be_allowed &= rule.is_some();
                would_allow.extend(rule);
            }
            verdicts.push(verdict);
        }
        if verdicts.is_empty() {
            verdicts.push(SingleVerdict::new(
                PermissionEffect::Allow,
                BuiltinRule::ReadsOnly,
                "it starts nothing",
            ));
        }
        let mut grants = self.grants_of(&reading);
        if let Some(reason) = self.find_mixed_grant(&reading, &grants) {
            // First of those that ask: without it the others say little.
            verdicts.insert(0, SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::GrantAlone, reason));
            can_be_allowed = false;
        }
        // The strictest first; of those, the first of the line.
        verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.effect));
        let worst = verdicts.first().map_or(PermissionEffect::Ask, |verdict| verdict.effect);
        if worst != PermissionEffect::Allow {
            grants.clear();
        }
        if worst != PermissionEffect::Ask || !reading.unclear.is_empty() || !can_be_allowed {
            would_allow.clear();
        }
        // A user's rule says more than a built-in one, and that something is written more than that something is read.
        if worst == PermissionEffect::Allow {
            verdicts.sort_by_key(|verdict| match verdict.rule {
                DecidingRule::Placed(_) => 0,
                DecidingRule::Builtin(BuiltinRule::ReadsOnly | BuiltinRule::ReadsProject) => 2,
                DecidingRule::Builtin(_) => 1,
            });
        }
        let mut rules: Vec<DecidingRule> = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for verdict in &verdicts {
            if !rules.contains(&verdict.rule) && rules.len() < MAX_REASONS {
                rules.push(verdict.rule.clone());
            }
            let news = verdict.effect == worst && !verdict.reason.is_empty();
            if news && !reasons.contains(&verdict.reason) && reasons.len() < MAX_REASONS {
                reasons.push(verdict.reason.clone());
            }
        }
        would_allow.dedup();
        let rule = rules.first().cloned().unwrap_or(DecidingRule::Builtin(BuiltinRule::NoRule));
        PermissionDecision {
            effect: worst,
            rule,
            rules,
            reasons,
            reading: Some(reading),
            grants,
            would_allow,
        }
    }

    fn suggest_path_rule(&self, used: &PathUse) -> Option<String> {
        match &used.target {
            LineTarget::Path(path) => Some(format!("{} {}", used.verb().name(), self.shown_path(path))),
            LineTarget::Pattern(_) | LineTarget::Beneath(_) | LineTarget::Unknown => None,
        }
    }

    /// Whether a rule for the file would change what a built-in rule says. A fence keeps protected files as they are.
    fn can_path_rule_help(&self, rule: &DecidingRule) -> bool {
        match rule {
            DecidingRule::Builtin(BuiltinRule::ProtectedPath) => !self.place.is_fenced,
            DecidingRule::Builtin(_) => true,
            DecidingRule::Placed(_) => false,
        }
    }

    /// Whether it may run outside the project, where no rule for a command holds.
    pub(super) fn is_away(&self, command: &StartedCommand) -> bool {
        let is_inside = |directory: &PathBuf| resolve_links(directory).starts_with(&self.place.root);
        command.directories.iter().any(|directory| !directory.as_ref().is_some_and(is_inside))
    }

    /// Whether a fence, or the user's word, stands for what no rule says.
    pub(super) fn is_held(&self) -> bool {
        let fence = self.place.is_fenced && matches!(self.place.access, Access::Workspace | Access::ReadOnly);
        fence || self.place.access == Access::Full
    }

    fn held_by(&self) -> SingleVerdict {
        if self.place.access == Access::Full {
            return SingleVerdict::new(
                PermissionEffect::Allow,
                BuiltinRule::FullAccess,
                "the access is full",
            );
        }
        let reason = "the fence holds back what is not allowed";
        SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::HeldByFence, reason)
    }

    fn judge_unclear(&self, reason: &str) -> SingleVerdict {
        if !self.is_held() {
            return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::NotUnderstood, reason);
        }
        let strict = [PermissionEffect::Deny, PermissionEffect::Ask].into_iter();
        let of_lines = |placed: &&PlacedRule| {
            matches!(placed.rule.subject, RuleSubject::Command { .. } | RuleSubject::Path { .. })
        };
        match strict.flat_map(|effect| self.layers.with_effect(effect)).find(of_lines) {
            Some(placed) => {
                let reason = format!("{reason}; `{}` may apply", placed.rule);
                SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::MayBeDenied, reason)
            }
            None => self.held_by(),
        }
    }

    pub(super) fn allowing_rules(&self, command: &StartedCommand) -> impl Iterator<Item = &PlacedRule> {
        self.layers
            .with_effect(PermissionEffect::Allow)
            .filter(move |placed| allows(&placed.rule.subject, command))
    }

    /// Whether a rule of the user's names it, and it runs where such rules hold.
    pub(super) fn is_allowed_here(&self, command: &StartedCommand) -> bool {
        self.allowing_rules(command).next().is_some() && !self.is_away(command)
    }

    fn judge_command(&self, command: &StartedCommand) -> SingleVerdict {
        let shown = command.text();
        let mut maybe = None;
        for effect in [PermissionEffect::Deny, PermissionEffect::Ask] {
            for placed in self.layers.with_effect(effect) {
                match strict_match(&placed.rule.subject, command) {
                    RuleMatch::Surely => return SingleVerdict::by_rule(placed),
                    RuleMatch::Maybe => maybe = maybe.or(Some(placed)),
                    RuleMatch::No => {}
                }
            }
        }
        if let Some(placed) = maybe {
            let reason = format!("`{}` may apply to `{shown}`", placed.rule);
            return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::MayBeDenied, reason);
        }
        let allowing = self.allowing_rules(command).next();
        if let Some(placed) = allowing
            && !self.is_away(command)
        {
            return SingleVerdict::by_rule(placed);
        }
        if matches!(command.role, CommandRole::ReadsOnly | CommandRole::WritesListed) {
            return SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::ReadsOnly, "");
        }
        if self.is_held() {
            return self.held_by();
        }
        let reason = match (allowing, command.risky.first()) {
            (Some(_), _) => format!("`{shown}` may run outside the project"),
            (None, Some(risky)) => format!("no rule allows `{shown}`; {risky}"),
            (None, None) => format!("no rule allows `{shown}`"),
        };
        SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::NoRule, reason)
    }
}

/// Whether a rule surely allows the command: its words match, and it names everything by which the command could
/// run or write something else.
fn allows(subject: &RuleSubject, command: &StartedCommand) -> bool {
    let RuleSubject::Command { words, any_more } = subject else { return false };
    let sure = |given: &[CommandArgument]| match_words(words, *any_more, given) == RuleMatch::Surely;
    if !sure(&command.words) && !command.subcommand_words.as_deref().is_some_and(sure) {
        return false;
    }
    // Unknown words cannot be named by a rule.
    command.risky_words.iter().all(|risky| risky.as_ref().is_some_and(|word| words.contains(word)))
        && command.risky.len() == command.risky_words.len()
}

/// How a rule that denies or asks applies: also to the program by another path, and to words between options.
fn strict_match(subject: &RuleSubject, command: &StartedCommand) -> RuleMatch {
    let RuleSubject::Command { words, any_more } = subject else { return RuleMatch::No };
    let mut best = match_words(words, *any_more, &command.words);
    let mut given = command.words.clone();
    if let Some(CommandArgument::Exact(program)) = given.first_mut()
        && let Some((_, name)) = program.rsplit_once('/')
    {
        *program = name.to_string();
        best = best.or_stricter(match_words(words, *any_more, &given));
    }
    if let Some(plain) = &command.subcommand_words {
        best = best.or_stricter(match_words(words, *any_more, plain));
    }
    if best == RuleMatch::No && words.len() > 1 && is_subsequence(words, &given) {
        return RuleMatch::Maybe;
    }
    best
}

impl RuleMatch {
    fn or_stricter(self, other: RuleMatch) -> RuleMatch {
        match (self, other) {
            (RuleMatch::Surely, _) | (_, RuleMatch::Surely) => RuleMatch::Surely,
            (RuleMatch::Maybe, _) | (_, RuleMatch::Maybe) => RuleMatch::Maybe,
            _ => RuleMatch::No,
        }
    }
}

/// Whether the program is the rule's, and the rule's words stand in this order between options.
fn is_subsequence(rule: &[String], given: &[CommandArgument]) -> bool {
    let mut given = given.iter();
    let program = given.next().is_some_and(|word| word_match(&rule[0], word) != RuleMatch::No);
    program && rule[1..].iter().all(|word| given.any(|other| word_match(word, other) != RuleMatch::No))
}

fn match_words(rule: &[String], any_more: bool, given: &[CommandArgument]) -> RuleMatch {
    let mut best = RuleMatch::Surely;
    for (at, pattern) in rule.iter().enumerate() {
        match given.get(at) {
            None => return RuleMatch::No,
            // How many words these are is not known.
            Some(CommandArgument::Any) => return RuleMatch::Maybe,
            Some(CommandArgument::FileNames(_)) => return RuleMatch::Maybe,
            Some(word) => match word_match(pattern, word) {
                RuleMatch::No => return RuleMatch::No,
                RuleMatch::Maybe => best = RuleMatch::Maybe,
                RuleMatch::Surely => {}
            },
        }
    }
    let more = given.get(rule.len()..).unwrap_or_default();
    match more {
        _ if any_more => best,
        [] => best,
        more if more.iter().all(|word| *word == CommandArgument::Any) => RuleMatch::Maybe,
        _ => RuleMatch::No,
    }
}

fn word_match(pattern: &str, word: &CommandArgument) -> RuleMatch {
    let of = |text: &String| matches_glob_word(pattern, text);
    match word {
        CommandArgument::Exact(text) if of(text) => RuleMatch::Surely,
        CommandArgument::Exact(_) => RuleMatch::No,
        CommandArgument::OneOf(texts) if texts.iter().all(of) => RuleMatch::Surely,
        CommandArgument::OneOf(texts) if texts.iter().any(of) => RuleMatch::Maybe,
        CommandArgument::OneOf(_) => RuleMatch::No,
        CommandArgument::BeginsWith(prefix) => {
            let plain = pattern.strip_suffix('*').filter(|rest| !rest.contains(['*', '?']));
            match plain {
                Some(rest) if prefix.starts_with(rest) => RuleMatch::Surely,
                _ => RuleMatch::Maybe,
            }
        }
        CommandArgument::FileNames(_) | CommandArgument::Any => RuleMatch::Maybe,
    }
}

/// `*` is the only sign in the words of a rule.
fn matches_glob_word(pattern: &str, text: &str) -> bool {
    if pattern.contains('*') && !pattern.contains('?') {
        matches_glob(pattern, text)
    } else {
        pattern == text
    }
}

/// Programs that a rule should not allow wholesale because of one line.
const NEVER_WHOLESALE: &[&str] = &[
    "rm", "mv", "cp", "dd", "chmod", "chown", "sudo", "doas", "su", "ssh", "scp", "sftp", "curl", "wget",
    "bash", "sh", "python", "python2", "python3", "node", "perl", "ruby", "eval", "source", ".", "kill",
    "ln", "rmdir", "truncate", "shred", "rsync", "docker", "podman", "dash", "zsh", "fish", "php", "deno",
    "lua", "sed", "awk", "gawk", "find", "env", "xargs", "vim", "vi", "npx", "uv", "uvx",
];

/// A rule that would allow the command: its first words where they say enough, else exactly it.
fn suggest_rule(command: &StartedCommand) -> Option<String> {
    let exact = |word: &CommandArgument| match word {
        // In a rule it would stand for any text.
        CommandArgument::Exact(text) if !text.contains('*') => Some(text.clone()),
        _ => None,
    };
    let mut words: Vec<String> = command.words.iter().map_while(exact).collect();
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    // Of other programs nobody knows what their options do.
    let is_known = is_known_program(name) && !command.unlisted;
    if is_known && !NEVER_WHOLESALE.contains(&name) && command.risky.is_empty() {
        let plain = |text: &String| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let says_more = words.get(1).is_some_and(|text| plain(text) && !text.starts_with('-'));
        words.truncate(if says_more { 2 } else { 1 });
    } else if words.len() < command.words.len() {
        // What it would destroy or run cannot be named.
        return None;
    }
    let any_more = words.len() < command.words.len();
    Some(RuleSubject::Command { words, any_more }.to_string())
}
