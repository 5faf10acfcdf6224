//! What rules and built-in ones say of a file.

use std::path::{Component, Path, PathBuf};

use super::PermissionEngine;
use crate::access::Access;
use crate::permissions::decision::{BuiltinRule, DecidingRule};
use crate::permissions::layers::PlacedRule;
use crate::permissions::line::{LineTarget, PathNamer, PathUse, StartedCommand};
use crate::permissions::path_pattern::{RulePathPattern, matches_glob, pattern_directory, resolve_links};
use crate::permissions::rule::{PathVerb, PermissionEffect, RuleSubject};
use crate::protected::{ProtectedPaths, RUN_LATER_IN_HOME, SECRETS_IN_HOME};

/// Devices that keep nothing.
const HARMLESS_DEVICES: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full"];
/// relay's own directory beneath the home directory, and what of the system holds secrets.
const RELAY_HOME: &str = ".relaycode";
const SYSTEM_SECRETS: &[&str] =
    &["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/proc", "/root"];

/// What says of the machine in `/proc` what everybody may know.
const PUBLIC_PROC: &[&str] = &[
    "/proc",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/partitions",
    "/proc/swaps",
    "/proc/vmstat",
    "/proc/diskstats",
    "/proc/devices",
    "/proc/modules",
    "/proc/interrupts",
];

/// What becomes of one file or command.
#[derive(Debug, Clone)]
pub(super) struct SingleVerdict {
    pub(super) effect: PermissionEffect,
    pub(super) rule: DecidingRule,
    pub(super) reason: String,
}

impl SingleVerdict {
    pub(super) fn new(
        effect: PermissionEffect,
        rule: BuiltinRule,
        reason: impl Into<String>,
    ) -> SingleVerdict {
        SingleVerdict { effect, rule: DecidingRule::Builtin(rule), reason: reason.into() }
    }

    pub(super) fn by_rule(placed: &PlacedRule) -> SingleVerdict {
        let reason = format!("`{}` in {} says so", placed.rule, placed.layer);
        SingleVerdict { effect: placed.rule.effect, rule: DecidingRule::Placed(placed.clone()), reason }
    }
}

