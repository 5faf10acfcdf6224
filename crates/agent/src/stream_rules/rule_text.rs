//! What the model reads of rules. A rule's own text is a file's, perhaps a hostile project's: it cannot end the block it stands
//! in, nor add to the block's head, and the block says whose rule it is.

use super::rule::StreamRule;
use crate::compaction::clip_text;

/// Characters of one rule that stay when the conversation is summed up: its file has the rest.
const MAX_KEPT_CHARS: usize = 2_000;

const INTERRUPT: &str = include_str!("../../prompts/rule-interrupt.md");
const REMINDER: &str = include_str!("../../prompts/rule-reminder.md");

pub(super) fn interrupt<'a>(rules: impl Iterator<Item = &'a StreamRule>) -> String {
    fill(INTERRUPT, rules)
}

pub(super) fn reminder<'a>(rules: impl Iterator<Item = &'a StreamRule>) -> String {
    fill(REMINDER, rules)
}

/// What stays of them when the conversation is summed up.
pub(super) fn kept<'a>(rules: impl Iterator<Item = &'a StreamRule>) -> String {
    let line = |rule: &StreamRule| {
        let text =
            clip_text(rule.text.trim(), MAX_KEPT_CHARS).replace("</", "< /").replace("<system-", "< system-");
        format!("{} ({}, {}): {text}", attribute(&rule.name), rule.owner.name(), attribute(&rule.path))
    };
    rules.map(line).collect::<Vec<_>>().join("\n\n")
}

/// One block for each rule, an empty line between.
fn fill<'a>(template: &str, rules: impl Iterator<Item = &'a StreamRule>) -> String {
    let fill = |rule: &StreamRule| {
        let text = rule.text.trim_end().replace("</system-", "< /system-");
        // The text last: what it says in braces stays as it is.
        template
            .trim_end()
            .replace("{{from}}", rule.owner.name())
            .replace("{{name}}", &attribute(&rule.name))
            .replace("{{path}}", &attribute(&rule.path))
            .replace("{{content}}", &text)
    };
    rules.map(fill).collect::<Vec<_>>().join("\n\n")
}

/// Within quotes, and without a place to fill in.
fn attribute(text: &str) -> String {
    text.replace(['"', '<', '>', '\n', '{', '}'], "_")
}
