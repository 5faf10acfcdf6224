//! The way back: from the text after a change to the text before it, as one diff hunk. Planned on the
//! result of a plan, it must give the original bytes again.
//!
//! A hunk has lines without their endings, so the law holds byte for byte if a text uses one kind of line
//! ending throughout; otherwise [`same_but_for_endings`] holds.

use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, Proposal};

/// Lines of context around the changed region.
const CONTEXT: usize = 3;

/// Turns `now` into `then`, both the text of `path`.
pub fn reverse_proposal(path: &RelPath, now: &str, then: &str) -> Proposal {
    let now_text = now.strip_prefix('\u{feff}').unwrap_or(now);
    let then_text = then.strip_prefix('\u{feff}').unwrap_or(then);
    let body = if now_text.is_empty() || then_text.is_empty() {
        EditBody::Whole { text: then_text.replace("\r\n", "\n"), must_be_new: false }
    } else {
        EditBody::Hunks(vec![hunk(now_text, then_text)])
    };
    let operation = Operation {
        line: 1,
        action: FileAction::Write {
            path: path.clone(),
            edit: FileEdit { dialect: "unified", body, seen: None },
            mode: None,
        },
    };
    Proposal { operations: vec![operation], ..Proposal::default() }
}

fn hunk(now: &str, then: &str) -> Hunk {
    let (now_lines, then_lines) = (lines(now), lines(then));
    // A last line that gains or loses its newline is a changed line, as in any diff.
    let newline_changes = now.ends_with('\n') != then.ends_with('\n');
    let last = now_lines.len().min(then_lines.len()).saturating_sub(usize::from(newline_changes));
    let prefix = now_lines.iter().zip(&then_lines).take(last).take_while(|(a, b)| a == b).count();
    let suffix = now_lines[prefix..]
        .iter()
        .rev()
        .zip(then_lines[prefix..].iter().rev())
        .take_while(|(a, b)| !newline_changes && a == b)
        .count();
    let start = prefix.saturating_sub(CONTEXT);
    let behind = suffix.min(CONTEXT);
    let now_end = now_lines.len() - suffix + behind;
    let then_end = then_lines.len() - suffix + behind;
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let before: Vec<String> = owned(&now_lines[start..now_end]);
    let after: Vec<String> = owned(&then_lines[start..then_end]);
    let mut kept: Vec<(usize, usize)> = (0..prefix - start).map(|i| (i, i)).collect();
    kept.extend((0..behind).map(|i| (before.len() - behind + i, after.len() - behind + i)));
    let at_end = now_end == now_lines.len();
    Hunk {
        line: 1,
        before,
        after,
        kept: Some(kept),
        claimed: Some(start + 1),
        at_end,
        final_newline: at_end.then(|| then.ends_with('\n')),
        ..Hunk::default()
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Whether all lines end the same way, and no line has a stray `\r`.
pub fn is_uniform(text: &str) -> bool {
    let returns = text.matches('\r').count();
    let breaks = text.matches('\n').count();
    returns == 0 || (returns == breaks && returns == text.matches("\r\n").count())
}

/// Whether two texts differ at most in their line endings. A carriage return at the very end is one too, cut in half.
pub fn same_but_for_endings(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.trim_end_matches('\r').replace("\r\n", "\n");
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use super::{hunk, is_uniform, same_but_for_endings};

    #[test]
    fn a_hunk_holds_the_change_and_its_context() {
        let hunk = hunk("a\nb\nc\nd\nX\ne\nf\ng\nh\n", "a\nb\nc\nd\ne\nf\ng\nh\n");
        assert_eq!(hunk.before, ["b", "c", "d", "X", "e", "f", "g"]);
        assert_eq!(hunk.after, ["b", "c", "d", "e", "f", "g"]);
        assert_eq!(hunk.claimed, Some(2));
        assert_eq!(hunk.kept.unwrap(), [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4), (6, 5)]);
        assert!(!hunk.at_end);
    }

    #[test]
    fn uniform_endings() {
        assert!(is_uniform("a\nb"));
        assert!(is_uniform("a\r\nb\r\n"));
        assert!(!is_uniform("a\r\nb\n"));
        assert!(!is_uniform("a\rb"));
        assert!(same_but_for_endings("a\r\nb\r", "a\nb"));
        assert!(!same_but_for_endings("a\rb", "a\nb"));
    }
}