impl PermissionEngine {
    /// What becomes of one file, by its absolute path. Links are followed: both paths have to be allowed.
    pub(super) fn judge_path(&self, verb: PathVerb, path: &Path) -> SingleVerdict {
        if HARMLESS_DEVICES.iter().any(|device| path == Path::new(device)) || is_own_descriptor(path) {
            return SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::ReadsOnly, "");
        }
        let real = resolve_links(path);
        let both = [path, real.as_path()];
        for effect in [PermissionEffect::Deny, PermissionEffect::Ask] {
            let hit = |(placed, pattern): &(&PlacedRule, RulePathPattern)| {
                let _ = placed;
                both.iter().any(|path| pattern.matches(path))
            };
            if let Some((placed, _)) = self.path_rules(verb, effect).find(hit) {
                return SingleVerdict::by_rule(placed);
            }
        }
        let shown = self.shown_path(path);
        let protected = both.iter().find_map(|path| self.protected_name(verb, path));
        let allowing = self.path_rules(verb, PermissionEffect::Allow).find(|(placed, pattern)| {
            let names_it =
                protected.as_ref().is_none_or(|name| placed.rule.subject.to_string().contains(name.as_str()));
            names_it && both.iter().all(|path| pattern.matches(path))
        });
        if let Some((placed, _)) = allowing {
            return SingleVerdict::by_rule(placed);
        }
        if protected.is_some() {
            let reason = match verb {
                PathVerb::Read => format!("{shown} may hold secrets"),
                PathVerb::Edit => {
                    format!("{shown} is a protected file: something could run because of it later")
                }
            };
            return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::ProtectedPath, reason);
        }
        let inside = both.iter().all(|path| path.starts_with(&self.place.root));
        let temporary = both.iter().all(|path| self.is_temporary(path));
        match (verb, self.place.access) {
            (_, Access::Full) => {
                SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::FullAccess, "the access is full")
            }
            (PathVerb::Read, _) => SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::ReadsProject, ""),
            (PathVerb::Edit, _) if temporary => {
                SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::WritesTemporary, "")
            }
            (PathVerb::Edit, Access::Workspace) if inside => {
                SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::EditsProject, "")
            }
            (PathVerb::Edit, Access::ReadOnly) => SingleVerdict::new(
                PermissionEffect::Deny,
                BuiltinRule::ReadOnlyAccess,
                format!("it writes {shown}, and the access is read-only"),
            ),
            (PathVerb::Edit, _) => {
                let reason = format!("no rule allows writing {shown}");
                SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::NoRule, reason)
            }
        }
    }

    /// What becomes of a use of a file by a line.
    pub(super) fn judge_use(&self, used: &PathUse, commands: &[StartedCommand]) -> SingleVerdict {
        let verb = used.verb();
        let verdict = match &used.target {
            LineTarget::Path(path) => self.judge_path(verb, path),
            LineTarget::Pattern(path) => {
                let directory = pattern_directory(path);
                let name = path.strip_prefix(&directory).unwrap_or(path);
                let with_hidden = name.to_string_lossy().starts_with('.');
                match verb == PathVerb::Read && self.may_name_secret(path) {
                    true => self.asks_for_secrets(path),
                    false => self.judge_beneath(verb, &directory, with_hidden),
                }
            }
            LineTarget::Beneath(directory) if verb == PathVerb::Read && self.holds_secrets(directory) => {
                self.asks_for_secrets(directory)
            }
            LineTarget::Beneath(directory) => self.judge_beneath(verb, directory, true),
            LineTarget::Unknown => self.judge_unknown(verb),
        };
        let only_no_rule = matches!(verdict.rule, DecidingRule::Builtin(BuiltinRule::NoRule));
        let inside = match &used.target {
            LineTarget::Path(path) | LineTarget::Pattern(path) | LineTarget::Beneath(path) => {
                path.starts_with(&self.place.root) && resolve_links(path).starts_with(&self.place.root)
            }
            LineTarget::Unknown => true,
        };
        let is_ruled = match used.named_by {
            PathNamer::Line => false,
            PathNamer::RuledCommand => true,
            PathNamer::Writer(at) => commands.get(at).is_some_and(|writer| self.is_allowed_here(writer)),
        };
        // The command that names it has a rule of its own, or is held by the fence.
        if only_no_rule && ((is_ruled && inside) || self.is_held()) {
            return SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::ReadsOnly, "");
        }
        verdict
    }

    /// Files that are known by their directory only.
    fn judge_beneath(&self, verb: PathVerb, directory: &Path, with_hidden: bool) -> SingleVerdict {
        for effect in [PermissionEffect::Deny, PermissionEffect::Ask] {
            let hit = |(_, pattern): &(&PlacedRule, RulePathPattern)| pattern.may_match_beneath(directory);
            if let Some((placed, _)) = self.path_rules(verb, effect).find(hit) {
                let reason =
                    format!("`{}` may apply to what is in {}", placed.rule, self.shown_path(directory));
                return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::MayBeDenied, reason);
            }
        }
        let verdict = self.judge_path(verb, directory);
        let holds_protected = with_hidden && verb == PathVerb::Edit && self.place.root.starts_with(directory);
        if holds_protected && verdict.effect == PermissionEffect::Allow && self.place.access != Access::Full {
            let reason = format!("{} holds protected files", self.shown_path(directory));
            return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::ProtectedPath, reason);
        }
        verdict
    }

    fn asks_for_secrets(&self, path: &Path) -> SingleVerdict {
        if self.place.access == Access::Full {
            return self.judge_path(PathVerb::Read, path);
        }
        let reason = format!("{} may hold secrets", self.shown_path(path));
        SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::ProtectedPath, reason)
    }

    /// Where secrets are, as far as relay knows.
    fn secret_places(&self) -> impl Iterator<Item = PathBuf> {
        let home = self.place.home.as_deref();
        let in_home = SECRETS_IN_HOME.iter().chain([&RELAY_HOME]);
        let in_home = in_home.filter_map(move |name| Some(home?.join(name)));
        in_home.chain(SYSTEM_SECRETS.iter().map(PathBuf::from))
    }

    /// Whether something in the directory is secret.
    fn holds_secrets(&self, directory: &Path) -> bool {
        let real = resolve_links(directory);
        let both = [directory, real.as_path()];
        self.secret_places().any(|secret| {
            both.iter().any(|path| {
                let inside = path.starts_with(&self.place.root);
                secret.starts_with(path) || path.starts_with(&secret) && !inside
            })
        })
    }

    /// Whether a pattern could match a secret, or what is in one.
    fn may_name_secret(&self, pattern: &Path) -> bool {
        let matches = |(sign, name): (Component<'_>, Component<'_>)| {
            let (sign, name) = (sign.as_os_str().to_string_lossy(), name.as_os_str().to_string_lossy());
            let is_hidden = name.starts_with('.') && sign.starts_with(['*', '?', '[']);
            // What stands in brackets and behind them is not compared.
            let compared = sign.split_once('[').map_or(sign.to_string(), |(plain, _)| format!("{plain}*"));
            !is_hidden && matches_glob(&compared, &name)
        };
        let length = pattern.components().count();
        !pattern.starts_with(&self.place.root)
            && self.secret_places().any(|secret| {
                length >= secret.components().count()
                    && pattern.components().zip(secret.components()).all(matches)
            })
    }

    fn judge_unknown(&self, verb: PathVerb) -> SingleVerdict {
        let strict = [PermissionEffect::Deny, PermissionEffect::Ask];
        if let Some((placed, _)) = strict.into_iter().flat_map(|effect| self.path_rules(verb, effect)).next()
        {
            let reason = format!("`{}` may apply to a file that is only known when it runs", placed.rule);
            return SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::MayBeDenied, reason);
        }
        match (verb, self.place.access) {
            (PathVerb::Read, _) => SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::ReadsProject, ""),
            (_, Access::Full) => SingleVerdict::new(PermissionEffect::Allow, BuiltinRule::FullAccess, ""),
            _ => {
                let reason = "it writes a file that is only known when it runs";
                SingleVerdict::new(PermissionEffect::Ask, BuiltinRule::NoRule, reason)
            }
        }
    }

    pub(super) fn path_rules(
        &self,
        verb: PathVerb,
        effect: PermissionEffect,
    ) -> impl Iterator<Item = (&PlacedRule, RulePathPattern)> {
        self.layers.with_effect(effect).filter_map(move |placed| match &placed.rule.subject {
            RuleSubject::Path { verb: of, pattern } if *of == verb => {
                let pattern = RulePathPattern::new(pattern, &self.place.root, self.place.home.as_deref());
                Some((placed, pattern))
            }
            _ => None,
        })
    }

    fn is_temporary(&self, path: &Path) -> bool {
        self.place.temporary.iter().any(|directory| path.starts_with(directory) && path != directory)
    }

    /// The name by which a path is protected.
    fn protected_name(&self, verb: PathVerb, path: &Path) -> Option<String> {
        let in_home = |names: &[&str]| {
            let home = self.place.home.as_deref()?;
            names.iter().find(|name| path.starts_with(home.join(name))).map(ToString::to_string)
        };
        if verb == PathVerb::Read {
            let of_system =
                || SYSTEM_SECRETS.iter().find(|secret| path.starts_with(secret)).map(ToString::to_string);
            if PUBLIC_PROC.iter().any(|public| path == Path::new(public)) {
                return None;
            }
            let inside = path.starts_with(&self.place.root);
            let of_relay = || in_home(&[RELAY_HOME]);
            return if inside { None } else { in_home(SECRETS_IN_HOME).or_else(of_relay).or_else(of_system) };
        }
        // Where the project lies says nothing about what is in it: a copy of one lies beneath relay's own directory.
        let root = &self.place.root;
        let named = ProtectedPaths.name_of(path.strip_prefix(root).unwrap_or(path));
        let is_above =
            |name: &String| self.place.home.as_ref().is_some_and(|home| root.starts_with(home.join(name)));
        let in_home = |names| in_home(names).filter(|name| !(path.starts_with(root) && is_above(name)));
        named.or_else(|| [RUN_LATER_IN_HOME, SECRETS_IN_HOME, &[RELAY_HOME]].into_iter().find_map(in_home))
    }
}

/// `/dev/fd/3`, `/proc/self/fd/3`.
fn is_own_descriptor(path: &Path) -> bool {
    path.parent() == Some(Path::new("/dev/fd"))
}
