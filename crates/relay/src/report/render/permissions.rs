//! Permission rules as a table, and what a decision about a line says.

use std::path::Path;

use relaycode_project::permissions::{
    CommandRole, DecidingRule, LineReading, LineTarget, PathUseKind, PermissionDecision, PermissionEffect,
    PermissionLayer, PermissionLayers, PlacedRule, StartedCommand,
};
use relaycode_text::width::cells;
use relaycode_tui::{Glyph, LIST_LIMIT, OutputStyle, PaintRole, more_line, outcome};
use serde_json::{Value, json};

/// Where rules of a layer hold, behind a rule.
pub(crate) fn layer_text(layer: PermissionLayer) -> &'static str {
    match layer {
        PermissionLayer::User => "for all your projects",
        PermissionLayer::AlwaysHere => "for this project",
        PermissionLayer::Project => "of the project",
        PermissionLayer::Session => "for this session",
    }
}

/// The configuration file that holds a rule; `None`: `relay permissions` keeps it.
pub(crate) fn config_file(placed: &PlacedRule) -> Option<String> {
    let name = placed.file.as_ref()?.file_name()?.to_string_lossy();
    match placed.layer {
        PermissionLayer::Project => Some(name.into_owned()),
        PermissionLayer::User if name == relaycode_project::config::USER_FILE => Some(format!("your {name}")),
        _ => None,
    }
}

fn place_text(placed: &PlacedRule) -> String {
    config_file(placed).unwrap_or_else(|| layer_text(placed.layer).to_string())
}

pub(crate) fn layers_json(root: &Path, layers: &PermissionLayers) -> Value {
    let rules = layers.rules().iter().map(|placed| {
        json!({
            "effect": placed.rule.effect.name(), "rule": placed.rule.body(), "layer": placed.layer.name(),
            "file": placed.file.as_ref().map(|file| file.to_string_lossy()),
        })
    });
    let ignored = layers.ignored().iter().map(|ignored| {
        json!({
            "rule": ignored.text, "layer": ignored.layer.name(), "why": ignored.why,
            "file": ignored.file.as_ref().map(|file| file.to_string_lossy()),
        })
    });
    json!({
        "project": root.to_string_lossy(), "rules": rules.collect::<Vec<_>>(),
        "ignored": ignored.collect::<Vec<_>>(),
    })
}

/// A line for each rule, the strictest first.
pub(crate) fn rules_table(layers: &PermissionLayers, look: &OutputStyle) -> String {
    if layers.rules().is_empty() {
        let said = "  there are no rules yet; `relay permissions add allow 'cargo test *'` adds one for this project";
        return look.wrap(said, 2) + "\n";
    }
    let mut rules: Vec<&PlacedRule> = layers.rules().iter().collect();
    rules.sort_by_key(|placed| std::cmp::Reverse(placed.rule.effect));
    let widest = rules.iter().map(|placed| cells(&look.safe(&placed.rule.body()))).max().unwrap_or_default();
    let widest = widest.min(MOST_RULE_CELLS);
    let mut text = String::new();
    for placed in rules {
        let effect = placed.rule.effect;
        let role = effect_paint(effect);
        let body = placed.rule.body();
        let body = look.safe(&body);
        let blanks = " ".repeat(widest.saturating_sub(cells(&body)));
        let place = look.paint(PaintRole::Dim, &look.safe(&place_text(placed)));
        text +=
            &format!("  {}  {body}{blanks}  {place}\n", look.paint(role, &format!("{:<5}", effect.name())));
    }
    text
}

/// Cells that the column of rules takes at most.
const MOST_RULE_CELLS: usize = 44;

fn effect_paint(effect: PermissionEffect) -> PaintRole {
    match effect {
        PermissionEffect::Allow => PaintRole::Good,
        PermissionEffect::Ask => PaintRole::Attention,
        PermissionEffect::Deny => PaintRole::Bad,
    }
}

/// What does nothing, and why.
pub(crate) fn ignored_lines(layers: &PermissionLayers, look: &OutputStyle) -> String {
    let line = |said: String| outcome::warning_line(look, &look.safe(&said));
    let shown = layers.ignored().iter().take(LIST_LIMIT);
    shown.map(|ignored| line(format!("ignored: {}: {}", ignored.text, ignored.why))).collect()
}

pub(crate) fn decision_json(decision: &PermissionDecision) -> Value {
    let rule = |rule: &DecidingRule| {
        let placed = match rule {
            DecidingRule::Placed(placed) => Some(placed),
            DecidingRule::Builtin(_) => None,
        };
        json!({
            "rule": rule.name(), "layer": placed.map_or("built-in", |placed| placed.layer.name()),
            "file": placed.and_then(|placed| placed.file.as_ref()).map(|file| file.to_string_lossy()),
        })
    };
    let reading = decision.reading.as_ref();
    json!({
        "effect": decision.effect.name(), "decidedBy": rule(&decision.rule),
        "rules": decision.rules.iter().map(rule).collect::<Vec<_>>(), "reasons": decision.reasons,
        "grants": decision.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "wouldAllow": decision.would_allow, "reading": reading.map(reading_json),
    })
}

