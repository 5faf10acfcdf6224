//! What a model wrote for itself before its answer: `<think>` … `</think>` and the like, in front of everything that is
//! meant. Drafts in there are no changes.

use std::borrow::Cow;

/// The tags that models put around it.
const TAGS: &[&str] = &["think", "thinking", "thought", "reasoning", "scratchpad", "analysis", "reflection"];

/// The text with empty lines in place of it. What has no end stays: nobody can tell where it ends.
pub(super) fn without_thoughts(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains("</") {
        return text;
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    let mut found = false;
    while at < lines.len() {
        let line = lines[at].trim();
        let end = if fence.is_none() { end_of_thought(&lines, at) } else { None };
        if let Some((last, rest)) = end {
            found = true;
            (at..last).for_each(|_| out.push('\n'));
            out.push_str(rest);
            at = last + 1;
            continue;
        }
        match (fence, fence_of(line)) {
            (None, opened) => fence = opened,
            (Some(open), Some(mark)) if mark.starts_with(open) && mark == line => fence = None,
            _ => {}
        }
        out.push_str(lines[at]);
        at += 1;
    }
    if found { Cow::Owned(out) } else { text }
}

/// The run of backticks or tildes that a line begins with.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let run = &line[..line.len() - line.trim_start_matches(mark).len()];
    (run.len() >= 3).then_some(run)
}

/// If a thought begins on line `at`: its last line, and what stands behind it there.
fn end_of_thought<'t>(lines: &[&'t str], at: usize) -> Option<(usize, &'t str)> {
    let line = lines[at].trim_start();
    let tag = TAGS.iter().find(|tag| {
        let inside = line.strip_prefix('<').and_then(|rest| rest.get(..tag.len()).zip(rest.get(tag.len()..)));
        inside.is_some_and(|(name, rest)| name.eq_ignore_ascii_case(tag) && rest.starts_with('>'))
    })?;
    let close = format!("</{tag}>");
    (at..lines.len()).find_map(|last| {
        let found = lines[last].to_ascii_lowercase().find(&close)?;
        Some((last, &lines[last][found + close.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_blanked_out_and_lines_keep_their_numbers() {
        for (text, clean) in [
            ("<think>\na\nb\n</think>\nc\n", "\n\n\n\nc\n"),
            ("<Thinking>a\nb</thinking> c\nd\n", "\n c\nd\n"),
            ("<think>one</think>\n<think>two</think>x\n", "\nx\n"),
        ] {
            assert_eq!(without_thoughts(text.into()), clean, "{text:?}");
            assert_eq!(text.lines().count(), clean.lines().count(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_thought_or_has_no_end_stays() {
        for text in [
            "<think>\na\n",
            "```html\n<think>\na\n</think>\n```\n",
            "the <think> tag\n</think>\n",
            "<thinker>\n</thinker>\n",
            "~~~\n```\n<analysis>\n</analysis>\n```\n~~~\n",
        ] {
            assert_eq!(without_thoughts(text.into()), text);
        }
    }
}
