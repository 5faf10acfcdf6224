//! Which rules made relay ask, and what would make it not ask.
//!
//! ```text
//!   relay asks because of 2 rules
//!     guarded   .github/workflows/ci.yml is guarded: it runs in CI
//!               `--allow guarded` lets it pass
//! ```

#[cfg(test)]
mod tests;

use relaycode_door::ApprovalRule;
use relaycode_ledger::Digest;
use relaycode_ledger::record::Record;

use super::outcome;
use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::{LIST_LIMIT, StyledText, labelled_line, pluralize};

/// Digits of a digest that people compare.
const DIGITS: usize = 12;

/// Every rule by its stable name, with a sentence and what would make it not ask; `digest`: what a yes
/// counts for.
pub fn text(rules: &[ApprovalRule], digest: Option<Digest>, look: &OutputStyle) -> String {
    let mut out = match rules.len() {
        0 => outcome::indented_line(look, "no rule speaks against it"),
        count => outcome::indented_line(look, &format!("relay asks because of {}", pluralize(count, "rule"))),
    };
    let mut names: Vec<&'static str> = Vec::new();
    for rule in rules {
        if !names.contains(&rule.name()) {
            names.push(rule.name());
        }
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let same: Vec<&ApprovalRule> = rules.iter().filter(|rule| rule.name() == name).collect();
        let mut lines: Vec<String> =
            same.iter().take(LIST_LIMIT).map(|rule| rule_sentence(rule, look)).collect();
        if same.len() > LIST_LIMIT {
            lines.push(format!("{} and {} more", look.glyph(Glyph::More), same.len() - LIST_LIMIT));
        }
        lines.extend(how_to_avoid(name).map(str::to_string));
        let taken = 4 + width + 3;
        let edge = if look.is_tight(taken) { "  " } else { "    " };
        let mut label = StyledText::plain(edge).append(&StyledText::painted(look, PaintRole::Strong, name));
        for line in lines {
            out += &labelled_line(look, label, taken, &line);
            label = StyledText::plain("");
        }
    }
    if let Some(digest) = digest {
        out += &digest_line(digest, look);
    }
    out
}

/// What a yes counts for.
pub(crate) fn digest_line(digest: Digest, look: &OutputStyle) -> String {
    outcome::indented_line(look, &format!("a yes counts for exactly this: {}", short_digest(digest)))
}

/// The digits of a digest that people compare.
pub fn short_digest(digest: Digest) -> String {
    digest.to_string().chars().take(DIGITS).collect()
}

/// What a rule says, in a sentence that is safe to print.
pub fn rule_sentence(rule: &ApprovalRule, look: &OutputStyle) -> String {
    look.safe(&rule.sentence()).into_owned()
}

/// What `relay apply` would ask about, in one line; nothing if it would ask about nothing special.
pub fn would_ask_line(rules: &[ApprovalRule], look: &OutputStyle) -> String {
    let mut names: Vec<&str> = rules.iter().map(ApprovalRule::name).collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let text = format!("  `relay apply` would ask: {}", names.join(", "));
    format!("{}\n", look.paint(PaintRole::Dim, &look.wrap(&text, 4)))
}

/// Which rules decided about a change that is in the ledger.
pub fn record_rules(record: &Record, look: &OutputStyle) -> String {
    let title = record.git_commit_msg.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let mut out =
        format!("{}  from {}  {}", record.uuid.short(), look.safe(&record.origin), look.safe(title));
    out = format!("{}\n", look.wrap_if_narrow(out.trim_end(), 2));
    let mut line = |name: &str, text: &str| {
        // A record that came with a repository may say anything where a step should be.
        let label =
            StyledText::plain("  ").append(&StyledText::painted(look, PaintRole::Dim, &look.clip(name, 8)));
        out += &labelled_line(look, label, 12, &look.safe(text));
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
        line("digest", &pieces(&digest.to_string(), look));
    }
    out
}

/// A digest whole; in pieces where it is wider than a line.
fn pieces(digest: &str, look: &OutputStyle) -> String {
    /// Digits of a piece.
    const PIECE: usize = 16;
    if !look.is_narrow() {
        return digest.to_string();
    }
    let digits: Vec<char> = digest.chars().collect();
    digits.chunks(PIECE).map(String::from_iter).collect::<Vec<_>>().join(" ")
}

/// What would make relay not ask, by the rule's stable name. `None`: this is always asked about.
pub fn how_to_avoid(name: &str) -> Option<&'static str> {
    Some(match name {
        "manual" => "`-y` answers it; with `auto` and a linter relay asks only when something is off",
        "not-trusted" => "`relay trust` shows them and asks",
        "no-key" => "`relay prompt` gives your model the key; for a file that you hand over, `-y` will do",
        "no-linter" => "`-y` answers it; set `patch.linter`, and relay can decide by itself",
        "no-config" => "`-y` answers it; `relay init` makes one",
        "file-count" => "`-y` answers it",
        "guarded" => "`--allow guarded` lets it pass",
        "near" => "`--allow near` lets it pass",
        "hidden" => "`--allow hidden` lets it pass",
        "syntax" => "`--allow syntax` lets it pass",
        "placeholder" => "`--allow placeholder` lets it pass",
        "mass-deletion" => "`--allow mass-deletion` lets it pass",
        "gate" => "`--allow gate` keeps it anyway",
        "skipped" => "`-y` answers it",
        _ => return None,
    })
}
