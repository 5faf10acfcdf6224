//! What the model reads of rules. A rule's own text is a file's, perhaps a hostile project's: it cannot end the block it stands
//! in, nor add to the block's head, and the block says whose rule it is.

use super::rule::StreamRule;

const INTERRUPT: &str = include_str!("../../prompts/rule-interrupt.md");
const REMINDER: &str = include_str!("../../prompts/rule-reminder.md");

pub(super) fn interrupt<'a>(rules: impl Iterator<Item = &'a StreamRule>) -> String {
    fill(INTERRUPT, rules)
}

pub(super) fn reminder<'a>(rules: impl Iterator<Item = &'a StreamRule>) -> String {
    fill(REMINDER, rules)
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
