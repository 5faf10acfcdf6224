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

use super::{LISTED, number};
use crate::terminal::{Look, Paint, Sign};

/// Digits of a digest that people compare.
const DIGITS: usize = 12;

/// Every rule by its stable name, with a sentence and what would make it not ask; `digest`: what a yes
/// counts for.
pub(crate) fn text(rules: &[Rule], digest: Option<Digest>, look: &Look) -> String {
    let mut out = match rules.len() {
        0 => "  no rule speaks against it\n".to_string(),
        count => format!("  relay asks because of {}\n", number(count, "rule")),
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
        let mut label = format!("{name:width$}");
        for line in lines {
            let indent = 4 + width + 3;
            let wrapped = look.wrap(&format!("{}{line}", " ".repeat(indent)), indent);
            out += &format!("    {}   {}\n", look.paint(Paint::Strong, &label), wrapped.trim_start());
            label = " ".repeat(width);
        }
    }
    if let Some(digest) = digest {
        out += &format!("  a yes counts for exactly this: {}\n", short(digest));
    }
    out
}

/// The digits of a digest that people compare.
pub(crate) fn short(digest: Digest) -> String {
    digest.to_string().chars().take(DIGITS).collect()
}

/// What a rule says, in a sentence that is safe to print.
pub(crate) fn sentence(rule: &Rule, look: &Look) -> String {
    match rule {
        Rule::Manual => "`patch.approvalMode` is `manual`: every change is asked about".to_string(),
        Rule::NotTrusted => {
            "the project's commands and settings are not trusted, so none of them counts".to_string()
        }
        Rule::NoKey => {
            "the answer does not carry this project's key: anybody could have written it".to_string()
        }
        Rule::NoLinter => "no linter is set that could judge the result".to_string(),
        Rule::NoConfig => "the project has no configuration".to_string(),
        Rule::FileCount { files, bound } => {
            let few = u64::try_from(*files).is_ok_and(|files| files < *bound);
            let key = if few { "minFileChanges" } else { "maxFileChanges" };
            format!("it changes {}, and `patch.{key}` is {bound}", number(*files, "file"))
        }
        Rule::Guarded { path, why } => {
            format!("{} is guarded: it {}", look.safe(path.as_str()), look.safe(why))
        }
        Rule::Found(finding) => {
            let path = look.safe(finding.path.as_str());
            let line = finding.line.map(|line| format!(" line {line}")).unwrap_or_default();
            format!("{path}{line}: {}", look.safe(&finding.text))
        }
        Rule::Gate { text } => look.safe(text).into_owned(),
        Rule::Revised => "you changed what it does: what you made of it is asked about".to_string(),
        Rule::ChangedMeanwhile { paths } => {
            let names: Vec<String> =
                paths.iter().take(LISTED).map(|path| look.safe(path.as_str()).into_owned()).collect();
            let more = match paths.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{}{more} changed after it was shown", names.join(", "))
        }
    }
}

/// What would make relay not ask, by the rule's stable name. `None`: this is always asked about.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
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
