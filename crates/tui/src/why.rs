//! Which rules made relay ask, and what would make it not ask.
//!
//! ```text
//!   relay asks because of 2 rules
//!     guarded   .github/workflows/ci.yml is guarded: it runs in CI
//!               `--allow guarded` lets it pass
//! ```

#[cfg(test)]
mod tests;

use relaycode_door::Rule;
use relaycode_ledger::Digest;
use relaycode_ledger::record::Record;

use super::{LISTED, Part, labelled, number, outcome};
use crate::look::{Look, Paint, Sign};

/// Digits of a digest that people compare.
const DIGITS: usize = 12;

/// Every rule by its stable name, with a sentence and what would make it not ask; `digest`: what a yes
/// counts for.
pub fn text(rules: &[Rule], digest: Option<Digest>, look: &Look) -> String {
    let mut out = match rules.len() {
        0 => outcome::aside(look, "no rule speaks against it"),
        count => outcome::aside(look, &format!("relay asks because of {}", number(count, "rule"))),
    };
    let mut names: Vec<&'static str> = Vec::new();
    for rule in rules {
        if !names.contains(&rule.name()) {
            names.push(rule.name());
        }
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let same: Vec<&Rule> = rules.iter().filter(|rule| rule.name() == name).collect();
        let mut lines: Vec<String> = same.iter().take(LISTED).map(|rule| sentence(rule, look)).collect();
        if same.len() > LISTED {
            lines.push(format!("{} and {} more", look.sign(Sign::More), same.len() - LISTED));
        }
        lines.extend(instead(name).map(str::to_string));
        let taken = 4 + width + 3;
        let edge = if look.is_tight(taken) { "  " } else { "    " };
        let mut label = Part::plain(edge).then(&Part::painted(look, Paint::Strong, name));
        for line in lines {
            out += &labelled(look, label, taken, &line);
            label = Part::plain("");
        }
    }
    if let Some(digest) = digest {
        out += &counts_for(digest, look);
    }
    out
}

/// What a yes counts for.
pub(crate) fn counts_for(digest: Digest, look: &Look) -> String {
    outcome::aside(look, &format!("a yes counts for exactly this: {}", short(digest)))
}

/// The digits of a digest that people compare.
pub fn short(digest: Digest) -> String {
    digest.to_string().chars().take(DIGITS).collect()
}

/// What a rule says, in a sentence that is safe to print.
pub fn sentence(rule: &Rule, look: &Look) -> String {
    look.safe(&rule.sentence()).into_owned()
}

/// What `relay apply` would ask about, in one line; nothing if it would ask about nothing special.
pub fn would_ask(rules: &[Rule], look: &Look) -> String {
    let mut names: Vec<&str> = rules.iter().map(Rule::name).collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let text = format!("  `relay apply` would ask: {}", names.join(", "));
    format!("{}\n", look.paint(Paint::Dim, &look.wrap(&text, 4)))
}

/// Which rules decided about a change that is in the ledger.
pub fn record(record: &Record, look: &Look) -> String {
    let title = record.git_commit_msg.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let mut out =
        format!("{}  from {}  {}", record.uuid.short(), look.safe(&record.origin), look.safe(title));
    out = format!("{}\n", look.wrap_if_narrow(out.trim_end(), 2));
    let mut line = |name: &str, text: &str| {
        // A record that came with a repository may say anything where a step should be.
        let label = Part::plain("  ").then(&Part::painted(look, Paint::Dim, &look.clip(name, 8)));
        out += &labelled(look, label, 12, &look.safe(text));
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
fn pieces(digest: &str, look: &Look) -> String {
    /// Digits of a piece.
    const PIECE: usize = 16;
    if !look.is_narrow() {
        return digest.to_string();
    }
    let digits: Vec<char> = digest.chars().collect();
    digits.chunks(PIECE).map(String::from_iter).collect::<Vec<_>>().join(" ")
}

/// What would make relay not ask, by the rule's stable name. `None`: this is always asked about.
pub fn instead(name: &str) -> Option<&'static str> {
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
