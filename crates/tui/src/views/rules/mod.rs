//! Which rules made relay ask, and what would make it not ask.
//!
//! ```text
//!   relay asks because of 2 rules
//!     guarded   .github/workflows/ci.yml is guarded: it runs in CI
//!               `--allow guarded` lets it pass
//! ```

#[cfg(test)]
mod tests;

use relaycode_door::rules::RuleText;
use relaycode_door::{ApprovalReason, RuleConsent};
use relaycode_ledger::Digest;
use relaycode_ledger::record::Record;

use crate::{Glyph, LIST_LIMIT, OutputStyle, PaintRole, StyledText, labelled_line, outcome, pluralize};

/// Digits of a digest that people compare.
const DIGITS: usize = 12;

/// Where a question is asked: what would make relay not ask differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedIn {
    /// By a command about one answer, which takes `-y` and `--allow`.
    Command,
    /// By `relay watch`, which takes `-y` for all that come.
    Watch,
}

impl AskedIn {
    fn how_to_avoid(self, rule: &RuleText) -> Option<String> {
        let said = rule.how_to_avoid?;
        Some(match (self, rule.consent) {
            (AskedIn::Command, _) | (_, RuleConsent::Person) => said.to_string(),
            (AskedIn::Watch, RuleConsent::Yes) => said.replacen("`-y`", "`relay watch -y`", 1),
            (AskedIn::Watch, RuleConsent::YesIfHandedOver) => {
                "p copies the prompt that gives your model the key".to_string()
            }
            (AskedIn::Watch, RuleConsent::Allow) => "`relay watch` always asks about this".to_string(),
        })
    }
}

/// Every rule by its stable name, with a sentence and how to avoid the question; `digest`: what a yes is
/// for.
pub fn text(
    rules: &[ApprovalReason],
    asked_in: AskedIn,
    digest: Option<Digest>,
    style: &OutputStyle,
) -> String {
    let mut out = match rules.len() {
        0 => outcome::indented_line(style, "no rule speaks against it"),
        count => {
            outcome::indented_line(style, &format!("relay asks because of {}", pluralize(count, "rule")))
        }
    };
    let mut names: Vec<&'static str> = Vec::new();
    for rule in rules {
        if !names.contains(&rule.name()) {
            names.push(rule.name());
        }
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let same: Vec<&ApprovalReason> = rules.iter().filter(|rule| rule.name() == name).collect();
        let mut lines: Vec<String> =
            same.iter().take(LIST_LIMIT).map(|rule| rule_sentence(rule, style)).collect();
        if same.len() > LIST_LIMIT {
            lines.push(format!("{} and {} more", style.glyph(Glyph::More), same.len() - LIST_LIMIT));
        }
        lines.extend(same.first().and_then(|reason| asked_in.how_to_avoid(&reason.rule)));
        let taken = 4 + width + 3;
        let edge = if style.is_tight(taken) { "  " } else { "    " };
        let mut label = StyledText::plain(edge).append(&StyledText::painted(style, PaintRole::Strong, name));
        for line in lines {
            out += &labelled_line(style, label, taken, &line);
            label = StyledText::plain("");
        }
    }
    if let Some(digest) = digest {
        out += &digest_line(digest, style);
    }
    out
}

/// What a yes is for.
pub(crate) fn digest_line(digest: Digest, style: &OutputStyle) -> String {
    outcome::indented_line(style, &format!("a yes counts for exactly this: {}", short_digest(digest)))
}

pub fn short_digest(digest: Digest) -> String {
    digest.to_string().chars().take(DIGITS).collect()
}

/// Safe to print.
pub fn rule_sentence(rule: &ApprovalReason, style: &OutputStyle) -> String {
    style.safe(&rule.sentence).into_owned()
}

/// What `relay apply` would ask about, in one line; empty if nothing special.
pub fn would_ask_line(rules: &[ApprovalReason], style: &OutputStyle) -> String {
    let mut names: Vec<&str> = rules.iter().map(ApprovalReason::name).collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let text = format!("  `relay apply` would ask: {}", names.join(", "));
    format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&text, 4)))
}

/// The rules that decided about a change in the ledger.
pub fn record_rules(record: &Record, style: &OutputStyle) -> String {
    let title = record.git_commit_msg.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let mut out =
        format!("{}  from {}  {}", record.uuid.short(), style.safe(&record.origin), style.safe(title));
    out = format!("{}\n", style.wrap_if_narrow(out.trim_end(), 2));
    let mut line = |name: &str, text: &str| {
        // A record that came with a repository may have anything where a step should be.
        let label =
            StyledText::plain("  ").append(&StyledText::painted(style, PaintRole::Dim, &style.clip(name, 8)));
        out += &labelled_line(style, label, 12, &style.safe(text));
    };
    for rule in &record.rules {
        let (step, text) = rule.split_once(' ').unwrap_or(("", rule));
        line(step, text);
    }
    if record.rules.is_empty() {
        let by = record.decided_by.as_deref().unwrap_or("nobody that the record names");
        line("decided", &format!("by {by}"));
    }
    for said in record.gate.iter().flat_map(|text| text.lines()) {
        line("gate", said);
    }
    if let Some(digest) = record.plan {
        line("digest", &pieces(&digest.to_string(), style));
    }
    out
}

/// A whole digest; in pieces if it is wider than a line.
fn pieces(digest: &str, style: &OutputStyle) -> String {
    /// Digits of a piece.
    const PIECE: usize = 16;
    if !style.is_narrow() {
        return digest.to_string();
    }
    let digits: Vec<char> = digest.chars().collect();
    digits.chunks(PIECE).map(String::from_iter).collect::<Vec<_>>().join(" ")
}