fn reading_json(reading: &LineReading) -> Value {
    let command = |command: &StartedCommand| {
        json!({
            "words": command.words.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "startedBy": command.started_by, "risky": command.risky,
            "role": match command.role {
                CommandRole::ReadsOnly => "readsOnly",
                CommandRole::WritesListed => "writesListed",
                CommandRole::Other => "other",
            },
        })
    };
    json!({
        "commands": reading.commands.iter().map(command).collect::<Vec<_>>(),
        "files": reading.paths.iter().map(|used| json!({
            "use": use_name(used.kind), "target": target_json(&used.target),
        })).collect::<Vec<_>>(),
        "destroys": reading.destructive.iter().map(|act| json!({
            "act": act.act, "target": target_json(&act.target),
        })).collect::<Vec<_>>(),
        "unclear": reading.unclear,
    })
}

fn use_name(kind: PathUseKind) -> &'static str {
    match kind {
        PathUseKind::Read => "read",
        PathUseKind::Write => "write",
        PathUseKind::Append => "append",
        PathUseKind::Remove => "remove",
    }
}

fn target_json(target: &LineTarget) -> Value {
    let (kind, path) = match target {
        LineTarget::Path(path) => ("path", Some(path)),
        LineTarget::Pattern(path) => ("pattern", Some(path)),
        LineTarget::Beneath(path) => ("beneath", Some(path)),
        LineTarget::Unknown => ("unknown", None),
    };
    json!({"kind": kind, "path": path.map(|path| path.to_string_lossy())})
}

/// What would become of a line: the effect and its rule, then what was read.
pub(crate) fn decision_text(decision: &PermissionDecision, root: &Path, look: &OutputStyle) -> String {
    let (sign, said) = match decision.effect {
        PermissionEffect::Allow => (look.glyph(Glyph::Done), "allowed"),
        PermissionEffect::Ask => ("!", "asks first"),
        PermissionEffect::Deny => (look.glyph(Glyph::Refused), "refused"),
    };
    let rule = match &decision.rule {
        DecidingRule::Placed(placed) => format!("{} ({})", placed.rule, place_text(placed)),
        DecidingRule::Builtin(_) => decision.rule.name(),
    };
    let sign = look.paint(effect_paint(decision.effect), sign);
    let mut text = format!("{sign} {said}: {}\n", look.safe(&rule));
    if decision.effect != PermissionEffect::Allow {
        text += &fact_lines("why", decision.reasons.iter().cloned(), look);
    }
    if let Some(reading) = &decision.reading {
        let shown = |target: &LineTarget| target_text(target, root);
        let starts = reading.commands.iter().map(|command| match &command.started_by {
            Some(by) => format!("{} (by {by})", command.text()),
            None => command.text(),
        });
        text += &fact_lines("starts", starts, look);
        for (name, kinds) in
            [("reads", &[PathUseKind::Read][..]), ("writes", &[PathUseKind::Write, PathUseKind::Append])]
        {
            let of_kind = reading.paths.iter().filter(|used| kinds.contains(&used.kind));
            text += &fact_lines(name, of_kind.map(|used| shown(&used.target)), look);
        }
        let lost = reading.destructive.iter().map(|act| format!("{} ({})", shown(&act.target), act.act));
        text += &fact_lines("destroys", lost, look);
    }
    text += &fact_lines("gets", decision.grants.iter().map(ToString::to_string), look);
    let add =
        decision.would_allow.iter().map(|rule| format!("relay permissions add allow {}", shell_quoted(rule)));
    text + &fact_lines("allow it", add, look)
}

/// Facts of one kind: the first behind their name, the others below it.
fn fact_lines(name: &str, facts: impl Iterator<Item = String>, look: &OutputStyle) -> String {
    const NAME_CELLS: usize = 8;
    let mut seen: Vec<String> = Vec::new();
    for fact in facts {
        if !seen.contains(&fact) {
            seen.push(fact);
        }
    }
    let mut text = String::new();
    for (at, fact) in seen.iter().take(LIST_LIMIT).enumerate() {
        let name = if at == 0 { name } else { "" };
        let indent = 2 + NAME_CELLS + 2;
        let line = format!("  {name:<NAME_CELLS$}  {}", look.safe(fact));
        text += &look.wrap(&line, indent);
        text.push('\n');
    }
    text + &more_line(look, &" ".repeat(2 + NAME_CELLS + 2), seen.len())
}

fn target_text(target: &LineTarget, root: &Path) -> String {
    let shown = |path: &Path| match path.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => "the project".to_string(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    match target {
        LineTarget::Path(path) => shown(path),
        LineTarget::Pattern(path) => format!("files {}", shown(path)),
        LineTarget::Beneath(path) => format!("{} and everything in it", shown(path)),
        LineTarget::Unknown => "files that are not known".to_string(),
    }
}

/// A rule as one word of a shell.
pub(crate) fn shell_quoted(rule: &str) -> String {
    format!("'{}'", rule.replace('\'', "'\\''"))
}
